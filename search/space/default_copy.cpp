#include "search/space/default_copy.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;

/// Loops of an element-wise statement that reads neighbours along others than it writes: vectors are along `source`.
struct Transposed {
  int source = -1;
  int run = -1;  // which goes on, from short runs of neighbours along this loop; -1: it has the neighbours itself
};

/// For each output loop so many iterations as make `wanted` neighbours of the target and more, as far as its innermost
/// loops lie as one and are not the source's: 4 x 6 of out(c,b,a), where a has 6. (6 x 256 x 64 to 64 x 256 x 6: 72 us
/// with 6 neighbours at a time, 11 with 24; two Zen 4 cores, 2026-11-27.)
std::vector<int64_t> neighbours_of_target(const NestModel& model, const Transposed& loops, int64_t wanted) {
  const auto& context = model.context;
  std::vector<int64_t> rows(context.outputs(), 1);
  int64_t joined = 1;
  const auto next = [&] {
    for (int p = 0; p < context.outputs(); ++p)
      if (p != loops.source && p != loops.run && rows[p] == 1 && context.loops.output[p] > 1 &&
          model.target_stride(p) == joined)
        return p;
    return -1;
  };
  for (int p = next(); p >= 0; p = next()) {
    const int64_t extent = context.loops.output[p];
    const auto missing = std::bit_ceil(static_cast<uint64_t>((wanted + joined - 1) / joined));
    rows[p] = std::min(extent, static_cast<int64_t>(missing));
    joined *= rows[p];
    if (rows[p] < extent || joined >= wanted) break;
  }
  return rows;
}

int64_t neighbours_together(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{1}, std::multiplies());
}

// Of a statement that reads about as much as it writes; nullopt where it reads and writes neighbours along one loop.
// Fewer neighbours of the target than are worth shuffles are still stored together, interleaved: 3 x 12288 to 12288 x 3
// took 10 us column by column, 2.6 so. Sources whose runs are short go on along the next loop: 8 x 6144 x 3 to
// 6144 x 3 x 8 took 23 us, and 7 so (two Zen 4 cores, 2026-11-27).
std::optional<Transposed> transposed_loops(const NestModel& model) {
  const auto& context = model.context;
  const int across = context.contiguous_loop();
  if (context.reductions() > 0 || across < 0) return std::nullopt;
  const auto extent = [&](int p) { return context.loops.output[p]; };
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || model.stride(operand, across) <= 1 || model.output_reuse(operand) >= costs::kPassesToPack)
      continue;
    const auto with_step = [&](int64_t step) {
      for (int p = 0; p < context.outputs(); ++p)
        if (model.stride(operand, p) == step && extent(p) > 1) return p;
      return -1;
    };
    Transposed loops{with_step(1)};
    if (loops.source >= 0 && extent(loops.source) <= costs::kMostShuffled) {
      const int next = with_step(extent(loops.source));
      if (next >= 0 && next != across) loops = {next, loops.source};
    }
    if (loops.source < 0 || loops.source == across || extent(loops.source) < costs::kLeastTransposed) continue;
    if (neighbours_together(neighbours_of_target(model, loops, costs::kLeastTransposed)) > 1) return loops;
  }
  return std::nullopt;
}

// As many as suit caches and fit, but for those that a last tile, moved back, computes again.
int64_t blocks_together(int64_t extent, int64_t rows) {
  // Single blocks took 1.25 times as long at best (costs::kTransposedBlocks), but what two threads both compute costs
  // more: 8 x 800 x 80 to 80 x 800 x 8 took 85 us by 48 of the 80, 27 to 35 by 16 (two Zen 4 cores with AVX-512,
  // 2026-11-28).
  constexpr double kMostAgain = 1.15;
  int64_t blocks = std::min(costs::kTransposedBlocks, extent / rows);
  while (blocks > 1 && NestModel::repeated(extent, blocks * rows) > kMostAgain * NestModel::repeated(extent, rows))
    --blocks;
  return blocks;
}

// The output loop with the nearest steps in memory among those that leave the run, `distance` by loop; -1: none.
template <typename Distance>
int next_loop(const StageContext& context, int run, Distance distance) {
  int best = -1;
  for (int p = 0; p < context.outputs(); ++p)
    if (p != run && context.loops.output[p] > 1 && (best < 0 || distance(p) < distance(best))) best = p;
  return best;
}

