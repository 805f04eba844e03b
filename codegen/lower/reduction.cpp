#include "codegen/lower/reduction.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/expression.h"
#include "codegen/lower/reduction_domain.h"
#include "codegen/schedule/gpu_nest.h"
#include "codegen/schedule/partial_sums.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Arguments of accumulators: the vector loop first, so that a home in memory is stored for vector access.
std::vector<Var> accumulator_vars(const StageLoops& stage, const NestSchedule& schedule) {
  auto vars = stage.in_buffer_order();
  const int vector = schedule.vector_loop();
  if (vector >= 0 && vector < stage.outputs()) {
    const auto found =
        std::find_if(vars.begin(), vars.end(), [&](const Var& v) { return v.name() == stage.vars[vector].name(); });
    std::rotate(vars.begin(), found, found + 1);
  }
  if (stage.piece) vars.push_back(*stage.piece);
  return vars;
}

std::vector<Expr> exprs_of(const std::vector<Var>& vars) { return {vars.begin(), vars.end()}; }

// Makes the Funcs of one reduction; the members are what every alternative needs.
struct ReductionBuilder {
  const KernelContext& kernel;
  const int number;
  const ir::Statement& statement;
  const NestSchedule& schedule;
  const StageLoops& stage;
  const Terms& terms;
  const std::string name = stage_name(number);
  const std::vector<Var> vars = accumulator_vars(stage, schedule);

  int reductions() const { return stage.reductions(); }

  // All of a reduction loop, or as much of it as `extent` says where that is a number.
  Span span(int r, int64_t extent, int64_t unroll) const {
    if (stage.runtime_reductions[r]) return {0, runtime_extent(r), 1};  // neither cut nor unrolled
    if (extent % unroll != 0) return {0, static_cast<int>(extent), 1};  // steps_at_once()
    return {0, static_cast<int>(extent / unroll), unroll};
  }

  // Iterations of a block; with those that fill the last dot product where it is all of the reduction.
  int64_t block(int r) const {
    return stage.ends_early(r) ? stage.reduction_extents[r]
                               : std::min(schedule.reduction_block[r], stage.reduction_extents[r]);
  }

  // Iterations of the innermost loop that directives unroll, as the last may be fewer.
  int steps_at_once() const {
    const int r = schedule.reduction_order.back();
    const bool leaves_some = !stage.dot && !stage.runtime_reductions[r] && block(r) % schedule.reduction_unroll[r] != 0;
    return leaves_some ? schedule.reduction_unroll[r] : 1;
  }

  Expr runtime_extent(int r) const {
    const auto& named = kernel.runtime->named().statements[static_cast<size_t>(number)];
    const auto& index = named.indices[stage.loops.reduction_index[r]];
    return kernel.runtime->number(index.hi - index.lo);
  }

  ReductionDomain domain(const std::string& suffix, const std::vector<Span>& spans) const {
    return make_domain(name + suffix, schedule.reduction_order, spans);
  }

  // Where an element starts: the identity of the element type, which an empty reduction leaves there (int8 max: -128).
  Values initial() const {
    const auto type = halide_type(statement.accumulator);
    // -0 + x is x, also where x is -0.
    if (statement.op == ir::Aggregation::Assign && type.is_float())
      return Values(is_complex(statement.accumulator) ? 2 : 1, Halide::Internal::make_const(type, -0.0));
    return each_part(identity(reduction_op(statement), kernel.program.tensors[statement.target].type),
                     [&](const Expr& part) { return Halide::cast(type, part); });
  }

