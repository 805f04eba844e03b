#include "search/space/gpu_repair.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/schedule/check.h"
#include "codegen/schedule/decisions.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/gpu_check.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/sum_order.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"

namespace tile_tune::search {
namespace {

using codegen::GpuMapping;
using codegen::NestSchedule;

/// Two tile levels, whatever was there, and nothing that GPUs do without.
void take_form(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (!stage.is_gpu()) {
    notes.push_back("its loops were mapped to a CPU");
    stage.mapping = GpuMapping{};
  }
  leave_out_on_gpu(stage, notes);
  std::vector<int> all(static_cast<size_t>(context.outputs()));
  std::iota(all.begin(), all.end(), 0);
  if (stage.order.empty()) stage.order.push_back(all);
  stage.order = {stage.order.front(), stage.order.back()};
  for (auto& tiles : stage.tiles) tiles = {tiles.front(), tiles.back()};
}

void repair_vector(const StageContext& context, NestSchedule& stage, Notes& notes) {
  GpuMapping& mapping = stage.gpu();
  if (mapping.vector_loop >= context.outputs())
    correct(mapping.vector_loop, -1, "the loop of its vectors is not there", notes);
  if (mapping.vector_loop >= 0) {
    int lanes = mapping.lanes >= 4 ? 4 : mapping.lanes >= 2 ? 2 : 1;
    const int64_t tile = std::min(stage.tiles[mapping.vector_loop].back(), extent_of(context, mapping.vector_loop));
    while (tile % lanes != 0) lanes /= 2;
    correct(mapping.lanes, lanes, "its vectors were longer than their tile", notes);
  }
  if (mapping.vector_loop < 0 || mapping.lanes <= 1) {
    mapping.vector_loop = -1;
    mapping.lanes = 1;
  }
}

void repair_tiles(const StageContext& context, NestSchedule& stage, Notes& notes) {
  for (int p = 0; p < context.outputs(); ++p) {
    const auto before = stage.tiles[p];
    const int64_t elements = std::max<int64_t>(before.back(), 1);
    set_tile(context, stage, p, elements, before.front() / std::min(elements, extent_of(context, p)));
    if (stage.tiles[p] != before) notes.push_back("its tiles did not fit their loop or each other");
  }
}

/// The output loop with the most of what `count` says, -1 if none has more than one.
template <typename Count>
int largest_loop(const StageContext& context, Count count) {
  int largest = -1;
  int64_t most = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (count(p) > most) {
      most = count(p);
      largest = p;
    }
  return largest;
}

/// Half as many elements of a thread along the loop with the most, as many threads.
bool halve_elements(const StageContext& context, NestSchedule& stage) {
  const int p = largest_loop(context, [&](int loop) { return stage.tiles[loop].back(); });
  if (p < 0) return false;
  set_tile(context, stage, p, stage.tiles[p].back() / 2, codegen::threads_of_loop(stage, p));
  return true;
}

template <typename Allowed>
bool halve_threads(const StageContext& context, NestSchedule& stage, Allowed allowed) {
  const int p =
      largest_loop(context, [&](int loop) { return allowed(loop) ? codegen::threads_of_loop(stage, loop) : 1; });
  if (p < 0) return false;
  set_tile(context, stage, p, stage.tiles[p].back(), codegen::threads_of_loop(stage, p) / 2);
  return true;
}

/// Loops beyond the two fastest that have several threads (blocks): they share the slowest dimension.
template <typename Count>
std::vector<int> slow_loops(const std::vector<int>& order, Count count) {
  std::vector<int> several;
  for (auto p = order.rbegin(); p != order.rend(); ++p)
    if (count(*p) > 1) several.push_back(*p);
  if (several.size() > 2)
    several.erase(several.begin(), several.begin() + 2);
  else
    several.clear();
  return several;
}

int64_t blocks_along(const StageContext& context, const NestSchedule& stage, int p) {
  return codegen::blocks_of_loop(context.loops, stage, p);
}

bool holds_too_many_sums(const StageContext& context, const NestSchedule& stage) {
  const int64_t words = std::max<int64_t>(static_cast<int64_t>(dtype_size(context.type)) / 4, 1);
  return codegen::thread_elements(stage) * words > codegen::costs::gpu::kMostSumRegisters;
}

bool unrolls_too_much(const StageContext& context, const NestSchedule& stage) {
  return codegen::unrolled_operations(context.loops, stage) > codegen::costs::gpu::kMostUnrolled;
}

/// Only the fastest dimension of a grid may be very long. Loops that are too long elsewhere go there, and blocks grow.
void repair_grid(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& limits = limits_of(context);
  const auto too_long = [&] {
    const auto grid = codegen::grid_extents(context.loops, stage);
    return grid[1] > limits.grid[1] || grid[2] > limits.grid[2];
  };
  if (!too_long()) return;
  notes.push_back("its grid was too long along its slower dimensions");
  std::stable_sort(stage.order[0].begin(), stage.order[0].end(),
                   [&](int a, int b) { return blocks_along(context, stage, a) < blocks_along(context, stage, b); });
  while (too_long()) {
    const auto slow = slow_loops(stage.order[0], [&](int p) { return blocks_along(context, stage, p); });
    const int p = largest_loop(context, [&](int loop) {
      return std::find(slow.begin(), slow.end(), loop) == slow.end() ? 1 : blocks_along(context, stage, loop);
    });
    if (p < 0) return;
    set_tile(context, stage, p, stage.tiles[p].back() * 2, codegen::threads_of_loop(stage, p));
  }
}

void repair_block(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& limits = limits_of(context);
  if (holds_too_many_sums(context, stage)) notes.push_back("its threads held more sums than registers");
  while (holds_too_many_sums(context, stage) && halve_elements(context, stage)) {
  }
  const auto any = [](int) { return true; };
  const auto threads = [&] { return codegen::gpu_threads(stage) / stage.gpu().reduction_threads; };
  if (threads() > limits.block_threads) notes.push_back("its blocks had too many threads");
  while (threads() > limits.block_threads && halve_threads(context, stage, any)) {
  }
  const auto along = [&](int p) { return codegen::threads_of_loop(stage, p); };
  const auto slowest = [&] {
    int64_t product = 1;
    for (const int p : slow_loops(stage.order[1], along)) product *= along(p);
    return product;
  };
  if (slowest() > limits.block[2]) notes.push_back("its blocks had too many threads along their slowest dimension");
  while (slowest() > limits.block[2]) {
    const auto slow = slow_loops(stage.order[1], along);
    const auto is_slow = [&](int p) { return std::find(slow.begin(), slow.end(), p) != slow.end(); };
    if (!halve_threads(context, stage, is_slow)) return;
  }
}

/// What becomes smaller first: shorter blocks and unrolled bodies of inner loops add up in another order.
template <typename Number>
auto first_above_one(std::vector<Number>& numbers) {
  return std::find_if(numbers.begin(), numbers.end(), [](Number number) { return number > 1; });
}

void repair_reduction(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const codegen::ReductionShares shares = codegen::reduction_shares(context.loops, stage);
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[r], 1);
    int64_t block = std::clamp<int64_t>(stage.reduction_block[r], 1, extent);
    if (stage.packings.empty())
      correct(block, extent, "it cut a reduction into blocks for which nothing is staged", notes);
    correct(block, largest_divisor_up_to(extent, block), "its blocks did not divide the reduction", notes);
    stage.reduction_block[r] = block;
    // Iterations of threads in turns that are left over have a loop of their own.
    const int64_t threads = shares.threads[static_cast<size_t>(r)];
    const int64_t unroll =
        threads > 1 ? std::clamp<int64_t>(stage.reduction_unroll[r], 1, std::max<int64_t>(extent / threads, 1))
                    : largest_divisor_up_to(block, stage.reduction_unroll[r]);
    correct(stage.reduction_unroll[r], static_cast<int>(unroll), "its unrolling did not divide the reduction", notes);
  }
  if (unrolls_too_much(context, stage)) notes.push_back("it unrolled more operations than compile quickly");
  while (unrolls_too_much(context, stage)) {
    const auto outermost = first_above_one(stage.reduction_unroll);
    const auto r = outermost - stage.reduction_unroll.begin();
    *outermost = shares.is_shared(static_cast<int>(r))
                     ? *outermost / 2
                     : static_cast<int>(largest_divisor_up_to(stage.reduction_block[r], *outermost / 2));
  }
}

