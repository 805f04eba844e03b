#include "codegen/lower/stage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "codegen/lower/expression.h"
#include "codegen/lower/guards.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Whether an element is written, and the Func that was made to know it.
struct Written {
  Expr condition;
  std::optional<Func> search = {};
};

// The elements of one stage, from what its iterations combine to; the members are what every step needs.
struct StageBuilder {
  const KernelContext& kernel;
  const int number;
  const NestSchedule& schedule;
  const TensorFuncs& tensors;
  const StageLoops& stage;
  const Terms& terms;
  const ir::Program& program = kernel.program;
  const ir::Statement& statement = program.statements[number];
  const std::string name = stage_name(number);

  int outputs() const { return stage.outputs(); }

  // Values of the target's subscripts, in the IR's order.
  std::vector<Expr> target_subscripts() const {
    const auto indices = terms.index_values({});
    std::vector<Expr> subscripts;
    for (const auto& subscript : statement.subscripts) subscripts.push_back(to_halide(subscript, indices));
    return subscripts;
  }

  // Of assignments that are not valid, which nothing is made of, they may lie outside the target.
  std::vector<Expr> clamped(std::vector<Expr> subscripts) const {
    for (size_t d = 0; d < subscripts.size(); ++d)
      if (!stays_inside(statement, statement.subscripts[d], ir::extent(program.tensors[statement.target], d)))
        subscripts[d] = Halide::clamp(subscripts[d], 0, terms.extent_of(statement.target, d) - 1);
    return subscripts;
  }

  // What an element holds that no assignment writes, at these subscripts.
  Values not_written(const std::vector<Expr>& subscripts) const {
    const auto& target = program.tensors[statement.target];
    const auto from = statement.previous ? statement.previous : statement.unwritten;
    if (from) return at(tensors.at(*from), buffer_arguments(program.tensors[*from], subscripts));
    const Expr zero = Halide::Internal::make_zero(halide_type(target.type));
    return is_complex(target.type) ? Values{zero, zero} : Values{zero};
  }

  // The element's final value: what was computed, combined with the value before, rounded to the element type.
  Values finish(const Values& computed, const Written& written) const {
    const bool always = Halide::Internal::is_const_one(written.condition);
    const auto subscripts = stage.loops.direct ? direct_subscripts() : clamped(target_subscripts());
    const auto type = halide_type(program.tensors[statement.target].type);
    Values result = computed;
    if (statement.previous) {
      // The value before may have more digits than the terms.
      const auto wide = std::max(halide_type(statement.accumulator), type, [](const auto& a, const auto& b) {
        return a.is_float() && b.is_float() && a.bits() < b.bits();
      });
      const auto widened = [&](const Expr& part) { return convert(part, wide); };
      result = combine(statement.op, each_part(not_written(subscripts), widened), each_part(computed, widened));
    }
    result = each_part(result, [&](const Expr& part) { return convert(part, type); });
    if (always) return result;
    // Of a branch Halide asks only for the elements at which a single comparison holds, but then all of a register
    // tile from the first of them on, which reaches beyond the tile. It does not look into conjunctions; this one goes
    // as soon as the loops are known.
    Expr condition = written.condition;
    if (outputs() > 0) {
      const Expr extent =
          stage.loops.direct ? terms.extent_of(statement.target, 0) : Expr(static_cast<int>(stage.loops.output[0]));
      condition = condition && stage.vars[0] < extent;
    }
    return select(condition, each_part(result, [](const Expr& part) { return Halide::likely(part); }),
                  not_written(subscripts));
  }

  // The target's own position, also where the statement does not write.
  std::vector<Expr> direct_subscripts() const { return {stage.vars.begin(), stage.vars.end()}; }

  // Whether the element at the output loops' position is written.
  Written written() const {
    Expr inside = Halide::Internal::const_true();
    for (int p = 0; p < outputs(); ++p) {
      const auto range = written_positions(statement, stage.loops, p);
      if (range.lo > 0) inside = inside && stage.vars[p] >= static_cast<int>(range.lo);
      if (range.hi < stage.loops.output[p]) inside = inside && stage.vars[p] < static_cast<int>(range.hi);
    }
    if (!needs_assignment()) return {inside};
    const auto indices = terms.index_values({});
    if (const auto some = some_assignment_holds(statement, indices)) return {inside && *some};
    const Func search = search_assignment();
    return {inside && search(stage.in_buffer_order()), search};
  }

