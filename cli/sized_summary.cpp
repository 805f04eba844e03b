#include "cli/sized_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/table.h"
#include "engine/sized/sizes.h"

namespace tile_tune::cli {

std::string summary_text(const engine::SizedWorkload& workload, const engine::SizedTuned& tuned, size_t width) {
  const auto& sizes = workload.program.sizes;
  std::vector<std::vector<std::string>> lines;
  for (const auto& point : tuned.searched)
    lines.push_back({fmt::format("{:<20} {:.2f}x the default schedule in {}", engine::point_text(sizes, point.at),
                                 point.ratio, base::format_number(static_cast<size_t>(point.trials), "trial"))});
  const std::string took = fmt::format("{:.0f} s, seed {}", tuned.seconds, tuned.seed);
  if (tuned.timed == 0) {
    lines.push_back(
        {"the time was over before kernels were compared at any size: the stored entry stands, or the "
         "default schedule"});
    lines.push_back({took});
  } else {
    const auto only = std::count_if(tuned.entry.members.begin(), tuned.entry.members.end(),
                                    [](const auto& member) { return member.only; });
    lines.push_back({fmt::format("{} for one size, {} for many, chosen by times at {}",
                                 base::format_number(static_cast<size_t>(only), "kernel"),
                                 tuned.entry.members.size() - static_cast<size_t>(only),
                                 base::format_number(static_cast<size_t>(tuned.timed), "size"))});
    if (tuned.timed < tuned.planned)
      lines.push_back({fmt::format("the time was over before the other {} of {} sizes were timed",
                                   tuned.planned - tuned.timed, tuned.planned)});
    if (tuned.entry.table.empty()) lines.push_back({"sizes that are not listed have no kernel"});
    lines.push_back({fmt::format("{}, stored in {}", took, tuned.database)});
  }
  return fmt::format("{} ({})\n{}", workload.top.program.name, engine::entry_sizes_text(sizes),
                     format_table({{""}}, lines, 2, width));
}

nlohmann::json summary_json(const engine::SizedWorkload& workload, const engine::SizedTuned& tuned) {
  nlohmann::json searched = nlohmann::json::array();
  for (const auto& point : tuned.searched)
    searched.push_back({{"at", point.at},
                        {"ratio_to_default", point.ratio},
                        {"trials", point.trials},
                        {"schedule_id", codegen::schedule_id(point.schedule)}});
  return {{"program", workload.top.program.name},
          {"family", tuned.timed > 0 ? codegen::to_json(tuned.entry) : nlohmann::json()},
          {"searched", std::move(searched)},
          {"timed_points", tuned.timed},
          {"planned_points", tuned.planned},
          {"stopped_by", nlohmann::json()},
          {"session", tuned.session},
          {"database", tuned.database},
          {"seed", tuned.seed},
          {"seconds", tuned.seconds}};
}

}  // namespace tile_tune::cli
