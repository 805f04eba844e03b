// The decisions of a nest that is mapped to a GPU, drawn and changed.
//
// A block is drawn from its thread on: how many sums a thread holds, how many threads there are, each as powers of two
// that are handed to loops one factor at a time, so that all shapes of a size are about as likely.
#include <algorithm>
#include <cmath>

#include "codegen/schedule/dot_product.h"
#include "search/space/choices.h"
#include "search/space/group_rules.h"
#include "search/space/draws.h"
#include "search/space/gpu_repair.h"

namespace tile_tune::search {
namespace on_gpu {  // a CPU's moves have the same names
namespace {

using codegen::GpuMapping;
using codegen::NestSchedule;

/// Loops that have something to tile.
std::vector<int> long_loops(const StageContext& context) {
  std::vector<int> result;
  for (int p = 0; p < context.outputs(); ++p)
    if (context.loops.output[p] >= 2) result.push_back(p);
  return result;
}

/// Some operand stays put along an output loop: sums in one thread share what it loads.
bool has_reuse(const StageContext& context) {
  if (context.reductions() == 0) return false;
  for (const int p : long_loops(context))
    for (const auto& operand : context.loops.operands)
      if (operand.affine && !context.loops.is_walked(operand, p)) return true;
  return false;
}

/// `factors` doublings handed out to loops that have room, `favoured` (if it is one) more often.
template <typename Room, typename Double>
void hand_out(int factors, const std::vector<int>& loops, int favoured, Rng& rng, Room has_room, Double twice) {
  for (int i = 0; i < factors; ++i) {
    std::vector<int> candidates;
    for (const int p : loops)
      if (has_room(p)) candidates.push_back(p);
    if (candidates.empty()) return;
    const bool favour = std::find(candidates.begin(), candidates.end(), favoured) != candidates.end();
    twice(favour && rng.chance(0.5) ? favoured : rng.pick(candidates));
  }
}

double log_tiles(const StageContext& context) {
  double log_count = 0;
  for (int p = 0; p < context.outputs(); ++p) {
    const double doublings = std::floor(std::log2(static_cast<double>(extent_of(context, p)))) + 1;
    log_count += std::log(doublings * (doublings + 1) / 2) + 2 * std::log(p + 1.0);  // pairs of sizes, two orders
  }
  return log_count;
}

void draw_tiles(const StageContext& context, NestSchedule& stage, Rng& rng) {
  const int outputs = context.outputs();
  stage.mapping = GpuMapping{};
  std::vector<int64_t> elements(static_cast<size_t>(outputs), 1), threads(static_cast<size_t>(outputs), 1);
  const auto loops = long_loops(context);
  // Half of what has reuse gets the tiles that products want, 32 to 64 sums; else 1 to 16.
  const int sums =
      has_reuse(context) && rng.chance(0.6) ? 5 + static_cast<int>(rng.below(2)) : static_cast<int>(rng.below(5));
  std::vector<int> tiled = loops;
  rng.shuffle(tiled);
  if (tiled.size() > 2 && rng.chance(0.8)) tiled.resize(2);
  hand_out(
      sums, tiled, -1, rng, [&](int p) { return elements[p] * 2 <= extent_of(context, p) && elements[p] < 16; },
      [&](int p) { elements[p] *= 2; });
  constexpr int kFewest = 5;  // a warp
  const int most = static_cast<int>(std::log2(static_cast<double>(limits_of(context).block_threads)));
  const int doublings = std::min(kFewest + static_cast<int>(rng.below(5)), most);
  hand_out(
      doublings, loops, context.contiguous_loop(), rng,
      [&](int p) { return elements[p] * threads[p] * 2 <= extent_of(context, p); }, [&](int p) { threads[p] *= 2; });
  stage.tiles.assign(static_cast<size_t>(outputs), {1, 1});
  for (int p = 0; p < outputs; ++p) {
    // Short loops whose extent is no power of two in whole.
    constexpr int64_t kShort = 64;
    const int64_t extent = extent_of(context, p);
    if (extent <= kShort && elements[p] * threads[p] > extent / 2 && rng.chance(0.5)) threads[p] = extent / elements[p];
    set_tile(context, stage, p, elements[p], threads[p]);
  }
  stage.order = {random_order(static_cast<size_t>(outputs), rng), random_order(static_cast<size_t>(outputs), rng)};
  for (auto& order : stage.order) {
    const auto at = std::find(order.begin(), order.end(), context.contiguous_loop());
    if (at != order.end() && rng.chance(0.7)) std::rotate(at, at + 1, order.end());
  }
}

/// An element more or fewer of one thread, or threads of a block: by a factor of two, or as many as the loop has.
Changed change_tile(const StageContext& context, NestSchedule stage, Rng& rng) {
  const auto loops = long_loops(context);
  if (loops.empty()) return refused("it has no loops to tile");
  const int p = rng.pick(loops);
  int64_t elements = stage.tiles[p].back(), threads = codegen::threads_of_loop(stage, p);
  switch (rng.below(6)) {
    case 0:
      elements *= 2;
      break;
    case 1:
      elements /= 2;
      break;
    case 2:
      threads *= 2;
      break;
    case 3:
      threads /= 2;
      break;
    case 4:  // the same block by other threads
      elements *= 2;
      threads /= 2;
      break;
    default:
      if (rng.chance(0.5)) {
        elements /= 2;
        threads *= 2;
      } else {
        threads = extent_of(context, p) / elements;
      }
  }
  set_tile(context, stage, p, elements, threads);
  return stage;
}

/// A factor of two of one loop's elements, or threads, given to another.
Changed move_tile(const StageContext& context, NestSchedule stage, Rng& rng) {
  auto loops = long_loops(context);
  if (loops.size() < 2) return refused("it has no two loops to tile");
  rng.shuffle(loops);
  const int from = loops[0], to = loops[1];
  const int64_t elements[] = {stage.tiles[from].back(), stage.tiles[to].back()};
  const int64_t threads[] = {codegen::threads_of_loop(stage, from), codegen::threads_of_loop(stage, to)};
  const bool of_elements = rng.chance(0.5);
  set_tile(context, stage, from, of_elements ? elements[0] / 2 : elements[0],
           of_elements ? threads[0] : threads[0] / 2);
  set_tile(context, stage, to, of_elements ? elements[1] * 2 : elements[1], of_elements ? threads[1] : threads[1] * 2);
  return stage;
}

Changed change_order(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() < 2) return refused("it has no two loops to swap");
  auto& order = stage.order[rng.below(stage.order.size())];
  const size_t a = rng.below(order.size()), b = rng.below(order.size());
  std::swap(order[a], order[b]);
  return stage;
}

const std::vector<int> kReductionThreads{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

double log_threads(const StageContext& context) {
  return std::log(2.0) + (context.reductions() > 0 ? std::log(static_cast<double>(kReductionThreads.size())) : 0) +
         std::log(4.0);
}

std::vector<int> resident_choices(const StageContext& context) {
  return context.target->features.has(codegen::Feature::Cuda) ? std::vector<int>{0, 1, 2, 3, 4} : std::vector<int>{0};
}

/// What these threads cannot have beside is given up for it, since repair would keep that.
void share(NestSchedule& stage, int threads) {
  stage.gpu().reduction_threads = threads;
  if (threads == 1) return;
  stage.packings.clear();
  stage.gpu().interleaved = false;
}

/// One thread an element would leave most of the device idle.
bool has_few_outputs(const StageContext& context) {
  int64_t outputs = 1;
  for (int p = 0; p < context.outputs(); ++p) outputs *= extent_of(context, p);
  return outputs < limits_of(context).multiprocessors * limits_of(context).threads;
}

/// Room in the block for the threads that share a reduction.
void leave_threads(const StageContext& context, NestSchedule& stage) {
  for (const int p : stage.order[1])
    while (codegen::gpu_threads(stage) > limits_of(context).block_threads && codegen::threads_of_loop(stage, p) > 1)
      set_tile(context, stage, p, stage.tiles[p].back(), codegen::threads_of_loop(stage, p) / 2);
}

void draw_threads(const StageContext& context, NestSchedule& stage, Rng& rng) {
  stage.gpu().interleaved = rng.chance(0.7);
  if (context.reductions() > 0 && !keeps_order(context) &&
      rng.chance(has_few_outputs(context) ? 0.7
                 : has_reuse(context)     ? 0.05
                                          : 0.2)) {
    share(stage, rng.pick(kReductionThreads));
    leave_threads(context, stage);
  }
  if (rng.chance(0.3)) stage.gpu().resident_blocks = rng.pick(resident_choices(context));
}

Changed change_threads(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.reductions() > 0 && !keeps_order(context) && rng.chance(0.3)) {
    share(stage, step_or_draw(kReductionThreads, stage.gpu().reduction_threads, rng));
    leave_threads(context, stage);
    return stage;
  }
  if (rng.chance(0.4)) {
    stage.gpu().resident_blocks = rng.pick(resident_choices(context));
    return stage;
  }
  stage.gpu().interleaved = !stage.gpu().interleaved;
  return stage;
}

std::vector<int> vector_choices(const NestSchedule& stage, int p) {
  std::vector<int> result;
  for (const int lanes : {2, 4})
    if (stage.tiles[p].back() % lanes == 0) result.push_back(lanes);
  return result;
}

double log_vectors(const StageContext& context) {
  return std::log(1 + 2.0 * static_cast<double>(long_loops(context).size()));
}

void draw_vector(const StageContext& context, NestSchedule& stage, Rng& rng) {
  std::vector<int> loops;
  for (const int p : long_loops(context))
    if (!vector_choices(stage, p).empty()) loops.push_back(p);
  stage.gpu().vector_loop = -1;
  stage.gpu().lanes = 1;
  if (loops.empty() || rng.chance(0.15)) return;
  const bool has_contiguous = std::find(loops.begin(), loops.end(), context.contiguous_loop()) != loops.end();
  const int p = has_contiguous && rng.chance(0.7) ? context.contiguous_loop() : rng.pick(loops);
  stage.gpu().vector_loop = p;
  stage.gpu().lanes = rng.chance(0.7) ? vector_choices(stage, p).back() : rng.pick(vector_choices(stage, p));
}

Changed change_vector(const StageContext& context, NestSchedule stage, Rng& rng) {
  const GpuMapping before = stage.gpu();
  draw_vector(context, stage, rng);
  if (stage.gpu() == before && before.lanes == 1) return refused("no thread has neighbours for a vector");
  return stage;
}

/// The innermost loops first, as much of each as divides it, until there are about so many iterations.
void set_block(const StageContext& context, NestSchedule& stage, int64_t iterations) {
  for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend(); ++r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[*r], 1);
    stage.reduction_block[*r] = largest_divisor_up_to(extent, iterations);
    iterations = std::max<int64_t>(iterations / stage.reduction_block[*r], 1);
  }
}