  // True if it shows whether an element has a valid assignment. Where combining nothing gives what would stand there
  // anyway (0 for sums, the value before), it does not.
  bool needs_assignment() const {
    if (statement.constraints.empty()) return false;
    if (stage.reductions() == 0 || statement.op == ir::Aggregation::Assign) return true;
    return !statement.previous && (statement.unwritten || statement.op != ir::Aggregation::Sum);
  }

  // Looks for a valid assignment of each element, over the reduction loops.
  Func search_assignment() const {
    const auto vars = stage.in_buffer_order();
    Halide::Region region;
    // Of a loop over nothing no constraint knows (ir::is_vacuous).
    for (const int64_t extent : stage.loops.reduction)
      region.push_back({0, static_cast<int>(std::max<int64_t>(extent, 1))});
    const RDom loops(region, name + "_ra");
    std::vector<Expr> reduction;
    for (int d = 0; d < loops.dimensions(); ++d) reduction.push_back(loops[d]);
    Func assigned(name + "_assigned");
    assigned(vars) = Halide::Internal::const_false();
    assigned(vars) = assigned(vars) || constraints_hold(statement, terms.index_values(reduction));
    return assigned;
  }

  // Threads for an element's pieces on a GPU: as many as leave each about as many pieces as there are threads. Few
  // pieces have one thread, whose loads are all under way together; 256 of them took more registers than there are.
  int piece_groups() const {
    constexpr int kFewPieces = 16;
    const int pieces = schedule.parallel_reduction->pieces;
    if (!schedule.is_gpu() || pieces <= kFewPieces) return 1;
    return static_cast<int>(std::ceil(std::sqrt(pieces)));
  }

  // The group's pieces are every count-th.
  StoredElements::PieceGroups grouped_pieces(const Func& tiled, std::vector<Var> vars) const {
    StoredElements::PieceGroups groups{Func(name + "_pieces"), Var(name + "_group"), piece_groups()};
    const int pieces = schedule.parallel_reduction->pieces;
    std::vector<Expr> position(vars.begin(), vars.end());
    position.emplace_back();
    Values sum;
    for (int first = 0; first < pieces; first += groups.count) {
      const Expr piece = groups.group + first;
      const bool all = first + groups.count <= pieces;
      position.back() = all ? piece : Halide::min(piece, pieces - 1);
      const Values next = at(tiled, position);
      const Values both = first == 0 ? next : combine(reduction_op(statement), sum, next);
      sum = all ? both : select(piece < pieces, both, sum);
    }
    vars.insert(vars.begin(), groups.group);
    define(groups.func, vars, sum);
    return groups;
  }

  // Defines the tiled Func, which holds each piece's results, and combines them.
  Values combined_pieces(Func& tiled, const Values& of_piece,
                         std::optional<StoredElements::PieceGroups>& groups) const {
    auto vars = stage.in_buffer_order();
    std::vector<Expr> position(vars.begin(), vars.end());
    const std::vector<Var> of_element = vars;
    vars.push_back(*stage.piece);
    define(tiled, vars, of_piece);
    Values result;
    if (piece_groups() > 1) {
      groups = grouped_pieces(tiled, of_element);
      position.insert(position.begin(), 0);
      for (int group = 0; group < groups->count; ++group) {
        position.front() = group;
        const Values next = at(groups->func, position);
        result = group == 0 ? next : combine(reduction_op(statement), result, next);
      }
      return result;
    }
    for (int piece = 0; piece < schedule.parallel_reduction->pieces; ++piece) {
      position.push_back(piece);
      const Values next = at(tiled, position);
      position.pop_back();
      result = piece == 0 ? next : combine(reduction_op(statement), result, next);
    }
    return with_left_over(result);
  }

