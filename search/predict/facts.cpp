#include "search/predict/facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "codegen/schedule/check.h"
#include "codegen/schedule/decisions.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "frontend/ir/path_condition.h"
#include "search/predict/nest.h"

namespace tile_tune::predict {
namespace {

using codegen::Operand;
namespace costs = codegen::costs;

struct Stage {
  const ir::Program& program;
  const ir::Statement& statement;
  const codegen::Loops& loops;
  const codegen::NestSchedule& schedule;
  const codegen::Target& target;
  Nest nest;

  int outputs() const { return static_cast<int>(loops.output.size()); }
  int reductions() const { return static_cast<int>(loops.reduction.size()); }
  bool is_output_vector(int p) const { return p == schedule.cpu().vector_loop && schedule.cpu().lanes > 1; }

  int64_t extent(int loop) const {
    return std::max<int64_t>(loop < outputs() ? loops.output[loop] : loops.reduction[loop - outputs()], 1);
  }

  const codegen::Packing* packing_of(const Operand& operand) const {
    return codegen::copy_read_by(loops, schedule, operand.number);
  }

  bool moves(const Operand& operand, int loop) const {
    return !operand.affine || loops.stride(program, operand, loop) != 0;
  }

  /// Elements between lanes where the operand is read from: its tensor or its copy; -1 where that has no one answer.
  int64_t lane_stride(const Operand& operand) const {
    if (!operand.affine) return -1;
    const int64_t stride = std::abs(loops.stride(program, operand, schedule.cpu().vector_loop));
    const auto* packing = packing_of(operand);
    if (!packing || packing->order.empty() || stride == 0) return stride;
    const int v = schedule.cpu().vector_loop;
    const int index = v < outputs() ? loops.output_index[v] : loops.reduction_index[v - outputs()];
    for (size_t d = 0; d < operand.subscripts.size(); ++d) {
      const auto coefficient = std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index);
      if (coefficient != 0 && static_cast<int>(d) != packing->order.front()) return -1;
    }
    return std::abs(std::get<ir::AffineExpr>(operand.subscripts[packing->order.front()]).coefficient(index));
  }

  /// Vectors (or, where the lanes share one value, elements) of a register tile along output loop p.
  double register_steps(int p) const {
    return static_cast<double>(schedule.tiles[p].back()) / (is_output_vector(p) ? schedule.cpu().lanes : 1);
  }

  size_t depth_of_level(size_t level) const {
    const size_t depth = std::min(level + 1, schedule.order.size()) * static_cast<size_t>(outputs());
    return static_cast<size_t>(nest.at_depth[depth]);
  }

  // What is packed before all blocks of the statements around counts as packed once.
  size_t depth_of(const codegen::Packing& packing) const {
    return static_cast<size_t>(nest.at_depth[std::max(packing.depth, 0)]);
  }

  double operand_bytes(const Operand& operand, size_t depth) const {
    const auto* packing = packing_of(operand);
    const bool from_copy = packing && depth_of(*packing) <= depth;
    return line_bytes(program, loops, operand, nest.inner[depth], from_copy ? &packing->order : nullptr);
  }

  double result_bytes(size_t depth) const {
    return output_bytes(program, statement, loops, nest.inner[depth], static_cast<int64_t>(dtype_size(result_type())));
  }
  DType result_type() const { return program.tensors[statement.target].type; }

