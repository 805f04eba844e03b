// Every decision in the schedule of a stage, in one table. The JSON form, what a child takes from one parent together,
// what kernels for many sizes do without, and what the cost model sees of optional decisions follow from it. How the
// search draws, counts, changes and repairs them: search/space/decisions.h.
#pragma once

#include <tuple>
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
  /// What is wrong with it in a stage that is valid otherwise, in one sentence; empty if nothing is.
  std::string (*fault)(const ir::Program&, const Loops&, const StageSchedule&) = nullptr;
  std::vector<Figure> (*figures)() = nullptr;
};

template <typename Value>
struct Decision {
  const char* name;  // the field of the JSON form
  Value StageSchedule::*value;
  Group group;
  Traits traits;

  bool has_default(const StageSchedule& stage) const { return stage.*value == Value{}; }
};

template <typename Value>
constexpr Decision<Value> decision(const char* name, Value StageSchedule::*value, Group group, Traits traits = {}) {
  return {name, value, group, traits};
}

inline constexpr std::tuple kDecisions{
    decision("compute_at", &StageSchedule::compute_at, Group::Place, {.optional = true, .needs_numbers = true}),
    decision("parallel_reduction", &StageSchedule::parallel_reduction, Group::Reduction,
             {.optional = true, .needs_numbers = true}),
    decision("tiles", &StageSchedule::tiles, Group::Tiles),
    decision("order", &StageSchedule::order, Group::Tiles),
    decision("parallel", &StageSchedule::parallel, Group::Threads),
    decision("vector_loop", &StageSchedule::vector_loop, Group::Vectors),
    decision("lanes", &StageSchedule::lanes, Group::Vectors),
    decision("reduction_order", &StageSchedule::reduction_order, Group::Reduction),
    decision("reduction_block", &StageSchedule::reduction_block, Group::Reduction),
    decision("reduction_unroll", &StageSchedule::reduction_unroll, Group::Reduction),
    decision("packings", &StageSchedule::packings, Group::Copies),
    decision("prefetches", &StageSchedule::prefetches, Group::Prefetches,
             {.optional = true, .needs_numbers = true, .fault = prefetch_fault, .figures = prefetch_figures}),
    decision("dot_product", &StageSchedule::dot_product, Group::Reduction, {.optional = true, .needs_numbers = true}),
    decision("scan", &StageSchedule::scan, Group::Reduction, {.optional = true, .needs_numbers = true}),
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

}  // namespace tile_tune::codegen