/// Dot products where they are to be had: of whole groups of the innermost loop's iterations.
void repair_dots(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (!stage.dot_product) return;
  const auto dot = codegen::dot_product(context.program->statements[context.statement], context.loops, stage);
  correct(stage.dot_product, dot && stage.gpu().reduction_threads == 1, "its nest has no place for dot products",
          notes);
  if (!stage.dot_product) return;
  auto& block = stage.reduction_block[dot->loop];
  auto& unroll = stage.reduction_unroll[dot->loop];
  while (block % dot->width != 0 || context.loops.reduction[dot->loop] % block != 0) ++block;
  if (unroll % dot->width != 0 || block % unroll != 0) unroll = dot->width;
}

void repair_packings(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto stageable = stageable_operands(context);
  std::vector<codegen::Packing> kept;
  for (auto& packing : stage.packings) {
    const bool possible = std::find(stageable.begin(), stageable.end(), packing.operand) != stageable.end();
    const bool again =
        std::any_of(kept.begin(), kept.end(), [&](const auto& k) { return k.operand == packing.operand; });
    if (again || !possible) {
      notes.push_back("it staged an operand twice, or one that cannot be staged");
      continue;
    }
    correct(packing.depth, context.outputs(), "it copied an operand outside the loops of the grid", notes);
    kept.push_back(packing);
  }
  std::sort(kept.begin(), kept.end());
  stage.packings = std::move(kept);
}