  double working_set(size_t depth) const {
    double bytes = result_bytes(depth);
    for (const auto& operand : loops.operands) bytes += operand_bytes(operand, depth);
    return bytes;
  }
};

double product(const std::vector<int64_t>& values, size_t first, size_t last) {
  double product = 1;
  for (size_t i = first; i < last; ++i) product *= static_cast<double>(std::max<int64_t>(values[i], 1));
  return product;
}

void work(const Stage& stage, StageFacts& facts) {
  const auto& whole = stage.nest.inner.front();
  const auto outputs = static_cast<size_t>(stage.outputs());
  facts.output = product(whole, 0, outputs);
  facts.reduction = product(whole, outputs, whole.size());
  facts.points = facts.output * facts.reduction;
  facts.element_bytes = static_cast<double>(dtype_size(stage.statement.accumulator));
  facts.intensity = facts.points / std::max(stage.working_set(0), 1.0);
  facts.constraints =
      static_cast<double>(stage.statement.constraints.size() + ir::guarding_indices(stage.statement).size());
}

void vectors(const Stage& stage, StageFacts& facts) {
  const auto& schedule = stage.schedule;
  facts.lanes = 0;
  if (schedule.cpu().vector_loop < 0) return;
  const int64_t extent = stage.extent(schedule.cpu().vector_loop);
  facts.lanes =
      schedule.cpu().lanes / static_cast<double>(std::max(stage.target.lanes(stage.statement.accumulator), 1));
  facts.reduces_lanes = schedule.cpu().vector_loop >= stage.outputs();
  facts.vector_extent = static_cast<double>(extent);
  if (schedule.cpu().vector_loop < stage.outputs())
    facts.store_stride = static_cast<double>(
        std::abs(codegen::output_stride(stage.program, stage.statement, stage.loops, schedule.cpu().vector_loop)));
  const bool has_tail = extent > schedule.cpu().lanes;  // else lanes of its one vector are left out
  facts.unaligned_tail =
      has_tail ? static_cast<double>(extent % schedule.cpu().lanes) / static_cast<double>(extent) : 0;
  const double share = 1.0 / static_cast<double>(std::max<size_t>(stage.loops.operands.size(), 1));
  for (const auto& operand : stage.loops.operands) {
    const int64_t stride = stage.lane_stride(operand);
    (stride == 0 ? facts.broadcast : stride == 1 ? facts.contiguous : facts.strided) += share;
  }
}

void body(const Stage& stage, StageFacts& facts) {
  const auto& schedule = stage.schedule;
  for (int p = 0; p < stage.outputs(); ++p) facts.accumulators *= stage.register_steps(p);
  for (const int factor : schedule.reduction_unroll) facts.unroll *= factor;
  const bool output_vector = schedule.cpu().vector_loop >= 0 && schedule.cpu().vector_loop < stage.outputs();
  if (output_vector) facts.vectors = stage.register_steps(schedule.cpu().vector_loop);
  facts.rows = facts.accumulators / facts.vectors;
  facts.body = static_cast<double>(codegen::unrolled_operations(stage.loops, schedule));
  const double sums = facts.accumulators * std::max(schedule.partial_sums, 1);
  facts.latency = std::min(1.0, sums / costs::kInFlight);
  double held = sums + 1;
  facts.row_streams = 0;
  for (const auto& operand : stage.loops.operands) {
    double loads = 1, rows = 1;
    for (int loop = 0; loop < stage.loops.loop_count(); ++loop) {
      if (!stage.moves(operand, loop)) continue;
      const double count = loop < stage.outputs()
                               ? stage.register_steps(loop)
                               : schedule.reduction_unroll[static_cast<size_t>(loop - stage.outputs())];
      loads *= count;
      const bool apart =
          !operand.affine || std::abs(stage.loops.stride(stage.program, operand, loop)) > schedule.cpu().lanes;
      if (apart && !stage.is_output_vector(loop)) rows *= count;
    }
    facts.loads += loads / (facts.accumulators * facts.unroll);
    facts.row_streams += rows;
    if (output_vector && stage.moves(operand, schedule.cpu().vector_loop)) held += facts.vectors;
  }
  facts.pressure = held / stage.target.vector_registers;
}

void tiles(const Stage& stage, StageFacts& facts) {
  const auto& nest = stage.nest;
  const auto outputs = static_cast<size_t>(stage.outputs());
  facts.levels = static_cast<double>(stage.schedule.order.size());
  for (size_t p = 0; p < outputs; ++p) {
    const double trips = std::ceil(static_cast<double>(stage.extent(static_cast<int>(p))) /
                                   static_cast<double>(stage.schedule.tiles[p].front()));
    facts.wasted *= trips * static_cast<double>(stage.schedule.tiles[p].front()) /
                    static_cast<double>(stage.extent(static_cast<int>(p)));
    facts.tile_output *= static_cast<double>(stage.schedule.tiles[p].front());
    facts.middle_output *=
        static_cast<double>(stage.schedule.tiles[p][std::min<size_t>(1, stage.schedule.order.size() - 1)]);
  }
  facts.tile_points = facts.tile_output * facts.reduction;
  for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend() && !loop->tiles; ++loop)
    facts.accumulate_trips *= loop->trips;
  for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend() && facts.inner_trips == 1; ++loop)
    facts.inner_trips = loop->trips;
  if (!nest.home) return;
  facts.home_visits = 1;
  for (int r = 0; r < stage.reductions(); ++r)
    facts.home_visits *= static_cast<double>(codegen::block_count(stage.loops, stage.schedule, r));
  facts.home_bytes = facts.tile_output * facts.element_bytes;
  facts.home_l1 = facts.home_bytes / static_cast<double>(stage.target.l1_bytes);
  facts.home_l2 = facts.home_bytes / static_cast<double>(stage.target.l2_bytes);
}

