#include "search/space/tile_layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/default_parallel.h"
#include "search/space/nest_model.h"

namespace tile_tune::search {

using codegen::Operand;

double TileLayout::bytes_of(const Operand& operand) const {
  return tensor_bytes(context.program->tensors[operand.tensor]);
}

int64_t TileLayout::trips(int p) const {
  return (std::max<int64_t>(context.loops.output[p], 1) + tile.sizes[p] - 1) / tile.sizes[p];
}

// Vectors run along batches, over operands of which one lies otherwise: it is copied once for each vector of batches
// by the thread that reads it, or it would be again for every panel of the others, or as a whole by one thread for
// all. (125 products of 18 x 19 by 19 x 8, the batch innermost in the one and outermost in the other, took 18 us with
// the whole copied, 7 so; two Zen 4 cores, 2026-11-28.) Not where that is the smaller part by far: weights of a
// depthwise convolution, whose input is then walked through once for each vector of channels.
bool TileLayout::copies_batches() const {
  constexpr double kSmallPart = 0.25;  // chosen
  double all = 0, copied = 0;
  bool is_large = false;
  for (const auto& operand : context.loops.operands) {
    if (!in_panel(operand)) return false;
    all += bytes_of(operand);
    if (!operand.affine || stride(operand, tile.vector_loop) <= 1) continue;
    copied += bytes_of(operand);
    is_large |= bytes_of(operand) > static_cast<double>(context.target->l2_bytes) / 2;
  }
  return is_large || (copied > kSmallPart * all && shares_batches());
}

// Threads that take turns with the vectors of batches are done at about the same time: chosen, above the 4 of 3 that
// two threads take for three (6.8 us, 9.0 with the whole copied and batches cut further; 2026-11-28).
// Nor do they write to the same lines all the time: 312 x 2 by 2 x 32 of each of 13, stored beside each other, took
// 15 us by rows and 40 to 80 with a vector of the 13 for either thread.
bool TileLayout::shares_batches() const {
  constexpr double kMostIdle = 1.5;
  constexpr int64_t kLeastLines = 2;  // of a thread's, chosen
  const int64_t bytes = context.loops.output[tile.vector_loop] * static_cast<int64_t>(dtype_size(context.type));
  if (context.contiguous_loop() == tile.vector_loop && NestModel{context}.reduction_length() < kLongSum &&
      bytes < kLeastLines * context.target->threads * codegen::kLineBytes)
    return false;
  const int64_t batches = trips(tile.vector_loop), threads = context.target->threads;
  const int64_t rounds = (batches + threads - 1) / threads;
  return static_cast<double>(rounds * threads) <= kMostIdle * static_cast<double>(batches);
}

TileLayout::Kind TileLayout::kind(int p) const {
  bool panel = false, row = false;
  for (const auto& operand : context.loops.operands) {
    const bool used = stride(operand, p) != 0;
    panel |= used && in_panel(operand);
    row |= used && !in_panel(operand);
  }
  if (p == tile.vector_loop) return copies_batches() ? Kind::Batch : Kind::Panel;
  if (panel && row) return shares_lines(p) ? Kind::Panel : Kind::Batch;
  return panel ? Kind::Panel : Kind::Row;
}

// Results of neighbours along a batch are on one line of memory, which would be written in parts, by several threads,
// while all panels fit half of the second cache. Of 7 drawn grouped convolutions so changed the largest took 1670 us
// with a thread a group, 1200 so (AVX2 on two Zen 4 cores, 2026-11-28). From memory a line of a panel that several
// batches read comes once for all of them: 3 x 3 windows of 8 x 128 x 128 x 18 groups of 6 channels, 57 MB, took 13.5
// ms group by group, 3.8 so (2026-11-30).
bool TileLayout::shares_lines(int p) const {
  const auto& statement = context.program->statements[context.statement];
  const int64_t bytes = std::abs(codegen::output_stride(*context.program, statement, context.loops, p)) *
                        static_cast<int64_t>(dtype_size(context.type));
  if (bytes >= codegen::kLineBytes || p == context.contiguous_loop()) return false;
  double panels = 0;
  for (const auto& operand : context.loops.operands) {
    if (!in_panel(operand)) continue;
    panels += bytes_of(operand);
    const int64_t apart = operand.affine ? context.bytes_apart(operand, p) : 0;
    if (apart > 0 && apart < codegen::kLineBytes && bytes_of(operand) > static_cast<double>(context.target->l3_bytes))
      return true;
  }
  return panels <= static_cast<double>(context.target->l2_bytes) / 2;
}

// There are panels alone, read as they lie, beside what a near cache keeps: batches need not come first, and all can
// be read in the order of memory. 3 x 3 windows of 8 x 128 channels of 56 x 56, a plane a channel, took 690 us with
// the channels outside, 360 to 490 with the images (two Zen 4 cores, 2026-11-28).
bool TileLayout::walks_memory() const {
  double rows = 0;
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || (in_panel(operand) && stride(operand, tile.vector_loop) != 1)) return false;
    if (!in_panel(operand)) rows += bytes_of(operand);
  }
  return trips_of(Kind::Row) == 1 && rows <= static_cast<double>(context.target->l2_bytes) / 2 &&
         context.contiguous_loop() == tile.vector_loop;
}

double TileLayout::bytes_of_batch(bool of_panels) const {
  std::vector<int64_t> extents(context.loops.loop_count());
  for (int p = 0; p < outputs(); ++p)
    extents[p] = kind(p) != Kind::Batch ? std::max<int64_t>(context.loops.output[p], 1) : tile.sizes[p];
  for (int r = 0; r < context.reductions(); ++r)
    extents[outputs() + r] = std::max<int64_t>(context.loops.reduction[r], 1);
  double bytes = 0;
  for (const auto& operand : context.loops.operands)
    if (operand.affine && in_panel(operand) == of_panels) bytes += context.bytes(operand, extents);
  return bytes;
}

