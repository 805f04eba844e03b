#include "codegen/lower/apply.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/apply_gpu.h"
#include "codegen/lower/copy.h"
#include "codegen/lower/tile_products.h"
#include "codegen/schedule/cut_indices.h"
#include "codegen/target/costs.h"

namespace tile_tune::codegen {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

// The first dimension of a Func that holds vector lanes, or partial sums.
struct Lanes {
  Var var;
  int64_t count;
  int64_t at_once;  // in a vector; 1: in none
};

// The tile loops of a stage; the members are what all directives need.
struct Tiling {
  const NestSchedule& schedule;
  const ir::Statement& statement;
  const Stage& stage;
  const NestPlacement& placement;
  const Target& target;

  size_t levels() const { return schedule.order.size(); }
  int outputs() const { return static_cast<int>(stage.vars.size()); }
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

  TailStrategy last_tile(int p) const {
    // The last tile is moved back to end at the border: every iteration stays inside the tensor and runs full
    // width. (GuardWithIf would still make the accumulators read a whole tile beyond the border, where only a constant
    // packed with blocks up to there has elements.)
    if (stage.masked_loop == p) return TailStrategy::PredicateStores;
    if (stage.guarded == p) return TailStrategy::GuardWithIf;
    if (stage.runtime_extents[p].defined())
      return stage.all_guarded ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
    return placement.extents[p] % schedule.tiles[p][0] == 0 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
  }

  // The loops, innermost first, that store a tile from its home; `tile`: its remaining loop by dimension. Vectors that
  // run across the target's neighbours are transposed in registers: the compiler makes vectors of unrolled neighbours.
  std::vector<VarOrRVar> copy_from_home(Func tiled, const std::vector<Var>& tile) const {
    std::vector<VarOrRVar> order, outer;
    for (const int p : register_order()) {
      int64_t rows = p == stage.contiguous ? std::min(costs::kMostTransposedRows, schedule.tiles[p].front()) : 1;
      while (schedule.tiles[p].front() % rows != 0) --rows;
      if (!is_vector(p) && rows == 1) {
        outer.push_back(tile[p]);
        continue;
      }
      const Var beyond = tile_var(p, levels(), "o"), inner = tile_var(p, levels(), "i");
      tiled.split(tile[p], beyond, inner, is_vector(p) ? schedule.cpu().lanes : static_cast<int>(rows),
                  TailStrategy::RoundUp);
      if (is_vector(p))
        tiled.vectorize(inner);
      else
        tiled.unroll(inner);
      order.push_back(inner);
      outer.push_back(beyond);
    }
    order.insert(order.end(), outer.begin(), outer.end());
    return order;
  }

  // Of a loop that Halide cuts at its last iterations it marks the first ones, in every index, as likely, also in that
  // of the sum that a vector across a border leaves as it is: then neither side of that select is the likely one, and
  // the loop along the border is not cut. (A window of 7 in steps of 2 over rows of 4008, tiles of 10 of 256 filters:
  // 856 us, every vector gathered element by element, 407 so; two Zen 4 cores, 2026-11-30.) Scalars branch instead.
  bool stays_whole(int p) const {
    const int vector = schedule.cpu().vector_loop;
    const auto is_cut = [&](int loop) { return is_constrained(statement, stage.loops.output_index[loop]); };
    return vector >= 0 && vector < outputs() && is_cut(vector) && !is_cut(p) && stage.guarded != p &&
           stage.masked_loop != p;
  }