void threads(const Stage& stage, StageFacts& facts) {
  const double threads = std::max(stage.target.threads, 1);
  facts.parallel_loops = stage.schedule.cpu().parallel;
  facts.grains = stage.nest.runs(static_cast<size_t>(stage.schedule.cpu().parallel));
  facts.grains_each = facts.grains / threads;
  facts.imbalance = std::ceil(facts.grains / threads) * threads / facts.grains;
  facts.grain_points = facts.points * facts.wasted / facts.grains;
  facts.idle = threads / std::min(threads, facts.grains);
}

void packing(const Stage& stage, StageFacts& facts) {
  double strided = 0, strided_packed = 0;
  const int v = stage.schedule.cpu().vector_loop;
  for (const auto& operand : stage.loops.operands) {
    const auto* packing = stage.packing_of(operand);
    if (v >= 0 && operand.affine && std::abs(stage.loops.stride(stage.program, operand, v)) > 1) {
      ++strided;
      strided_packed += packing != nullptr;
    }
    if (!packing) continue;
    ++facts.packed;
    if (codegen::is_packed_beforehand(stage.program, operand)) continue;
    const auto depth = stage.depth_of(*packing);
    const double copied =
        stage.loops.footprint(stage.program, operand, stage.nest.inner[depth]) * stage.nest.runs(depth) / facts.points;
    facts.copied += copied;
    if (packing->depth < stage.schedule.cpu().parallel) facts.copied_alone += copied;
    const double panel = stage.operand_bytes(operand, depth);
    facts.panel_l1 = std::max(facts.panel_l1, panel / static_cast<double>(stage.target.l1_bytes));
    facts.panel_l2 = std::max(facts.panel_l2, panel / static_cast<double>(stage.target.l2_bytes));
    facts.panel_l3 = std::max(facts.panel_l3, panel / static_cast<double>(stage.target.l3_bytes));
    if (packing->order.empty()) continue;
    const auto distances = ir::strides(stage.program.tensors[operand.tensor]);
    facts.copy_stride =
        std::max(facts.copy_stride, static_cast<double>(distances[static_cast<size_t>(packing->order.front())]));
  }
  if (strided > 0) facts.packed_strided = strided_packed / strided;
}

/// How often the data of a pass through the `depth`-deep insides must come anew, if loops that do not move it keep it.
template <typename Moves>
double fetches(const Nest& nest, size_t depth, Moves moves) {
  while (depth > 0 && !moves(nest.loops[depth - 1].loop)) --depth;
  return nest.runs(depth);
}

/// Bytes for one iteration that come into a cache of `capacity`.
double traffic(const Stage& stage, const std::vector<double>& working_sets, double capacity, double points) {
  size_t depth = 0;
  while (depth + 1 < working_sets.size() && working_sets[depth] > capacity) ++depth;
  const auto moves_output = [&](int loop) { return loop < stage.outputs(); };
  double bytes = stage.result_bytes(depth) * fetches(stage.nest, depth, moves_output);
  for (const auto& operand : stage.loops.operands)
    bytes += stage.operand_bytes(operand, depth) *
             fetches(stage.nest, depth, [&](int loop) { return stage.moves(operand, loop); });
  return bytes / points;
}

void memory(const Stage& stage, StageFacts& facts) {
  const auto& nest = stage.nest;
  const auto l1 = static_cast<double>(stage.target.l1_bytes), l2 = static_cast<double>(stage.target.l2_bytes),
             l3 = static_cast<double>(stage.target.l3_bytes);
  std::vector<double> sets;
  for (size_t depth = 0; depth < nest.inner.size(); ++depth)
    sets.push_back(depth > 0 && nest.loops[depth - 1].trips == 1 ? sets.back() : stage.working_set(depth));
  facts.traffic_l1 = traffic(stage, sets, l1, facts.points);
  facts.traffic_l2 = traffic(stage, sets, l2, facts.points);
  facts.traffic_l3 = traffic(stage, sets, l3, facts.points);
  const size_t tile = stage.depth_of_level(0), middle = stage.depth_of_level(1);
  facts.body_l1 = sets[stage.depth_of_level(stage.schedule.order.size() - 1)] / l1;
  facts.middle_l2 = sets[middle] / l2;
  facts.tile_l2 = sets[tile] / l2;
  facts.tile_l3 = sets[tile] / l3;
  const auto& inside = nest.inner[tile];
  const double points = product(inside, 0, inside.size());
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (const auto& operand : stage.loops.operands) {
    const double reuse = points / stage.operand_bytes(operand, tile);
    most = std::max(most, reuse);
    least = std::min(least, reuse);
    for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend(); ++loop) {
      if (loop->trips == 1) continue;
      if (operand.affine)
        facts.inner_stride = std::max(
            facts.inner_stride, static_cast<double>(std::abs(stage.loops.stride(stage.program, operand, loop->loop))));
      break;
    }
  }
  if (!stage.loops.operands.empty()) {
    facts.reuse_most = most;
    facts.reuse_least = least;
  }
  const double visits = nest.home ? 2 * facts.home_visits : 0;
  facts.written =
      (static_cast<double>(dtype_size(stage.result_type())) + visits * facts.element_bytes) / facts.reduction;
}

}  // namespace

