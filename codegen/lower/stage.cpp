#include "codegen/lower/stage.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/expression.h"
#include "codegen/lower/guards.h"
#include "codegen/lower/reduction_domain.h"
#include "codegen/lower/terms.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Builds one stage; the members are what every step needs.
struct Builder {
  const ir::Program& program;
  const ir::Statement& statement;
  const NestSchedule& schedule;
  const TensorFuncs& tensors;
  std::string name;
  const std::vector<PackedForm>& forms;
  const std::vector<Var>& given_vars;
  const RuntimeProgram* runtime = nullptr;
  size_t statement_number = 0;
  Stage stage{};
  Terms terms{program, static_cast<int>(statement_number), schedule, tensors, runtime, stage};

  int outputs() const { return stage.outputs(); }
  int reductions() const { return stage.reductions(); }
  int lane_loop() const {
    return schedule.cpu().vector_loop >= outputs() ? schedule.cpu().vector_loop - outputs() : -1;
  }

  std::vector<Var> in_buffer_order() const {
    std::vector<Var> result;
    for (const int d : stage.buffer_order) result.push_back(stage.vars[d]);
    return result;
  }

  // Arguments of accumulators: the vector loop first, so that a home in memory is stored for vector access.
  std::vector<Var> accumulator_vars() const {
    auto vars = in_buffer_order();
    if (schedule.cpu().vector_loop >= 0 && schedule.cpu().vector_loop < outputs()) {
      const auto found = std::find_if(vars.begin(), vars.end(), [&](const Var& v) {
        return v.name() == stage.vars[schedule.cpu().vector_loop].name();
      });
      std::rotate(vars.begin(), found, found + 1);
    }
    if (schedule.parallel_reduction) vars.push_back(stage.piece);
    return vars;
  }

  // All of a reduction loop, or as much of it as `extent` says where that is a number.
  Span span(int r, int64_t extent, int64_t unroll) const {
    if (stage.runtime_reductions[r]) return {0, runtime_reduction_extent(r), 1};  // neither cut nor unrolled
    return {0, static_cast<int>(extent / unroll), unroll};
  }

  Expr runtime_reduction_extent(int r) const {
    const auto& index = runtime->named().statements[statement_number].indices[stage.loops.reduction_index[r]];
    return runtime->number(index.hi - index.lo);
  }

  ReductionDomain domain(const std::string& suffix, const std::vector<Span>& spans) const {
    return make_domain(name + suffix, schedule.reduction_order, spans);
  }

  // How terms are combined. An assignment spread over reduction loops has at most one valid term, so it is their sum.
  ir::Aggregation reduction_op() const {
    return statement.op == ir::Aggregation::Assign ? ir::Aggregation::Sum : statement.op;
  }

  // Where an element starts: the identity of the element type, which an empty reduction leaves there (int8 max: -128).
  Values initial() const {
    const auto type = halide_type(statement.accumulator);
    // -0 + x is x, also where x is -0.
    if (statement.op == ir::Aggregation::Assign && type.is_float())
      return Values(is_complex(statement.accumulator) ? 2 : 1, Halide::Internal::make_const(type, -0.0));
    return each_part(identity(reduction_op(), program.tensors[statement.target].type),
                     [&](const Expr& part) { return Halide::cast(type, part); });
  }

  // The Func whose update adds up the statement's terms.
  const Func& sums_of_terms() const { return stage.partial.defined() ? stage.partial : stage.accumulator; }