  // Directives of the tiled Func.
  Nest tile() const {
    Func func = placement.stored.tiled;
    std::vector<VarOrRVar> order;
    std::vector<Var> registers;
    for (int p = 0; p < outputs(); ++p) {
      if (schedule.compute_at)
        func.bound_extent(stage.vars[p], static_cast<int>(placement.extents[p]));
      else
        func.bound(stage.vars[p], 0,
                   stage.runtime_extents[p].defined() ? stage.runtime_extents[p]
                                                      : Halide::Expr(static_cast<int>(placement.extents[p])));
      registers.push_back(split_tiles(func, p, 0, stage.home ? 1 : levels(), last_tile(p)));
    }
    if (stage.home)
      order = copy_from_home(func, registers);
    else
      for (const int p : register_order())
        if (stage.masked_loop != p) in_registers(func, p, registers[p], order);
    if (stage.masked_loop) {  // Halide splits no loop again that is stored under a predicate
      func.vectorize(registers[*stage.masked_loop]);
      order.insert(order.begin(), registers[*stage.masked_loop]);
    }
    if (placement.part) {  // as one store of interleaved vectors
      func.bound(*placement.part, 0, 2).unroll(*placement.part);
      order.insert(order.begin(), *placement.part);
    }
    std::vector<Var> nest = tile_loops(0, stage.home ? 1 : levels());
    append_reversed(order, nest);
    int parallel = schedule.cpu().parallel;
    if (schedule.parallel_reduction) {
      func.bound(*stage.piece, 0, schedule.parallel_reduction->pieces);
      order.push_back(*stage.piece);
      nest.insert(nest.begin(), *stage.piece);
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
    for (size_t l = 0; l < (stage.home ? 1 : levels()); ++l)
      for (const int p : schedule.order[l]) {
        const Var loop = tile_var(p, l, "o");
        const bool is_own =
            std::any_of(nest.begin(), nest.end(), [&](const Var& own) { return own.name() == loop.name(); });
        if (is_own && stays_whole(p)) func.never_partition({loop});
      }
    return {func, nest, fused_away()};
  }

  // Loops of the schedule's nest that Nest::loops lacks because they were fused into one parallel loop. The loop over
  // pieces of a parallel reduction is fused as well and is no loop of the schedule: with it alone, -1.
  int fused_away() const {
    return schedule.parallel_reduction ? schedule.cpu().parallel - 1 : std::max(schedule.cpu().parallel - 1, 0);
  }
};

// Everything inside the nest.
struct Applier : Tiling {
  const Nest nest;

  // The loops over blocks of a blocked reduction.
  std::vector<Halide::RVar> blocks() const {
    const auto* blocked = stage.reduction ? std::get_if<BlockedReduction>(&*stage.reduction) : nullptr;
    return blocked ? blocked->blocks : std::vector<Halide::RVar>();
  }

  // The loop inside which something lies that has `depth` tile loops of the nest around it.
  Halide::LoopLevel level_at(int depth) const {
    if (stage.home && depth >= outputs() && (depth > outputs() || !blocks().empty())) {
      // Depths from the level-0 loops inwards lie in what fills the home, inside the loops over blocks.
      const Func& accumulator = accumulator_of(*stage.reduction);
      const auto inner = tile_loops(1, levels());
      const int i = depth - outputs();
      if (i == 0) return Halide::LoopLevel(accumulator, blocks().front());
      return Halide::LoopLevel(accumulator, inner[i - 1]);
    }
    if (depth == 0 && schedule.compute_at) return *placement.where;
    if (depth <= 0) return Halide::LoopLevel::root();
    return nest.at(depth);
  }

  Halide::LoopLevel innermost() const {
    if (nest.loops.empty()) return Halide::LoopLevel(nest.func, Var::outermost());
    return Halide::LoopLevel(nest.func, nest.loops.back());
  }