  // One update: `term` combined into the element, over the loops of a reduction. An element that a condition excludes
  // keeps its value, so that products are still fused with their sum. `beside`: other terms, if none has conditions.
  void accumulate(Func& into, const std::vector<Var>& arguments, const Term& term,
                  const std::vector<Halide::RVar>& loops, bool dot = false,
                  const std::vector<Values>& beside = {}) const {
    const Values before = at(into, arguments);
    const auto op = reduction_op(statement);
    Values combined = dot                      ? Values{before[0] + term.value[0]}
                      : beside.size() % 2 == 0 ? combine(op, before, term.value)
                                               : combine(op, before, term.value, beside.back());
    for (size_t i = 0; i + 1 < beside.size(); i += 2) combined = combine(op, combined, beside[i], beside[i + 1]);
    const bool is_in_lanes = schedule.vector_loop() >= stage.outputs();
    if (terms.repeats_operand() && !is_in_lanes) combined = with_ieee_rules(combined, false);
    for (auto condition : term.conditions) {
      // Of a copy for a block Halide would ask only for what the condition lets through, which begins elsewhere at a
      // border than the copy's fixed size allows for. It does not look into conjunctions (StageBuilder::finish).
      if (schedule.is_gpu() && !loops.empty()) condition = condition && loops.front() >= 0;
      combined = select(condition, each_part(combined, [](const Expr& part) { return Halide::likely(part); }), before);
    }
    // An update that mentions no loop of its reduction would not be repeated over it.
    const auto mentions = [&](const Expr& expr) {
      return std::any_of(loops.begin(), loops.end(),
                         [&](const auto& loop) { return Halide::Internal::expr_uses_var(expr, loop.name()); });
    };
    if (!loops.empty() && std::none_of(term.value.begin(), term.value.end(), mentions) &&
        std::none_of(term.conditions.begin(), term.conditions.end(), mentions))
      combined = select(loops.front() >= 0, combined, before);
    define(into, arguments, combined);
  }

