#include "engine/records/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "engine/records/experience.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/form.h"
#include "search/predict/rank.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

struct Relative {
  db::BestRow best;
  ir::Program program;
  codegen::Schedule schedule;  // for its own sizes
  size_t database = 0;         // in the stack
  bool same_family = true;
  double distance = 0;
};

/// How far the sizes of one program are from those of another of its form: the sum over the dimensions of their
/// tensors, in canonical order, of |log2 of the ratio|. Every loop of a contraction is in two tensors, so each weighs
/// the same. nullopt: not of one shape after all.
std::optional<double> distance(const ir::Program& a, const ir::Program& b) {
  if (a.tensors.size() != b.tensors.size()) return std::nullopt;
  double sum = 0;
  for (size_t t = 0; t < a.tensors.size(); ++t) {
    const auto one = ir::shape(a.tensors[t]), other = ir::shape(b.tensors[t]);
    if (one.size() != other.size()) return std::nullopt;
    for (size_t d = 0; d < one.size(); ++d)
      sum += std::abs(std::log2(static_cast<double>(std::max<int64_t>(one[d], 1)) /
                                static_cast<double>(std::max<int64_t>(other[d], 1))));
  }
  return sum;
}

std::optional<Relative> relative_of(db::BestRow best, const ir::Program& form, bool same_family, size_t database) {
  auto program = program_of(best.program);
  auto schedule = codegen::schedule_from_json(nlohmann::json::parse(best.schedule_json, nullptr, false));
  if (!program || !schedule || !codegen::check(*program, *schedule)) return std::nullopt;
  const auto far = distance(form, ir::form_of(*program));
  if (!far) return std::nullopt;
  return Relative{std::move(best), std::move(*program), std::move(*schedule), database, same_family, *far};
}

/// Those of the program's own family and layout; if they are few, those of families of the same form, too.
Result<std::vector<Relative>> find_relatives(const Workload& workload, const codegen::Target& target,
                                             std::vector<db::Database>& stack) {
  const db::TargetRow here = target_row(target);
  const ir::Program form = ir::form_of(workload.program);
  const std::string form_hash = ir::family_hash(form);
  std::vector<Relative> relatives;
  const auto collect = [&](const db::ProgramRow& program, bool same_family, size_t database) -> Result<void> {
    TILE_TUNE_TRY(rows, stack[database].relatives(program, here, tool_row()));
    for (auto& row : rows)
      if (auto relative = relative_of(std::move(row), form, same_family, database))
        relatives.push_back(std::move(*relative));
    return {};
  };
  for (size_t i = 0; i < stack.size(); ++i) TILE_TUNE_CHECK(collect(workload.row, true, i));
  for (size_t i = 0; i < stack.size() && relatives.size() < kRelatives; ++i) {
    TILE_TUNE_TRY(families, stack[i].families());
    for (auto& family : families) {
      if (family.family_hash == workload.row.family_hash && family.layout == workload.row.layout) continue;
      const auto program = program_of(family);
      if (!program || ir::family_hash(ir::form_of(*program)) != form_hash) continue;
      family.content_hash.clear();  // all of the family, this one among them
      TILE_TUNE_CHECK(collect(family, false, i));
    }
  }
  const auto nearer = [](const Relative& a, const Relative& b) {
    return a.same_family != b.same_family ? a.same_family : a.distance < b.distance;
  };
  std::stable_sort(relatives.begin(), relatives.end(), nearer);
  if (relatives.size() > kRelatives) relatives.erase(relatives.begin() + kRelatives, relatives.end());
  return relatives;
}

Result<std::vector<predict::Sample>> gather_samples(const std::vector<Relative>& relatives,
                                                    std::vector<db::Database>& stack, const codegen::Target& target) {
  std::vector<predict::Sample> samples;
  for (const auto& relative : relatives) {
    // Trials of other machines or versions are no measure here.
    if (!relative.best.same_target || !relative.best.same_tool || samples.size() >= kMostSamples) continue;
    TILE_TUNE_TRY(more, samples_of(stack[relative.database],
                                   {relative.best.program, relative.best.target, relative.best.tool}, target));
    samples.insert(samples.end(), more.begin(), more.end());
  }
  samples.resize(std::min(samples.size(), kMostSamples));
  return samples;
}

Transferred transferred(const Relative& relative, codegen::Schedule schedule, bool beats_default) {
  const auto& program = relative.best.program;
  nlohmann::json record{{"sizes", json_of_text(program.sizes_json)},
                        {"dtypes", program.dtypes},
                        {"layout", program.layout},
                        {"content_hash", program.content_hash},
                        {"trial", relative.best.trial_id}};
  std::string words = sizes_text(program.sizes_json);
  if (!relative.same_family)
    words = fmt::format("{} ({}, {}, {})", program.name, words, program.dtypes, program.layout);
  return {std::move(schedule), std::move(record), std::move(words), beats_default};
}

}  // namespace

Result<std::vector<Transferred>> transferred_schedules(const Workload& workload, const codegen::Target& target,
                                                       std::vector<db::Database>& stack, size_t count) {
  TILE_TUNE_TRY(relatives, find_relatives(workload, target, stack));
  if (relatives.empty()) return std::vector<Transferred>();
  const search::Space space(workload.program, target);
  std::vector<codegen::Schedule> candidates;
  std::vector<size_t> source;  // of each candidate; the default's is past the end
  const auto standard = space.default_schedule();
  std::set<codegen::Schedule> seen{standard};
  for (size_t r = 0; r < relatives.size(); ++r) {
    const auto& [best, program, schedule, database, same_family, distance] = relatives[r];
    // Where nothing beat the default schedule, what carries over is the default schedule, which knows its sizes.
    const auto is_default = [&, &program = program, &schedule = schedule](search::Dimensions dimensions) {
      return schedule == search::Space(program, target, dimensions).default_schedule();
    };
    if (is_default(search::Dimensions::Collapsed) || is_default(search::Dimensions::Apart)) continue;
    for (auto& fit : space.transfer(program, schedule))
      if (seen.insert(fit).second) {
        candidates.push_back(std::move(fit));
        source.push_back(r);
      }
  }
  candidates.push_back(standard);
  source.push_back(relatives.size());
  TILE_TUNE_TRY(samples, gather_samples(relatives, stack, target));
  TILE_TUNE_TRY(order, predict::rank_untried(predict::Features(workload.program, target), candidates, samples));
  std::vector<Transferred> result;
  std::set<size_t> used;
  bool before_default = true;
  for (const size_t candidate : order) {
    const size_t r = source[candidate];
    before_default &= r < relatives.size();
    if (r == relatives.size() || result.size() == count || !used.insert(r).second) continue;
    result.push_back(transferred(relatives[r], std::move(candidates[candidate]), before_default));
  }
  return result;
}

}  // namespace tile_tune::engine