// Where a loop goes on from a short run in operand and target alike, vectors are along that one: (16 x 32 x 4 x 8 x 2)
// to (16 x 4 x 32 x 8 x 2) took 9.1 us pair by pair, 2.4 so (Zen 4, 2026-11-27).
void use_longer_run(const NestModel& model, NestSchedule& stage, int run, int next, int64_t operand_stride) {
  const auto& loops = model.context.loops;
  const int64_t lanes =
      std::min<int64_t>(model.natural_lanes(), std::bit_floor(static_cast<uint64_t>(loops.output[next])));
  if (operand_stride != loops.output[run] || model.target_stride(next) != loops.output[run] ||
      loops.output[run] >= costs::kLeastTransposed || lanes < costs::kLeastTransposed)
    return;
  stage.cpu().vector_loop = next;
  stage.cpu().lanes = static_cast<int>(lanes);
  stage.tiles[next].back() = lanes;
  stage.tiles[run].back() = loops.output[run];
}

}  // namespace

std::optional<NestSchedule> transposing_stage(const NestModel& model) {
  const auto& context = model.context;
  const auto transposed = transposed_loops(model);
  if (!transposed) return std::nullopt;
  const Transposed& loops = *transposed;
  NestSchedule stage;
  stage.cpu().vector_loop = loops.source;
  const int side = std::min(model.natural_lanes(), static_cast<int>(costs::kMostTransposedRows));
  stage.cpu().lanes = loops.run < 0 ? side : std::max(side / 2, std::min(side, 2));
  while (stage.cpu().lanes > context.loops.output[loops.source]) stage.cpu().lanes /= 2;
  const int across = context.contiguous_loop();
  const auto neighbours = neighbours_of_target(model, loops, side);
  for (int p = 0; p < context.outputs(); ++p) {
    const int64_t extent = context.loops.output[p];
    const int64_t rows = p == loops.source ? stage.cpu().lanes : p == loops.run ? extent : neighbours[p];
    const bool has_lines = p == loops.source && loops.run >= 0;  // runs fill whole ones already
    stage.tiles.push_back({rows == 1 || has_lines ? rows : blocks_together(extent, rows) * rows, rows});
  }
  stage.order.assign(2, loop_order(model, stage, across));
  // Neighbours of the target one after the other, and on lines that threads do not share: 2 x 15 x 1344 to 1344 x 15 x
  // 2 took 10 us with rows of 30 cut for the threads, 3.3 so (two Zen 4 cores, 2026-11-28).
  for (auto& order : stage.order)
    std::stable_partition(order.begin(), order.end(), [&](int p) { return p == loops.source || neighbours[p] == 1; });
  // Nor do threads both write what a last tile computes again, where there are neighbours enough to share out: 3669 x
  // 25 to 25 x 3669 took 30 us with 16 of the 25 a thread, 9.7 so (two Zen 4 cores with AVX-512, 2026-11-28).
  const int64_t enough = int64_t{kPiecesPerThread} * context.target->threads;
  if (context.loops.output[loops.source] % stage.tiles[loops.source][0] != 0 &&
      trip_count(context.loops, stage, loops.source, 0) < enough &&
      trip_count(context.loops, stage, across, 0) >= enough)
    std::stable_partition(stage.order[0].begin(), stage.order[0].end(), [&](int p) { return p != loops.source; });
  stage.cpu().parallel = parallel_loops(model, stage);
  return stage;
}

void use_whole_runs(const NestModel& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int vector = stage.cpu().vector_loop;
  if (context.reductions() > 0 || vector < 0 || vector != context.contiguous_loop()) return;
  for (const auto& operand : context.loops.operands) {
    const int64_t step = operand.affine ? model.stride(operand, vector) : 1;
    if (step < 2 || step > costs::kMostShuffled) continue;
    for (int p = 0; p < context.outputs(); ++p)
      if (model.stride(operand, p) == 1 && context.loops.output[p] == step) stage.tiles[p].back() = step;
  }
}

void use_whole_lines(const NestModel& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int run = stage.cpu().vector_loop;
  if (context.reductions() > 0 || run < 0 || run != context.contiguous_loop()) return;
  const int64_t run_bytes = context.loops.output[run] * static_cast<int64_t>(dtype_size(context.type));
  if (run_bytes > codegen::kLineBytes / 2) return;
  const int64_t in_a_line = codegen::kLineBytes / std::max<int64_t>(run_bytes, 1);
  const int to = next_loop(context, run, [&](int p) { return model.target_stride(p); });
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || model.stride(operand, run) != 1) continue;
    const int from = next_loop(context, run, [&](int p) { return model.stride(operand, p); });
    if (from < 0 || to < 0 || model.stride(operand, from) == 0) continue;
    if (from == to) {
      use_longer_run(model, stage, run, to, model.stride(operand, to));
      return;
    }
    for (const int p : {from, to}) stage.tiles[p].back() = std::min(in_a_line, context.loops.output[p]);
    return;
  }
}

}  // namespace tile_tune::search