  // How many unrolled iterations an update takes together (takes_pairs): of the innermost loops, but no taps of a
  // window, as neighbours share the question whether a tap is NaN. 3 x 3 pools of 8 x 40 x 16 x 256 took 298 us tap by
  // tap and 393 together, 2 x 2 pools in steps of 2 0.92 to 1.09 of the time (two Zen 3 cores, 2026-11-29).
  void take_together(std::vector<Span>& spans) const {
    int64_t left = 32;  // chosen, so that the expression stays short
    if (!takes_pairs(statement)) return;
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      if (is_window(stage.loops, *r)) continue;
      int64_t together = std::min(left, spans[*r].unroll);
      while (spans[*r].unroll % together != 0) --together;
      spans[*r].together = together;
      left /= together;
    }
  }

  // What the iterations add that are taken together with the first ones.
  std::vector<Values> taken_together(const std::vector<Expr>& positions, const std::vector<Span>& spans) const {
    std::vector<std::vector<Expr>> all{positions};
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const size_t before = all.size();
      for (int64_t step = 1; step < spans[*r].together; ++step)
        for (size_t i = 0; i < before; ++i) {
          all.push_back(all[i]);
          all.back()[*r] += static_cast<int>(step);
        }
    }
    std::vector<Values> values;
    for (size_t i = 1; i < all.size(); ++i) values.push_back(terms.of(all[i]).value);
    return values;
  }

  // A Func that adds up the statement's terms over these loops. `beside`: terms taken together with those.
  RegisterSums sums(Func func, const std::vector<Var>& arguments, const ReductionDomain& loops,
                    const std::vector<Values>& beside = {}) const {
    define(func, arguments, initial());
    accumulate(func, arguments, terms.of(loops.positions, loops.part(stage.dot)), loops.all(), stage.dot.has_value(),
               beside);
    return {func, loops.unrolled, loops.loops, steps_at_once()};
  }

  PlainReduction plain(const Func& accumulator) const {
    std::vector<Span> spans;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back(span(r, stage.reduction_extents[r], schedule.reduction_unroll[r]));
    take_together(spans);
    const ReductionDomain loops = domain("_r", spans);
    return {sums(accumulator, vars, loops, taken_together(loops.positions, spans))};
  }

  // Blocks of the reduction one after the other, into the same sums.
  PlainReduction by_blocks(const Func& accumulator) const {
    std::vector<Span> spans;
    Halide::Region blocks;
    for (int r = 0; r < reductions(); ++r)
      spans.push_back(
          span(r, std::min(schedule.reduction_block[r], stage.reduction_extents[r]), schedule.reduction_unroll[r]));
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r)
      if (const int64_t count = stage.reduction_extents[*r] / schedule.reduction_block[*r]; count > 1)
        blocks.push_back({0, static_cast<int>(count)});
    ReductionDomain loops = make_domain(name + "_r", schedule.reduction_order, spans, blocks);
    size_t b = 0;
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend() && b < blocks.size(); ++r)
      if (stage.reduction_extents[*r] / schedule.reduction_block[*r] > 1)
        loops.positions[*r] += loops.outermost[b++] * static_cast<int>(schedule.reduction_block[*r]);
    return {sums(accumulator, vars, loops), loops.outermost};
  }

  // The last block from `first` on is shorter. Halide, which asks for what a whole one would read, is told as well that
  // no iteration lies beyond the reduction's end.
  void end_early(ReductionDomain& loops, int r, const Expr& first) const {
    const auto at = std::find(schedule.reduction_order.rbegin(), schedule.reduction_order.rend(), r);
    const auto& loop = loops.loops[static_cast<size_t>(at - schedule.reduction_order.rbegin())];
    const int unroll = schedule.reduction_unroll[r], last = static_cast<int>(stage.reduction_extents[r]) - unroll;
    const Expr begin = first + loop * unroll,
               unrolled = Halide::Internal::substitute(loop.name(), 0, loops.positions[r]);
    RDom(loop.domain()).where(begin <= last);
    loops.positions[r] = Halide::min(Halide::likely(begin), last) + Halide::Internal::simplify(unrolled);
  }

  BlockedReduction into_home(Func accumulator) const {
    std::vector<Span> spans;
    Halide::Region blocks;
    std::vector<Var> block_vars, partial_vars = vars;
    for (int r = 0; r < reductions(); ++r) spans.push_back(span(r, block(r), schedule.reduction_unroll[r]));
    take_together(spans);
    ReductionDomain loops = domain("_r", spans);
    const Loops of_piece = one_piece(stage.loops, schedule);
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const int64_t extent = of_piece.reduction[*r], block = schedule.reduction_block[*r];
      const int64_t count = block_count(of_piece, schedule, *r);
      if (count <= 1) continue;
      blocks.push_back({0, static_cast<int>(count)});
      block_vars.push_back(Var(fmt::format("{}_b{}", name, *r)));
      const Expr first = block_vars.back() * static_cast<int>(block);
      if (extent % block != 0)
        end_early(loops, *r, first);
      else
        loops.positions[*r] += first;
    }
    partial_vars.insert(partial_vars.end(), block_vars.begin(), block_vars.end());
    const RegisterSums partial =
        sums(Func(name + "_part"), partial_vars, loops, taken_together(loops.positions, spans));
    if (blocks.empty()) {
      define(accumulator, vars, at(partial.func, exprs_of(vars)));
      return {partial, accumulator, {}};
    }
    const RDom block_domain(blocks, name + "_rb");
    std::vector<Halide::RVar> block_loops;
    for (int d = 0; d < block_domain.dimensions(); ++d) block_loops.push_back(block_domain[d]);
    std::vector<Expr> arguments = exprs_of(vars);
    arguments.insert(arguments.end(), block_loops.begin(), block_loops.end());
    define(accumulator, vars, initial());
    accumulate(accumulator, vars, {at(partial.func, arguments), {}}, block_loops);
    return {partial, accumulator, block_loops};
  }

  // The elements of one lane.
  Values lane_of(const Func& lanes, const Expr& lane) const {
    std::vector<Expr> arguments = exprs_of(vars);
    arguments.insert(arguments.begin(), lane);
    return at(lanes, arguments);
  }

  // Funcs that halve the lanes, partial sums as well: unrolled vectors of them first (their number is one vector's
  // times any unroll), then halves of one vector. Where the partial sums are int32 products of one iteration, the first
  // fold adds the upper half from its end: folded straight, LLVM 21 takes products of unsigned by signed bytes for a
  // dot product (vpdpbusd), of which it then adds up too few lanes (X86, combineVPDPBUSDPattern: it counts those of the
  // last fold, not of the products).
  std::vector<std::pair<Func, int>> folds(Func lanes, const Var& lane, int64_t count, bool once) const {
    const bool apart = schedule.partial_sums > 0;
    bool from_end = once && statement.accumulator == DType::I32 && !apart && count == schedule.cpu().lanes;
    std::vector<std::pair<Func, int>> result;
    std::vector<Var> arguments = vars;
    arguments.insert(arguments.begin(), lane);
    for (int64_t width = count; width > 1;) {
      const bool in_vectors = !apart && width > schedule.cpu().lanes;
      const int64_t next = in_vectors ? schedule.cpu().lanes : width % 2 == 0 ? width / 2 : 1;
      Func fold(fmt::format("{}_fold{}", name, next));
      Values sum = lane_of(lanes, lane);
      for (int64_t part = next; part < width; part += next)
        sum = combine(reduction_op(statement), sum,
                      lane_of(lanes, from_end ? static_cast<int>(width) - 1 - lane : lane + static_cast<int>(part)));
      from_end = false;
      define(fold, arguments, sum);
      result.emplace_back(fold, static_cast<int>(next));
      lanes = fold;
      width = next;
    }
    return result;
  }

  // partial(lane, vars) sums every lane_count-th iteration of the vectorised loop, or of its pairs where lanes take dot
  // products; what is left over is a tail. Where terms are combined in pairs, half as many lanes sum two of these each.
  // Partial sums are lanes of the innermost loop that no vector holds.
  LaneReduction in_lanes(Func accumulator) const {
    const bool apart = schedule.partial_sums > 0;
    const int loop = apart ? loop_of_turns(one_piece(stage.loops, schedule), schedule)
                           : schedule.cpu().vector_loop - stage.outputs();
    const int64_t lane_count =
        apart ? schedule.partial_sums : int64_t{schedule.cpu().lanes} * schedule.reduction_unroll[loop];
    const int width = stage.dot ? stage.dot->width : 1, step = static_cast<int>(lane_count) * width;
    const bool at_run_time = stage.runtime_reductions[loop];
    const Expr extent = at_run_time ? runtime_extent(loop) : Expr(static_cast<int>(stage.reduction_extents[loop]));
    const Expr whole = Halide::Internal::simplify(extent / step);
    const Var lane(name + "_lane");
    std::vector<Span> spans, rest;
    for (int r = 0; r < reductions(); ++r) {
      const bool cut = r == loop;
      spans.push_back(cut ? Span{0, whole, width} : span(r, stage.reduction_extents[r], schedule.reduction_unroll[r]));
      rest.push_back(cut ? Span{Halide::Internal::simplify(whole * step), Halide::Internal::simplify(extent % step), 1}
                         : span(r, stage.reduction_extents[r], 1));
    }
    ReductionDomain loops = domain("_r", spans);
    // Where an iteration of a lane is, of those that all lanes take at a time.
    const auto at_lane = [&](const ReductionDomain& of) {
      return stage.dot ? lane * width + of.part(stage.dot) : Expr(lane);
    };
    const auto place =
        static_cast<size_t>(std::find(schedule.reduction_order.rbegin(), schedule.reduction_order.rend(), loop) -
                            schedule.reduction_order.rbegin());
    loops.positions[loop] = loops.loops[place] * step + at_lane(loops);
    std::vector<Var> partial_vars = vars;
    partial_vars.insert(partial_vars.begin(), lane);
    const Term whole_term = terms.of(loops.positions);
    const bool in_pairs = takes_pairs(statement) && !stage.dot && schedule.reduction_unroll[loop] % 2 == 0;
    const int64_t lanes = in_pairs ? lane_count / 2 : lane_count;
    const auto beside = [&](std::vector<Expr> positions) {
      positions[loop] += static_cast<int>(lanes);
      return in_pairs ? std::vector<Values>{terms.of(positions).value} : std::vector<Values>();
    };
    RegisterSums partial{Func(name + "_part"), loops.unrolled, loops.loops};
    define(partial.func, partial_vars, initial());
    accumulate(partial.func, partial_vars, whole_term, loops.all(), stage.dot.has_value(), beside(loops.positions));
    const int left = at_run_time ? 0 : static_cast<int>(stage.reduction_extents[loop] % step);
    std::optional<RegisterSums> last;
    if (left > schedule.reduction_unroll[loop] && stage.reduction_extents[loop] >= step) {
      // The last vectors begin earlier, and lanes that have had their iterations keep their sums; minima and maxima may
      // have them again.
      rest[loop] = {0, 1, width};
      ReductionDomain again = domain("_t", rest);
      again.positions[loop] =
          again.loops[place] + static_cast<int>(stage.reduction_extents[loop] - step) + at_lane(again);
      const auto is_left = in_pairs ? std::optional<Expr>() : at_lane(again) >= step - left;
      const Term term = terms.of(again.positions, {}, is_left);
      accumulate(partial.func, partial_vars, term, again.all(), stage.dot.has_value(), beside(again.positions));
      last = RegisterSums{partial.func, again.unrolled, again.loops};
    }
    const bool once = std::all_of(spans.begin(), spans.end(),
                                  [](const Span& one) { return Halide::Internal::is_const_one(one.count); });
    LaneReduction result{
        partial,     lane, lanes, apart ? 1 : schedule.cpu().lanes, folds(partial.func, lane, lanes, once),
        accumulator, last, {}};
    define(accumulator, vars, lane_of(result.folds.empty() ? partial.func : result.folds.back().first, 0));
    if (last || (!at_run_time && left == 0)) return result;
    const ReductionDomain tail = domain("_t", rest);
    accumulate(accumulator, vars, terms.of(tail.positions), tail.all(), stage.dot.has_value());
    result.tail = tail.loops;
    return result;
  }

  // A thread's iterations of one reduction loop: of a loop that it shares every threads-th, from its own turn on.
  struct Turns {
    Span span;
    int64_t threads = 1;
    int64_t first = 0;  // of the whole loop
    Expr turn = 0;
    bool guarded = false;  // a thread may have one that is not there
  };

  // One update of partial sums. Iterations that are not there are computed from the last one and left out.
  void add_turns(SharedReduction& into, const std::vector<Var>& arguments, const std::string& suffix,
                 const std::vector<Turns>& turns) const {
    std::vector<Span> spans;
    for (const auto& one : turns) spans.push_back(one.span);
    ReductionDomain loops = domain(suffix, spans);
    std::vector<Expr> inside;
    for (int r = 0; r < reductions(); ++r) {
      const Turns& of = turns[r];
      if (of.threads == 1) continue;
      Expr& position = loops.positions[r];
      position = position * static_cast<int>(of.threads) + of.turn + static_cast<int>(of.first);
      if (!of.guarded) continue;
      const int extent = static_cast<int>(stage.reduction_extents[r]);
      inside.push_back(position < extent);
      position = Halide::min(position, extent - 1);
    }
    Term term = terms.of(loops.positions);
    term.conditions.insert(term.conditions.end(), inside.begin(), inside.end());
    accumulate(into.partial, arguments, term, loops.all());
    into.updates.push_back({loops.unrolled, loops.loops});
  }

  // partial(vars, share) sums every threads-th iteration; what no whole round of all threads has is an update more.
  SharedReduction among_threads(const Func& accumulator) const {
    const Loops of_piece = one_piece(stage.loops, schedule);
    const ReductionShares shares = reduction_shares(of_piece, schedule);
    const int64_t threads = schedule.gpu().reduction_threads;
    const Var share(name + "_share");
    std::vector<Var> arguments = vars;
    SharedReduction result{Func(name + "_part"), {}, share, shares_come_first(kernel.program, of_piece, schedule), {},
                           accumulator};
    arguments.insert(result.comes_first ? arguments.begin() : arguments.end(), share);
    define(result.partial, arguments, initial());

    std::vector<Turns> rounds(static_cast<size_t>(reductions()));
    int64_t before = 1;  // threads along the loops inside
    for (auto r = schedule.reduction_order.rbegin(); r != schedule.reduction_order.rend(); ++r) {
      const int64_t along = shares.threads[*r], extent = stage.reduction_extents[*r];
      rounds[*r] = {span(*r, extent, schedule.reduction_unroll[*r]), along};
      if (along == 1) continue;
      rounds[*r].turn = (share / static_cast<int>(before)) % static_cast<int>(along);
      before *= along;
      rounds[*r].span = {0, 1, 1};
      rounds[*r].guarded = extent % along != 0;
    }
    std::vector<Turns> rest = rounds;
    const int in_turns = shares.in_turns;
    const int64_t extent = stage.reduction_extents[in_turns], along = shares.threads[in_turns];
    const int64_t unroll = schedule.reduction_unroll[in_turns], whole = extent / (along * unroll);
    rounds[in_turns].span = {0, static_cast<int>(whole), unroll};
    rounds[in_turns].guarded = false;
    const int64_t first = whole * unroll * along, left = extent - first;
    rest[in_turns].span = {0, static_cast<int>((left + along - 1) / along), 1};
    rest[in_turns].first = first;
    rest[in_turns].guarded = left % along != 0;
    if (whole > 0) add_turns(result, arguments, "_r", rounds);
    if (left > 0) add_turns(result, arguments, "_t", rest);

    add_steps(result, arguments, threads);
    return result;
  }

  // The threads' sums as all of them see them, and fewer of them in each step; the accumulator is the last one.
  void add_steps(SharedReduction& reduction, const std::vector<Var>& arguments, int64_t threads) const {
    const auto of_share = [&](const Func& func, const Expr& share) {
      std::vector<Expr> position = exprs_of(arguments);
      position[reduction.comes_first ? 0 : position.size() - 1] = share;
      return at(func, position);
    };
    Func sums(name + "_shared");
    define(sums, arguments, of_share(reduction.partial, reduction.share));
    reduction.steps.emplace_back(sums, static_cast<int>(threads));
    for (const int64_t left : reduction_steps(threads)) {
      const Expr share = left > 1 ? Expr(reduction.share) : Expr(0);
      const auto& [before, count] = reduction.steps.back();
      Values sum = of_share(before, share);
      for (int64_t part = left; part < count; part += left)
        sum = combine(reduction_op(statement), sum, of_share(before, share + static_cast<int>(part)));
      if (left == 1) return define(reduction.accumulator, vars, sum);
      Func step(fmt::format("{}_shared{}", name, left));
      define(step, arguments, sum);
      reduction.steps.emplace_back(step, static_cast<int>(left));
    }
  }
};

}  // namespace