const std::array<FactInfo, 58> kFacts = {{
    {"points", &StageFacts::points, true},
    {"output", &StageFacts::output, true},
    {"reduction", &StageFacts::reduction, true},
    {"element_bytes", &StageFacts::element_bytes, false},
    {"intensity", &StageFacts::intensity, true},
    {"constraints", &StageFacts::constraints, false},
    {"lanes", &StageFacts::lanes, false},
    {"reduces_lanes", &StageFacts::reduces_lanes, false},
    {"vector_extent", &StageFacts::vector_extent, true},
    {"store_stride", &StageFacts::store_stride, true},
    {"contiguous", &StageFacts::contiguous, false},
    {"broadcast", &StageFacts::broadcast, false},
    {"strided", &StageFacts::strided, false},
    {"unaligned_tail", &StageFacts::unaligned_tail, false},
    {"accumulators", &StageFacts::accumulators, true},
    {"pressure", &StageFacts::pressure, false},
    {"vectors", &StageFacts::vectors, false},
    {"rows", &StageFacts::rows, false},
    {"loads", &StageFacts::loads, false},
    {"body", &StageFacts::body, true},
    {"unroll", &StageFacts::unroll, true},
    {"latency", &StageFacts::latency, false},
    {"row_streams", &StageFacts::row_streams, true},
    {"inner_trips", &StageFacts::inner_trips, true},
    {"accumulate_trips", &StageFacts::accumulate_trips, true},
    {"levels", &StageFacts::levels, false},
    {"wasted", &StageFacts::wasted, false},
    {"tile_points", &StageFacts::tile_points, true},
    {"tile_output", &StageFacts::tile_output, true},
    {"middle_output", &StageFacts::middle_output, true},
    {"home_visits", &StageFacts::home_visits, true},
    {"home_l1", &StageFacts::home_l1, true},
    {"home_l2", &StageFacts::home_l2, true},
    {"parallel_loops", &StageFacts::parallel_loops, false},
    {"grains", &StageFacts::grains, true},
    {"grains_each", &StageFacts::grains_each, true},
    {"imbalance", &StageFacts::imbalance, false},
    {"grain_points", &StageFacts::grain_points, true},
    {"idle", &StageFacts::idle, false},
    {"packed", &StageFacts::packed, false},
    {"packed_strided", &StageFacts::packed_strided, false},
    {"copied", &StageFacts::copied, false},
    {"copied_alone", &StageFacts::copied_alone, false},
    {"copy_stride", &StageFacts::copy_stride, true},
    {"panel_l1", &StageFacts::panel_l1, true},
    {"panel_l2", &StageFacts::panel_l2, true},
    {"panel_l3", &StageFacts::panel_l3, true},
    {"traffic_l1", &StageFacts::traffic_l1, false},
    {"traffic_l2", &StageFacts::traffic_l2, false},
    {"traffic_l3", &StageFacts::traffic_l3, false},
    {"body_l1", &StageFacts::body_l1, true},
    {"middle_l2", &StageFacts::middle_l2, true},
    {"tile_l2", &StageFacts::tile_l2, true},
    {"tile_l3", &StageFacts::tile_l3, true},
    {"reuse_most", &StageFacts::reuse_most, true},
    {"reuse_least", &StageFacts::reuse_least, true},
    {"inner_stride", &StageFacts::inner_stride, true},
    {"written", &StageFacts::written, false},
}};

const std::vector<codegen::Figure>& decision_figures() {
  static const std::vector<codegen::Figure> figures = [] {
    std::vector<codegen::Figure> all;
    codegen::for_each_decision([&](const auto& decision) {
      if (!decision.traits.figures) return;
      for (const auto& figure : decision.traits.figures()) all.push_back(figure);
    });
    return all;
  }();
  return figures;
}

StageFacts stage_facts(const ir::Program& program, int statement, const codegen::Loops& loops,
                       const codegen::NestSchedule& schedule, const codegen::Target& target) {
  const Stage stage{
      program, program.statements[statement],
      loops,   schedule,
      target,  nest_of(loops, schedule, has_home(program, program.statements[statement], loops, schedule))};
  StageFacts facts;
  work(stage, facts);
  vectors(stage, facts);
  body(stage, facts);
  tiles(stage, facts);
  threads(stage, facts);
  packing(stage, facts);
  memory(stage, facts);
  for (const auto& figure : decision_figures()) facts.decided.push_back(figure.value(program, loops, schedule));
  return facts;
}

}  // namespace tile_tune::predict
