#include "codegen/lower/stage.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/expression.h"

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
  Stage stage{};

  int outputs() const { return static_cast<int>(stage.loops.output.size()); }
  int reductions() const { return static_cast<int>(stage.loops.reduction.size()); }
  int lane_loop() const { return schedule.vector_loop >= outputs() ? schedule.vector_loop - outputs() : -1; }

  bool blocked() const {
    for (int r = 0; r < reductions(); ++r)
      if (schedule.reduction_block[r] < stage.loops.reduction[r]) return true;
    return false;
  }

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
    return vars;
  }

  Expr range_lo(int loop_index) const { return static_cast<int>(ir::range(statement.indices[loop_index]).lo); }

  // True if the statement writes every element of its target.
  bool covers_target() const {
    for (int p = 0; p < outputs(); ++p) {
      const auto range = index_range_in_target(p);
      if (range.lo > 0 || range.hi < stage.loops.output[p]) return false;
    }
    return statement.constraints.empty();
  }

  // Elements of dimension p that the statement writes.
  ir::Range index_range_in_target(int p) const {
    const int64_t offset = statement.subscripts[p].constant.constant().value();
    const auto range = ir::range(statement.indices[stage.loops.output_index[p]]);
    return {range.lo + offset, range.hi + offset};
  }

  // Values of the statement's indices, given one expression per reduction loop. Elements outside the written range
  // are computed from the nearest index and thrown away, so that no read leaves its tensor.
  std::vector<Expr> index_values(const std::vector<Expr>& reduction) const {
    std::vector<Expr> values(statement.indices.size());
    for (int p = 0; p < outputs(); ++p) {
      const auto written = index_range_in_target(p);
      const int offset = static_cast<int>(statement.subscripts[p].constant.constant().value());
      Expr element = stage.vars[p];
      if (written.lo > 0 || written.hi < stage.loops.output[p])
        element = Halide::clamp(element, static_cast<int>(written.lo), static_cast<int>(written.hi) - 1);
      values[stage.loops.output_index[p]] = element - offset;
    }
    for (int r = 0; r < reductions(); ++r)
      values[stage.loops.reduction_index[r]] = range_lo(stage.loops.reduction_index[r]) + reduction[r];
    return values;
  }

  Expr value(const std::vector<Expr>& reduction) const {
    const auto indices = index_values(reduction);
    auto read = [&](int number, const ir::Read& node, const std::vector<Expr>& subscripts) -> Expr {
      for (const auto& packed : stage.packed)
        if (packed.choice.operand == number) return packed.func(subscripts);
      const auto& tensor = program.tensors[node.tensor];
      auto arguments = buffer_arguments(tensor, subscripts);
      const bool gathers = std::any_of(node.subscripts.begin(), node.subscripts.end(),
                                       [](const auto& s) { return !std::holds_alternative<ir::AffineExpr>(s); });
      if (gathers) arguments = clamp_to_extent(tensor, arguments);
      return tensors.at(node.tensor)(arguments);
    };
    Expr result =
        Halide::cast(halide_type(statement.accumulator), with_ieee_rules(to_halide(*statement.value, indices, read)));
    if (!statement.constraints.empty()) {
      Expr valid = Halide::Internal::const_true();
      for (const auto& constraint : statement.constraints) {
        const Expr position = to_halide(constraint.expr, indices);
        valid = valid && position >= 0 && position < static_cast<int>(constraint.bound.constant().value());
      }
      result = Halide::select(valid, result, initial());
    }
    return result;
  }

  // Halide otherwise computes as if NaN and infinities did not occur: x * 0 would be 0. Only the product that a sum
  // adds up stays free, so that the two become one fused multiply-add; its factors are strict, and no literal is one of
  // them.
  Expr with_ieee_rules(const Expr& value) const {
    if (!value.type().is_float()) return Halide::strict_float(value);
    const auto* product = value.as<Halide::Internal::Mul>();
    const bool is_term = statement.op == ir::Aggregation::Sum && reductions() > 0 && product &&
                         !Halide::Internal::is_const(product->a) && !Halide::Internal::is_const(product->b);
    if (!is_term) return Halide::strict_float(value);
    return Halide::strict_float(product->a) * Halide::strict_float(product->b);
  }

  // Gathered subscripts are known at run time only. The clamp gives bounds inference a bound; values outside are
  // the caller's mistake and read some element of the tensor instead of foreign memory.
  static std::vector<Expr> clamp_to_extent(const ir::Tensor& tensor, std::vector<Expr> arguments) {
    std::vector<Expr> extents;
    for (size_t d = 0; d < tensor.extents.size(); ++d) extents.push_back(static_cast<int>(ir::extent(tensor, d)));
    extents = buffer_arguments(tensor, extents);
    for (size_t d = 0; d < arguments.size(); ++d) arguments[d] = Halide::clamp(arguments[d], 0, extents[d] - 1);
    return arguments;
  }

  void make_packed() {
    for (const auto& choice : schedule.packings) {
      const auto& operand = stage.loops.operands[choice.operand];
      PackedOperand packed{choice, Func(fmt::format("{}_pack{}", name, choice.operand)), {}};
      std::vector<Expr> subscripts;
      for (size_t d = 0; d < operand.subscripts.size(); ++d) {
        packed.vars.push_back(Var(fmt::format("{}_p{}_{}", name, choice.operand, d)));
        subscripts.push_back(packed.vars.back());
      }
      packed.func(packed.vars) =
          tensors.at(operand.tensor)(buffer_arguments(program.tensors[operand.tensor], subscripts));
      stage.packed.push_back(std::move(packed));
    }
  }

  // Loops over part of the reduction, by reduction loop.
  struct Span {
    int64_t min = 0, extent = 1;
    int64_t unroll = 1;  // divides the extent
  };
  struct Domain {
    std::vector<Halide::RVar> unrolled, loops;  // innermost first
    std::vector<Expr> positions;                // by reduction loop
  };

  // The loops stand in the domain in the order they will run, unrolled parts innermost: Halide reorders the loops of
  // a reduction only where it can prove that the order does not matter, which it cannot for NaN-aware min and max.
  Domain make_domain(const std::string& suffix, const std::vector<Span>& spans) const {
    Halide::Region region;
    std::vector<int> unrolled;
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      if (spans[*r].unroll == 1) continue;
      region.push_back({0, static_cast<int>(spans[*r].unroll)});
      unrolled.push_back(*r);
    }
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r)
      region.push_back({static_cast<int>(spans[*r].min), static_cast<int>(spans[*r].extent / spans[*r].unroll)});
    const RDom loops(region, name + suffix);
    Domain domain;
    domain.positions.resize(spans.size());
    for (int d = 0; d < loops.dimensions(); ++d) {
      const int first_loop = static_cast<int>(unrolled.size());
      if (d < first_loop) {
        domain.unrolled.push_back(loops[d]);
        continue;
      }
      const int r = schedule.reduction_order[reductions() - 1 - (d - first_loop)];
      domain.loops.push_back(loops[d]);
      domain.positions[r] = loops[d] * static_cast<int>(spans[r].unroll);
    }
    for (size_t d = 0; d < unrolled.size(); ++d) domain.positions[unrolled[d]] += loops[static_cast<int>(d)];
    return domain;
  }

  // Where an element starts: the identity of the element type, which an empty reduction leaves there (int8 max: -128).
  Expr initial() const {
    return Halide::cast(halide_type(statement.accumulator),
                        identity(statement.op, program.tensors[statement.target].type));
  }

  void accumulate(Func& into, const std::vector<Var>& vars, const Expr& term) const {
    into(vars) = combine(statement.op, into(vars), term);
  }

  void reduce_plain() {
    const auto vars = accumulator_vars();
    std::vector<Span> spans;
    for (int r = 0; r < reductions(); ++r) spans.push_back({0, stage.loops.reduction[r], schedule.reduction_unroll[r]});
    Domain domain = make_domain("_r", spans);
    stage.unrolled = domain.unrolled;
    stage.reduction = domain.loops;
    stage.accumulator(vars) = initial();
    accumulate(stage.accumulator, vars, value(domain.positions));
  }

  // partial(vars, b...) sums one block of the reduction in registers; the accumulator, at home in cache, adds the
  // blocks.
  void reduce_blocked() {
    const auto vars = accumulator_vars();
    std::vector<Span> spans;
    Halide::Region blocks;
    std::vector<Var> block_vars, partial_vars = vars;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back({0, schedule.reduction_block[r], schedule.reduction_unroll[r]});
    Domain domain = make_domain("_r", spans);
    stage.unrolled = domain.unrolled;
    stage.reduction = domain.loops;
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const int64_t count = stage.loops.reduction[*r] / schedule.reduction_block[*r];
      if (count <= 1) continue;
      blocks.push_back({0, static_cast<int>(count)});
      block_vars.push_back(Var(fmt::format("{}_b{}", name, *r)));
      domain.positions[*r] += block_vars.back() * static_cast<int>(schedule.reduction_block[*r]);
    }
    partial_vars.insert(partial_vars.end(), block_vars.begin(), block_vars.end());
    stage.partial = Func(name + "_part");
    stage.partial(partial_vars) = initial();
    accumulate(stage.partial, partial_vars, value(domain.positions));

    const RDom block_loops(blocks, name + "_rb");
    std::vector<Expr> arguments(vars.begin(), vars.end());
    for (int d = 0; d < block_loops.dimensions(); ++d) {
      stage.block.push_back(block_loops[d]);
      arguments.push_back(block_loops[d]);
    }
    stage.accumulator(vars) = initial();
    accumulate(stage.accumulator, vars, stage.partial(arguments));
  }

  // partial(lane, vars) sums every lane_extent-th iteration; folds halve the lanes; what is left over is a tail.
  void reduce_in_lanes() {
    const auto vars = accumulator_vars();
    const int loop = lane_loop();
    const int64_t step = int64_t{schedule.lanes} * schedule.reduction_unroll[loop];
    const int64_t extent = stage.loops.reduction[loop], whole = extent / step;
    stage.lane = Var(name + "_lane");
    stage.lane_extent = step;
    std::vector<Span> spans, tail;
    for (int r = 0; r < reductions(); ++r) {
      const int64_t all = stage.loops.reduction[r];
      spans.push_back(r == loop ? Span{0, whole, 1} : Span{0, all, schedule.reduction_unroll[r]});
      tail.push_back(r == loop ? Span{whole * step, extent - whole * step, 1} : Span{0, all, 1});
    }
    Domain domain = make_domain("_r", spans);
    stage.unrolled = domain.unrolled;
    stage.reduction = domain.loops;
    domain.positions[loop] = domain.positions[loop] * static_cast<int>(step) + stage.lane;
    std::vector<Var> partial_vars = vars;
    partial_vars.insert(partial_vars.begin(), stage.lane);
    stage.partial = Func(name + "_part");
    stage.partial(partial_vars) = initial();
    accumulate(stage.partial, partial_vars, value(domain.positions));

    Func lanes = stage.partial;
    auto at = [&](const Func& func, const Expr& lane) {
      std::vector<Expr> arguments(vars.begin(), vars.end());
      arguments.insert(arguments.begin(), lane);
      return func(arguments);
    };
    // Unrolled vectors of lanes first (step is lanes times any unroll), then halves of one vector.
    for (int64_t width = step; width > 1;) {
      const int64_t next = width > schedule.lanes ? schedule.lanes : width / 2;
      Func fold(fmt::format("{}_fold{}", name, next));
      Expr sum = at(lanes, stage.lane);
      for (int64_t part = next; part < width; part += next)
        sum = combine(statement.op, sum, at(lanes, stage.lane + static_cast<int>(part)));
      fold(partial_vars) = sum;
      stage.folds.push_back({fold, static_cast<int>(next)});
      lanes = fold;
      width = next;
    }
    stage.accumulator(vars) = at(lanes, 0);
    stage.has_tail = extent % step != 0;
    if (stage.has_tail) {
      const Domain rest = make_domain("_t", tail);
      stage.tail = rest.loops;
      accumulate(stage.accumulator, vars, value(rest.positions));
    }
  }

  // The element's final value: what was computed, combined with the value before, rounded to the element type.
  Expr finish(const Expr& computed) const {
    const auto& target = program.tensors[statement.target];
    const auto& type = halide_type(target.type);
    const auto vars = in_buffer_order();
    if (!statement.previous) {
      const Expr result = Halide::cast(type, computed);
      return covers_target() ? result : Halide::select(written(), result, Halide::Internal::make_zero(type));
    }
    const Expr before = tensors.at(*statement.previous)(vars);
    const Expr sum = combine(statement.op, Halide::cast(halide_type(statement.accumulator), before), computed);
    const Expr result = Halide::cast(type, sum);
    return covers_target() ? result : Halide::select(written(), result, before);
  }

  Expr written() const {
    Expr inside = Halide::Internal::const_true();
    for (int p = 0; p < outputs(); ++p) {
      const auto range = index_range_in_target(p);
      if (range.lo > 0) inside = inside && stage.vars[p] >= static_cast<int>(range.lo);
      if (range.hi < stage.loops.output[p]) inside = inside && stage.vars[p] < static_cast<int>(range.hi);
    }
    return inside;
  }

  bool needs_own_nest() const {
    if (schedule.inlined || !updates_in_place(program, statement)) return false;
    for (int p = 0; p < outputs(); ++p)
      if (stage.loops.output[p] % schedule.tiles[p][0] != 0) return true;
    return false;
  }

  Stage build() {
    stage.loops = loops_of(program, statement);
    const auto& target = program.tensors[statement.target];
    for (int p = 0; p < outputs(); ++p) {
      stage.vars.push_back(Var(fmt::format("{}_v{}", name, p)));
      stage.buffer_order.push_back(target.layout == ir::Layout::Row ? outputs() - 1 - p : p);
    }
    make_packed();
    Expr computed;
    if (reductions() > 0) {
      stage.accumulator = Func(name + "_acc");
      if (lane_loop() >= 0)
        reduce_in_lanes();
      else if (blocked())
        reduce_blocked();
      else
        reduce_plain();
      computed = stage.accumulator(accumulator_vars());
    } else {
      computed = value({});
    }
    const auto vars = in_buffer_order();
    stage.result = Func(name);
    stage.tiled = stage.result;
    if (needs_own_nest()) {
      stage.tiled = Func(name + "_whole");
      stage.tiled(vars) = computed;
      computed = stage.tiled(vars);
    }
    stage.result(vars) = finish(computed);
    return std::move(stage);
  }
};

}  // namespace

std::vector<Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Expr>& subscripts) {
  std::vector<Expr> arguments = subscripts;
  if (tensor.layout == ir::Layout::Row) std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

Stage make_stage(const ir::Program& program, int number, const StageSchedule& schedule, const TensorFuncs& tensors) {
  const auto& statement = program.statements[number];
  Builder builder{program, statement, schedule, tensors, fmt::format("stage{}", number)};
  return builder.build();
}

}  // namespace tile_tune::codegen