/// As set_block(), of the block.
void set_unroll(NestSchedule& stage, int64_t iterations) {
  for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend(); ++r) {
    stage.reduction_unroll[*r] =
        static_cast<int>(largest_divisor_up_to(std::max<int64_t>(stage.reduction_block[*r], 1), iterations));
    iterations = std::max<int64_t>(iterations / stage.reduction_unroll[*r], 1);
  }
}

std::vector<codegen::ParallelReduction> cuts(const StageContext& context) {
  std::vector<codegen::ParallelReduction> result;
  if (!context.loops.direct || keeps_order(context)) return result;
  for (int r = 0; r < context.reductions(); ++r)
    for (const int pieces : piece_choices(context.loops.reduction[r], codegen::kMostGpuPieces))
      result.push_back({r, pieces});
  return result;
}

const std::vector<int64_t> kBlocks{4, 8, 16, 32, 64}, kUnrolls{1, 2, 4, 8, 16, 32};

/// dp4a, of all devices of CUDA that this is for.
bool can_take_dots(const StageContext& context) {
  const auto& statement = context.program->statements[context.statement];
  return context.target->features.has(codegen::Feature::Cuda) && codegen::dot_product_type(statement) == DType::I8;
}

double log_reduction(const StageContext& context) {
  return log_reduction_loops(context) + (can_take_dots(context) ? std::log(2.0) : 0);
}

