// How one program runs: immutable plain data, versioned, with a JSON form. No Halide here.
//
// A Schedule holds one StageSchedule per statement of a *canonical, bound* program (ir/canonical.h) and
// means nothing without it. Loops and operands are named by canonical numbers, so a schedule survives
// renaming. With `collapsed` it speaks of the program's collapsed form (ir/collapsed.h). What a valid schedule is:
// check() in codegen/schedule/check.h; applying one: codegen/lower.
//
// The loops of a stage. Its output loops (one per output dimension, or, where the target's subscripts are not plain
// indices, one per index they use: codegen/schedule/loops.h; numbered 0..P-1) are each cut into
// nested tiles: tiles[p] = {t_1, ..., t_L}, sizes in elements, every t dividing the one before it, t_1 at
// most the extent. t_L is the register tile: its elements are held in registers, vectorised or unrolled.
// order[l] is the permutation of output loops at nesting level l (0: over the blocks of size t_1, ...,
// L-1: over the register tiles inside t_{L-1}), outermost first. Reduction loops are numbered 0..R-1.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// A copy of one operand into contiguous scratch, made where `depth` tile loops of the stage are open
/// (0: once for all of the stage that is computed at a time; -1, for inputs of the program read by a stage inside
/// another's loops: outside all of these that go on to read the same elements, Fusion::copy_depth), stored with operand
/// dimension order[0] innermost, then order[1], ...
struct Packing {
  int operand = 0;  // which Read of the statement's value, counted in order of appearance
  int depth = 0;
  std::vector<int> order;
  auto operator<=>(const Packing&) const = default;
};

/// Where a stage is computed and its results are kept, if not for itself before all that reads them: anew in every
/// iteration of the `depth` outermost tile loops of the nest that belongs to `statement`, as much as that iteration
/// needs. Its tiles then cut this part, and no loop of its own is parallel.
struct ComputeAt {
  int statement = 0;
  int depth = 1;
  auto operator<=>(const ComputeAt&) const = default;
};

/// A reduction loop cut into equal pieces that run in parallel, each into results of its own, which are combined at the
/// end with the few iterations that no piece has. The stage's other choices for that loop are those of one piece.
struct ParallelReduction {
  int loop = 0;
  int pieces = 2;
  auto operator<=>(const ParallelReduction&) const = default;
};

/// With every vector of the operand that it loads, the stage asks for the one it will load `distance` iterations of
/// loop `loop` (output loop p, or P + r) later, so that this is in the nearest cache by then. What it computes is the
/// same.
struct Prefetch {
  int operand = 0;
  int loop = 0;
  int distance = 1;
  auto operator<=>(const Prefetch&) const = default;
};

/// What of a nest runs on a CPU's cores and in its vectors.
struct CpuMapping {
  int parallel = 0;        // how many of order[0]'s outermost loops are fused into one parallel loop
  int vector_loop = -1;    // the loop whose register tile is vectorised: output loop p, or P + r for reduction loop r
                           // (partial results in lanes); -1: scalar code
  int lanes = 1;           // power of two; divides the register tile of an output vector loop
  bool streaming = false;  // results leave the caches out on their way to memory (streaming.h)
  auto operator<=>(const CpuMapping&) const = default;
};

/// What of a nest runs on a GPU's blocks and threads. There are two tile levels: tiles[p] = {block, thread}. A block of
/// the grid computes tiles[p][0] elements of output loop p by tiles[p][0] / tiles[p][1] threads, each of which holds
/// tiles[p][1] of them in registers. order[0] is that of the grid's dimensions, order[1] that of the block's, the last
/// loop is the fastest. A packing of depth P, inside all of the grid's loops, is staged in shared memory by the threads
/// of a block, a block of the reduction at a time; reduction_unroll unrolls inside such a block.
struct GpuMapping {
  int vector_loop = -1;       // the output loop along which a thread's elements are loaded and stored `lanes` at a time
  int lanes = 1;              // 1, 2 or 4; divides the register tile of that loop
  bool interleaved = false;   // a thread's elements are pieces of as many as there are lanes, or of one in loops whose
                              // thread tile is no multiple of that, and the block's threads take turns with theirs, so
                              // that neighbours touch neighbouring pieces; else they lie side by side
  int reduction_threads = 1;  // threads of a block that share one element's reduction (reduction_shares()), whose sums
                              // are combined in shared memory; a power of two
  int padding = 0;            // elements between rows of what is staged, against bank conflicts
  bool pipelined = false;     // the next block of the reduction is loaded while the present one is computed
  int resident_blocks = 0;    // least number of blocks on a multiprocessor that registers are limited for; 0: none
  auto operator<=>(const GpuMapping&) const = default;
};

/// Which of a nest's loops a device runs on what.
using Mapping = std::variant<CpuMapping, GpuMapping>;

