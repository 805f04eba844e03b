// Shapes that are worth a look, each with what follows from it: threads along the loop in which results are neighbours,
// sums along that loop and the one that shares most of what is read, what is left of a block's threads along the other
// loops (which packs many tiny problems into one block), staged operands where several threads read them, or where they
// lie across (permutations).
#include "search/space/gpu_default.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codegen/schedule/dot_product.h"
#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"
#include "search/predict/gpu_facts.h"
#include "search/space/choices.h"
#include "search/space/gpu_repair.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Operand;

constexpr size_t kDeviceAlternatives = 3;

struct Shape {
  int64_t columns = 1, rows = 1;  // elements of a thread along the two loops
  int64_t threads_along_columns = 32, threads = 256;
  int64_t reduction_block = 0;  // 0: nothing is staged
  int reduction_threads = 1;
};

struct Builder {
  const StageContext& context;
  int column_loop = -1, row_loop = -1;

  int64_t extent(int p) const { return std::max<int64_t>(context.loops.output[p], 1); }
  bool walks(const Operand& operand, int loop) const { return context.loops.is_walked(operand, loop); }
  int64_t distance(const Operand& operand, int loop) const { return context.distance(operand, loop); }

  bool has_dots(const NestSchedule& stage) const {
    return context.target->features.has(codegen::Feature::Cuda) && stage.gpu().reduction_threads == 1 &&
           codegen::dot_product(context.program->statements[context.statement], context.loops, stage).has_value();
  }

  /// Where results are neighbours; else where most operands are; else the longest.
  int find_column_loop() const {
    int best = context.contiguous_loop();
    if (best >= 0) return best;
    for (int p = 0; p < context.outputs(); ++p)
      if (best < 0 || extent(p) > extent(best)) best = p;
    return best;
  }

  /// For a reduction the loop along which most of what the columns walk stays put; for what is only moved the one along
  /// which an operand has its neighbours.
  int find_row_loop() const {
    int best = -1;
    double most = 0;
    for (int p = 0; p < context.outputs(); ++p) {
      if (p == column_loop || extent(p) < 2) continue;
      double shared = 0;
      for (const auto& operand : context.loops.operands) {
        if (!operand.affine) continue;
        if (context.reductions() > 0)
          shared += walks(operand, p) ? 0 : walks(operand, column_loop) ? 1 : 0.25;
        else if (distance(operand, p) == 1)
          shared += 1;
      }
      // Of several the longest: it fills blocks.
      const double worth = shared * (1 + std::log2(static_cast<double>(extent(p))) / 64);
      if (worth > most) {
        most = worth;
        best = p;
      }
    }
    return best;
  }

  /// Neighbouring threads read what is far apart, though there is a loop along which it is not.
  bool lies_across(const Operand& operand) const {
    if (!operand.affine || column_loop < 0 || distance(operand, column_loop) <= 1) return false;
    for (int loop = context.outputs(); loop < context.loops.loop_count(); ++loop)
      if (distance(operand, loop) == 1) return true;
    return row_loop >= 0 && distance(operand, row_loop) == 1;
  }

