// Every decision in the schedule of a stage with a nest, in one table. The JSON form, what a child takes from one
// parent together, what kernels for many sizes do without, and what the cost model sees of optional decisions follow
// from it. How the search draws, counts, changes and repairs them: search/space/decisions.h.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "codegen/schedule/prefetch.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// Decisions that belong together.
enum class Group { Place, Tiles, Threads, Vectors, Reduction, Copies, Prefetches };

constexpr const char* group_name(Group group) {
  constexpr const char* kNames[] = {"place", "tiles", "threads", "vectors", "reduction", "copies", "prefetches"};
  return kNames[static_cast<int>(group)];
}

/// What not every decision has.
struct Traits {
  bool optional = false;       // the JSON form leaves it out where it has its default value
  bool needs_numbers = false;  // kernels for many sizes have its default value
  /// Why nests on a GPU have its default value, in one sentence: it is a CPU's, or not built for GPUs yet.
  const char* not_on_gpu = nullptr;
  /// What is wrong with it in a stage that is valid otherwise, in one sentence; empty if nothing is.
  std::string (*fault)(const ir::Program&, const Loops&, const NestSchedule&) = nullptr;
  std::vector<Figure> (*figures)() = nullptr;
};

/// A member of NestSchedule or, Holder, of its mapping.
template <typename Holder, typename Value>
struct Decision {
  const char* name;  // the field of the JSON form
  Value Holder::*value;
  Group group;
  Traits traits;

  /// Whether the nest has it: decisions of a mapping belong to that alternative.
  bool applies(const NestSchedule& nest) const {
    if constexpr (std::is_same_v<Holder, NestSchedule>)
      return true;
    else
      return std::holds_alternative<Holder>(nest.mapping);
  }
  /// It must apply.
  const Value& in(const NestSchedule& nest) const {
    if constexpr (std::is_same_v<Holder, NestSchedule>)
      return nest.*value;
    else
      return std::get<Holder>(nest.mapping).*value;
  }
  Value& in(NestSchedule& nest) const { return const_cast<Value&>(in(std::as_const(nest))); }
  bool has_default(const NestSchedule& nest) const { return in(nest) == Value{}; }
};

template <typename Holder, typename Value>
constexpr Decision<Holder, Value> decision(const char* name, Value Holder::*value, Group group, Traits traits = {}) {
  return {name, value, group, traits};
}

inline constexpr std::tuple kDecisions{
    decision("compute_at", &NestSchedule::compute_at, Group::Place,
             {.optional = true,
              .needs_numbers = true,
              .not_on_gpu = "nothing is computed inside another nest's loops on a GPU"}),
    decision("parallel_reduction", &NestSchedule::parallel_reduction, Group::Reduction,
             {.optional = true, .needs_numbers = true}),
    decision("tiles", &NestSchedule::tiles, Group::Tiles),
    decision("order", &NestSchedule::order, Group::Tiles),
    decision("parallel", &CpuMapping::parallel, Group::Threads),
    decision("vector_loop", &CpuMapping::vector_loop, Group::Vectors),
    decision("lanes", &CpuMapping::lanes, Group::Vectors),
    decision("gpu_vector_loop", &GpuMapping::vector_loop, Group::Vectors),
    decision("gpu_lanes", &GpuMapping::lanes, Group::Vectors),
    decision("interleaved", &GpuMapping::interleaved, Group::Threads),
    decision("reduction_threads", &GpuMapping::reduction_threads, Group::Threads),
    decision("padding", &GpuMapping::padding, Group::Copies),
    decision("pipelined", &GpuMapping::pipelined, Group::Copies),
    decision("resident_blocks", &GpuMapping::resident_blocks, Group::Threads),
    decision("reduction_order", &NestSchedule::reduction_order, Group::Reduction),
    decision("reduction_block", &NestSchedule::reduction_block, Group::Reduction),
    decision("reduction_unroll", &NestSchedule::reduction_unroll, Group::Reduction),
    decision("packings", &NestSchedule::packings, Group::Copies),
    decision("prefetches", &NestSchedule::prefetches, Group::Prefetches,
             {.optional = true,
              .needs_numbers = true,
              .not_on_gpu = "operands are asked for ahead of their use on a CPU alone",
              .fault = prefetch_fault,
              .figures = prefetch_figures}),
    decision("dot_product", &NestSchedule::dot_product, Group::Reduction, {.optional = true, .needs_numbers = true}),
    decision("scan", &NestSchedule::scan, Group::Reduction,
             {.optional = true, .needs_numbers = true, .not_on_gpu = "running totals are not computed on a GPU"}),
};

/// The fields of a decision's parts, by their names in the JSON form.
template <typename Part>
inline constexpr auto kFields = std::tuple{};
template <>
inline constexpr auto kFields<ComputeAt> =
    std::tuple{std::pair{"statement", &ComputeAt::statement}, std::pair{"depth", &ComputeAt::depth}};
template <>
inline constexpr auto kFields<ParallelReduction> =
    std::tuple{std::pair{"loop", &ParallelReduction::loop}, std::pair{"pieces", &ParallelReduction::pieces}};
template <>
inline constexpr auto kFields<Packing> = std::tuple{
    std::pair{"operand", &Packing::operand}, std::pair{"depth", &Packing::depth}, std::pair{"order", &Packing::order}};
template <>
inline constexpr auto kFields<Prefetch> =
    std::tuple{std::pair{"operand", &Prefetch::operand}, std::pair{"loop", &Prefetch::loop},
               std::pair{"distance", &Prefetch::distance}};

/// visit(decision) for each row of the table.
template <typename Visit>
constexpr void for_each_decision(Visit&& visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, kDecisions);
}

/// ... for each that the nest has.
template <typename Visit>
constexpr void for_each_decision_of(const NestSchedule& nest, Visit&& visit) {
  for_each_decision([&](const auto& row) {
    if (row.applies(nest)) visit(row);
  });
}

}  // namespace tile_tune::codegen