void draw_reduction(const StageContext& context, NestSchedule& stage, Rng& rng) {
  const auto count = static_cast<size_t>(context.reductions());
  stage.reduction_block.assign(count, 1);
  stage.reduction_unroll.assign(count, 1);
  stage.reduction_order.resize(count);
  std::iota(stage.reduction_order.begin(), stage.reduction_order.end(), 0);
  if (rng.chance(0.3)) stage.reduction_order = random_order(count, rng);
  set_block(context, stage, rng.pick(kBlocks));
  set_unroll(stage, rng.pick(kUnrolls));
  if (const auto choices = cuts(context); !choices.empty() && rng.chance(0.1))
    stage.parallel_reduction = rng.pick(choices);
  if (can_take_dots(context)) stage.dot_product = rng.chance(0.6);
}

Changed change_reduction(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.reductions() == 0) return refused("it has no reduction");
  if (can_take_dots(context) && rng.chance(0.2)) {
    stage.dot_product = !stage.dot_product;
    return stage;
  }
  const int r = static_cast<int>(rng.below(static_cast<uint64_t>(context.reductions())));
  switch (rng.below(6)) {
    case 0:
      set_block(context, stage, rng.pick(kBlocks));
      return stage;
    case 1:
      stage.reduction_block[r] = step_or_draw(block_choices(context.loops.reduction[r]), stage.reduction_block[r], rng);
      return stage;
    case 2:
      set_unroll(stage, rng.pick(kUnrolls));
      return stage;
    case 3:
      stage.reduction_unroll[r] =
          static_cast<int>(step_or_draw(unroll_choices(stage.reduction_block[r]), stage.reduction_unroll[r], rng));
      return stage;
    case 4: {
      const auto choices = cuts(context);
      if (stage.parallel_reduction) {
        stage.parallel_reduction.reset();
        return stage;
      }
      if (choices.empty()) return refused("its reduction has no equal pieces to run in parallel");
      stage.parallel_reduction = rng.pick(choices);
      return stage;
    }
    default:
      std::swap(stage.reduction_order[r],
                stage.reduction_order[rng.below(static_cast<uint64_t>(context.reductions()))]);
      return stage;
  }
}