  // One update: `term` combined into the element, over the loops of a reduction. An element that a condition excludes
  // keeps its value, so that products are still fused with their sum.
  void accumulate(Func& into, const std::vector<Var>& vars, const Term& term,
                  const std::vector<Halide::RVar>& loops) const {
    const bool dot = stage.dot && &into == &sums_of_terms();
    const Values before = at(into, vars);
    Values combined = dot ? Values{before[0] + term.value[0]} : combine(reduction_op(), before, term.value);
    for (const auto& condition : term.conditions)
      combined = select(condition, each_part(combined, [](const Expr& part) { return Halide::likely(part); }), before);
    // An update that mentions no loop of its reduction would not be repeated over it.
    const auto mentions = [&](const Expr& expr) {
      return std::any_of(loops.begin(), loops.end(),
                         [&](const auto& loop) { return Halide::Internal::expr_uses_var(expr, loop.name()); });
    };
    if (!loops.empty() && std::none_of(term.value.begin(), term.value.end(), mentions) &&
        std::none_of(term.conditions.begin(), term.conditions.end(), mentions))
      combined = select(loops.front() >= 0, combined, before);
    define(into, vars, combined);
  }

  void reduce_plain() {
    const auto vars = accumulator_vars();
    std::vector<Span> spans;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back(span(r, stage.reduction_extents[r], schedule.reduction_unroll[r]));
    const ReductionDomain loops = domain("_r", spans);
    stage.unrolled = loops.unrolled;
    stage.reduction = loops.loops;
    define(stage.accumulator, vars, initial());
    accumulate(stage.accumulator, vars, terms.of(loops.positions, loops.part(stage.dot)), loops.all());
  }

  // Sums of the packed operand over the whole reduction, by the output loops it depends on.
  void sum_for_shift() {
    std::vector<Span> spans;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back(span(r, stage.loops.reduction[r], r == stage.dot->loop ? stage.dot->width : 1));
    const ReductionDomain all = domain("_rs", spans);
    stage.shift_reduction = all.all();
    const auto& operand = stage.loops.operands[stage.dot->column];
    std::vector<Var> vars;
    for (const auto& var : accumulator_vars())
      for (int p = 0; p < outputs(); ++p)
        if (var.name() == stage.vars[p].name() && stage.loops.stride(program, operand, p) != 0) vars.push_back(var);
    std::vector<Expr> subscripts;
    const auto indices = terms.index_values(all.positions);
    for (const auto& subscript : operand.subscripts)
      subscripts.push_back(to_halide(std::get<ir::AffineExpr>(subscript), indices));
    const auto packed = std::find_if(stage.packed.begin(), stage.packed.end(),
                                     [&](const PackedOperand& p) { return p.choice.operand == operand.number; });
    stage.shift = Func(name + "_shift");
    define(stage.shift, vars, {0});
    const Expr element = at(packed->func, packed_arguments(*packed, subscripts, all.part(stage.dot)))[0];
    // 128 as an unsigned byte: dot products again.
    stage.shift(vars) += Halide::cast<int32_t>(Halide::cast<uint8_t>(128)) * Halide::cast<int32_t>(element);
  }

  // partial(vars, b...) sums one block of the reduction in registers; the accumulator, at home in cache, adds the
  // blocks or, if there is only one, holds its sums.
  void reduce_into_home() {
    const auto vars = accumulator_vars();
    std::vector<Span> spans;
    Halide::Region blocks;
    std::vector<Var> block_vars, partial_vars = vars;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back(
          span(r, std::min(schedule.reduction_block[r], stage.reduction_extents[r]), schedule.reduction_unroll[r]));
    ReductionDomain loops = domain("_r", spans);
    stage.unrolled = loops.unrolled;
    stage.reduction = loops.loops;
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const int64_t count = stage.reduction_extents[*r] / schedule.reduction_block[*r];
      if (count <= 1) continue;
      blocks.push_back({0, static_cast<int>(count)});
      block_vars.push_back(Var(fmt::format("{}_b{}", name, *r)));
      loops.positions[*r] += block_vars.back() * static_cast<int>(schedule.reduction_block[*r]);
    }
    partial_vars.insert(partial_vars.end(), block_vars.begin(), block_vars.end());
    stage.partial = Func(name + "_part");
    define(stage.partial, partial_vars, initial());
    accumulate(stage.partial, partial_vars, terms.of(loops.positions, loops.part(stage.dot)), loops.all());