const Func& accumulator_of(const Reduction& reduction) {
  if (const auto* plain = std::get_if<PlainReduction>(&reduction)) return plain->sums.func;
  if (const auto* blocked = std::get_if<BlockedReduction>(&reduction)) return blocked->accumulator;
  if (const auto* in_lanes = std::get_if<LaneReduction>(&reduction)) return in_lanes->accumulator;
  if (const auto* shared = std::get_if<SharedReduction>(&reduction)) return shared->accumulator;
  return std::get<Totals>(reduction).accumulator;
}

std::vector<Func> funcs_of(const Reduction& reduction) {
  std::vector<Func> funcs{accumulator_of(reduction)};
  if (const auto* blocked = std::get_if<BlockedReduction>(&reduction)) funcs.push_back(blocked->partial.func);
  if (const auto* in_lanes = std::get_if<LaneReduction>(&reduction)) {
    funcs.push_back(in_lanes->partial.func);
    for (const auto& [fold, width] : in_lanes->folds) funcs.push_back(fold);
  }
  if (const auto* shared = std::get_if<SharedReduction>(&reduction)) {
    funcs.push_back(shared->partial);
    for (const auto& [step, count] : shared->steps) funcs.push_back(step);
  }
  return funcs;
}

ir::Aggregation reduction_op(const ir::Statement& statement) {
  return statement.op == ir::Aggregation::Assign ? ir::Aggregation::Sum : statement.op;
}