void drop_packings(const StageContext& context, NestSchedule& stage) {
  stage.packings.clear();
  Notes follow;
  repair_reduction(context, stage, follow);
}

/// What is staged fits the shared memory: in shorter blocks of the reduction, or not at all.
void repair_shared(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& limits = limits_of(context);
  GpuMapping& mapping = stage.gpu();
  Notes follow;
  while (shape_of(context, stage).shared_bytes > limits.shared_most) {
    if (follow.empty()) notes.push_back("it took more shared memory than there is");
    follow.push_back("");
    if (stage.packings.empty()) {  // that of threads that share a reduction
      mapping.reduction_threads /= 2;
    } else if (const auto outermost = first_above_one(stage.reduction_block);
               outermost != stage.reduction_block.end()) {
      *outermost = largest_divisor_up_to(*outermost, *outermost / 2);
      repair_reduction(context, stage, follow);
    } else {
      drop_packings(context, stage);
    }
  }
}

/// Registers of all threads of a block, and of each.
void repair_registers(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& limits = limits_of(context);
  bool said = false;
  while (codegen::resident_blocks(limits, shape_of(context, stage).needs()) < 1) {
    if (!said) notes.push_back("its threads took more registers than there are");
    said = true;
    const auto shape = shape_of(context, stage);
    const bool too_many = shape.registers > limits.registers_a_thread;
    if (!(too_many ? halve_elements(context, stage) : halve_threads(context, stage, [](int) { return true; })) &&
        !halve_elements(context, stage))
      return drop_packings(context, stage);
    Notes follow;
    repair_vector(context, stage, follow);
  }
}

/// What threads that share a reduction cannot have beside stays, and they do not share it.
void repair_shares(const StageContext& context, NestSchedule& stage, Notes& notes) {
  GpuMapping& mapping = stage.gpu();
  const auto& limits = limits_of(context);
  const int before = mapping.reduction_threads;
  const auto wanted = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max(before, 1))));
  mapping.reduction_threads = static_cast<int>(
      std::min(wanted, stage.packings.empty() ? codegen::most_reduction_threads(context.loops) : int64_t{1}));
  while (mapping.reduction_threads > 1 &&
         (codegen::gpu_threads(stage) > limits.block_threads ||
          codegen::block_extents(*context.program, context.loops, stage).back() > limits.block[2]))
    mapping.reduction_threads /= 2;
  if (mapping.reduction_threads != before) notes.push_back("its threads cannot share a reduction so");
  if (mapping.reduction_threads > 1) mapping.interleaved = false;
}

