#include "engine/records/network_order.h"

#include <utility>

#include "codegen/target/costs.h"
#include "engine/programs/network_form.h"
#include "engine/records/network_steps.h"
#include "frontend/plan/cheap_orders.h"

namespace tile_tune::engine {

namespace {

/// FLOP and traffic beyond those of the cheapest order by which measured times may be the better all the same: rates
/// of tuned products, from outer products to large squares, differ by more, but each order takes a millisecond to look
/// up, and of six operands 945 there are.
constexpr double kWithin = 2;
constexpr size_t kMost = 32;

/// Orders as cheap as that, the cheapest first.
std::vector<plan::Order> cheap_orders_of(const Network& network, DType step_type, const plan::TrafficCost& cost) {
  // What is left is written once and read once.
  const double bytes = 2 * static_cast<double>(dtype_size(step_type));
  const auto step_cost = [&](double flops, double elements) { return cost(flops, bytes * elements); };
  return plan::cheap_orders(network.operands, network.result, network.extents, step_cost, kWithin, kMost);
}

Result<Workload> workload_in_order(const Workload& workload, const ir::Program& bound, const Network& network,
                                   const plan::Order& order) {
  TILE_TUNE_TRY(program, in_order(bound, network, order));
  auto other = make_workload({program, workload.row.frontend, workload.row.source}, program, {});
  other.row.sizes_json = workload.row.sizes_json;
  return other;
}

/// nullopt unless every statement is a step that is tuned.
Result<std::optional<double>> sum_of_steps(const ir::Program& program, const codegen::Target& target,
                                           std::vector<db::Database>& stack) {
  TILE_TUNE_TRY(times, step_times(program, target, stack));
  double sum = 0;
  for (const auto& ns : times) {
    if (!ns) return std::nullopt;
    sum += *ns;
  }
  return sum;
}

}  // namespace

Result<std::optional<Workload>> in_best_order(const Workload& workload, const ir::Program& bound,
                                              const plan::TrafficCost& cost, const codegen::Target& target,
                                              std::vector<db::Database>& stack) {
  if (!bound.free_order || bound.inputs.size() > plan::kMaxCompared) return std::nullopt;
  const auto network = network_of(bound);
  if (!network || network->operands.size() < 3) return std::nullopt;
  const auto orders = cheap_orders_of(*network, bound.statements.front().accumulator, cost);
  const auto is_own = [&](const plan::Order& order) {
    return is_same_order(order, network->order, network->operands.size());
  };
  TILE_TUNE_TRY(whole, tuned_record(workload, target, stack));
  const auto known_ns = [&](const Workload& other) -> Result<std::optional<double>> {
    if (!whole) return sum_of_steps(other.program, target, stack);
    TILE_TUNE_TRY(record, tuned_record(other, target, stack));
    return record ? std::optional(record->median_ns) : std::nullopt;
  };
  TILE_TUNE_TRY(least, known_ns(workload));
  std::optional<Workload> best;
  if (!least && !orders.empty() && !is_own(orders.front())) {
    TILE_TUNE_TRY(cheapest, workload_in_order(workload, bound, *network, orders.front()));
    return cheapest;
  }
  for (size_t i = 0; least && i < orders.size(); ++i) {
    if (is_own(orders[i])) continue;
    TILE_TUNE_TRY(other, workload_in_order(workload, bound, *network, orders[i]));
    TILE_TUNE_TRY(ns, known_ns(other));
    if (!ns || *ns >= codegen::costs::kClearlyFaster * *least) continue;
    least = ns;
    best = std::move(other);
  }
  return best;
}

}  // namespace tile_tune::engine
