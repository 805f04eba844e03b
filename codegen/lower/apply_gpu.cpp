#include "codegen/lower/apply_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/schedule/gpu_nest.h"

namespace tile_tune::codegen {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

// What an output dimension of a Func is cut into.
struct Cut {
  Var block, thread;
  std::vector<Var> elements;  // a thread's, innermost first
  bool in_vectors = false;    // the first of them
};

struct GpuApplier {
  const NestSchedule& schedule;
  const Stage& stage;
  const NestPlacement& placement;
  const GpuMapping& gpu = schedule.gpu();
  const GpuDimensions block = block_dimensions(schedule);
  // Threads share each element's reduction; nullptr: none does.
  const SharedReduction* const shared = stage.reduction ? std::get_if<SharedReduction>(&*stage.reduction) : nullptr;

  int outputs() const { return stage.outputs(); }
  int64_t extent(int p) const { return stage.loops.output[p]; }

  Var named(int p, const char* part) const { return Var(fmt::format("{}_{}", stage.vars[p].name(), part)); }
  Var named(const char* part) const { return Var(fmt::format("{}_{}", placement.stored.tiled.name(), part)); }

  // Cuts dimension p of `func` into blocks, threads and a thread's elements; with `whole`, of the nest's tiled Func, of
  // which a last block may be there in part, else of what is there for one block.
  template <typename FuncOrStage>
  Cut cut(FuncOrStage&& func, int p, bool whole, bool in_vectors = true) const {
    // Halide refuses RoundUp inside updates; it sees that the guard never fails.
    constexpr bool kPure = std::is_same_v<std::decay_t<FuncOrStage>, Func>;
    const auto exact = kPure ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
    Cut result{named(p, "block"), named(p, "thread"), {}};
    int64_t tile = schedule.tiles[p].front(), piece = piece_along(schedule, p);
    const bool ragged = whole && has_last_tile(stage.loops, schedule, p);
    Var rest = stage.vars[p];
    // Vectors first: a guard then holds for all of one.
    if (in_vectors && p == gpu.vector_loop && gpu.lanes > 1 && (!whole || extent(p) % gpu.lanes == 0)) {
      const Var vectors = named(p, "v"), lane = named(p, "lane");
      func.split(rest, vectors, lane, gpu.lanes, exact).vectorize(lane);
      result.elements.push_back(lane);
      result.in_vectors = true;
      rest = vectors;
      tile /= gpu.lanes;
      piece /= gpu.lanes;
    }
    if (whole) {
      const Var in_block = named(p, "i");
      func.split(rest, result.block, in_block, static_cast<int>(tile), ragged ? TailStrategy::GuardWithIf : exact);
      rest = in_block;
    }
    const Var element = named(p, "e"), round = named(p, "round"), turn = named(p, "turn");
    const int64_t threads = threads_of_loop(schedule, p);
    func.split(rest, round, turn, static_cast<int>(threads * piece), exact)
        .split(turn, result.thread, element, static_cast<int>(piece), exact)
        .unroll(element)
        .unroll(round);
    result.elements.insert(result.elements.end(), {element, round});
    return result;
  }

  // Loops of one dimension as one; the first is the outermost.
  template <typename FuncOrStage>
  static Var fused(FuncOrStage&& func, std::vector<Var> loops, const Var& name) {
    Var all = loops.back();
    for (size_t i = loops.size() - 1; i-- > 0;) {
      const Var both = loops.size() == 2 ? name : Var(fmt::format("{}_{}", name.name(), i));
      func.fuse(all, loops[i], both);
      all = both;
    }
    return all;
  }