// Elements that are copied of an operand for each tile of some loops, all of them: windows of tiles overlap.
double TileLayout::copied_for_tiles(const Operand& operand, const std::vector<int>& loops) const {
  std::vector<int64_t> extents(context.loops.loop_count());
  double tiles = 1;
  for (int p = 0; p < outputs(); ++p) extents[p] = std::max<int64_t>(context.loops.output[p], 1);
  for (int r = 0; r < context.reductions(); ++r)
    extents[outputs() + r] = std::max<int64_t>(context.loops.reduction[r], 1);
  for (const int p : loops) {
    extents[p] = tile.sizes[p];
    if (stride(operand, p) != 0) tiles *= static_cast<double>(trips(p));
  }
  return tiles * context.loops.footprint(*context.program, operand, extents);
}

// Each element is copied more than a few times where it is for the tiles of these loops. Dilated windows of 5 x 3
// over 16 x 32 x 1 x 16 of two channels took 150 us with 10 columns copied for each two, 36 with the whole copied
// before, and windows of which each element was copied twice and four times 16 and 7.7 us, where the whole took 100
// and 10.9 (two Zen 4 cores, 2026-11-28).
bool TileLayout::repeats(const Operand& operand, const std::vector<int>& loops) const {
  constexpr double kAFew = 4.5;
  return copied_for_tiles(operand, loops) > kAFew * whole_footprint(context, operand);
}

bool TileLayout::repeats_in_panels() const {
  std::vector<int> panels;
  for (int p = 0; p < outputs(); ++p)
    if (kind(p) != Kind::Row) panels.push_back(p);
  const auto& operands = context.loops.operands;
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.affine && stride(operand, tile.vector_loop) > 1 && repeats(operand, panels);
  });
}

int TileLayout::copy_depth(const Operand& operand, const std::vector<int>& order, int depth, int parallel) const {
  while (depth > 0 && repeats(operand, {order.begin(), order.begin() + depth}))
    depth = depth > parallel ? depth - 1 : 0;
  return depth;
}

// A step along it stays on the line of an operand that is read by single elements.
bool TileLayout::stays_on_line(int p) const {
  return std::any_of(context.loops.operands.begin(), context.loops.operands.end(), [&](const Operand& operand) {
    const int64_t bytes = context.bytes_apart(operand, p);
    return !in_panel(operand) && bytes > 0 && bytes < codegen::kLineBytes;
  });
}

bool TileLayout::lies_along(int p) const {
  const auto& operands = context.loops.operands;
  return p != tile.vector_loop && kind(p) == Kind::Panel &&
         std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
           const int64_t bytes = context.bytes_apart(operand, p);
           return operand.affine && stride(operand, tile.vector_loop) > 1 && bytes > 0 &&
                  bytes * tile.sizes[p] < codegen::kLineBytes &&
                  bytes * context.loops.output[p] >= codegen::kLineBytes / 2;
         });
}

// eabc,de->dcba of 16 x 32 x 64 x 64, 40 took 5.9 ms with a copy for each c, 1.8 with one for all c of each b, 4.7 with
// one for each c inside b (AVX2 on two Zen 4 cores, 2026-11-28; with AVX-512 5.5, 1.6 and 4.5).
bool TileLayout::copies_whole_lines() const {
  std::vector<int64_t> extents = tile.sizes;
  int64_t pieces = 1;
  bool has_lines = false;
  for (int p = 0; p < outputs(); ++p)
    if (lies_along(p)) {
      extents[p] = context.loops.output[p];
      has_lines = true;
    } else if (kind(p) != Kind::Row) {
      pieces *= trips(p);
    }
  for (const int64_t extent : context.loops.reduction) extents.push_back(std::max<int64_t>(extent, 1));
  double bytes = 0;
  for (const auto& operand : context.loops.operands)
    if (operand.affine && stride(operand, tile.vector_loop) > 1) bytes += context.bytes(operand, extents);
  return has_lines && context.contiguous_loop() == tile.vector_loop &&
         pieces >= kPiecesPerThread * context.target->threads &&
         bytes <= static_cast<double>(context.target->l2_bytes) / 2;
}

// Within a kind (batches and panels are one where memory is walked through) the target is written in
// its own order, the vector loop innermost; of the rows those that stay on a line come last, or each of its elements
// would be fetched anew: a contraction of 33 MB, transposed, took 5.4 to 8.8 ms with them outermost, 2.4 to 3.3 so
// (tccg06, two Zen 4 cores).
std::vector<int> TileLayout::loop_order(bool rows_outside, bool copies_lines) const {
  std::vector<int> order(outputs());
  std::iota(order.begin(), order.end(), 0);
  const int panels = walks_memory() ? 0 : rows_outside ? 6 : 1;
  auto rank = [&](int p) {
    switch (kind(p)) {
      case Kind::Batch:
        return 0;
      case Kind::Panel:
        if (p == tile.vector_loop) return panels + 1;
        return copies_lines && lies_along(p) ? panels + 2 : panels;
      default:
        return stays_on_line(p) ? 5 : 4;
    }
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  return order;
}

int64_t TileLayout::trips_of(Kind wanted) const {
  int64_t product = 1;
  for (int p = 0; p < outputs(); ++p)
    if (kind(p) == wanted) product *= trips(p);
  return product;
}

int64_t TileLayout::trips_of(const std::vector<int>& order, size_t begin, size_t end) const {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= trips(order[i]);
  return product;
}

}  // namespace tile_tune::search
