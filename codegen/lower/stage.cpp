#include "codegen/lower/stage.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/copy.h"
#include "codegen/lower/expression.h"
#include "codegen/lower/guards.h"
#include "codegen/lower/product.h"
#include "codegen/lower/quotient.h"
#include "codegen/lower/reduction_domain.h"

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
  const StageSchedule& schedule;
  const TensorFuncs& tensors;
  std::string name;
  const std::vector<PackedForm>& forms;
  const std::vector<Var>& given_vars;
  const RuntimeProgram* runtime = nullptr;
  size_t statement_number = 0;
  Stage stage{};
  std::optional<Product> product{};  // that a sum adds up

  int outputs() const { return static_cast<int>(stage.loops.output.size()); }
  int reductions() const { return static_cast<int>(stage.loops.reduction.size()); }
  int lane_loop() const { return schedule.vector_loop >= outputs() ? schedule.vector_loop - outputs() : -1; }

  std::vector<Var> in_buffer_order() const {
    std::vector<Var> result;
    for (const int d : stage.buffer_order) result.push_back(stage.vars[d]);
    return result;
  }

  // Arguments of accumulators: the vector loop first, so that a home in memory is stored for vector access.
  std::vector<Var> accumulator_vars() const {
    auto vars = in_buffer_order();
    if (schedule.vector_loop >= 0 && schedule.vector_loop < outputs()) {
      const auto found = std::find_if(
          vars.begin(), vars.end(), [&](const Var& v) { return v.name() == stage.vars[schedule.vector_loop].name(); });
      std::rotate(vars.begin(), found, found + 1);
    }
    if (schedule.parallel_reduction) vars.push_back(stage.piece);
    return vars;
  }

  // The statement for to_halide(), whose runtime sizes are indices of their own there.
  const ir::Statement& spelled() const { return runtime ? runtime->spelled(statement_number) : statement; }
  // Constants of the IR where they are numbers, else expressions over the runtime sizes.
  Expr extent_of(int tensor, size_t dimension) const {
    if (runtime) return runtime->extent(tensor, dimension);
    return static_cast<int>(ir::extent(program.tensors[tensor], dimension));
  }
  Expr bound_of(size_t constraint) const {
    if (runtime) return runtime->number(runtime->named().statements[statement_number].constraints[constraint].bound);
    return static_cast<int>(statement.constraints[constraint].bound.constant().value());
  }
  bool reads_inside(int operand, size_t dimension) const {
    const auto& [number, tensor, subscripts, affine] = stage.loops.operands[operand];
    const auto& subscript = std::get<ir::AffineExpr>(subscripts[dimension]);
    if (!runtime) return stays_inside(statement, subscript, ir::extent(program.tensors[tensor], dimension));
    // What lies beyond the border of a guarded tile is computed from elements inside.
    const auto& guarded = stage.runtime_extents;
    if (stage.all_guarded)
      for (const auto& term : subscript.terms)
        for (int p = 0; p < outputs(); ++p)
          if (stage.loops.output_index[p] == term.first && guarded[p].defined()) return false;
    return runtime->reads_inside_always(statement_number, operand, dimension);
  }

  // Values of the statement's indices, given one expression per reduction loop. Elements outside the written range
  // are computed from the nearest index and thrown away, so that no read leaves its tensor.
  std::vector<Expr> index_values(const std::vector<Expr>& reduction) const {
    std::vector<Expr> values(statement.indices.size());
    for (int p = 0; p < outputs(); ++p) {
      const auto written = written_positions(statement, stage.loops, p);
      Expr position = stage.vars[p];
      if (!writes_all_of(statement, stage.loops, p))
        position =
            Halide::clamp(Halide::likely(position), static_cast<int>(written.lo), static_cast<int>(written.hi) - 1);
      values[stage.loops.output_index[p]] = position + static_cast<int>(stage.loops.first[p]);
    }
    for (size_t r = 0; r < reduction.size(); ++r) {
      const int index = stage.loops.reduction_index[r];
      values[index] = static_cast<int>(ir::range(statement.indices[index]).lo) + reduction[r];
    }
    if (runtime) values.insert(values.end(), runtime->values().begin(), runtime->values().end());
    return values;
  }

  // Subscripts that leave their tensor where a constraint fails, or that are known at run time only, are clamped: what
  // is read there is thrown away, or, with a gather out of range, some element instead of foreign memory. `likely`
  // makes Halide cut the loops where the clamps end, so that inner tiles have none.
  Values read(const std::vector<PackedOperand>& packings, int number, const ir::Read& node,
              std::vector<Expr> subscripts, const Expr& part) const {
    for (size_t d = 0; d < subscripts.size(); ++d) {
      const Expr last = extent_of(node.tensor, d) - 1;
      if (!std::holds_alternative<ir::AffineExpr>(node.subscripts[d]))
        subscripts[d] = Halide::clamp(subscripts[d], 0, last);
      else if (!reads_inside(number, d))
        subscripts[d] = Halide::clamp(Halide::likely(subscripts[d]), 0, last);
    }
    for (const auto& packed : packings)
      if (packed.choice.operand == number) return at(packed.func, packed_arguments(packed, subscripts, part));
    return unpacked(node.tensor, subscripts);
  }

  // The plain product is what the compiler knows as part of a dot product; its instructions wrap.
  Expr dot_term(const std::vector<Expr>& indices, const ReadOperand& read_operand) const {
    const auto& factors = std::get<ir::Call>(statement.value->node).arguments;
    const auto second = [&](int, const ir::Read& node, const std::vector<Expr>& subscripts) {
      return read_operand(1, node, subscripts);
    };
    return to_halide(*factors[0], indices, read_operand)[0] * to_halide(*factors[1], indices, second)[0];
  }

  // What one iteration adds, where all conditions hold.
  struct Term {
    Values value;
    std::vector<Expr> conditions;
  };

  // `part`: which of a dot product's iterations, where the schedule has them.
  Term term(std::vector<Expr> reduction, const Expr& part = {}) const {
    if (const auto& cut = schedule.parallel_reduction)
      reduction[cut->loop] += stage.piece * static_cast<int>(stage.reduction_extents[cut->loop]);
    const auto indices = index_values(reduction);
    const auto conditions = reductions() == 0 || schedule.scan ? std::vector<Expr>() : conditions_at(indices);
    const auto read_operand = [&](int number, const ir::Read& node, const std::vector<Expr>& subscripts) {
      auto result = read(stage.packed, number, node, subscripts, part);
      // x + 128, as unsigned bytes.
      if (stage.dot && stage.dot->shifted && number != stage.dot->column)
        result[0] = Halide::cast<uint8_t>(result[0]) ^ Halide::cast<uint8_t>(128);
      // Both factors are zero where a condition fails: dot products know no other way to leave a term out.
      for (const auto& condition : stage.dot ? conditions : std::vector<Expr>())
        result[0] = Halide::select(condition, Halide::likely(result[0]), Halide::Internal::make_zero(result[0].type()));
      return result;
    };
    if (stage.dot) return {{dot_term(indices, read_operand)}, {}};
    const auto type = halide_type(statement.accumulator);
    Values value = product ? product->value(indices, read_operand, [&](int node) { return copied(node, indices); })
                           : to_halide(*spelled().value, indices, read_operand);
    for (Expr& part : value) part = convert(with_ieee_rules(with_shared_reciprocals(part, stage), is_sum()), type);
    return {value, conditions};
  }

  bool is_sum() const { return statement.op == ir::Aggregation::Sum && reductions() > 0; }

  // What a copy holds of the product that is added up.
  std::optional<Values> copied(int node, const std::vector<Expr>& indices) const {
    for (const auto& packed : stage.packed) {
      if (packed.product != node) continue;
      std::vector<Expr> subscripts;
      for (const auto& subscript : stage.loops.operands[packed.choice.operand].subscripts)
        subscripts.push_back(to_halide(std::get<ir::AffineExpr>(subscript), indices));
      return at(packed.func, packed_arguments(packed, subscripts, {}));
    }
    return std::nullopt;
  }

  bool stays_inside_its_tensor(const Operand& operand) const {
    for (size_t d = 0; d < operand.subscripts.size(); ++d)
      if (!operand.affine || !reads_inside(operand.number, d)) return false;
    return true;
  }

  // The node of the product that the copy of an operand holds: its other factors are inputs of the program, and are
  // inside their tensors wherever the operand is. -1: it holds the operand.
  int product_to_copy(const Packing& choice) const {
    const auto& operand = stage.loops.operands[choice.operand];
    if (!product || runtime || program.tensors[operand.tensor].type != statement.value->type ||
        !stays_inside_its_tensor(operand))
      return -1;
    for (int p = 0; p < outputs(); ++p)
      if (!writes_all_of(statement, stage.loops, p)) return -1;
    if (!indices_at(statement, operand, std::vector<Expr>(operand.subscripts.size(), 0))) return -1;
    return product->held_by_copy(choice.operand, [&](int number) {
      const auto& other = stage.loops.operands[number];
      return stays_inside_its_tensor(other) && program.tensors[other.tensor].role == ir::Role::Input &&
             std::none_of(schedule.packings.begin(), schedule.packings.end(),
                          [&](const Packing& packing) { return packing.operand == number; });
    });
  }

  // What must hold for a term to count: one condition for each end of each constraint. Halide cuts loops at the
  // conditions it finds, and folds two in one select (a < 65 && b < 65) into one of both loops (max(a, b) < 65), at
  // which it cannot.
  std::vector<Expr> conditions_at(const std::vector<Expr>& indices) const {
    std::vector<Expr> conditions;
    for (size_t c = 0; c < statement.constraints.size(); ++c) {
      const Expr position = to_halide(spelled().constraints[c].expr, indices);
      conditions.push_back(position >= 0);
      conditions.push_back(position < bound_of(c));
    }
    return conditions;
  }

  Values unpacked(int tensor, const std::vector<Expr>& subscripts) const {
    return at(tensors.at(tensor), buffer_arguments(program.tensors[tensor], subscripts));
  }

  Values product_at(int node, const std::vector<Expr>& indices) const {
    const auto read_operand = [&](int, const ir::Read& read, const std::vector<Expr>& subscripts) {
      return unpacked(read.tensor, subscripts);
    };
    const Values values = product->value(node, indices, read_operand, [](int) { return std::nullopt; });
    return each_part(values, [](const Expr& value) { return with_ieee_rules(value, false); });
  }

  void make_packed() {
    for (const auto& choice : schedule.packings) {
      const auto& operand = stage.loops.operands[choice.operand];
      const auto form = std::find_if(forms.begin(), forms.end(), [&](const PackedForm& one) {
        return &program.statements[one.statement] == &statement && one.packing.operand == choice.operand;
      });
      if (form == forms.end()) {
        const int node = product_to_copy(choice);
        const auto element = [&](const std::vector<Expr>& subscripts) {
          return node < 0 ? unpacked(operand.tensor, subscripts)
                          : product_at(node, *indices_at(statement, operand, subscripts));
        };
        stage.packed.push_back(copy_in_kernel(program, statement, stage.loops, choice, stage.dot, element, name));
        stage.packed.back().product = node;
        continue;
      }
      stage.packed.push_back(copy_made_beforehand(*form, tensors.at(operand.tensor)));
      if (form->blocks && form->blocks->guarded) stage.guarded = form->blocks->loop;
    }
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
    accumulate(stage.accumulator, vars, term(loops.positions, loops.part(stage.dot)), loops.all());
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
    const auto indices = index_values(all.positions);
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
    accumulate(stage.partial, partial_vars, term(loops.positions, loops.part(stage.dot)), loops.all());

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
    const int64_t step = int64_t{schedule.lanes} * schedule.reduction_unroll[loop];
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
    accumulate(stage.partial, partial_vars, term(loops.positions), loops.all());

    Func lanes = stage.partial;
    auto lane_of = [&](const Func& func, const Expr& lane) {
      std::vector<Expr> arguments(vars.begin(), vars.end());
      arguments.insert(arguments.begin(), lane);
      return at(func, arguments);
    };
    // Unrolled vectors of lanes first (step is lanes times any unroll), then halves of one vector.
    for (int64_t width = step; width > 1;) {
      const int64_t next = width > schedule.lanes ? schedule.lanes : width / 2;
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
      accumulate(stage.accumulator, vars, term(rest.positions), rest.all());
    }
  }

  // Values of the target's subscripts, in the IR's order.
  std::vector<Expr> target_subscripts() const {
    const auto indices = index_values({});
    std::vector<Expr> subscripts;
    for (const auto& subscript : statement.subscripts) subscripts.push_back(to_halide(subscript, indices));
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
    const auto subscripts = stage.loops.direct ? direct_subscripts() : target_subscripts();
    const auto type = halide_type(program.tensors[statement.target].type);
    Values result = computed;
    if (statement.previous) {
      const auto before = each_part(
          not_written(subscripts), [&](const Expr& part) { return convert(part, halide_type(statement.accumulator)); });
      result = combine(statement.op, before, computed);
    }
    result = each_part(result, [&](const Expr& part) { return convert(part, type); });
    Expr condition = written();
    if (Halide::Internal::is_const_one(condition)) return result;
    // Of a branch Halide asks only for the elements at which a single comparison holds, but then all of a register
    // tile from the first of them on, which reaches beyond the tile. It does not look into conjunctions; this one goes
    // as soon as the loops are known.
    if (outputs() > 0) {
      const Expr extent =
          stage.loops.direct ? extent_of(statement.target, 0) : Expr(static_cast<int>(stage.loops.output[0]));
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
    const auto indices = index_values({});
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
    for (const int64_t extent : stage.loops.reduction) region.push_back({0, static_cast<int>(extent)});
    const RDom loops(region, name + "_ra");
    std::vector<Expr> reduction;
    for (int d = 0; d < loops.dimensions(); ++d) reduction.push_back(loops[d]);
    stage.assigned = Func(name + "_assigned");
    stage.assigned(vars) = Halide::Internal::const_false();
    stage.assigned(vars) = stage.assigned(vars) || constraints_hold(statement, index_values(reduction));
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
    if (schedule.inlined || !updates_in_place(program, statement)) return false;
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
    if (is_sum()) product = Product::of(*spelled().value, index_values({}).size(), stage.loops, stage.contiguous);
    make_packed();
    Values computed;
    if (reductions() > 0) {
      stage.accumulator = Func(name + "_acc");
      if (schedule.scan)
        run_totals(stage, statement, initial(), [this](const Expr& position) { return term({position}).value; });
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
      computed = term({}).value;
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
      stage.result_extents.push_back(extent_of(statement.target, static_cast<size_t>(p)));
    return std::move(stage);
  }
};

}  // namespace

bool Stage::has_runtime_loop() const {
  return std::any_of(runtime_extents.begin(), runtime_extents.end(), [](const Expr& e) { return e.defined(); }) ||
         std::find(runtime_reductions.begin(), runtime_reductions.end(), true) != runtime_reductions.end();
}

Stage make_stage(const ir::Program& program, int number, const StageSchedule& schedule, const TensorFuncs& tensors,
                 const std::vector<PackedForm>& forms, const RuntimeProgram* runtime, const std::vector<Var>& vars) {
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
  return builder.build();
}

}  // namespace tile_tune::codegen