  // Runs the thread loops of `cuts` on the block's dimensions, the thread's elements and `inside` inside of them,
  // `outside` outside: all innermost first. `share`: the loop over threads that share a reduction, if the Func has one;
  // else the first of these threads stands for all.
  template <typename FuncOrStage>
  void map_threads(FuncOrStage&& func, const std::vector<Cut>& cuts, const std::vector<VarOrRVar>& inside,
                   const std::vector<VarOrRVar>& outside, const std::optional<Var>& share = {}) const {
    const bool first = shared && shared->comes_first;
    std::vector<VarOrRVar> order = with_elements(elements_of(cuts), inside);
    for (const int p : idle_threads()) order.push_back(cuts[p].thread);
    if (share && first) order.push_back(*share);
    for (const auto& dimension : block)
      for (auto p = dimension.rbegin(); p != dimension.rend(); ++p) order.push_back(cuts[*p].thread);
    if (share && !first) order.push_back(*share);
    order.insert(order.end(), outside.begin(), outside.end());
    if (order.size() > 1) func.reorder(order);
    std::vector<VarOrRVar> threads;
    for (size_t d = 0; d < block.size(); ++d) {
      std::vector<Var> loops;
      for (const int p : block[d]) loops.push_back(cuts[p].thread);
      threads.emplace_back(fused(func, loops, named(d == 0 ? "tx" : d == 1 ? "ty" : "tz")));
    }
    if (share) {
      threads.insert(first ? threads.begin() : threads.end(), *share);
    } else if (first && !threads.empty()) {
      func.split(threads[0].var, threads[0].var, first_of_shares(), 1,
                 std::is_same_v<std::decay_t<FuncOrStage>, Func> ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
      threads.insert(threads.begin(), first_of_shares());
    }
    if (threads.empty() && !cuts.empty()) threads.emplace_back(cuts[fastest_thread()].thread);
    on_threads(func, threads);
  }

  // A thread's elements inside of its loops of the reduction, but for a dot product's iterations, which are the first
  // of these.
  std::vector<VarOrRVar> with_elements(const std::vector<VarOrRVar>& elements,
                                       const std::vector<VarOrRVar>& reduction) const {
    std::vector<VarOrRVar> order = reduction;
    order.insert(order.begin() + (stage.dot && !reduction.empty() ? 1 : 0), elements.begin(), elements.end());
    return order;
  }

  Var first_of_shares() const { return named("share"); }

  template <typename FuncOrStage>
  static void on_threads(FuncOrStage&& func, const std::vector<VarOrRVar>& threads) {
    if (threads.size() == 1) func.gpu_threads(threads[0]);
    if (threads.size() == 2) func.gpu_threads(threads[0], threads[1]);
    if (threads.size() == 3) func.gpu_threads(threads[0], threads[1], threads[2]);
  }

  // A loop whose last tile is there in part shares a dimension of the block with another. Where a thread is in such a
  // tile, a division tells, and Halide 21 names what it makes of that like the tile's bounds when it asks in the loops
  // of threads whether a Func inside has anything to compute (SkipStages): "Repeated name". Such Funcs are a block's.
  bool divides_at_border() const {
    return std::any_of(block.begin(), block.end(), [&](const std::vector<int>& dimension) {
      return dimension.size() > 1 && std::any_of(dimension.begin(), dimension.end(),
                                                 [&](int p) { return has_last_tile(stage.loops, schedule, p); });
    });
  }

  int fastest_thread() const { return schedule.order.back().back(); }

  // Output loops with one thread, but for the one that stands for all where no loop has more; innermost first.
  std::vector<int> idle_threads() const {
    std::vector<int> result;
    for (auto p = schedule.order.back().rbegin(); p != schedule.order.back().rend(); ++p)
      if (threads_of_loop(schedule, *p) <= 1 && !(block.empty() && *p == fastest_thread())) result.push_back(*p);
    if (block.empty() && outputs() > 0) result.push_back(fastest_thread());
    return result;
  }

  // A thread's elements, innermost first: vectors, then along the fastest loops.
  std::vector<VarOrRVar> elements_of(const std::vector<Cut>& cuts) const {
    std::vector<int> order(schedule.order.back().rbegin(), schedule.order.back().rend());
    if (const auto vector = std::find(order.begin(), order.end(), gpu.vector_loop); vector != order.end())
      std::rotate(order.begin(), vector, vector + 1);
    std::vector<VarOrRVar> result;
    for (const int p : order)
      for (const auto& element : cuts[p].elements) result.emplace_back(element);
    return result;
  }

  // The tiled Func: its blocks on the grid, its threads.
  Nest tile() const {
    Func func = placement.stored.tiled;
    if (outputs() == 0 && !stage.piece) {
      const Var one = named("block"), thread = named("thread");
      func.split(Var::outermost(), Var::outermost(), one, 1).split(one, one, thread, 1);
      func.gpu_blocks(one).gpu_threads(thread);
      return {func, {one, thread}};
    }
    std::vector<Cut> cuts;
    for (int p = 0; p < outputs(); ++p) {
      func.bound(stage.vars[p], 0, static_cast<int>(placement.extents[p]));
      cuts.push_back(cut(func, p, true));
    }
    const auto grid = grid_dimensions(stage.loops, schedule);
    std::vector<VarOrRVar> outside;
    std::vector<std::vector<Var>> dimensions;
    for (const auto& dimension : grid) {
      std::vector<Var> loops;
      for (const int p : dimension) loops.push_back(cuts[p].block);
      dimensions.push_back(loops);
    }
    if (stage.piece) {
      func.bound(*stage.piece, 0, schedule.parallel_reduction->pieces);
      if (dimensions.size() < kGpuDimensions) dimensions.emplace_back();
      dimensions.back().insert(dimensions.back().begin(), *stage.piece);
    }
    if (dimensions.empty()) dimensions.push_back({cuts[schedule.order.front().back()].block});
    for (const auto& loops : dimensions)
      for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) outside.emplace_back(*loop);
    const auto is_there = [&](const Var& var) {
      return std::any_of(outside.begin(), outside.end(), [&](const auto& one) { return one.name() == var.name(); });
    };
    for (int p = 0; p < outputs(); ++p)
      if (!is_there(cuts[p].block)) outside.emplace_back(cuts[p].block);
    // A single element of a piece is computed in a loop, too, for what several threads do before.
    if (shared && outputs() == 0) {
      func.split(*stage.piece, *stage.piece, first_of_shares(), 1).gpu_threads(first_of_shares());
    } else {
      map_threads(func, cuts, {}, outside);
    }
    std::vector<VarOrRVar> blocks;
    for (size_t d = 0; d < dimensions.size(); ++d)
      blocks.emplace_back(fused(func, dimensions[d], named(d == 0 ? "bx" : d == 1 ? "by" : "bz")));
    // The kernel is called by its slowest loop, and the runtime of devices reads it there.
    if (gpu.resident_blocks > 0) {
      const Var marked = named(fmt::format("resident{}", gpu.resident_blocks).c_str());
      func.rename(blocks.back().var, marked);
      blocks.back() = marked;
    }
    if (blocks.size() == 1) func.gpu_blocks(blocks[0]);
    if (blocks.size() == 2) func.gpu_blocks(blocks[0], blocks[1]);
    if (blocks.size() == 3) func.gpu_blocks(blocks[0], blocks[1], blocks[2]);
    // Inside of the grid, and inside of the block's threads. Pieces of a single element have a block of one thread
    // each.
    const Var grid_loop = blocks.front().var;
    if (outputs() == 0) return {func, {grid_loop, shared ? first_of_shares() : grid_loop}};
    return {func, {grid_loop, innermost_thread(cuts, first_of_shares())}};
  }