/// A stage with a tile nest of its own. Every member is a row of the table in decisions.h.
struct NestSchedule {
  std::optional<ComputeAt> compute_at;
  std::vector<std::vector<int64_t>> tiles;
  std::vector<std::vector<int>> order;  // L permutations of 0..P-1
  Mapping mapping;
  std::vector<int> reduction_order;      // permutation of 0..R-1, outermost first
  std::vector<int64_t> reduction_block;  // per reduction loop: iterations between two visits of the accumulators'
                                         // home in cache, at the last one what is left; the extent means they stay in
                                         // registers throughout
  std::vector<int> reduction_unroll;     // per reduction loop, divides its blocks; of a loop along which threads of a
                                         // GPU take turns, turns: what is left over is a loop of its own
  int partial_sums = 0;                  // of each element, in registers, if there are several: partial_sums.h
  std::optional<ParallelReduction> parallel_reduction;
  std::vector<Packing> packings;
  std::vector<Prefetch> prefetches;  // of an operand at most one: prefetch.h
  bool dot_product = false;  // sums by dot-product instructions (dot_product.h): the innermost reduction loop is then
                             // unrolled by exactly the instruction's width, and its vector operand packed
  bool dot_pairs = false;    // dot products of bytes are of pairs: copies hold them as 16-bit integers
  bool dot_tiles = false;    // dot products are of whole tiles, by the CPU's matrix unit (matrix_tiles.h)
  bool scan = false;  // running totals instead of a reduction for each element (scan.h): the output loops only look
                      // them up, and there is no reduction loop left to speak of

  /// It must be the one.
  CpuMapping& cpu() { return std::get<CpuMapping>(mapping); }
  const CpuMapping& cpu() const { return std::get<CpuMapping>(mapping); }
  GpuMapping& gpu() { return std::get<GpuMapping>(mapping); }
  const GpuMapping& gpu() const { return std::get<GpuMapping>(mapping); }
  bool is_gpu() const { return std::holds_alternative<GpuMapping>(mapping); }
  /// Of either mapping.
  int vector_loop() const {
    return std::visit([](const auto& device) { return device.vector_loop; }, mapping);
  }
  int lanes() const {
    return std::visit([](const auto& device) { return device.lanes; }, mapping);
  }
  auto operator<=>(const NestSchedule&) const = default;
};

/// Computed inside the stage's only consumer.
struct Inlined {
  auto operator<=>(const Inlined&) const = default;
};

/// Element-wise, and computed by the tile nest of statement `of`, a reduction, on each register tile before that is
/// stored.
struct Epilogue {
  int of = 0;
  auto operator<=>(const Epilogue&) const = default;
};

/// How one stage is computed.
struct StageSchedule {
  std::variant<NestSchedule, Inlined, Epilogue> how;

  StageSchedule() = default;
  StageSchedule(NestSchedule nest) : how(std::move(nest)) {}
  StageSchedule(Inlined inlined) : how(inlined) {}
  StageSchedule(Epilogue epilogue) : how(epilogue) {}

  bool is_inlined() const { return std::holds_alternative<Inlined>(how); }
  /// These are nullptr if it is another alternative.
  const Epilogue* epilogue() const { return std::get_if<Epilogue>(&how); }
  const NestSchedule* find_nest() const { return std::get_if<NestSchedule>(&how); }
  NestSchedule* find_nest() { return std::get_if<NestSchedule>(&how); }
  /// It must have one.
  const NestSchedule& nest() const { return std::get<NestSchedule>(how); }
  NestSchedule& nest() { return std::get<NestSchedule>(how); }
  /// The place inside another stage's nest, or nullptr.
  const ComputeAt* compute_at() const { return find_nest() && nest().compute_at ? &*nest().compute_at : nullptr; }

  auto operator<=>(const StageSchedule&) const = default;
};

/// A size that a kernel takes from its buffers when it is called (runtime_sizes.h): extent `dimension` of the input
/// `tensor`. slopes: by number of the program, by how much it rises with the size.
struct RuntimeSize {
  int tensor = -1;
  int dimension = 0;
  std::vector<int64_t> slopes;
  auto operator<=>(const RuntimeSize&) const = default;
};

struct RuntimeSizes {
  std::vector<RuntimeSize> sizes;
  /// Last tiles are computed in part under guards, not moved back: sizes may be smaller than tiles.
  bool guarded = false;
  auto operator<=>(const RuntimeSizes&) const = default;
};

/// The longest loop of `statement`, which reads inputs alone, is cut into about as many pieces, which run in turn with
/// pieces of the nest of `other`: what both read comes from memory once.
struct InTurn {
  int statement = 0;
  int other = 0;
  int pieces = 2;
  auto operator<=>(const InTurn&) const = default;
};

struct Schedule {
  static constexpr int kVersion = 2;           // 1 knew no epilogue_of, compute_at, parallel_reduction
  static constexpr int kCollapsedVersion = 3;  // of those that are collapsed alone
  std::vector<StageSchedule> stages;
  bool collapsed = false;  // loops and operands are those of the program's collapsed form, which differs from it
  /// Empty: the kernel computes the sizes the program is bound at. Never part of the JSON form: it follows from the
  /// program (find_runtime_sizes()), and what a file says of it would have to be believed.
  RuntimeSizes runtime = {};
  /// Of statements that look at indices (search/space/checked_schedule.h), which no stored schedule has: never part of
  /// the JSON form.
  std::vector<InTurn> in_turn = {};
  auto operator<=>(const Schedule&) const = default;
};

/// The nest of `statement` has others computed inside its loops.
bool has_guests(const Schedule& schedule, int statement);

nlohmann::json to_json(const Schedule& schedule);
/// Reads every version up to kCollapsedVersion. Refuses later ones, missing fields and values out of the type's range;
/// class Program.
Result<Schedule> schedule_from_json(const nlohmann::json& json);
/// SHA-256 of the JSON form, 64 hex digits.
std::string schedule_id(const Schedule& schedule);

}  // namespace tile_tune::codegen
