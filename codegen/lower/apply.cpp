// Turns a NestSchedule into Halide directives. The nest of a tiled Func, outermost first:
//
//   parallel { order[0] loops ... } order[0] rest ... order[L-1] loops | register tile (vector, unrolled)
//
// Accumulators live inside the innermost tile loop, in registers. Where results have a home (has_home) it is a
// buffer inside the order[0] loops; the loops of order[1..] then belong to what fills it, inside the loops over
// blocks of the reduction if there are any, and partial sums live in registers inside those.
#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/copy.h"
#include "codegen/schedule/cut_indices.h"

namespace tile_tune::codegen {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

struct Applier {
  const NestSchedule& schedule;
  const ir::Statement& statement;
  Stage& stage;
  const Target& target;
  const std::optional<Halide::LoopLevel>& where;

  size_t levels() const { return schedule.order.size(); }
  int outputs() const { return static_cast<int>(stage.vars.size()); }
  int reductions() const { return static_cast<int>(stage.loops.reduction.size()); }
  bool in_lanes() const { return stage.lane_extent > 0; }
  bool is_vector(int p) const { return p == schedule.cpu().vector_loop && schedule.cpu().lanes > 1; }

  Var tile_var(int p, size_t level, const char* kind) const {
    return Var(fmt::format("{}_{}{}", stage.vars[p].name(), kind, level));
  }

  // The tail of a split that divides exactly. Halide refuses RoundUp inside updates; it sees that the guard never
  // fails.
  template <typename FuncOrStage>
  static constexpr TailStrategy exact() {
    return std::is_same_v<std::decay_t<FuncOrStage>, Func> ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
  }

  // Splits dimension p of `func` into loops over tiles of levels [first, last); returns what remains: after the last
  // level the register loop.
  template <typename FuncOrStage>
  Var split_tiles(FuncOrStage&& func, int p, size_t first, size_t last, TailStrategy outer_tail) const {
    Var rest = stage.vars[p];
    for (size_t l = first; l < last; ++l) {
      const Var inner = tile_var(p, l, "i");
      func.split(rest, tile_var(p, l, "o"), inner, static_cast<int>(schedule.tiles[p][l]),
                 l == first ? outer_tail : exact<FuncOrStage>());
      rest = inner;
    }
    return rest;
  }

  // Vectorises or unrolls the register loop `rest` of dimension p; appends its loops to `order`, innermost first.
  template <typename FuncOrStage>
  void in_registers(FuncOrStage&& func, int p, const Var& rest, std::vector<VarOrRVar>& order,
                    bool unroll = true) const {
    if (is_vector(p)) {
      const Var outer = tile_var(p, levels(), "o"), inner = tile_var(p, levels(), "i");
      func.split(rest, outer, inner, schedule.cpu().lanes, exact<FuncOrStage>()).vectorize(inner);
      if (unroll) func.unroll(outer);
      order.insert(order.begin(), inner);
      order.push_back(outer);
    } else {
      if (unroll) func.unroll(rest);
      order.push_back(rest);
    }
  }

  // Output dimensions with the vector loop first, then from the innermost tile loop outwards.
  std::vector<int> register_order() const {
    std::vector<int> order(schedule.order.back().rbegin(), schedule.order.back().rend());
    const auto vector = std::find(order.begin(), order.end(), schedule.cpu().vector_loop);
    if (vector != order.end()) std::rotate(order.begin(), vector, vector + 1);
    return order;
  }

  // Tile loops of levels [first, last), outermost first.
  std::vector<Var> tile_loops(size_t first, size_t last) const {
    std::vector<Var> loops;
    for (size_t l = first; l < last; ++l)
      for (const int p : schedule.order[l]) loops.push_back(tile_var(p, l, "o"));
    return loops;
  }

