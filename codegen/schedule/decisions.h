// Every decision in the schedule of a stage with a nest, in one table. The JSON form, what a child takes from one
// parent together, what kernels for many sizes do without, and what the cost model sees of optional decisions follow
// from it, as does how a nest is said of the same statement with its loops numbered otherwise (renumber.h). How the
// search draws, counts, changes and repairs them: search/space/group_rules.h.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "codegen/schedule/partial_sums.h"
#include "codegen/schedule/prefetch.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/streaming.h"

namespace tile_tune::codegen {

/// Decisions that belong together.
enum class Group { Place, Tiles, Threads, Vectors, Reduction, Copies, Prefetches, Stores };

constexpr const char* group_name(Group group) {
  constexpr const char* kNames[] = {"place",     "tiles",  "threads",    "vectors",
                                    "reduction", "copies", "prefetches", "stores"};
  return kNames[static_cast<int>(group)];
}

/// What the numbers in a decision name: a loop (output loop p, or P + r), a reduction loop, an operand; a list may also
/// have one entry for each reduction loop.
enum class NumberOf { Nothing, Loop, Reduction, Operand, EachReduction };

/// What not every decision has.
struct Traits {
  bool optional = false;       // the JSON form leaves it out where it has its default value
  bool needs_numbers = false;  // kernels for many sizes have its default value
  NumberOf numbers = NumberOf::Nothing;
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
    decision("vector_loop", &CpuMapping::vector_loop, Group::Vectors, {.numbers = NumberOf::Loop}),
    decision("lanes", &CpuMapping::lanes, Group::Vectors),
    decision("streaming", &CpuMapping::streaming, Group::Stores,
             {.optional = true, .needs_numbers = true, .fault = streaming_fault, .figures = streaming_figures}),
    decision("gpu_vector_loop", &GpuMapping::vector_loop, Group::Vectors, {.numbers = NumberOf::Loop}),
    decision("gpu_lanes", &GpuMapping::lanes, Group::Vectors),
    decision("interleaved", &GpuMapping::interleaved, Group::Threads),
    decision("reduction_threads", &GpuMapping::reduction_threads, Group::Threads),
    decision("padding", &GpuMapping::padding, Group::Copies),
    decision("pipelined", &GpuMapping::pipelined, Group::Copies),
    decision("resident_blocks", &GpuMapping::resident_blocks, Group::Threads),
    decision("reduction_order", &NestSchedule::reduction_order, Group::Reduction, {.numbers = NumberOf::Reduction}),
    decision("reduction_block", &NestSchedule::reduction_block, Group::Reduction, {.numbers = NumberOf::EachReduction}),
    decision("reduction_unroll", &NestSchedule::reduction_unroll, Group::Reduction,
             {.numbers = NumberOf::EachReduction}),
    decision("partial_sums", &NestSchedule::partial_sums, Group::Reduction,
             {.optional = true,
              .needs_numbers = true,
              .not_on_gpu = "threads of a GPU have other sums in flight",
              .fault = partial_sums_fault,
              .figures = partial_sums_figures}),
    decision("packings", &NestSchedule::packings, Group::Copies),
    decision("prefetches", &NestSchedule::prefetches, Group::Prefetches,
             {.optional = true,
              .needs_numbers = true,
              .not_on_gpu = "operands are asked for ahead of their use on a CPU alone",
              .fault = prefetch_fault,
              .figures = prefetch_figures}),
    decision("dot_product", &NestSchedule::dot_product, Group::Reduction, {.optional = true, .needs_numbers = true}),
    decision("dot_pairs", &NestSchedule::dot_pairs, Group::Reduction,
             {.optional = true,
              .needs_numbers = true,
              .not_on_gpu = "a GPU's dot products of bytes are of four, as they are"}),
    decision("dot_tiles", &NestSchedule::dot_tiles, Group::Reduction,
             {.optional = true, .needs_numbers = true, .not_on_gpu = "tiles are of a CPU's matrix unit"}),
    decision("scan", &NestSchedule::scan, Group::Reduction,
             {.optional = true, .needs_numbers = true, .not_on_gpu = "running totals are not computed on a GPU"}),
};

/// A member of a decision's part.
template <typename Part, typename Value>
struct Field {
  const char* name;  // in the JSON form
  Value Part::*value;
  NumberOf numbers;
};
template <typename Part, typename Value>
constexpr Field<Part, Value> field(const char* name, Value Part::*value, NumberOf numbers = NumberOf::Nothing) {
  return {name, value, numbers};
}

/// Those of a decision's parts.
template <typename Part>
inline constexpr auto kFields = std::tuple{};
template <>
inline constexpr auto kFields<ComputeAt> =
    std::tuple{field("statement", &ComputeAt::statement), field("depth", &ComputeAt::depth)};
template <>
inline constexpr auto kFields<ParallelReduction> = std::tuple{
    field("loop", &ParallelReduction::loop, NumberOf::Reduction), field("pieces", &ParallelReduction::pieces)};
template <>
inline constexpr auto kFields<Packing> = std::tuple{field("operand", &Packing::operand, NumberOf::Operand),
                                                    field("depth", &Packing::depth), field("order", &Packing::order)};
template <>
inline constexpr auto kFields<Prefetch> =
    std::tuple{field("operand", &Prefetch::operand, NumberOf::Operand), field("loop", &Prefetch::loop, NumberOf::Loop),
               field("distance", &Prefetch::distance)};

template <typename Part>
concept HasFields = (std::tuple_size_v<std::remove_cvref_t<decltype(kFields<Part>)>>) > 0;

/// visit(field) for each.
template <HasFields Part, typename Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... one) { (visit(one), ...); }, kFields<Part>);
}

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