const std::vector<int> kPaddings{0, 1, 2, 4, 8};

/// The next block of the reduction may be loaded while one is computed.
bool has_next_block(const StageContext& context) {
  return std::any_of(context.loops.reduction.begin(), context.loops.reduction.end(),
                     [](int64_t extent) { return extent > 1; });
}

double log_copies(const StageContext& context) {
  double log_count = std::log(static_cast<double>(kPaddings.size()));
  if (has_next_block(context)) log_count += std::log(2.0);
  for (const int operand : stageable_operands(context))
    log_count += std::log(1 + std::tgamma(context.loops.operands[operand].subscripts.size() + 1.0));
  return log_count;
}

/// As it lies in memory, or turned: with a dimension in front that output loops walk or, for dot products, the
/// reduction.
codegen::Packing draw_packing(const StageContext& context, const NestSchedule& stage, int number, Rng& rng) {
  const auto& operand = context.loops.operands[number];
  const auto memory = ir::memory_order(context.program->tensors[operand.tensor]);
  codegen::Packing packing{number, context.outputs(), std::vector<int>(memory.begin(), memory.end())};
  if (rng.chance(0.2)) {
    packing.order = random_order(packing.order.size(), rng);
  } else if (stage.dot_product) {
    const int innermost = context.loops.reduction_index[stage.reduction_order.back()];
    std::stable_partition(packing.order.begin(), packing.order.end(), [&](int d) {
      return std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(innermost) != 0;
    });
  } else if (rng.chance(0.7)) {
    std::stable_partition(packing.order.begin(), packing.order.end(), [&](int d) {
      const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
      return std::any_of(context.loops.output_index.begin(), context.loops.output_index.end(),
                         [&](int index) { return subscript.coefficient(index) != 0; });
    });
  }
  return packing;
}