    if (blocks.empty()) {
      define(stage.accumulator, vars, at(stage.partial, std::vector<Expr>(vars.begin(), vars.end())));
      return;
    }
    const RDom block_loops(blocks, name + "_rb");
    std::vector<Expr> arguments(vars.begin(), vars.end());
    for (int d = 0; d < block_loops.dimensions(); ++d) {
      stage.block.push_back(block_loops[d]);
      arguments.push_back(block_loops[d]);
    }
    define(stage.accumulator, vars, initial());
    accumulate(stage.accumulator, vars, {at(stage.partial, arguments), {}}, stage.block);
  }

  // partial(lane, vars) sums every lane_extent-th iteration; folds halve the lanes; what is left over is a tail.
  void reduce_in_lanes() {
    const auto vars = accumulator_vars();
    const int loop = lane_loop();
    const int64_t step = int64_t{schedule.cpu().lanes} * schedule.reduction_unroll[loop];
    const bool at_run_time = stage.runtime_reductions[loop];
    const Expr extent =
        at_run_time ? runtime_reduction_extent(loop) : Expr(static_cast<int>(stage.reduction_extents[loop]));
    const Expr whole = Halide::Internal::simplify(extent / static_cast<int>(step));
    stage.lane = Var(name + "_lane");
    stage.lane_extent = step;
    std::vector<Span> spans, tail;
    for (int r = 0; r < reductions(); ++r) {
      spans.push_back(r == loop ? Span{0, whole, 1}
                                : span(r, stage.reduction_extents[r], schedule.reduction_unroll[r]));
      tail.push_back(r == loop ? Span{Halide::Internal::simplify(whole * static_cast<int>(step)),
                                      Halide::Internal::simplify(extent % static_cast<int>(step)), 1}
                               : span(r, stage.reduction_extents[r], 1));
    }
    ReductionDomain loops = domain("_r", spans);
    stage.unrolled = loops.unrolled;
    stage.reduction = loops.loops;
    loops.positions[loop] = loops.positions[loop] * static_cast<int>(step) + stage.lane;
    std::vector<Var> partial_vars = vars;
    partial_vars.insert(partial_vars.begin(), stage.lane);
    stage.partial = Func(name + "_part");
    define(stage.partial, partial_vars, initial());
    accumulate(stage.partial, partial_vars, terms.of(loops.positions), loops.all());

    Func lanes = stage.partial;
    auto lane_of = [&](const Func& func, const Expr& lane) {
      std::vector<Expr> arguments(vars.begin(), vars.end());
      arguments.insert(arguments.begin(), lane);
      return at(func, arguments);
    };
    // Unrolled vectors of lanes first (step is lanes times any unroll), then halves of one vector.
    for (int64_t width = step; width > 1;) {
      const int64_t next = width > schedule.cpu().lanes ? schedule.cpu().lanes : width / 2;
      Func fold(fmt::format("{}_fold{}", name, next));
      Values sum = lane_of(lanes, stage.lane);
      for (int64_t part = next; part < width; part += next)
        sum = combine(reduction_op(), sum, lane_of(lanes, stage.lane + static_cast<int>(part)));
      define(fold, partial_vars, sum);
      stage.folds.push_back({fold, static_cast<int>(next)});
      lanes = fold;
      width = next;
    }
    define(stage.accumulator, vars, lane_of(lanes, 0));
    stage.has_tail = at_run_time || stage.reduction_extents[loop] % step != 0;
    if (stage.has_tail) {
      const ReductionDomain rest = domain("_t", tail);
      stage.tail = rest.loops;
      accumulate(stage.accumulator, vars, terms.of(rest.positions), rest.all());
    }
  }

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
  Values finish(const Values& computed) {
    Expr condition = written();
    const bool always = Halide::Internal::is_const_one(condition);
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
  Expr written() {
    Expr inside = Halide::Internal::const_true();
    for (int p = 0; p < outputs(); ++p) {
      const auto range = written_positions(statement, stage.loops, p);
      if (range.lo > 0) inside = inside && stage.vars[p] >= static_cast<int>(range.lo);
      if (range.hi < stage.loops.output[p]) inside = inside && stage.vars[p] < static_cast<int>(range.hi);
    }
    if (!needs_assignment()) return inside;
    const auto indices = terms.index_values({});
    if (const auto some = some_assignment_holds(statement, indices)) return inside && *some;
    return inside && search_assignment();
  }

  // True if it shows whether an element has a valid assignment. Where combining nothing gives what would stand there
  // anyway (0 for sums, the value before), it does not.
  bool needs_assignment() const {
    if (statement.constraints.empty()) return false;
    if (reductions() == 0 || statement.op == ir::Aggregation::Assign) return true;
    return !statement.previous && (statement.unwritten || statement.op != ir::Aggregation::Sum);
  }

  // Looks for a valid assignment of each element, over the reduction loops.
  Expr search_assignment() {
    const auto vars = in_buffer_order();
    Halide::Region region;
    // Of a loop over nothing no constraint knows (ir::is_vacuous).
    for (const int64_t extent : stage.loops.reduction)
      region.push_back({0, static_cast<int>(std::max<int64_t>(extent, 1))});
    const RDom loops(region, name + "_ra");
    std::vector<Expr> reduction;
    for (int d = 0; d < loops.dimensions(); ++d) reduction.push_back(loops[d]);
    stage.assigned = Func(name + "_assigned");
    stage.assigned(vars) = Halide::Internal::const_false();
    stage.assigned(vars) = stage.assigned(vars) || constraints_hold(statement, terms.index_values(reduction));
    return stage.assigned(vars);
  }

  // Defines the tiled Func, which holds each piece's results, and combines them.
  Values combined_pieces(const Values& of_piece) {
    auto vars = in_buffer_order();
    std::vector<Expr> position(vars.begin(), vars.end());
    vars.push_back(stage.piece);
    define(stage.tiled, vars, of_piece);
    Values result;
    for (int piece = 0; piece < schedule.parallel_reduction->pieces; ++piece) {
      position.push_back(piece);
      const Values next = at(stage.tiled, position);
      position.pop_back();
      result = piece == 0 ? next : combine(reduction_op(), result, next);
    }
    return result;
  }

  bool needs_own_nest() const {
    if (!stage.loops.direct || schedule.parallel_reduction) return true;
    if (!updates_in_place(program, statement)) return false;
    for (int p = 0; p < outputs(); ++p)
      if (stage.runtime_extents[p].defined() || stage.loops.output[p] % schedule.tiles[p][0] != 0) return true;
    return false;
  }

  // Loops over runtime sizes. Their statements write plain indices (check_runtime_sizes).
  void find_runtime_loops() {
    stage.runtime_extents.resize(static_cast<size_t>(outputs()));
    stage.runtime_reductions.assign(static_cast<size_t>(reductions()), false);
    if (!runtime) return;
    const auto& named = runtime->named();
    for (int p = 0; p < outputs(); ++p) {
      const auto& extent = named.tensors[statement.target].extents[static_cast<size_t>(p)];
      if (!extent.constant()) stage.runtime_extents[p] = runtime->number(extent);
    }
    for (int r = 0; r < reductions(); ++r)
      stage.runtime_reductions[r] =
          !named.statements[statement_number].indices[stage.loops.reduction_index[r]].hi.constant();
    stage.all_guarded = runtime->guarded();
  }

  // Spreads the elements that the output loops compute over the target.
  void spread() {
    const auto& target = program.tensors[statement.target];
    std::vector<Expr> elements;
    std::vector<Var> element_vars;
    for (size_t d = 0; d < statement.subscripts.size(); ++d) {
      element_vars.push_back(Var(fmt::format("{}_t{}", name, d)));
      elements.push_back(element_vars.back());
    }
    const auto [indices, exists] = assignment_of(statement, elements);
    std::vector<Expr> positions;
    for (const int p : stage.buffer_order)
      positions.push_back(indices[stage.loops.output_index[p]] - static_cast<int>(stage.loops.first[p]));
    stage.result_vars = element_vars;
    for (size_t d = 0; d < target.extents.size(); ++d)
      stage.result_extents.push_back(static_cast<int>(ir::extent(target, d)));
    if (target.layout == ir::Layout::Row) {
      std::reverse(stage.result_vars.begin(), stage.result_vars.end());
      std::reverse(stage.result_extents.begin(), stage.result_extents.end());
    }
    define(stage.result, stage.result_vars, select(exists, at(stage.tiled, positions), not_written(elements)));
  }

  Stage build() {
    stage.loops = loops_of(program, statement);
    find_runtime_loops();
    stage.vars = given_vars;
    const Loops of_piece = one_piece(stage.loops, schedule);
    stage.reduction_extents = of_piece.reduction;
    stage.home = has_home(program, statement, of_piece, schedule);
    stage.contiguous = contiguous_loop(program, statement, stage.loops);
    if (schedule.parallel_reduction) stage.piece = Var(name + "_piece");
    const bool row = program.tensors[statement.target].layout == ir::Layout::Row;
    for (int p = 0; p < outputs(); ++p) {
      if (given_vars.empty()) stage.vars.push_back(Var(fmt::format("{}_v{}", name, p)));
      stage.buffer_order.push_back(row ? outputs() - 1 - p : p);
    }
    if (schedule.dot_product) stage.dot = dot_product(program, statement, stage.loops, schedule);
    terms.copy_operands(forms, name);
    Values computed;
    if (reductions() > 0) {
      stage.accumulator = Func(name + "_acc");
      if (schedule.scan)
        run_totals(stage, statement, initial(), [this](const Expr& position) { return terms.of({position}).value; });
      else if (lane_loop() >= 0)
        reduce_in_lanes();
      else if (stage.home)
        reduce_into_home();
      else
        reduce_plain();
      computed = at(stage.accumulator, schedule.scan ? in_buffer_order() : accumulator_vars());
      if (stage.dot && stage.dot->shifted) {
        sum_for_shift();
        const auto bits = [](const Expr& x) { return Halide::cast<uint32_t>(x); };
        computed[0] = Halide::cast<int32_t>(bits(computed[0]) - bits(stage.shift(stage.shift.args())));
      }
    } else {
      computed = terms.of({}).value;
    }
    stage.result = Func(name);
    stage.tiled = needs_own_nest() ? Func(name + "_whole") : stage.result;
    const auto vars = in_buffer_order();
    if (!stage.loops.direct) {
      define(stage.tiled, vars, finish(computed));
      spread();
      return std::move(stage);
    }
    if (schedule.parallel_reduction) {
      computed = combined_pieces(computed);
    } else if (needs_own_nest()) {
      define(stage.tiled, vars, computed);
      computed = at(stage.tiled, vars);
    }
    define(stage.result, vars, finish(computed));
    stage.result_vars = vars;
    for (const int p : stage.buffer_order)
      stage.result_extents.push_back(terms.extent_of(statement.target, static_cast<size_t>(p)));
    return std::move(stage);
  }
};

}  // namespace

bool Stage::has_runtime_loop() const {
  return std::any_of(runtime_extents.begin(), runtime_extents.end(), [](const Expr& e) { return e.defined(); }) ||
         std::find(runtime_reductions.begin(), runtime_reductions.end(), true) != runtime_reductions.end();
}

Stage make_stage(const ir::Program& program, int number, const NestSchedule& schedule, const TensorFuncs& tensors,
                 const std::vector<PackedForm>& forms, const RuntimeProgram* runtime, const std::vector<Var>& vars,
                 bool deterministic) {
  const auto& statement = program.statements[number];
  Builder builder{program,
                  statement,
                  schedule,
                  tensors,
                  fmt::format("stage{}", number),
                  forms,
                  vars,
                  runtime,
                  static_cast<size_t>(number)};
  builder.stage.deterministic = deterministic;
  return builder.build();
}

}  // namespace tile_tune::codegen