  // Of the iterations that no piece has, the i-th, by reduction loop.
  std::vector<Expr> left_over_position(int64_t i) const {
    const auto [cut, pieces] = *schedule.parallel_reduction;
    std::vector<Expr> position(stage.loops.reduction.size());
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const int64_t extent = stage.loops.reduction[*r], first = *r == cut ? extent - extent % pieces : 0;
      position[*r] = static_cast<int>(first + i % (extent - first));
      i /= extent - first;
    }
    return position;
  }

  // The iterations that no piece has, one by one.
  Values with_left_over(Values result) const {
    const int64_t rest = left_over(stage.loops, schedule);
    if (rest == 0) return result;
    NestSchedule whole = schedule;
    whole.parallel_reduction.reset();
    // Copies are made in a piece; constants that are packed beforehand are there.
    std::erase_if(whole.packings, [&](const Packing& packing) {
      return !is_packed_beforehand(program, stage.loops.operands[packing.operand]);
    });
    const Terms of_all(kernel, number, whole, tensors, stage);
    for (int64_t i = 0; i < rest; ++i) {
      const Term term = of_all.of(left_over_position(i));
      Values both = combine(reduction_op(statement), result, term.value);
      if (terms.repeats_operand()) both = with_ieee_rules(both, false);
      for (const auto& condition : term.conditions) both = select(condition, both, result);
      result = both;
    }
    return result;
  }

  bool needs_own_nest() const {
    if (!stage.loops.direct || schedule.parallel_reduction) return true;
    // A GPU's last tiles stay where they are.
    if (schedule.is_gpu() || !updates_in_place(program, statement)) return false;
    for (int p = 0; p < outputs(); ++p)
      if (stage.runtime_extents[p].defined() || stage.loops.output[p] % schedule.tiles[p][0] != 0) return true;
    return false;
  }

  // Spreads the elements that the output loops compute over the target.
  StoredElements spread(Func result, const Func& tiled) const {
    const auto& target = program.tensors[statement.target];
    std::vector<Expr> elements, extents;
    std::vector<Var> element_vars;
    for (size_t d = 0; d < statement.subscripts.size(); ++d) {
      element_vars.push_back(Var(fmt::format("{}_t{}", name, d)));
      elements.push_back(element_vars.back());
    }
    const auto [indices, exists] = assignment_of(statement, elements);
    std::vector<Expr> positions;
    for (const int p : stage.buffer_order)
      positions.push_back(indices[stage.loops.output_index[p]] - static_cast<int>(stage.loops.first[p]));
    std::vector<Var> vars;
    for (const int d : ir::memory_order(target)) {
      vars.push_back(element_vars[d]);
      extents.push_back(static_cast<int>(ir::extent(target, static_cast<size_t>(d))));
    }
    define(result, vars, select(exists, at(tiled, positions), not_written(elements)));
    return {result, vars, extents, tiled};
  }

  /// `computed`: what an element's iterations combine to, of parallel reductions those of a piece.
  StoredElements store(Values computed, const Written& written) const {
    const Func result(name);
    Func tiled = needs_own_nest() ? Func(name + "_whole") : result;
    const auto vars = stage.in_buffer_order();
    if (!stage.loops.direct) {
      define(tiled, vars, finish(computed, written));
      return spread(result, tiled);
    }
    std::optional<StoredElements::PieceGroups> groups;
    if (schedule.parallel_reduction) {
      computed = combined_pieces(tiled, computed, groups);
    } else if (needs_own_nest()) {
      define(tiled, vars, computed);
      computed = at(tiled, vars);
    }
    StoredElements stored{result, vars, {}, tiled, groups};
    define(stored.result, vars, finish(computed, written));
    for (const int p : stage.buffer_order)
      stored.extents.push_back(terms.extent_of(statement.target, static_cast<size_t>(p)));
    return stored;
  }
};

// What the iterations of an element combine to.
Values value_of(const std::optional<Reduction>& reduction, const std::optional<Shift>& shift, const Terms& terms) {
  if (!reduction) return terms.of({}).value;
  const Func& accumulator = accumulator_of(*reduction);
  Values computed = at(accumulator, accumulator.args());
  if (!shift) return computed;
  const auto bits = [](const Expr& x) { return Halide::cast<uint32_t>(x); };
  return {Halide::cast<int32_t>(bits(computed[0]) - bits(shift->func(shift->func.args())))};
}

}  // namespace

Stage make_stage(const KernelContext& kernel, int number, const NestSchedule& schedule, const TensorFuncs& tensors,
                 const std::vector<Var>& vars) {
  const StageLoops loops = make_stage_loops(kernel, number, schedule, vars);
  const Terms terms(kernel, number, schedule, tensors, loops);
  std::optional<Reduction> reduction;
  if (loops.reductions() > 0) reduction = make_reduction(kernel, number, schedule, loops, terms);
  const std::optional<Shift> shift = make_shift(kernel, number, schedule, loops, terms);
  const StageBuilder builder{kernel, number, schedule, tensors, loops, terms};
  const Values computed = value_of(reduction, shift, terms);
  const Written written = builder.written();
  const StoredElements stored = builder.store(computed, written);
  return {loops, terms.packed(), reduction, shift, stored, written.search};
}

}  // namespace tile_tune::codegen