  // `share`: the loop of threads that share a reduction, where these come first.
  Var innermost_thread(const std::vector<Cut>& cuts, const Var& share) const {
    const auto idle = idle_threads();
    if (!idle.empty()) return cuts[idle.front()].thread;
    if (block.empty() || (shared && shared->comes_first)) return share;
    return block.front().size() == 1 ? cuts[block.front().front()].thread : named("tx");
  }

  void bound_to(Func& func, size_t level) const {
    for (int p = 0; p < outputs(); ++p) func.bound_extent(stage.vars[p], static_cast<int>(schedule.tiles[p][level]));
  }

  // The reduction's loops inside of the threads, innermost first; those to unroll are.
  template <typename Loops>
  std::vector<VarOrRVar> inner_loops(Halide::Stage& update, const Loops& sums) const {
    std::vector<VarOrRVar> order;
    for (const auto& loop : sums.unrolled) {
      if (stage.dot && order.empty())
        update.atomic().vectorize(loop);
      else
        update.unroll(loop);
      order.emplace_back(loop);
    }
    for (const auto& loop : sums.others) order.emplace_back(loop);
    return order;
  }

  // Sums of a thread.
  void sums_by_thread(const PlainReduction& reduction, const Nest& nest) const {
    Func func = reduction.sums.func;
    func.never_partition_all().update().never_partition_all();
    func.compute_at(nest.func, nest.loops.back()).store_in(Halide::MemoryType::Register);
    bound_to(func, 1);
    Halide::Stage update = func.update();
    own_elements(func, {});
    own_elements(update, inner_loops(update, reduction.sums), !stage.dot);
  }