  static void append_reversed(std::vector<VarOrRVar>& order, const std::vector<Var>& loops) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) order.push_back(*loop);
  }

  // Loops of `tiled` after apply_tiled(), outermost first, the parallel ones fused into one.
  std::vector<Var> nest;

  TailStrategy last_tile(int p) const {
    // The last tile is moved back to end at the border: every iteration stays inside the tensor and runs full
    // width. (GuardWithIf would still make the accumulators read a whole tile beyond the border, where only a constant
    // packed with blocks up to there has elements.)
    if (stage.guarded == p) return TailStrategy::GuardWithIf;
    if (stage.runtime_extents[p].defined())
      return stage.all_guarded ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
    return stage.extents[p] % schedule.tiles[p][0] == 0 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
  }

  // The loops, innermost first, that store a tile from its home; `tile`: its remaining loop by dimension. Vectors that
  // run across the target's neighbours are transposed in registers: the compiler makes vectors of unrolled neighbours.
  std::vector<VarOrRVar> copy_from_home(const std::vector<Var>& tile) {
    std::vector<VarOrRVar> order, outer;
    for (const int p : register_order()) {
      int64_t rows = p == stage.contiguous ? std::min(kMostRows, schedule.tiles[p].front()) : 1;
      while (schedule.tiles[p].front() % rows != 0) --rows;
      if (!is_vector(p) && rows == 1) {
        outer.push_back(tile[p]);
        continue;
      }
      const Var beyond = tile_var(p, levels(), "o"), inner = tile_var(p, levels(), "i");
      stage.tiled.split(tile[p], beyond, inner, is_vector(p) ? schedule.cpu().lanes : static_cast<int>(rows),
                        TailStrategy::RoundUp);
      if (is_vector(p))
        stage.tiled.vectorize(inner);
      else
        stage.tiled.unroll(inner);
      order.push_back(inner);
      outer.push_back(beyond);
    }
    order.insert(order.end(), outer.begin(), outer.end());
    return order;
  }

  void apply_tiled() {
    Func& func = stage.tiled;
    std::vector<VarOrRVar> order;
    std::vector<Var> registers;
    for (int p = 0; p < outputs(); ++p) {
      if (schedule.compute_at)
        func.bound_extent(stage.vars[p], static_cast<int>(stage.extents[p]));
      else
        func.bound(stage.vars[p], 0,
                   stage.runtime_extents[p].defined() ? stage.runtime_extents[p]
                                                      : Halide::Expr(static_cast<int>(stage.extents[p])));
      registers.push_back(split_tiles(func, p, 0, stage.home ? 1 : levels(), last_tile(p)));
    }
    if (stage.home)
      order = copy_from_home(registers);
    else
      for (const int p : register_order()) in_registers(func, p, registers[p], order);
    nest = tile_loops(0, stage.home ? 1 : levels());
    append_reversed(order, nest);
    int parallel = schedule.cpu().parallel;
    if (schedule.parallel_reduction) {
      func.bound(stage.piece, 0, schedule.parallel_reduction->pieces);
      order.push_back(stage.piece);
      nest.insert(nest.begin(), stage.piece);
      ++parallel;
    }
    if (!order.empty()) func.reorder(order);
    if (parallel > 0) {
      Var fused = nest[0];
      for (int i = 1; i < parallel; ++i) {
        const Var both(fmt::format("{}_par{}", func.name(), i));
        func.fuse(nest[i], fused, both);
        fused = both;
      }
      func.parallel(fused);
      nest.erase(nest.begin(), nest.begin() + parallel);
      nest.insert(nest.begin(), fused);
    }
  }

  // Loops of the schedule's nest that `nest` lacks because they were fused into one parallel loop.
  // (-1: the pieces of a parallel reduction are one more.)
  int fused_away() const {
    return schedule.parallel_reduction ? schedule.cpu().parallel - 1 : std::max(schedule.cpu().parallel - 1, 0);
  }

  // The loop inside which something lies that has `depth` tile loops of the nest around it.
  Halide::LoopLevel level_at(int depth) const {
    if (stage.home && depth >= outputs() && (depth > outputs() || !stage.block.empty())) {
      // Depths from the level-0 loops inwards lie in what fills the home, inside the loops over blocks.
      const auto inner = tile_loops(1, levels());
      const int i = depth - outputs();
      if (i == 0) return Halide::LoopLevel(stage.accumulator, stage.block.front());
      return Halide::LoopLevel(stage.accumulator, inner[i - 1]);
    }
    if (depth == 0 && schedule.compute_at) return *where;
    if (depth <= 0) return Halide::LoopLevel::root();
    return Halide::LoopLevel(stage.tiled, nest[depth - 1 - fused_away()]);
  }

  Halide::LoopLevel innermost() const {
    if (nest.empty()) return Halide::LoopLevel(stage.tiled, Var::outermost());
    return Halide::LoopLevel(stage.tiled, nest.back());
  }

  // Schedules a Func that holds one register tile (and, with a reduction in lanes, its lanes).
  template <typename Definition>
  void register_tile(Definition&& definition, const std::vector<VarOrRVar>& outer_loops, int64_t lane_extent,
                     const Halide::RVar* dot = nullptr) const {
    std::vector<VarOrRVar> order;
    for (const int p : register_order()) in_registers(definition, p, stage.vars[p], order);
    if (lane_extent > 0) {
      const int width = static_cast<int>(std::min<int64_t>(lane_extent, schedule.cpu().lanes));
      const Var outer(stage.lane.name() + "_o"), inner(stage.lane.name() + "_i");
      definition.split(stage.lane, outer, inner, width, TailStrategy::RoundUp).vectorize(inner).unroll(outer);
      order.insert(order.begin(), {inner, outer});
    }
    order.insert(order.end(), outer_loops.begin(), outer_loops.end());
    if (dot) {
      definition.atomic().vectorize(*dot);
      order.insert(order.begin(), *dot);
    }
    if (!order.empty()) definition.reorder(order);
  }

  void bound_to_register_tile(Func& func) const {
    for (int p = 0; p < outputs(); ++p) func.bound_extent(stage.vars[p], static_cast<int>(schedule.tiles[p].back()));
  }

  // An update that adds up a reduction in registers: dot products innermost, then the register tile, then the
  // reduction's loops, with those to unroll unrolled.
  void register_reduction(Halide::Stage update, int64_t lane_extent) const {
    std::vector<VarOrRVar> order;
    const auto first = stage.unrolled.begin() + (stage.dot ? 1 : 0);
    for (auto loop = first; loop != stage.unrolled.end(); ++loop) {
      update.unroll(*loop);
      order.push_back(*loop);
    }
    order.insert(order.end(), stage.reduction.begin(), stage.reduction.end());
    register_tile(update, order, lane_extent, stage.dot ? &stage.unrolled.front() : nullptr);
  }

  void apply_plain_reduction() {
    Func& sums = stage.accumulator;
    sums.compute_at(innermost()).store_in(Halide::MemoryType::Register);
    bound_to_register_tile(sums);
    register_tile(sums, {}, 0);
    register_reduction(sums.update(), 0);
  }

  void apply_lane_reduction() {
    Func& partial = stage.partial;
    partial.compute_at(innermost()).store_in(Halide::MemoryType::Register);
    bound_to_register_tile(partial);
    partial.bound_extent(stage.lane, static_cast<int>(stage.lane_extent));
    register_tile(partial, {}, stage.lane_extent);
    register_reduction(partial.update(), stage.lane_extent);
    for (auto& [fold, width] : stage.folds) {
      fold.compute_at(innermost()).store_in(Halide::MemoryType::Register);
      fold.bound_extent(stage.lane, width);
      register_tile(fold, {}, width);
    }
    stage.accumulator.compute_at(innermost()).store_in(Halide::MemoryType::Register);
    bound_to_register_tile(stage.accumulator);
    register_tile(stage.accumulator, {}, 0);
    if (stage.has_tail) {
      const std::vector<VarOrRVar> loops(stage.tail.begin(), stage.tail.end());
      register_tile(stage.accumulator.update(), loops, 0);
    }
  }

  void apply_reduction_into_home() {
    Func& sums = stage.accumulator;
    if (outputs() == 0) {
      sums.compute_at(innermost());
    } else {
      sums.compute_at(stage.tiled, nest[outputs() - 1 - fused_away()]);
    }
    for (int p = 0; p < outputs(); ++p) sums.bound_extent(stage.vars[p], static_cast<int>(schedule.tiles[p][0]));
    const bool adds_blocks = !stage.block.empty();
    if (adds_blocks && schedule.cpu().vector_loop >= 0)
      sums.vectorize(stage.vars[schedule.cpu().vector_loop], schedule.cpu().lanes, TailStrategy::RoundUp);

    Halide::Stage update = adds_blocks ? sums.update() : Halide::Stage(sums);
    std::vector<VarOrRVar> order;
    std::vector<Var> registers;
    for (int p = 0; p < outputs(); ++p)
      registers.push_back(split_tiles(update, p, 1, levels(), TailStrategy::GuardWithIf));
    for (const int p : register_order()) in_registers(update, p, registers[p], order);
    append_reversed(order, tile_loops(1, levels()));
    for (const auto& block : stage.block) order.push_back(block);
    update.reorder(order);

    Func& partial = stage.partial;
    const auto inner = tile_loops(1, levels());
    if (inner.empty())
      partial.compute_at(sums, stage.block.front());
    else
      partial.compute_at(sums, inner.back());
    partial.store_in(Halide::MemoryType::Register);
    bound_to_register_tile(partial);
    register_tile(partial, {}, 0);
    register_reduction(partial.update(), 0);
  }

  // Copies of fewer elements take less time than it takes to start the threads (5 us on two cores of Zen 4).
  bool is_shared_copy(const PackedOperand& packed) const {
    constexpr int64_t kFewest = 1 << 15;
    int64_t elements = 1;
    for (const int64_t extent : packed.extents) elements *= extent;
    return packed.choice.depth == 0 && schedule.cpu().parallel > 0 && packed.choice.order.size() > 1 &&
           elements >= kFewest;
  }

  // Iterations of each loop, output loops first, while `depth` tile loops of the nest are open.
  std::vector<int64_t> iterations_inside(int depth) const {
    std::vector<int64_t> result = stage.extents;
    for (int i = 0; i < depth; ++i) {
      const int level = i / outputs(), p = schedule.order[level][i % outputs()];
      result[p] = schedule.tiles[p][level];
    }
    const bool in_block = !stage.block.empty() && depth >= outputs();
    const auto& reduction = in_block ? schedule.reduction_block : stage.reduction_extents;
    result.insert(result.end(), reduction.begin(), reduction.end());
    return result;
  }

  // Of terms that a constraint leaves out nothing is read, so that a copy may be smaller than its loops say.
  void note_cut_dimensions(PackedOperand& packed, const std::vector<int64_t>& iterations) const {
    const auto& loops = stage.loops;
    std::vector<bool> in_part(statement.indices.size());
    for (int p = 0; p < outputs(); ++p) in_part[loops.output_index[p]] = iterations[p] < loops.output[p];
    for (int r = 0; r < reductions(); ++r)
      in_part[loops.reduction_index[r]] = iterations[outputs() + r] < loops.reduction[r];
    const auto cut = cut_indices(statement, in_part);
    const auto& subscripts = loops.operands[packed.choice.operand].subscripts;
    for (size_t d = 0; d < subscripts.size(); ++d)
      for (const auto& term : std::get<ir::AffineExpr>(subscripts[d]).terms)
        if (cut[term.first]) packed.unclamped[d] = false;
  }

  // Vectorises a copy; returns its loops, innermost first.
  std::vector<CopyLoop> copy_loops(PackedOperand& packed) const {
    const int lanes = target.vector_bytes / packed.func.types()[0].bytes();
    const auto iterations = iterations_inside(std::max(packed.choice.depth, 0));
    const auto region = sides(stage.loops, stage.loops.operands[packed.choice.operand], iterations);
    note_cut_dimensions(packed, iterations);
    // Blocks are cut by numbers: how far a region reaches is not known where its loops are not.
    const auto blocks = stage.has_runtime_loop() ? std::nullopt : transposition(packed, region, lanes);
    if (blocks) return in_blocks(packed, *blocks, region);
    std::vector<CopyLoop> loops;
    // Unrolled, the stores of all parts of a vector become one, of interleaved vectors.
    if (packed.part) packed.func.unroll(*packed.part);
    if (packed.part) loops.push_back({*packed.part});
    for (const int d : packed.choice.order) loops.push_back({packed.vars[d], region[d]});
    const int vector = packed.choice.order.front();
    loops[packed.part ? 1 : 0].trips = 0;
    // GuardWithIf: a packed region's width is whatever the tile needs, and reading past it may leave the tensor.
    if (lanes > 1) packed.func.vectorize(packed.vars[vector], lanes, TailStrategy::GuardWithIf);
    return loops;
  }

  void apply_packed() {
    for (auto& packed : stage.packed) {
      if (packed.form) continue;
      const auto& order = packed.choice.order;
      packed.func.compute_at(packed.outside ? *packed.outside : level_at(packed.choice.depth));
      if (order.empty()) continue;
      std::vector<Var> storage;
      if (packed.part) storage.push_back(*packed.part);
      for (const int d : order) storage.push_back(packed.vars[d]);
      if (storage.size() > 1) packed.func.reorder_storage(storage);
      auto loops = copy_loops(packed);
      if (is_shared_copy(packed)) {
        // Made once by all threads, which share the longest loop.
        const auto longest = std::max_element(loops.begin(), loops.end(),
                                              [](const CopyLoop& a, const CopyLoop& b) { return a.trips < b.trips; });
        packed.func.parallel(longest->var);
        std::rotate(longest, longest + 1, loops.end());
      }
      std::vector<VarOrRVar> innermost_first;
      for (const auto& loop : loops) innermost_first.emplace_back(loop.var);
      packed.func.reorder(innermost_first);
    }
  }

  void apply_shift() {
    if (!stage.shift.defined()) return;
    const auto packed = std::find_if(stage.packed.begin(), stage.packed.end(),
                                     [&](const PackedOperand& p) { return p.dot.has_value(); });
    const Var vector = stage.vars[schedule.cpu().vector_loop], outer(vector.name() + "_so"),
              inner(vector.name() + "_si");
    stage.shift.compute_at(level_at(packed->form ? -1 : packed->choice.depth))
        .vectorize(vector, schedule.cpu().lanes, TailStrategy::GuardWithIf);
    Halide::Stage update = stage.shift.update();
    update.split(vector, outer, inner, schedule.cpu().lanes, TailStrategy::GuardWithIf);
    std::vector<VarOrRVar> order{stage.shift_reduction.front(), inner};
    order.insert(order.end(), stage.shift_reduction.begin() + 1, stage.shift_reduction.end());
    order.push_back(outer);
    update.reorder(order).atomic().vectorize(stage.shift_reduction.front()).vectorize(inner);
  }

  // `result` when it only takes up the tiled Func: one pass, no element twice.
  void apply_final_pass() {
    const auto& vars = stage.result_vars;
    for (size_t d = 0; d < vars.size(); ++d) stage.result.bound(vars[d], 0, stage.result_extents[d]);
    if (vars.empty()) return;
    const int lanes = target.vector_bytes / stage.result.types()[0].bytes();
    stage.result.vectorize(vars.front(), lanes, TailStrategy::GuardWithIf);
    if (vars.size() > 1) stage.result.parallel(vars.back());
  }
};

}  // namespace

Nest apply(const NestSchedule& schedule, const ir::Statement& statement, Stage& stage, const Target& target,
           const std::optional<Halide::LoopLevel>& where) {
  Applier applier{schedule, statement, stage, target, where, {}};
  const bool own_nest = stage.tiled.name() != stage.result.name();
  if (own_nest || where) stage.tiled.compute_at(where.value_or(Halide::LoopLevel::root()));
  if (own_nest && where) stage.result.compute_at(*where);
  applier.apply_tiled();
  if (own_nest) applier.apply_final_pass();
  if (stage.totals) {
    apply_totals(schedule, *stage.totals, target);
  } else if (stage.accumulator.defined()) {
    if (applier.in_lanes())
      applier.apply_lane_reduction();
    else if (stage.home)
      applier.apply_reduction_into_home();
    else
      applier.apply_plain_reduction();
  }
  applier.apply_packed();
  applier.apply_shift();
  return {stage.tiled, applier.nest, applier.fused_away()};
}

}  // namespace tile_tune::codegen