Reduction make_reduction(const KernelContext& kernel, int number, const NestSchedule& schedule, const StageLoops& stage,
                         const Terms& terms) {
  const auto& statement = kernel.program.statements[number];
  const ReductionBuilder builder{kernel, number, statement, schedule, stage, terms};
  const Func accumulator(builder.name + "_acc");
  if (schedule.scan)
    return make_totals(stage, statement, accumulator, builder.initial(),
                       [&](const Expr& position) { return terms.of({position}).value; });
  if (schedule.is_gpu() && schedule.gpu().reduction_threads > 1) return builder.among_threads(accumulator);
  if (schedule.is_gpu()) return builder.by_blocks(accumulator);
  if (schedule.cpu().vector_loop >= stage.outputs() || schedule.partial_sums > 0) return builder.in_lanes(accumulator);
  if (stage.home) return builder.into_home(accumulator);
  return builder.plain(accumulator);
}

// Sums of the packed operand over the whole reduction, by the output loops it depends on.
std::optional<Shift> make_shift(const KernelContext& kernel, int number, const NestSchedule& schedule,
                                const StageLoops& stage, const Terms& terms) {
  if (!stage.dot || !stage.dot->shifted) return std::nullopt;
  const ReductionBuilder builder{kernel, number, kernel.program.statements[number], schedule, stage, terms};
  std::vector<Span> spans;
  for (int r = 0; r < stage.reductions(); ++r)
    spans.push_back(builder.span(r, stage.reduction_extents[r], r == stage.dot->loop ? stage.dot->width : 1));
  const ReductionDomain all = builder.domain("_rs", spans);
  const auto& operand = stage.loops.operands[stage.dot->column];
  std::vector<Var> vars;
  for (const auto& var : builder.vars)
    for (int p = 0; p < stage.outputs(); ++p)
      if (var.name() == stage.vars[p].name() && stage.loops.is_walked(operand, p)) vars.push_back(var);
  std::vector<Expr> subscripts;
  const auto indices = terms.index_values(all.positions);
  for (const auto& subscript : operand.subscripts)
    subscripts.push_back(to_halide(std::get<ir::AffineExpr>(subscript), indices));
  const auto packed = std::find_if(terms.packed().begin(), terms.packed().end(),
                                   [&](const PackedOperand& p) { return p.choice.operand == operand.number; });
  Shift shift{Func(builder.name + "_shift"), all.all()};
  define(shift.func, vars, {0});
  Expr element = at(packed->func, packed_arguments(*packed, subscripts, all.part(stage.dot)))[0];
  if (stage.ends_early(stage.dot->loop))
    element = select(all.positions[stage.dot->loop] < static_cast<int>(stage.loops.reduction[stage.dot->loop]),
                     Halide::likely(element), Halide::Internal::make_zero(element.type()));
  // 128 as an unsigned byte: dot products again.
  shift.func(vars) += Halide::cast<int32_t>(Halide::cast<uint8_t>(128)) * Halide::cast<int32_t>(element);
  return shift;
}

}  // namespace tile_tune::codegen