  /// Staged in the order in which the threads of a warp read it.
  codegen::Packing staged(const NestSchedule& stage, const Operand& operand) const {
    const auto memory = ir::memory_order(context.program->tensors[operand.tensor]);
    codegen::Packing packing{operand.number, context.outputs(), std::vector<int>(memory.begin(), memory.end())};
    const auto rank = [&](int d) {
      const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
      // Dot products take neighbours along the reduction.
      if (stage.dot_product)
        return subscript.coefficient(context.loops.reduction_index[stage.reduction_order.back()]) != 0 ? 0 : 1;
      for (const int p : {column_loop, row_loop})
        if (p >= 0 && subscript.coefficient(context.loops.output_index[p]) != 0) return 0;
      return 1;
    };
    if (context.reductions() > 0)
      std::stable_sort(packing.order.begin(), packing.order.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return packing;
  }

  void give_threads(NestSchedule& stage, std::vector<int64_t>& threads, int p, int64_t wanted) const {
    threads[p] = std::clamp<int64_t>(extent(p) / stage.tiles[p].back(), 1, std::max<int64_t>(wanted, 1));
  }

  void tile(NestSchedule& stage, const Shape& shape) const {
    const int outputs = context.outputs();
    std::vector<int64_t> threads(static_cast<size_t>(outputs), 1);
    for (int p = 0; p < outputs; ++p) {
      const int64_t wanted = p == column_loop ? shape.columns : p == row_loop ? shape.rows : 1;
      stage.tiles.push_back({1, std::min(wanted, extent(p))});
    }
    std::vector<int> loops(static_cast<size_t>(outputs));
    std::iota(loops.begin(), loops.end(), 0);
    // Threads of loops that the results have close by come first.
    const auto& statement = context.program->statements[context.statement];
    std::stable_sort(loops.begin(), loops.end(), [&](int a, int b) {
      const auto rank = [&](int p) { return p == column_loop ? 0 : p == row_loop ? 1 : 2; };
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return codegen::output_stride(*context.program, statement, context.loops, a) <
             codegen::output_stride(*context.program, statement, context.loops, b);
    });
    int64_t left = std::max<int64_t>(shape.threads / shape.reduction_threads, 1);
    for (const int p : loops) {
      give_threads(stage, threads, p, p == column_loop ? std::min(left, shape.threads_along_columns) : left);
      left /= threads[p];
    }
    if (column_loop >= 0 && left > 1) {
      give_threads(stage, threads, column_loop, threads[column_loop] * left);
    }
    for (int p = 0; p < outputs; ++p) stage.tiles[p].front() = stage.tiles[p].back() * threads[p];
    std::reverse(loops.begin(), loops.end());
    stage.order = {loops, loops};
  }

  /// Neighbours in memory are read by neighbouring threads; a thread's loads of a few turns are under way together.
  void share_reduction(NestSchedule& stage) const {
    constexpr int64_t kTurnsAtOnce = 8;
    const auto least_distance = [&](int r) {
      int64_t least = INT64_MAX;
      for (const auto& operand : context.loops.operands)
        if (const int64_t apart = operand.affine ? distance(operand, context.outputs() + r) : 0; apart > 0)
          least = std::min(least, apart);
      return least;
    };
    std::stable_sort(stage.reduction_order.begin(), stage.reduction_order.end(),
                     [&](int a, int b) { return least_distance(a) > least_distance(b); });
    const auto shares = codegen::reduction_shares(context.loops, stage);
    if (shares.in_turns < 0) return;
    stage.reduction_unroll[shares.in_turns] = static_cast<int>(std::clamp<int64_t>(
        context.loops.reduction[shares.in_turns] / shares.threads[shares.in_turns], 1, kTurnsAtOnce));
  }

  void reduce(NestSchedule& stage, const Shape& shape) const {
    const auto count = static_cast<size_t>(context.reductions());
    stage.reduction_order.resize(count);
    std::iota(stage.reduction_order.begin(), stage.reduction_order.end(), 0);
    stage.reduction_block = context.loops.reduction;
    for (auto& block : stage.reduction_block) block = std::max<int64_t>(block, 1);
    stage.reduction_unroll.assign(count, 1);
    if (shape.reduction_threads > 1) return share_reduction(stage);
    int64_t block = shape.reduction_block > 0 ? shape.reduction_block : INT64_MAX;
    // What is staged is unrolled as a whole: the sums then stay where they are over a block.
    int64_t unroll = shape.reduction_block > 0 ? shape.reduction_block : 4;
    for (size_t r = count; r-- > 0;) {
      if (shape.reduction_block > 0) {
        stage.reduction_block[r] = largest_divisor_up_to(stage.reduction_block[r], block);
        block = std::max<int64_t>(block / stage.reduction_block[r], 1);
      }
      stage.reduction_unroll[r] = static_cast<int>(largest_divisor_up_to(stage.reduction_block[r], unroll));
      unroll = std::max<int64_t>(unroll / stage.reduction_unroll[r], 1);
    }
  }

  void stage_operands(NestSchedule& stage, const Shape& shape) const {
    if (shape.reduction_block == 0) return;
    for (const int number : stageable_operands(context)) {
      const auto& operand = context.loops.operands[number];
      bool shared = lies_across(operand);
      for (int p = 0; p < context.outputs() && context.reductions() > 0; ++p)
        shared |= !walks(operand, p) && stage.tiles[p].front() > 1;
      if (shared) stage.packings.push_back(staged(stage, operand));
    }
    // An odd pitch keeps columns of a tile in different banks; four elements keep rows of vectors aligned.
    stage.gpu().padding = stage.packings.empty() ? 0 : context.reductions() > 0 ? 4 : 1;
    // 16 bytes of a row are one access; rows of 20 are as many banks apart.
    if (stage.dot_product && shape.reduction_block == 16) stage.gpu().padding = 0;
  }

  NestSchedule build(const Shape& shape) const {
    NestSchedule stage;
    stage.mapping = codegen::GpuMapping{};
    tile(stage, shape);
    if (column_loop >= 0 && stage.tiles[column_loop].back() % 2 == 0) {
      stage.gpu().vector_loop = column_loop;
      stage.gpu().lanes = stage.tiles[column_loop].back() % 4 == 0 ? 4 : 2;
    }
    stage.gpu().interleaved = shape.reduction_threads == 1;
    stage.gpu().reduction_threads = shape.reduction_threads;
    reduce(stage, shape);
    stage.dot_product = has_dots(stage);
    stage_operands(stage, shape);
    return stage;
  }
};

std::vector<Shape> shapes(const StageContext& context, bool has_rows) {
  std::vector<std::pair<int64_t, int64_t>> tiles{{1, 1}, {2, 1}, {4, 1}};
  if (context.reductions() > 0 && has_rows)
    tiles.insert(tiles.end(), {{1, 4}, {2, 2}, {4, 2}, {4, 4}, {1, 8}, {8, 4}, {4, 8}, {8, 8}, {16, 8}, {8, 16}});
  if (context.reductions() == 0 && has_rows) tiles.insert(tiles.end(), {{1, 4}, {1, 8}, {4, 4}});
  // 20 and 40: what there is of whole vectors in 1000.
  const std::vector<int64_t> blocks =
      context.reductions() == 0 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0, 8, 16, 20, 32, 40};
  std::vector<Shape> result;
  for (const auto& [columns, rows] : tiles)
    for (const auto& [along, threads] : std::vector<std::pair<int64_t, int64_t>>{
             {8, 64}, {16, 128}, {16, 256}, {32, 32}, {32, 128}, {32, 256}, {256, 256}})
      for (const int64_t block : blocks) result.push_back({columns, rows, along, threads, block, 1});
  if (context.reductions() > 0 && !keeps_order(context))
    for (const int shared : {4, 8, 16, 32, 64, 128, 256, 512})
      for (const int64_t columns : {1, 2, 4})
        for (const int64_t along : {1, 32}) result.push_back({columns, 1, along, std::max(shared, 256), 0, shared});
  return result;
}