void repair_mapping(const StageContext& context, NestSchedule& stage, Notes& notes) {
  GpuMapping& mapping = stage.gpu();
  const auto& limits = limits_of(context);
  if (stage.packings.empty()) correct(mapping.padding, 0, "it padded what is not staged", notes);
  correct(mapping.padding, std::clamp(mapping.padding, 0, kMostElementsBetween), "it padded more than helps", notes);
  if (mapping.pipelined && !codegen::pipeline_fault(*context.program, context.loops, stage).empty())
    correct(mapping.pipelined, false, "it had no block of the reduction to load ahead", notes);
  const bool cuda = context.target->features.has(codegen::Feature::Cuda);
  const int64_t most = cuda ? std::min<int64_t>(limits.blocks, limits.threads / codegen::gpu_threads(stage)) : 0;
  correct(mapping.resident_blocks, static_cast<int>(std::clamp<int64_t>(mapping.resident_blocks, 0, most)),
          "more blocks than a multiprocessor has threads for", notes);
  bool apart = false;
  for (int p = 0; p < context.outputs(); ++p)
    apart |= codegen::threads_of_loop(stage, p) > 1 &&
             stage.tiles[p].back() > (p == mapping.vector_loop ? mapping.lanes : 1);
  mapping.interleaved = mapping.interleaved && apart;
}

/// Loops of one block, or one thread, stand first, where they take no dimension from the others.
void canonical_order(const StageContext& context, NestSchedule& stage) {
  const auto idle_first = [](std::vector<int>& order, auto count) {
    const auto busy = std::stable_partition(order.begin(), order.end(), [&](int p) { return count(p) <= 1; });
    std::sort(order.begin(), busy);
  };
  idle_first(stage.order[0], [&](int p) { return blocks_along(context, stage, p); });
  idle_first(stage.order[1], [&](int p) { return codegen::threads_of_loop(stage, p); });
  stage.reduction_order = codegen::with_idle_loops_first(context.loops, std::move(stage.reduction_order));
}

/// Takes back what no kernel can be made of.
void retreat(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto is_refused = [&] {
    NestSchedule of_piece = stage;  // which context.loops are
    of_piece.parallel_reduction.reset();
    return !codegen::check_gpu_stage(*context.program, context.loops, context.statement, of_piece);
  };
  if (stage.gpu().reduction_threads > 1 && is_refused())
    correct(stage.gpu().reduction_threads, 1, "its threads cannot share a reduction so", notes);
  // Another loop may have become the innermost reduction, or have been unrolled less.
  if (stage.dot_product && is_refused())
    correct(stage.dot_product, false, "its nest has no place for dot products", notes);
}

}  // namespace

void set_tile(const StageContext& context, NestSchedule& stage, int p, int64_t elements, int64_t threads) {
  const int64_t extent = extent_of(context, p);
  elements = std::clamp<int64_t>(elements, 1, extent);
  threads = std::clamp<int64_t>(threads, 1, std::max<int64_t>(extent / elements, 1));
  stage.tiles[p] = {elements * threads, elements};
}

std::vector<int> stageable_operands(const StageContext& context) {
  std::vector<int> result;
  if (context.outputs() == 0) return result;
  for (const auto& operand : context.loops.operands)
    if (operand.affine && !operand.subscripts.empty() && !codegen::is_packed_beforehand(*context.program, operand))
      result.push_back(operand.number);
  return result;
}

void leave_out_on_gpu(NestSchedule& stage, Notes& notes) {
  bool had_more = false;
  codegen::for_each_decision_of(stage, [&](const auto& decision) {
    if (!decision.traits.not_on_gpu || decision.has_default(stage)) return;
    had_more = true;
    decision.in(stage) = {};
  });
  if (had_more) notes.push_back("it asked for what kernels of a GPU do without");
}

NestSchedule repair_on_gpu(const StageContext& context, NestSchedule stage, Notes& notes) {
  take_form(context, stage, notes);
  // Smaller blocks make a longer grid, which may make them larger again in another loop.
  constexpr int kMostPasses = 8;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const NestSchedule before = stage;
    repair_order(context, stage, notes);
    repair_tiles(context, stage, notes);
    repair_packings(context, stage, notes);
    repair_grid(context, stage, notes);
    repair_block(context, stage, notes);
    repair_vector(context, stage, notes);
    repair_shares(context, stage, notes);
    repair_reduction(context, stage, notes);
    repair_dots(context, stage, notes);
    repair_mapping(context, stage, notes);
    repair_shared(context, stage, notes);
    repair_registers(context, stage, notes);
    retreat(context, stage, notes);
    canonical_order(context, stage);
    if (stage == before) break;
  }
  return stage;
}

}  // namespace tile_tune::search
