#include "cli/sized_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "engine/sized/sizes.h"

namespace tile_tune::cli {

std::string summary_text(const engine::FamilyWorkload& workload, const engine::FamilyTuned& tuned) {
  const auto& sizes = workload.program.sizes;
  std::string text = fmt::format("{} ({})\n", workload.top.program.name, engine::family_text(sizes));
  for (const auto& point : tuned.searched)
    text += fmt::format("  {:<20} {:.2f}x the default schedule in {}\n", engine::point_text(sizes, point.at),
                        point.ratio, base::format_number(static_cast<size_t>(point.trials), "trial"));
  if (tuned.timed == 0)
    return text + fmt::format(
                      "  the time was over before kernels were compared at any size: the stored entry stands, or the "
                      "default schedule\n  {:.0f} s, seed {}\n",
                      tuned.seconds, tuned.seed);
  const auto only = std::count_if(tuned.family.members.begin(), tuned.family.members.end(),
                                  [](const auto& member) { return member.only; });
  text += fmt::format("  {} for one size, {} for many, chosen by times at {}\n",
                      base::format_number(static_cast<size_t>(only), "kernel"),
                      tuned.family.members.size() - static_cast<size_t>(only),
                      base::format_number(static_cast<size_t>(tuned.timed), "size"));
  if (tuned.timed < tuned.planned)
    text += fmt::format("  the time was over before the other {} of {} sizes were timed\n", tuned.planned - tuned.timed,
                        tuned.planned);
  if (tuned.family.table.empty()) text += "  sizes that are not listed have no kernel\n";
  return text + fmt::format("  {:.0f} s, seed {}, stored in {}\n", tuned.seconds, tuned.seed, tuned.database);
}

nlohmann::json summary_json(const engine::FamilyWorkload& workload, const engine::FamilyTuned& tuned) {
  nlohmann::json searched = nlohmann::json::array();
  for (const auto& point : tuned.searched)
    searched.push_back({{"at", point.at},
                        {"ratio_to_default", point.ratio},
                        {"trials", point.trials},
                        {"schedule_id", codegen::schedule_id(point.schedule)}});
  return {{"program", workload.top.program.name},
          {"family", tuned.timed > 0 ? codegen::to_json(tuned.family) : nlohmann::json()},
          {"searched", std::move(searched)},
          {"timed_points", tuned.timed},
          {"planned_points", tuned.planned},
          {"session", tuned.session},
          {"database", tuned.database},
          {"seed", tuned.seed},
          {"seconds", tuned.seconds}};
}

}  // namespace tile_tune::cli