void draw_copies(const StageContext& context, NestSchedule& stage, Rng& rng) {
  if (stageable_operands(context).empty() || stage.gpu().reduction_threads > 1) return;
  const bool reuse = has_reuse(context);
  if (!rng.chance(reuse ? 0.8 : 0.3)) return;
  for (const int operand : stageable_operands(context))
    if (rng.chance(reuse ? 0.85 : 0.5)) stage.packings.push_back(draw_packing(context, stage, operand, rng));
  if (stage.packings.empty()) return;
  stage.gpu().padding = rng.pick(kPaddings);
  stage.gpu().pipelined = codegen::pipeline_fault(*context.program, context.loops, stage).empty() && rng.chance(0.5);
}

Changed change_copy(const StageContext& context, NestSchedule stage, Rng& rng) {
  const auto stageable = stageable_operands(context);
  if (stageable.empty()) return refused("it has no operand that can be copied");
  if (!stage.packings.empty() && rng.chance(0.25)) {
    stage.gpu().padding = step_or_draw(kPaddings, stage.gpu().padding, rng);
    return stage;
  }
  if (!stage.packings.empty() && has_next_block(context) && rng.chance(0.25)) {
    stage.gpu().pipelined = !stage.gpu().pipelined;
    return stage;
  }
  const int operand = rng.pick(stageable);
  const auto at = std::find_if(stage.packings.begin(), stage.packings.end(),
                               [&](const codegen::Packing& p) { return p.operand == operand; });
  if (at == stage.packings.end()) {
    // What is staged comes in blocks of the reduction.
    if (stage.packings.empty()) {
      set_block(context, stage, rng.pick(kBlocks));
      set_unroll(stage, rng.pick(kUnrolls));
    }
    stage.packings.push_back(draw_packing(context, stage, operand, rng));
  } else if (rng.chance(0.5)) {
    stage.packings.erase(at);
  } else {
    *at = draw_packing(context, stage, operand, rng);
  }
  return stage;
}

GroupRules tiles() {
  return {.group = codegen::Group::Tiles,
          .log_count = log_tiles,
          .draw = draw_tiles,
          .moves = {{0.30, change_tile}, {0.15, move_tile}, {0.05, change_order}}};
}
GroupRules threads() {
  return {.group = codegen::Group::Threads,
          .log_count = log_threads,
          .draw = draw_threads,
          .moves = {{0.08, change_threads}}};
}
GroupRules vectors() {
  return {.group = codegen::Group::Vectors,
          .log_count = log_vectors,
          .draw = draw_vector,
          .moves = {{0.07, change_vector}}};
}
GroupRules reduction() {
  return {.group = codegen::Group::Reduction,
          .log_count = log_reduction,
          .draw = draw_reduction,
          .moves = {{0.18, change_reduction}}};
}
GroupRules copies() {
  return {
      .group = codegen::Group::Copies, .log_count = log_copies, .draw = draw_copies, .moves = {{0.17, change_copy}}};
}

}  // namespace

std::vector<GroupRules> rules() { return {place_rules(), tiles(), threads(), vectors(), reduction(), copies()}; }

}  // namespace on_gpu

std::vector<GroupRules> rules_on_gpu() { return on_gpu::rules(); }

}  // namespace tile_tune::search
