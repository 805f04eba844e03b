#include "codegen/lower/scan.h"

#include <algorithm>

#include "codegen/lower/expression.h"
#include "codegen/lower/stage_loops.h"
#include "codegen/schedule/scan.h"
#include "codegen/target/costs.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

// Chunks of the sums are chains that run side by side, so that one does not wait for another; shorter ones cost more to
// put together than they save.
constexpr int64_t kChunks = costs::kChains, kLeastLength = costs::kLeastOfChain;

// What the totals are at `position`, with the other arguments as they are.
Values total_at(const Totals& totals, const Expr& position) {
  std::vector<Expr> arguments(totals.vars.begin(), totals.vars.end());
  arguments[totals.position] = position;
  return at(totals.func, arguments);
}

void define_total(Totals& totals, const Expr& position, const Values& values) {
  std::vector<Expr> arguments(totals.vars.begin(), totals.vars.end());
  arguments[totals.position] = position;
  if (values.size() == 1)
    totals.func(arguments) = values[0];
  else
    totals.func(arguments) = Halide::Tuple(values);
}

void run_along_chunks(Totals& totals, ir::Aggregation op, const std::string& name) {
  const int length = static_cast<int>(totals.length), chunks = static_cast<int>(totals.chunks);
  if (length > 1) {
    const RDom steps({{0, chunks}, {1, length - 1}}, name + "_rt");
    totals.chunk = steps[0];
    totals.step = steps[1];
    const Expr position = totals.chunk * length + totals.step;
    define_total(totals, position, combine(op, total_at(totals, position - 1), total_at(totals, position)));
  }
  if (chunks > 1) {
    const RDom raised({{0, length}, {1, chunks - 1}}, name + "_ru");
    totals.inside = raised[0];
    totals.next = raised[1];
    const Expr first = totals.next * length, position = first + totals.inside;
    define_total(totals, position, combine(op, total_at(totals, first - 1), total_at(totals, position)));
  }
}

// The totals that the element at the output loops' position wants.
Values look_up(const Totals& totals, const StageLoops& stage, const Scan& scan, const Values& identity) {
  const Var& along = stage.vars[scan.loop];
  const int64_t iterations = stage.loops.reduction[0], last = stage.loops.output[scan.loop] - 1;
  const auto [fewest, most] = std::minmax({scan.count(0), scan.count(last)});
  const Expr count = scan.step * along + static_cast<int>(scan.first);
  Expr position = Halide::Internal::simplify(count - 1);
  if (fewest < 1 || most > iterations)
    position = Halide::clamp(Halide::likely(position), 0, static_cast<int>(iterations) - 1);
  const Values total = total_at(totals, position);
  return fewest < 1 ? select(count >= 1, total, identity) : total;
}

}  // namespace

Totals make_totals(const StageLoops& stage, const ir::Statement& statement, const Halide::Func& accumulator,
                   const Values& identity, const std::function<Values(const Expr& position)>& term) {
  const Scan scan = *scan_of(statement, stage.loops);
  const int64_t iterations = stage.loops.reduction[0];
  const std::string& name = accumulator.name();
  Totals totals;
  totals.accumulator = accumulator;
  totals.func = Halide::Func(name + "_totals");
  for (size_t a = 0; a < stage.buffer_order.size(); ++a) {
    const int p = stage.buffer_order[a];
    if (p == scan.loop) totals.position = a;
    totals.vars.push_back(p == scan.loop ? Var(name + "_position") : stage.vars[p]);
    totals.extents.push_back(stage.loops.output[p]);
  }
  if (totals.position == 0 && iterations >= kChunks * kLeastLength) totals.chunks = kChunks;
  totals.length = (iterations + totals.chunks - 1) / totals.chunks;
  totals.extents[totals.position] = totals.chunks * totals.length;

  const int last = static_cast<int>(iterations) - 1;
  Expr position = totals.vars[totals.position];
  if (totals.chunks * totals.length > iterations) position = Halide::min(Halide::likely(position), last);
  Values first = term(scan.reversed ? last - position : position);
  // Sums begin at 0, which makes 0 of a term that is -0.
  if (statement.op == ir::Aggregation::Sum && first[0].type().is_float())
    first = each_part(first, [](const Expr& part) {
      return Halide::strict_float(Halide::Internal::Add::make(part, Halide::Internal::make_zero(part.type())));
    });
  define(totals.func, totals.vars, first);
  run_along_chunks(totals, statement.op, name);

  define(totals.accumulator, stage.in_buffer_order(), look_up(totals, stage, scan, identity));
  return totals;
}

void apply_totals(const NestSchedule& schedule, const Totals& totals, const Target& target) {
  Halide::Func func = totals.func;
  const Var& front = totals.vars.front();
  const bool along_memory = totals.position == 0;
  int lanes = target.vector_bytes / func.types()[0].bytes();
  while (lanes > totals.extents.front()) lanes /= 2;
  const Var outer(front.name() + "_o"), inner(front.name() + "_i");
  func.compute_root();
  if (lanes > 1) func.vectorize(front, lanes, TailStrategy::GuardWithIf);

  if (totals.length > 1) {
    Halide::Stage steps = func.update(0);
    std::vector<Halide::VarOrRVar> order;
    if (!along_memory && lanes > 1) {
      steps.split(front, outer, inner, lanes, TailStrategy::GuardWithIf).vectorize(inner);
      order = {inner, outer};
    } else if (!along_memory) {
      order = {front};
    }
    order.insert(order.end(), {totals.chunk, totals.step});
    for (size_t a = 1; a < totals.vars.size(); ++a)
      if (a != totals.position) order.push_back(totals.vars[a]);
    steps.reorder(order).unroll(totals.chunk);
  }
  if (totals.chunks > 1) {
    Halide::Stage raised = func.update(totals.length > 1 ? 1 : 0);
    const Halide::RVar blocks(totals.inside.name() + "_o"), within(totals.inside.name() + "_i");
    // A chunk's elements are raised one by one, by an element of the chunk before.
    raised.allow_race_conditions().split(totals.inside, blocks, within, std::max(lanes, 1), TailStrategy::GuardWithIf);
    if (lanes > 1) raised.vectorize(within);
  }
  if (schedule.cpu().parallel == 0) return;
  for (size_t a = totals.vars.size(); a-- > 1;) {
    if (a == totals.position || totals.extents[a] < 2) continue;
    func.parallel(totals.vars[a]);
    for (int u = 0; u < func.num_update_definitions(); ++u) func.update(u).parallel(totals.vars[a]);
    return;
  }
}

}  // namespace tile_tune::codegen