  template <typename FuncOrStage>
  void own_elements(FuncOrStage&& func, const std::vector<VarOrRVar>& outer, bool in_vectors = true) const {
    std::vector<VarOrRVar> order;
    for (auto p = schedule.order.back().rbegin(); p != schedule.order.back().rend(); ++p) {
      const Var var = stage.vars[*p];
      if (in_vectors && *p == gpu.vector_loop && gpu.lanes > 1) {
        const Var vectors = named(*p, "v"), lane = named(*p, "lane");
        func.split(var, vectors, lane, gpu.lanes,
                   std::is_same_v<std::decay_t<FuncOrStage>, Func> ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
            .vectorize(lane)
            .unroll(vectors);
        order.insert(order.begin(), lane);
        order.emplace_back(vectors);
      } else {
        func.unroll(var);
        order.emplace_back(var);
      }
    }
    order = with_elements(order, outer);
    if (order.size() > 1) func.reorder(order);
  }

  // Sums of all threads of a block.
  void block_sums(const PlainReduction& reduction, const Nest& nest) const {
    Func func = reduction.sums.func;
    func.never_partition_all().update().never_partition_all();
    func.compute_at(nest.func, nest.loops.front()).store_in(Halide::MemoryType::Register);
    bound_to(func, 0);
    std::vector<Cut> initial, updated;
    Halide::Stage update = func.update();
    for (int p = 0; p < outputs(); ++p) {
      initial.push_back(cut(func, p, false));
      updated.push_back(cut(update, p, false, !stage.dot));
    }
    map_threads(func, initial, {}, {});
    std::vector<VarOrRVar> outside(reduction.blocks.begin(), reduction.blocks.end());
    map_threads(update, updated, inner_loops(update, reduction.sums), outside);
  }

  // Sums of all threads that share a reduction, in shared memory, of which they leave fewer in each step. What lies
  // there is written and read element by element.
  void shared_sums(const SharedReduction& reduction, const Nest& nest) const {
    std::vector<Cut> cuts;
    for (const auto& [step, count] : reduction.steps) {
      Func func = step;
      func.compute_at(nest.func, nest.loops.front()).store_in(Halide::MemoryType::GPUShared).never_partition_all();
      bound_to(func, 0);
      func.bound_extent(reduction.share, count);
      cuts.clear();
      for (int p = 0; p < outputs(); ++p) cuts.push_back(cut(func, p, false, false));
      map_threads(func, cuts, {}, {}, reduction.share);
    }
    Func partial = reduction.partial;
    partial.compute_at(reduction.steps.front().first, innermost_thread(cuts, reduction.share))
        .store_in(Halide::MemoryType::Register)
        .never_partition_all();
    bound_to(partial, 1);
    partial.bound_extent(reduction.share, 1);
    own_elements(partial, {});
    for (int u = 0; u < static_cast<int>(reduction.updates.size()); ++u) {
      Halide::Stage update = partial.update(u);
      update.never_partition_all();
      own_elements(update, inner_loops(update, reduction.updates[static_cast<size_t>(u)]));
    }
    Func last = reduction.accumulator;
    last.store_in(Halide::MemoryType::Register).never_partition_all();
    if (!divides_at_border()) {
      last.compute_at(nest.func, nest.loops.back());
      bound_to(last, 1);
      own_elements(last, {}, false);
      return;
    }
    last.compute_at(nest.func, nest.loops.front());
    bound_to(last, 0);
    cuts.clear();
    for (int p = 0; p < outputs(); ++p) cuts.push_back(cut(last, p, false, false));
    map_threads(last, cuts, {}, {});
  }

  // A copy in shared memory, made by all threads of the block: neighbours copy neighbours in memory.
  void stage_operand(const PackedOperand& packed, const PlainReduction* reduction, const Nest& nest) const {
    Func func = packed.func;
    const auto sides =
        staged_sides(one_piece(stage.loops, schedule), schedule, stage.loops.operands[packed.choice.operand]);
    if (reduction && !reduction->blocks.empty())
      func.compute_at(reduction->sums.func, reduction->blocks.front());
    else
      func.compute_at(nest.func, nest.loops.front());
    func.store_in(Halide::MemoryType::GPUShared).never_partition_all();
    std::vector<Var> storage, loops;
    for (const int d : packed.choice.order) storage.push_back(packed.vars[d]);
    if (storage.size() > 1) func.reorder_storage(storage);
    for (size_t d = 0; d < sides.size(); ++d) func.bound_extent(packed.vars[d], static_cast<int>(sides[d]));
    for (size_t i = 0; i < storage.size(); ++i)
      if (const int64_t stored = packed.stored_sides[i]; stored != sides[packed.choice.order[i]])
        func.bound_storage(storage[i], static_cast<int>(stored));
    for (const int d : packed.in_memory)
      if (sides[d] != 1) loops.push_back(packed.vars[d]);
    copy_by_all(func, packed.vars, loops, packed.turns);
  }

  // Splits the loops of a copy, the fastest first, among the threads of the block.
  void copy_by_all(Func func, const std::vector<Var>& vars, std::vector<Var> loops, const CopyTurns& copy) const {
    std::vector<VarOrRVar> order;
    if (copy.lanes > 1) {
      const Var vectors = named("copied_v"), lane = named("copied_lane");
      func.split(loops[0], vectors, lane, copy.lanes, TailStrategy::RoundUp).vectorize(lane);
      order.emplace_back(lane);
      loops[0] = vectors;
    }
    // A dimension of one element, where there is no other, is a loop, too.
    if (loops.empty()) loops.push_back(vars[0]);
    std::reverse(loops.begin(), loops.end());
    const Var all = fused(func, loops, named("copied")), turn = named("copy_turn"), number = named("copy_thread");
    const auto threads = static_cast<int>(gpu_threads(schedule));
    func.split(all, turn, number, threads, copy.exact ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
    order.emplace_back(turn);
    if (copy.turns <= kMostUnrolledCopies) func.unroll(turn);
    std::vector<VarOrRVar> dimensions;
    Var rest = number;
    for (size_t d = 0; d + 1 < block.size(); ++d) {
      const Var slower = named(d == 0 ? "copy_tyz" : "copy_tz"), one = named(d == 0 ? "copy_tx" : "copy_ty");
      int64_t extent = 1;
      for (const int p : block[d]) extent *= threads_of_loop(schedule, p);
      func.split(rest, slower, one, static_cast<int>(extent), TailStrategy::RoundUp);
      dimensions.emplace_back(one);
      rest = slower;
    }
    dimensions.emplace_back(rest);
    order.insert(order.end(), dimensions.begin(), dimensions.end());
    func.reorder(order);
    on_threads(func, dimensions);
  }

  void apply_reduction(const Nest& nest) const {
    if (shared) return shared_sums(*shared, nest);
    const auto& plain = std::get<PlainReduction>(*stage.reduction);
    if (sums_by_block(schedule) || divides_at_border())
      block_sums(plain, nest);
    else
      sums_by_thread(plain, nest);
  }
};

// A block an element, with a thread for each group of its pieces; the first computes it.
void map_grouped(Func result, const StoredElements::PieceGroups& groups) {
  const std::vector<Var> vars = result.args();
  Var blocks(result.name() + "_block");
  const Var thread(result.name() + "_thread");
  if (vars.empty()) {
    result.split(Var::outermost(), Var::outermost(), blocks, 1).split(blocks, blocks, thread, 1);
  } else {
    result.split(vars[0], blocks, thread, 1);
    for (size_t d = 1; d < vars.size(); ++d) {
      const Var both(fmt::format("{}_blocks{}", result.name(), d));
      result.fuse(blocks, vars[d], both);
      blocks = both;
    }
  }
  result.gpu_blocks(blocks).gpu_threads(thread);
  Func func = groups.func;
  func.compute_at(result, blocks).store_in(Halide::MemoryType::GPUShared);
  func.bound_extent(groups.group, groups.count).gpu_threads(groups.group);
}

}  // namespace

void map_elements(Func func, const std::vector<Var>& vars) {
  constexpr int kThreads = 128;  // enough of them for every device
  const auto map = [&](auto&& definition) {
    if (vars.empty()) {
      definition.gpu_single_thread();
      return;
    }
    const Var outer(vars[0].name() + "_block"), inner(vars[0].name() + "_thread");
    definition.split(vars[0], outer, inner, kThreads, TailStrategy::GuardWithIf);
    Var blocks = outer;
    for (size_t d = 1; d < vars.size(); ++d) {
      const Var both(fmt::format("{}_blocks{}", func.name(), d));
      definition.fuse(blocks, vars[d], both);
      blocks = both;
    }
    definition.gpu_blocks(blocks).gpu_threads(inner);
  };
  map(func);
  for (int u = 0; u < func.num_update_definitions(); ++u) map(func.update(u));
}

void map_elements(Func func) { map_elements(func, func.args()); }

Nest apply_gpu(const NestSchedule& schedule, const Stage& stage, const NestPlacement& placement) {
  const GpuApplier applier{schedule, stage, placement};
  const Nest nest = applier.tile();
  // Pieces of loops without the conditions of borders would be kernels several times as long.
  Func tiled = placement.stored.tiled;
  tiled.never_partition_all();
  const auto& stored = placement.stored;
  if (stored.has_own_nest()) {
    Func result = stored.result;
    for (size_t d = 0; d < stored.vars.size(); ++d) result.bound(stored.vars[d], 0, stored.extents[d]);
    if (stored.groups)
      map_grouped(result, *stored.groups);
    else
      map_elements(result);
  }
  if (stage.reduction) applier.apply_reduction(nest);
  const auto* reduction = stage.reduction ? std::get_if<PlainReduction>(&*stage.reduction) : nullptr;
  for (const auto& packed : stage.packed) applier.stage_operand(packed, reduction, nest);
  return nest;
}

}  // namespace tile_tune::codegen
