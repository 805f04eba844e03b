#include "cli/predicted_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/schedule/outline.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::cli {

std::string predicted_text(const engine::Workload& workload, const codegen::Target& target,
                           const engine::PredictedBest& predicted, const std::vector<std::string>& files) {
  std::string text = fmt::format("{} for {}: predicted, nothing was measured (seed {})\n", engine::described(workload),
                                 target.text(), predicted.seed);
  for (size_t i = 0; i < predicted.best.size(); ++i)
    text += fmt::format("  {}. {}  {:.2f} times the predicted time of the first\n", i + 1,
                        codegen::schedule_id(predicted.best[i].schedule).substr(0, 12),
                        predicted.best[i].cycles / predicted.best.front().cycles);
  if (!predicted.best.empty()) text += "\n" + codegen::outline(workload.program, predicted.best.front().schedule);
  text += fmt::format("\nkept in {}; build takes the first until something is measured\n", predicted.database);
  for (const auto& file : files) text += file + "\n";
  return text;
}

nlohmann::json predicted_json(const engine::Workload& workload, const codegen::Target& target,
                              const engine::PredictedBest& predicted, const std::vector<std::string>& files) {
  nlohmann::json best = nlohmann::json::array();
  for (const auto& [schedule, cycles] : predicted.best)
    best.push_back({{"schedule_id", codegen::schedule_id(schedule)},
                    {"schedule", codegen::to_json(schedule)},
                    {"predicted_cycles", cycles}});
  nlohmann::json json{{"program", workload.row.name},  {"target", target.text()}, {"measured", false},
                      {"predicted", std::move(best)},  {"seed", predicted.seed},  {"session", predicted.session},
                      {"database", predicted.database}};
  if (!files.empty()) json["files"] = files;
  return json;
}

}  // namespace tile_tune::cli