struct Judged {
  NestSchedule stage;
  double cycles;
};

double cycles_of(const StageContext& whole, const NestSchedule& stage) {
  const auto loops = codegen::one_piece(whole.loops, stage);
  const auto& limits = limits_of(whole);
  return predict::gpu_cycles(predict::gpu_facts(*whole.program, whole.statement, loops, stage, limits), limits);
}

/// The same reduction in pieces, if it has a loop that can be cut and the blocks do not fill the device.
void add_pieces(const StageContext& context, const Builder& builder, const Shape& shape, std::vector<Judged>& judged) {
  if (!context.loops.direct || keeps_order(context)) return;
  const int64_t blocks = shape_of(context, judged.back().stage).blocks();
  if (blocks >= 2 * limits_of(context).multiprocessors) return;
  int longest = -1;
  for (int r = 0; r < context.reductions(); ++r)
    if (longest < 0 || context.loops.reduction[r] > context.loops.reduction[longest]) longest = r;
  if (longest < 0) return;
  constexpr double kApart = 1.4;  // numbers of pieces that are worth a look each
  int last = 1;
  for (const int pieces : piece_choices(context.loops.reduction[longest], codegen::kMostGpuPieces)) {
    if (pieces < kApart * last || pieces > codegen::most_pieces(context.loops, context.type, judged.back().stage))
      continue;
    last = pieces;
    StageContext of_piece = context;
    of_piece.loops.reduction[longest] /= pieces;
    NestSchedule stage = Builder{of_piece, builder.column_loop, builder.row_loop}.build(shape);
    stage.parallel_reduction = codegen::ParallelReduction{longest, pieces};
    stage = repair(of_piece, std::move(stage));
    judged.push_back({stage, cycles_of(context, stage)});
  }
}

/// What is staged, loaded a block ahead as well.
void add_ahead(const StageContext& context, std::vector<Judged>& judged) {
  for (size_t i = 0, count = judged.size(); i < count; ++i) {
    NestSchedule stage = judged[i].stage;
    StageContext of_piece = context;
    of_piece.loops = codegen::one_piece(context.loops, stage);
    if (!codegen::pipeline_fault(*context.program, of_piece.loops, stage).empty()) continue;
    stage.gpu().pipelined = true;
    stage = repair(of_piece, std::move(stage));
    if (stage.gpu().pipelined) judged.push_back({stage, cycles_of(context, stage)});
  }
}

std::vector<int64_t> register_tile(const NestSchedule& stage) {
  std::vector<int64_t> tile;
  for (const auto& tiles : stage.tiles) tile.push_back(tiles.back());
  return tile;
}

}  // namespace

std::vector<NestSchedule> default_stages_on_gpu(const StageContext& context) {
  Builder builder{context};
  builder.column_loop = builder.find_column_loop();
  builder.row_loop = builder.find_row_loop();
  std::vector<Judged> judged;
  for (const Shape& shape : shapes(context, builder.row_loop >= 0)) {
    NestSchedule stage = repair(context, builder.build(shape));
    if (std::any_of(judged.begin(), judged.end(), [&](const Judged& one) { return one.stage == stage; })) continue;
    const double cycles = cycles_of(context, stage);
    judged.push_back({std::move(stage), cycles});
    add_pieces(context, builder, shape, judged);
  }
  add_ahead(context, judged);
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) { return a.cycles < b.cycles; });
  std::vector<NestSchedule> stages;
  for (const Judged& one : judged) {
    if (one.cycles > codegen::costs::kWorthATrial * judged.front().cycles || stages.size() > kDeviceAlternatives) break;
    const auto same_tile = [&](const NestSchedule& other) { return register_tile(other) == register_tile(one.stage); };
    if (std::none_of(stages.begin(), stages.end(), same_tile)) stages.push_back(one.stage);
  }
  return stages;
}

}  // namespace tile_tune::search
