#include "search/space/placement.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/fusion.h"
#include "codegen/schedule/masked_vector.h"
#include "codegen/schedule/matrix_tiles.h"
#include "search/space/group_rules.h"
#include "search/space/gpu_repair.h"
#include "search/space/matrix_tile.h"
#include "search/space/moves.h"

namespace tile_tune::search {
namespace {

using codegen::ComputeAt;
using codegen::Fusion;
using codegen::NestSchedule;
using codegen::Schedule;
using codegen::StageSchedule;

// Nothing is computed inside another nest's loops on a GPU.
bool has_shared_nests(const StageContext& context) { return context.target->device == codegen::Device::Cpu; }

// A stage that lay in another's nest and is to have its own.
NestSchedule with_nest(const StageContext& context, const StageSchedule& stage) {
  return stage.find_nest() ? stage.nest() : default_stage(context);
}

void repair_inlining(const std::vector<StageContext>& stages, Schedule& schedule, Notes& notes) {
  for (size_t s = 0; s < stages.size(); ++s) {
    if (!schedule.stages[s].is_inlined() || stages[s].can_inline) continue;
    notes.push_back("it cannot be computed where it is read");
    schedule.stages[s] = default_stage(stages[s]);
  }
}

void repair_epilogues(const std::vector<StageContext>& stages, Schedule& schedule, Notes& notes) {
  const int count = static_cast<int>(stages.size());
  const Fusion fusion(*stages[0].program, schedule);
  for (int s = 0; s < count; ++s) {
    const auto* epilogue = schedule.stages[s].epilogue();
    if (!epilogue) continue;
    const int host = epilogue->of;
    const bool possible = host >= 0 && host < s && fusion.owner_of(host) == host && fusion.epilogue_loops(s, host);
    const bool first = fusion.stored_by(std::clamp(host, 0, count - 1)) == s;
    if (possible && first) continue;
    notes.push_back("it cannot be the epilogue of that statement");
    schedule.stages[s] = default_stage(stages[s]);
  }
}

// The place as it is, or at the nearest depth there is; loops that run once make no difference to it.
std::optional<ComputeAt> possible_place(const Fusion& fusion, const Schedule& schedule, int owner) {
  auto at = schedule.stages[owner].nest().compute_at;
  if (!at || at->statement < 0 || at->statement >= static_cast<int>(schedule.stages.size()) ||
      !fusion.may_join(owner, at->statement))
    return std::nullopt;
  const NestSchedule& host = schedule.stages[at->statement].nest();
  const codegen::Loops& loops = fusion.loops(at->statement);
  const auto [first, last] = fusion.depths(at->statement);
  if (last < first) return std::nullopt;
  at->depth = std::clamp(at->depth, first, last);
  const int outputs = static_cast<int>(loops.output.size());
  while (at->depth < last &&
         trip_count(loops, host, host.order[at->depth / outputs][at->depth % outputs], at->depth / outputs) <= 1)
    ++at->depth;
  return fusion.extents(owner, *at) ? at : std::nullopt;
}

void repair_nests(const std::vector<StageContext>& stages, Schedule& schedule, Notes& notes) {
  const Fusion fusion(*stages[0].program, schedule);
  std::optional<codegen::MatrixTiles> tiles;
  for (int s = static_cast<int>(stages.size()) - 1; s >= 0; --s) {
    const int owner = fusion.owner_of(s);
    if (owner < 0 || fusion.stored_by(owner) != s) continue;
    NestSchedule& stage = schedule.stages[owner].nest();
    const bool on_gpu = stages[owner].target->device == codegen::Device::Gpu;
    const auto place = has_shared_nests(stages[owner]) ? possible_place(fusion, schedule, owner) : std::nullopt;
    if (stage.compute_at && !place) notes.push_back("it cannot be computed inside the loops of that statement");
    stage.compute_at = place;
    StageContext context = stages[owner];
    context.loops.output = fusion.extents(owner).value();
    if (on_gpu) {
      leave_out_on_gpu(stage, notes);
    } else {
      repair_order(context, stage, notes);
      repair_scan(context, stage, notes);
    }
    repair_pieces(context, stage, notes);
    context.loops = codegen::one_piece(std::move(context.loops), stage);
    if (codegen::has_masked_vector(context.loops, stage) &&
        !codegen::may_store_masked_vector(*context.program, schedule, fusion, owner))
      correct(stage, codegen::without_masked_vector(context.loops, stage), kTooLongVectors, notes);
    stage = repair(context, stage, notes);
    if (!stage.dot_tiles) continue;
    const auto own = codegen::matrix_tiles(context.program->statements[owner], context.loops, stage);
    if (tiles && !codegen::go_together(*tiles, *own)) {
      drop_matrix_tiles(stage, notes);
      stage = repair(context, stage, notes);
      continue;
    }
    tiles = own;
    if (!codegen::has_rows_in_memory(*context.program, schedule, context.loops, stage, *own))
      copy_rows(context, stage, *own, 0);
  }
  for (size_t s = 0; s < stages.size(); ++s) {
    auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    for (auto& packing : nest->packings) {
      const int least = fusion.least_packing_depth(static_cast<int>(s), packing.operand);
      if (packing.depth >= least) continue;
      packing.depth = least;
      notes.push_back("it copied an operand before that was computed");
      // Some want their operand packed further out.
      *nest = codegen::without_dot_product(*nest, static_cast<int>(nest->tiles.size()));
    }
  }
}

}  // namespace

Drawn repair(const std::vector<StageContext>& stages, Schedule schedule) {
  Notes notes;
  if (stages.empty()) return schedule;
  repair_inlining(stages, schedule, notes);
  repair_epilogues(stages, schedule, notes);
  repair_nests(stages, schedule, notes);
  return {std::move(schedule), std::move(notes)};
}

StageContext context_of(const std::vector<StageContext>& stages, const Schedule& schedule, int s) {
  StageContext context = stages[s];
  const Fusion fusion(*context.program, schedule);
  if (const auto extents = fusion.extents(s)) context.loops.output = *extents;
  context.loops = codegen::one_piece(std::move(context.loops), schedule.stages[s].nest());
  return context;
}

Schedule draw_placement(const std::vector<StageContext>& stages, Schedule schedule, int s, Rng& rng) {
  StageSchedule& stage = schedule.stages[s];
  NestSchedule own = with_nest(stages[s], stage);
  own.compute_at.reset();
  std::vector<StageSchedule> places{own};
  if (stages[s].can_inline) places.push_back(codegen::Inlined());
  // What is possible is asked of a schedule in which the statement has a nest; epilogues of it would move with it.
  stage = places.front();
  const Fusion fusion(*stages[s].program, schedule);
  for (int host = 0; host < s; ++host)
    if (fusion.owner_of(host) == host && fusion.stored_by(host) == host && fusion.epilogue_loops(s, host))
      places.push_back(codegen::Epilogue{host});
  for (int host = 0; host < static_cast<int>(stages.size()) && has_shared_nests(stages[s]); ++host) {
    if (!fusion.may_join(s, host)) continue;
    std::vector<int> depths;
    const auto [first, last] = fusion.depths(host);
    for (int depth = first; depth <= last; ++depth)
      if (fusion.extents(s, {host, depth})) depths.push_back(depth);
    if (depths.empty()) continue;
    NestSchedule inside = own;
    inside.compute_at = ComputeAt{host, rng.pick(depths)};
    inside.cpu().parallel = 0;
    places.push_back(std::move(inside));
  }
  stage = rng.pick(places);
  return schedule;
}

GroupRules place_rules() {
  // In its own nest, inlined, or inside any later statement's loops at some depth of the first level.
  const auto log_count = [](const StageContext& context) {
    const int later = static_cast<int>(context.program->statements.size()) - 1 - context.statement;
    return std::log(1.0 + (context.can_inline ? 1 : 0) + (has_shared_nests(context) ? later : 0));
  };
  return {.group = codegen::Group::Place, .log_count = log_count};
}

}  // namespace tile_tune::search