  // Schedules a Func that holds one register tile (and, with a reduction in lanes, its lanes).
  template <typename Definition>
  void register_tile(Definition&& definition, const std::vector<VarOrRVar>& outer_loops,
                     const std::optional<Lanes>& lanes = {}, const Halide::RVar* dot = nullptr) const {
    std::vector<VarOrRVar> order;
    for (const int p : register_order()) in_registers(definition, p, stage.vars[p], order);
    if (lanes && lanes->at_once == 1) {
      definition.unroll(lanes->var);
      order.insert(order.begin(), lanes->var);
    } else if (lanes) {
      const int width = static_cast<int>(std::min(lanes->count, lanes->at_once));
      const Var outer(lanes->var.name() + "_o"), inner(lanes->var.name() + "_i");
      definition.split(lanes->var, outer, inner, width, TailStrategy::RoundUp).vectorize(inner).unroll(outer);
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

  // Sums of a reduction in registers: dot products innermost, then the register tile, then the reduction's loops, with
  // those to unroll unrolled.
  void apply_sums(const RegisterSums& sums, const std::optional<Lanes>& lanes = {}) const {
    Func func = sums.func;
    func.store_in(Halide::MemoryType::Register);
    bound_to_register_tile(func);
    if (lanes) func.bound_extent(lanes->var, static_cast<int>(lanes->count));
    if (lanes && lanes->at_once == 1 && outputs() > 0) {  // vectors of elements lie side by side
      auto storage = func.args();
      std::rotate(storage.begin(), storage.begin() + 1, storage.end());
      func.reorder_storage(storage);
    }
    register_tile(func, {}, lanes);
    apply_update(func.update(), sums, lanes);
  }

  void apply_update(Halide::Stage update, const RegisterSums& sums, const std::optional<Lanes>& lanes) const {
    std::vector<VarOrRVar> order;
    for (auto loop = sums.unrolled.begin() + (stage.dot ? 1 : 0); loop != sums.unrolled.end(); ++loop) {
      update.unroll(*loop);
      order.push_back(*loop);
    }
    auto others = sums.others;
    if (sums.steps_at_once > 1) {
      const Halide::RVar all = others.front(), step(all.name() + "_i");
      others.front() = Halide::RVar(all.name() + "_o");
      update.split(all, others.front(), step, sums.steps_at_once, TailStrategy::GuardWithIf).unroll(step);
      order.push_back(step);
    }
    order.insert(order.end(), others.begin(), others.end());
    if (stage.matrix_tiles)
      matrix_tile(update, sums.unrolled.front(), std::move(order));
    else
      register_tile(update, order, lanes, stage.dot ? &sums.unrolled.front() : nullptr);
  }

  // Plain loops over the elements of each tile, by names that tile_products.cpp knows, with the groups of the reduction
  // around all tiles.
  void matrix_tile(Halide::Stage& update, const Halide::RVar& part, std::vector<VarOrRVar> outer_loops) const {
    const Halide::RVar own_part(kTilePart), group(kTileGroup);
    update.rename(part, own_part).rename(outer_loops.front(), group);
    outer_loops.front() = group;
    const int v = schedule.cpu().vector_loop, row = stage.matrix_tiles->row_loop;
    const Var column_tile(tile_var(v, levels(), "o")), row_tile(tile_var(row, levels(), "o")), column(kTileColumn),
        of_row(kTileRow);
    update.split(stage.vars[v], column_tile, column, kTileColumns, TailStrategy::GuardWithIf).unroll(column_tile);
    update.split(stage.vars[row], row_tile, of_row, stage.matrix_tiles->rows, TailStrategy::GuardWithIf)
        .unroll(row_tile);
    std::vector<VarOrRVar> order{own_part, column, of_row, column_tile, row_tile};
    for (int p = 0; p < outputs(); ++p)
      if (p != v && p != row) order.push_back(stage.vars[p]);
    order.insert(order.end(), outer_loops.begin(), outer_loops.end());
    update.reorder(order);
  }

  void apply_reduction(const PlainReduction& reduction) const {
    Func(reduction.sums.func).compute_at(innermost());
    apply_sums(reduction.sums);
  }

  void apply_reduction(const LaneReduction& reduction) const {
    const Lanes all{reduction.lane, reduction.lanes, reduction.at_once};
    Func(reduction.partial.func).compute_at(innermost());
    apply_sums(reduction.partial, all);
    if (reduction.last) apply_update(Func(reduction.partial.func).update(1), *reduction.last, all);
    for (auto [fold, width] : reduction.folds) {
      fold.compute_at(innermost()).store_in(Halide::MemoryType::Register);
      fold.bound_extent(reduction.lane, width);
      register_tile(fold, {}, Lanes{reduction.lane, width, reduction.at_once});
    }
    Func accumulator = reduction.accumulator;
    accumulator.compute_at(innermost()).store_in(Halide::MemoryType::Register);
    bound_to_register_tile(accumulator);
    register_tile(accumulator, {});
    if (!reduction.tail) return;
    register_tile(accumulator.update(), std::vector<VarOrRVar>(reduction.tail->begin(), reduction.tail->end()));
  }

  void apply_reduction(const BlockedReduction& reduction) const {
    Func sums = reduction.accumulator;
    sums.compute_at(outputs() == 0 ? innermost() : nest.at(outputs()));
    for (int p = 0; p < outputs(); ++p) sums.bound_extent(stage.vars[p], static_cast<int>(schedule.tiles[p][0]));
    const bool adds_blocks = !reduction.blocks.empty();
    if (adds_blocks && schedule.cpu().vector_loop >= 0)
      sums.vectorize(stage.vars[schedule.cpu().vector_loop], schedule.cpu().lanes, TailStrategy::RoundUp);

    Halide::Stage update = adds_blocks ? sums.update() : Halide::Stage(sums);
    std::vector<VarOrRVar> order;
    std::vector<Var> registers;
    for (int p = 0; p < outputs(); ++p)
      registers.push_back(split_tiles(update, p, 1, levels(), TailStrategy::GuardWithIf));
    for (const int p : register_order()) in_registers(update, p, registers[p], order);
    const auto inner = tile_loops(1, levels());
    append_reversed(order, inner);
    order.insert(order.end(), reduction.blocks.begin(), reduction.blocks.end());
    update.reorder(order);

    Func partial = reduction.partial.func;
    if (inner.empty())
      partial.compute_at(sums, reduction.blocks.front());
    else
      partial.compute_at(sums, inner.back());
    apply_sums(reduction.partial);
  }

  void apply_reduction(const SharedReduction&) const {}  // a GPU's: apply_gpu()

  void apply_reduction(const Totals& totals) const { apply_totals(schedule, totals, target); }

  bool is_shared_copy(const PackedOperand& packed) const {
    int64_t bytes = packed.func.types()[0].bytes();
    for (const int64_t extent : packed.extents) bytes *= extent;
    return packed.choice.depth == 0 && schedule.cpu().parallel > 0 && packed.choice.order.size() > 1 &&
           bytes >= costs::kLeastSharedCopy;
  }

  // Of each reduction loop inside of so many tile loops: all pieces of a parallel one run inside of none.
  const std::vector<int64_t>& reductions_inside(int depth) const {
    return depth == 0 && schedule.parallel_reduction ? stage.loops.reduction : stage.reduction_extents;
  }

  // Iterations of each loop, output loops first, while `depth` tile loops of the nest are open.
  std::vector<int64_t> iterations_inside(int depth) const {
    std::vector<int64_t> result = placement.extents;
    if (stage.masked_loop) result[*stage.masked_loop] = schedule.cpu().lanes;
    for (int i = 0; i < depth; ++i) {
      const int level = i / outputs(), p = schedule.order[level][i % outputs()];
      result[p] = schedule.tiles[p][level];
    }
    const bool in_block = !blocks().empty() && depth >= outputs();
    const auto& reduction = in_block ? schedule.reduction_block : reductions_inside(depth);
    for (size_t r = 0; r < reduction.size(); ++r) result.push_back(std::min(reduction[r], stage.loops.reduction[r]));
    return result;
  }

  // Of terms that a constraint leaves out nothing is read, so that a copy may be smaller than its loops say.
  PackedOperand with_cut_dimensions(PackedOperand packed, const std::vector<int64_t>& iterations) const {
    const auto& reductions = reductions_inside(std::max(packed.choice.depth, 0));
    const auto& loops = stage.loops;
    std::vector<bool> in_part(statement.indices.size());
    for (int p = 0; p < outputs(); ++p) in_part[loops.output_index[p]] = iterations[p] < loops.output[p];
    for (size_t r = 0; r < loops.reduction.size(); ++r)
      in_part[loops.reduction_index[r]] = iterations[outputs() + r] < loops.reduction[r];
    const auto left_out = cut_indices(statement, in_part);
    // And of the last block there may be less.
    std::vector<bool> cut(statement.indices.size());
    for (size_t r = 0; r < loops.reduction.size(); ++r)
      if (const int64_t block = iterations[outputs() + r]; block > 0 && reductions[r] % block != 0)
        cut[loops.reduction_index[r]] = true;
    const auto& subscripts = loops.operands[packed.choice.operand].subscripts;
    for (size_t d = 0; d < subscripts.size(); ++d)
      for (const auto& term : std::get<ir::AffineExpr>(subscripts[d]).terms)
        if (cut[term.first] || (left_out[term.first] && !packed.bordered[d])) packed.unclamped[d] = false;
    return packed;
  }

  // What reaches over both ends of a tensor is copied as it is, from one end to the other.
  void copy_whole_dimensions(PackedOperand& packed, std::vector<int64_t>& region) const {
    for (size_t d = 0; d < region.size(); ++d) {
      if (packed.part || packed.unclamped[d] || packed.bordered[d] || region[d] < packed.extents[d] ||
          stage.follows_masked_loop(packed.choice.operand, d))
        continue;
      packed.func.bound(packed.vars[d], 0, static_cast<int>(packed.extents[d]));
      packed.unclamped[d] = true;
      region[d] = packed.extents[d];
    }
  }

  // Vectorises a copy; returns its loops, innermost first.
  std::vector<CopyLoop> copy_loops(const PackedOperand& operand) const {
    Func func = operand.func;
    const int lanes = target.vector_bytes / func.types()[0].bytes();
    const auto iterations = iterations_inside(std::max(operand.choice.depth, 0));
    auto region = sides(stage.loops, stage.loops.operands[operand.choice.operand], iterations);
    PackedOperand packed = with_cut_dimensions(operand, iterations);
    if (operand.choice.depth == 0) copy_whole_dimensions(packed, region);
    // Lanes beyond the loop of a masked vector are filled as well: what nobody wrote may be subnormal numbers, with
    // which bae,edc->dcab of 15 x 16 x 24 and 24 x 72 x 16 took 2.6 ms instead of 70 us (two Emerald Rapids cores,
    // 2026-11-30).
    for (int d = 0; d < static_cast<int>(region.size()); ++d)
      if (stage.follows_masked_loop(operand.choice.operand, d))
        func.bound_extent(packed.vars[d], static_cast<int>(region[d]));
    // Blocks are cut by numbers: how far a region reaches is not known where its loops are not.
    const auto blocks = stage.has_runtime_loop() ? std::nullopt : transposition(packed, region, lanes);
    if (blocks) return in_blocks(packed, *blocks, region);
    std::vector<CopyLoop> loops;
    // Unrolled, the stores of all parts of a vector become one, of interleaved vectors.
    if (packed.part) func.unroll(*packed.part);
    if (packed.part) loops.push_back({*packed.part});
    for (const int d : packed.choice.order) loops.push_back({packed.vars[d], region[d]});
    const int vector = packed.choice.order.front();
    loops[packed.part ? 1 : 0].trips = 0;
    // GuardWithIf: a packed region's width is whatever the tile needs, and reading past it may leave the tensor.
    if (lanes > 1) func.vectorize(packed.vars[vector], lanes, TailStrategy::GuardWithIf);
    return loops;
  }

  void apply_copy(const PackedOperand& packed, const std::optional<Halide::LoopLevel>& outside) const {
    const auto& order = packed.choice.order;
    Func func = packed.func;
    func.compute_at(outside ? *outside : level_at(packed.choice.depth));
    if (order.empty()) return;
    std::vector<Var> storage;
    if (packed.part) storage.push_back(*packed.part);
    for (const int d : order) storage.push_back(packed.vars[d]);
    if (storage.size() > 1) func.reorder_storage(storage);
    // Rows of a tile that lie across two lines are loaded six times as slowly: 1 KB in 19 ns and in 3 (a core of
    // Emerald Rapids, 2026-12-01).
    if (stage.matrix_tiles)
      func.align_storage(packed.vars[order.front()], packed.part ? kTileColumns : kTileBytes / func.types()[0].bytes());
    auto loops = copy_loops(packed);
    if (is_shared_copy(packed)) {
      // Made once by all threads, which share the longest loop.
      const auto longest = std::max_element(loops.begin(), loops.end(),
                                            [](const CopyLoop& a, const CopyLoop& b) { return a.trips < b.trips; });
      func.parallel(longest->var);
      std::rotate(longest, longest + 1, loops.end());
    }
    std::vector<VarOrRVar> innermost_first;
    for (const auto& loop : loops) innermost_first.emplace_back(loop.var);
    func.reorder(innermost_first);
  }

  void apply_shift(const Shift& shift) const {
    const auto packed = std::find_if(stage.packed.begin(), stage.packed.end(),
                                     [&](const PackedOperand& p) { return p.dot.has_value(); });
    const Var vector = stage.vars[schedule.cpu().vector_loop], outer(vector.name() + "_so"),
              inner(vector.name() + "_si");
    Func func = shift.func;
    func.compute_at(level_at(packed->form ? -1 : packed->choice.depth))
        .vectorize(vector, schedule.cpu().lanes, TailStrategy::GuardWithIf);
    Halide::Stage update = func.update();
    update.split(vector, outer, inner, schedule.cpu().lanes, TailStrategy::GuardWithIf);
    std::vector<VarOrRVar> order{shift.loops.front(), inner};
    order.insert(order.end(), shift.loops.begin() + 1, shift.loops.end());
    order.push_back(outer);
    update.reorder(order).atomic().vectorize(shift.loops.front()).vectorize(inner);
  }

  // Of the result where it only takes up the tiled Func: one pass, no element twice.
  void apply_final_pass() const {
    Func result = placement.stored.result;
    const auto& vars = placement.stored.vars;
    for (size_t d = 0; d < vars.size(); ++d) result.bound(vars[d], 0, placement.stored.extents[d]);
    if (vars.empty()) return;
    const int lanes = target.vector_bytes / result.types()[0].bytes();
    result.vectorize(vars.front(), lanes, TailStrategy::GuardWithIf);
    if (vars.size() > 1) result.parallel(vars.back());
  }
};

}  // namespace

Nest apply(const NestSchedule& schedule, const ir::Statement& statement, const Stage& stage,
           const NestPlacement& placement, const Target& target) {
  Func tiled = placement.stored.tiled, result = placement.stored.result;
  const auto& where = placement.where;
  const bool own_nest = placement.stored.has_own_nest();
  if (own_nest || where) tiled.compute_at(where.value_or(Halide::LoopLevel::root()));
  if (own_nest && where) result.compute_at(*where);
  if (schedule.is_gpu()) return apply_gpu(schedule, stage, placement);
  const Tiling tiling{schedule, statement, stage, placement, target};
  const Applier applier{tiling, tiling.tile()};
  if (own_nest) applier.apply_final_pass();
  if (stage.reduction) std::visit([&](const auto& reduction) { applier.apply_reduction(reduction); }, *stage.reduction);
  for (size_t i = 0; i < stage.packed.size(); ++i)
    if (!stage.packed[i].form) applier.apply_copy(stage.packed[i], placement.copies[i]);
  if (stage.shift) applier.apply_shift(*stage.shift);
  // Of a loop that Halide cuts at its last iterations it forgets in those what is likely in loops inside: 152 x 263 by
  // 263 x 128 of bf16, where every dot product asked then whether it was the last, took 113 us, 39 so (Zen 4,
  // 2026-11-27).
  if (stage.dot && stage.ends_early(stage.dot->loop) && statement.constraints.empty() && !stage.guarded)
    for (const Var& loop : applier.nest.loops) Func(applier.nest.func).never_partition({loop});
  return applier.nest;
}

}  // namespace tile_tune::codegen
