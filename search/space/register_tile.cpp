#include "search/space/register_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "codegen/schedule/cut_indices.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "frontend/ir/path_condition.h"
#include "search/space/choices.h"
#include "search/space/distant_lines.h"
#include "search/space/nest_model.h"
#include "search/space/window_taps.h"

namespace tile_tune::search {
namespace {

using codegen::Operand;
namespace costs = codegen::costs;

double iterations_of_reduction(const StageContext& context) {
  double count = 1;
  for (const int64_t extent : context.loops.reduction) count *= static_cast<double>(std::max<int64_t>(extent, 1));
  return count;
}

struct Candidate {
  const StageContext& context;
  int vector_loop;
  int lanes;
  double share;                     // VectorWidth::share
  std::vector<double> load_cost;    // by operand: of one vector, or of one scalar
  double moves = 0;                 // of packing
  std::vector<int> windows{};       // reduction loops over the window that vectors slide over
  std::vector<bool> guarded{};      // by output loop: a constraint cuts its borders off
  bool stores_rows = false;         // results are neighbours in memory along the vector loop
  bool masks_borders = false;       // what hangs over them is loaded under a mask
  std::vector<bool> turns_pages{};  // by output loop: rows lie on pages of their own, of more than the second cache has
  std::vector<double> reread{};     // by operand: what a pass costs that reads it again from the last cache

  int64_t stride(const Operand& operand, int p) const { return context.distance(operand, p); }
  // Vectors of one element each, and of one operand's.
  int64_t parts() const { return is_complex(context.type) ? 2 : 1; }

  // A loop along which some operand stays put; along the others (batches) tiles share nothing.
  bool is_row(int p) const {
    return p != vector_loop && std::any_of(context.loops.operands.begin(), context.loops.operands.end(),
                                           [&](const Operand& operand) { return stride(operand, p) == 0; });
  }
  // Rows read neighbours of an operand that vectors do not run along; where vectors are of 64 bytes also every other
  // one.
  bool is_run(const Operand& operand, const TileShape& tile) const {
    if (stride(operand, vector_loop) != 0) return false;
    const int64_t furthest = context.target->vector_bytes >= 64 ? 2 : 1;
    for (int p = 0; p < context.outputs(); ++p)
      if (tile.sizes[p] > 1 && stride(operand, p) >= 1 && stride(operand, p) <= furthest) return true;
    return false;
  }
  // More rows than the first cache has places for, as far apart as they are. Taps of a window are rows that the next
  // tiles read again.
  bool thrashes(const Operand& operand, const TileShape& tile) const {
    const auto are_in_one_set = [&](int loop) {
      const int64_t bytes = context.bytes_apart(operand, loop);
      return bytes != 0 && bytes % costs::kWayBytes == 0;
    };
    int64_t rows = 1, taps_of_rows = 1;
    for (int p = 0; p < context.outputs(); ++p)
      if (p != vector_loop && are_in_one_set(p)) rows *= tile.sizes[p];
    for (int r = 0; r < context.reductions(); ++r)
      if (are_in_one_set(context.outputs() + r) && codegen::slides(context.loops, operand, r))
        taps_of_rows *= context.loops.reduction[r];
    return rows > 1 && rows * taps_of_rows > context.target->l1_bytes / costs::kWayBytes;
  }
  // Of a step of so many operations, where its sums wait for those before: of a sum that is a row of instructions
  // without a loop the next tile's are ready meanwhile.
  double latency(double operations, bool is_unrolled) const {
    const double steps = iterations_of_reduction(context);
    double taps = 1;
    for (const int r : windows) taps *= static_cast<double>(std::max<int64_t>(context.loops.reduction[r], 1));
    if (taps != steps || !is_unrolled || windows.empty()) return costs::kInFlight;
    return costs::kInFlight / std::max(1.0, costs::kOperationsAhead / (steps * operations));
  }
  /// Of the lines that a step takes from the second cache, what it does not read of them: of an operand whose lines are
  /// not there any more when the next tile reads more of them, and whose next step is on others.
  double unread_lines(const Operand& operand, const TileShape& tile) const;
  // Rows that are read from as many streams, which begin and end with the tile.
  int64_t pages(const TileShape& tile) const {
    int64_t pages = 1;
    for (int p = 0; p < context.outputs(); ++p)
      if (turns_pages[p]) pages *= tile.sizes[p];
    return pages;
  }
  /// The cheapest with so many vectors in a row of the tile.
  std::optional<RegisterTile> best(int64_t vectors) const;
  int64_t most_vectors() const;
  struct Step {
    int64_t accumulators;
    double latency;  // that it may not hide
    double time;
    bool is_unrolled;  // over all taps
  };
  int64_t held(const TileShape& tile) const;
  /// Registers of what the next tap of an unrolled window uses again.
  int64_t kept_for_taps(const TileShape& tile) const;
  bool spills_between_taps(const TileShape& tile, int64_t accumulators, int64_t vectors) const;
  Step step(const TileShape& tile) const;
  int64_t run_of_results(const TileShape& tile) const;
  double store_cost(const TileShape& tile) const;
  /// Tiles that read the same of it.
  double passes_over(const Operand& operand, const TileShape& tile) const;
  double reread_cost(const TileShape& tile) const;
  /// Of copies of what is read by single elements whose lines are lost before another tile reads more of them.
  double copies_of_rows(const TileShape& tile) const;
};

// Registers of what a step uses again, and of one that passes by: the loops of a tile are unrolled one inside the
// other, that of the vectors innermost, and of an operand that stays where it is along one of them all is held that the
// loops inside take. (28 sums of 4 by 7 products spilled with 4 more: 16 x 56 products of 8 by 12 took 21 us, 13 in
// tiles of 4 x 6; two Zen 4 cores, 2026-11-28. Of 16 registers, 12 sums of 2 rows of 2 vectors by 3 broadcasts, of
// which code holds 2 and 3, spilled as well: 9.2 ms, 5.9 with 4 rows of one vector; AVX2 there, 2026-11-30.)
int64_t Candidate::held(const TileShape& tile) const {
  std::vector<int> loops(context.outputs());
  std::iota(loops.begin(), loops.end(), 0);
  const auto held_by_code = [&] {
    int64_t count = 1;
    for (const Operand& operand : context.loops.operands) {
      bool stays = false;
      int64_t inside = 1;
      const auto enter = [&](int p) {
        if (tile.pieces(p) <= 1) return;
        const bool moves = context.distance(operand, p) != 0;
        inside *= stays && moves ? tile.pieces(p) : 1;
        stays |= !moves;
      };
      for (const int p : loops)
        if (p != vector_loop) enter(p);
      enter(vector_loop);
      count += inside - 1;
    }
    return count;
  };
  const int64_t held = held_by_code();
  std::reverse(loops.begin(), loops.end());  // which of two loops is outside is not known yet
  return std::min(held, held_by_code());
}

// Code for the taps one after the other loads each vector once, and keeps it until the last of them.
int64_t Candidate::kept_for_taps(const TileShape& tile) const {
  int64_t most = 0;
  for (const int r : unrolled_windows(context, windows, tile))
    for (const Operand& operand : context.loops.operands)
      if (operand.affine && stride(operand, vector_loop) != 0 && share_of_rows(context, operand, r, tile) < 1)
        most = std::max(most, pieces_of(context, operand, tile));
  return most;
}

// 3 x 3 x 3 windows of 7 x 16 x 8 x 8 x 128, depthwise, took 310 us with 24 sums beside 24 vectors and 4 weights, which
// is 1.63 times the registers, 120 with 12 sums; 24 sums beside 24 vectors and one weight, 1.53 times, took 0.77 of the
// time of 15. Of 16 registers 12 sums beside 12 vectors and 2 weights took 45 us, 8 whose taps share nothing 100 (two
// Zen 4 cores, 2026-11-28).
bool Candidate::spills_between_taps(const TileShape& tile, int64_t accumulators, int64_t vectors) const {
  constexpr int kMany = 32;
  constexpr double kOverfull = 1.6;
  const int registers = context.target->vector_registers;
  return registers >= kMany &&
         static_cast<double>(parts() * (accumulators + std::max(vectors, held(tile)) + kept_for_taps(tile))) >
             kOverfull * registers;
}

// All of the lines but one, which any step takes. 64 x 5 by 12 sums of 1152 terms took 120 us with 8 rows that lie 5
// floats apart, 77 with 5 x 2 of which the 5 are neighbours, and 53 x 368 sums of 64 terms for each of 256, which are
// neighbours, 31 ms with rows 1 KB apart, 7.5 with others (AVX2 on two Zen 4 cores, 2026-11-28).
double Candidate::unread_lines(const Operand& operand, const TileShape& tile) const {
  if (!operand.affine || stride(operand, vector_loop) != 0) return 0;
  double steps = 1;
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t apart = context.bytes_apart(operand, context.outputs() + r);
    if (apart == 0 || context.loops.reduction[r] <= 1) continue;
    if (apart < codegen::kLineBytes || codegen::slides(context.loops, operand, r)) return 0;
    steps *= static_cast<double>(context.loops.reduction[r]);
  }
  bool has_neighbours = false;
  std::vector<int64_t> lines{0};  // at first where rows begin, in bytes
  for (int p = 0; p < context.outputs(); ++p) {
    const int64_t apart = context.bytes_apart(operand, p);
    if (apart == 0 || tile.sizes[p] == 1) continue;
    has_neighbours |= apart < codegen::kLineBytes;
    const size_t before = lines.size();
    for (int64_t row = 1; row < tile.sizes[p]; ++row)
      for (size_t i = 0; i < before; ++i) lines.push_back(lines[i] + row * apart);
  }
  const int bytes = static_cast<int>(dtype_size(context.program->tensors[operand.tensor].type));
  const double used = static_cast<double>(lines.size()) * bytes / codegen::kLineBytes;
  for (int64_t& line : lines) line /= codegen::kLineBytes;
  std::sort(lines.begin(), lines.end());
  const auto count = static_cast<double>(std::unique(lines.begin(), lines.end()) - lines.begin());
  const bool is_near = count * steps * codegen::kLineBytes <= static_cast<double>(context.target->l1_bytes) / 2 &&
                       !overfills_first_cache(context, operand, tile.sizes);
  const bool is_copied =
      (!has_neighbours || loses_lines(context, operand, tile.sizes)) &&
      passes_over(operand, tile) >= costs::kPassesToPack &&
      tensor_bytes(context.program->tensors[operand.tensor]) <= static_cast<double>(context.target->l3_bytes);
  return is_near || is_copied ? 0 : std::max(count - used - 1, 0.0);
}

// Vector operations of one step of the reduction, and those of them that accumulate.
Candidate::Step Candidate::step(const TileShape& tile) const {
  const int64_t accumulators = tile.pieces();
  const auto unrolled = unrolled_windows(context, windows, tile);
  const bool is_unrolled = unrolled.size() == windows.size();
  const double line = costs::kLoadFromSecondCache * static_cast<double>(codegen::kLineBytes) /
                      (context.target->vector_bytes * share * static_cast<double>(this->parts()));
  double loads = 0;
  for (size_t o = 0; o < context.loops.operands.size(); ++o) {
    const Operand& operand = context.loops.operands[o];
    const bool misses = thrashes(operand, tile);
    auto count = static_cast<double>(pieces_of(context, operand, tile));
    if (!misses && operand.affine && stride(operand, vector_loop) != 0)
      for (const int r : unrolled) count *= share_of_rows(context, operand, r, tile);
    const double least = misses ? costs::kLoadFromSecondCache : 0;
    const double shuffled = is_run(operand, tile) ? costs::kBroadcast * costs::kBroadcastOfRun : 0;
    loads += count * std::max({load_cost[o], shuffled, least});
    loads += unread_lines(operand, tile) * line;
  }
  const auto parts = static_cast<double>(this->parts());
  const double sums = parts * parts * static_cast<double>(accumulators);
  const double waits = latency(sums + parts * loads, is_unrolled);
  return {accumulators, waits, step_time(sums, parts * loads, share, waits) * (is_unrolled ? 1 : costs::kLoopOverTaps),
          is_unrolled};
}

// Results of a tile that are neighbours, from one loop to the next where the tile has all of the first. A tile of one
// neighbour collects more at home, if there are any to be transposed.
int64_t Candidate::run_of_results(const TileShape& tile) const {
  const auto& statement = context.program->statements[context.statement];
  int64_t run = 1;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (int p = 0; p < context.outputs(); ++p) {
      const int64_t extent = context.loops.output[p];
      if (extent <= 1 || codegen::output_stride(*context.program, statement, context.loops, p) != run) continue;
      const bool is_collected = run == 1 && tile.sizes[p] == 1 && extent >= costs::kLeastTransposed;
      run *= is_collected ? extent : tile.sizes[p];
      goes_on = tile.sizes[p] == extent;
      break;
    }
  }
  return run;
}

// Of one element: vectors of neighbours as they are, or blocks of a tile that are transposed in registers, or one by
// one.
double Candidate::store_cost(const TileShape& tile) const {
  const codegen::Target& target = *context.target;
  if (stores_rows) {
    const int64_t extent = context.loops.output[vector_loop];
    if (lanes <= extent) return costs::kVectorMove / lanes;
    // Two halves, or one that lies across lines (codegen/lower/partial_stores.h).
    const int bits = 8 * static_cast<int>(dtype_size(context.type));
    const bool is_one = target.has_masked_stores(bits) && lanes < target.lanes(context.type);
    return (is_one ? 1 : 2) * costs::kVectorMove / static_cast<double>(extent);
  }
  const int64_t run = run_of_results(tile);
  if (run < costs::kLeastTransposed || lanes < costs::kLeastTransposed)
    return static_cast<double>(parts()) * costs::kScalarMove;
  if (!costs::halves_wide_vectors(target)) return costs::copy_of_element(context.type);
  const int across = context.contiguous_loop();
  const bool is_part = tile.sizes[across] > 1 && tile.sizes[across] < context.loops.output[across];
  const bool fills_vectors = run >= costs::kNeighboursOfVector && (!is_part || run % costs::kNeighboursOfVector == 0);
  return fills_vectors && !is_complex(context.type) ? costs::kCollectedMove : costs::kCollectedPiece;
}

double Candidate::passes_over(const Operand& operand, const TileShape& tile) const {
  double passes = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (stride(operand, p) == 0)
      passes *= std::ceil(static_cast<double>(context.loops.output[p]) / static_cast<double>(tile.sizes[p]));
  return passes;
}

double Candidate::reread_cost(const TileShape& tile) const {
  double cost = 0;
  for (size_t o = 0; o < reread.size(); ++o) cost += reread[o] * (passes_over(context.loops.operands[o], tile) - 1);
  return cost;
}

double Candidate::copies_of_rows(const TileShape& tile) const {
  double cost = 0;
  for (const Operand& operand : context.loops.operands)
    if (stride(operand, vector_loop) == 0 && !codegen::is_packed_beforehand(*context.program, operand) &&
        passes_over(operand, tile) >= costs::kPassesToPack && loses_lines(context, operand, tile.sizes))
      cost += whole_footprint(context, operand) * costs::copy_of_element(context.type);
  return cost;
}

int64_t Candidate::most_vectors() const {
  const int64_t widest = share < 1 ? context.target->vector_registers / 3 : costs::kMostVectors;
  return std::clamp<int64_t>(context.loops.output[vector_loop] / lanes, 1, widest);
}

std::optional<RegisterTile> Candidate::best(int64_t vectors) const {
  const auto& loops = context.loops;
  const int outputs = context.outputs();
  const double steps = iterations_of_reduction(context);
  std::optional<RegisterTile> best;
  TileShape tile{vector_loop, lanes, std::vector<int64_t>(outputs, 1)};
  tile.sizes[vector_loop] = vectors * lanes;
  auto consider = [&] {
    const auto [accumulators, latency, time, is_unrolled] = step(tile);
    if (parts() * (accumulators + std::max(vectors, held(tile))) + 1 > context.target->vector_registers ||
        spills_between_taps(tile, accumulators, vectors))
      return;
    double trips = 1;
    for (int p = 0; p < outputs; ++p) {
      const int64_t tiles = (std::max<int64_t>(loops.output[p], 1) + tile.sizes[p] - 1) / tile.sizes[p];
      const auto here = static_cast<double>(tiles);
      const bool is_masked = p == vector_loop && masks_borders && is_unrolled;
      const double border = is_masked ? costs::kBorderOfVector : costs::kBorder;
      trips *= here * (guarded[p] && tile.sizes[p] > 1 ? 1 + border * std::min(1.0, 2 / here) : 1);
    }
    // The start and end of a tile's sum: registers set to zero, loop set up, sums stored.
    const double ends = static_cast<double>(parts() * accumulators) * share + latency +
                        costs::kPageOfRow * static_cast<double>(pages(tile) - 1);
    const double pieces =
        stores_rows && accumulators > vectors
            ? std::ceil(static_cast<double>(loops.output[vector_loop]) / static_cast<double>(tile.sizes[vector_loop]))
            : 1;
    const auto along = static_cast<double>(loops.output[vector_loop]);
    const double copied_again = std::ceil(along / static_cast<double>(tile.sizes[vector_loop])) *
                                static_cast<double>(tile.sizes[vector_loop]) / along;
    const double all_moves =
        moves * std::max(copied_again, 1.0) + elements_of_output(context) * store_cost(tile) + copies_of_rows(tile);
    const double cost = trips * (steps * time + ends) + reread_cost(tile) + all_moves +
                        elements_of_output(context) * costs::kPieceOfRow * std::min(1.0, 1.5 * (1 - 1 / pieces));
    if (!best || cost < best->cost) best = RegisterTile{tile, cost, all_moves};
  };
  // Of equal tiles the first wins: many rows before few, along inner loops before outer ones.
  consider();
  for (int a = outputs; a-- > 0;) {
    if (!is_row(a)) continue;
    for (int64_t rows = std::min(costs::kMostRows, loops.output[a]); rows >= 2; --rows) {
      tile.sizes[a] = rows;
      consider();
      for (int b = a; b-- > 0;) {
        if (!is_row(b)) continue;
        for (int64_t more = 2; more <= std::min(costs::kMostRows, loops.output[b]); ++more) {
          if (vectors * rows * more >= context.target->vector_registers) break;
          tile.sizes[b] = more;
          consider();
        }
        tile.sizes[b] = 1;
      }
    }
    tile.sizes[a] = 1;
  }
  return best;
}

// How one operand's elements get into vectors along the loop: the cost of a load, and of a copy that packs them.
struct Access {
  double load = 0, packing = 0;
};

Access access_along(const StageContext& context, const Operand& operand, int loop, int lanes, double share) {
  const int64_t distance = context.distance(operand, loop);
  if (distance == 0) return {costs::kBroadcast / share, 0};  // as long as ever, whatever the vector's length
  if (distance == 1) return {costs::kVectorLoad, 0};
  // Few lanes far apart are loaded one by one; short strides as whole vectors that are shuffled.
  const Access direct{distance < lanes ? 2.0 * static_cast<double>(distance) : costs::kScalarMove * lanes, 0};
  if (packing_dimension(context, operand, loop) < 0) return direct;
  const bool free = codegen::is_packed_beforehand(*context.program, operand);
  return {costs::kVectorLoad, free ? 0 : whole_footprint(context, operand) * costs::copy_of_element(context.type)};
}

// Loads of what hangs over a border are masked (codegen/lower/border_loads.h).
bool are_masked_at_borders(const StageContext& context, int vector_loop) {
  const auto& operands = context.loops.operands;
  return !is_complex(context.type) && std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    const DType type = context.program->tensors[operand.tensor].type;
    return operand.affine && context.distance(operand, vector_loop) <= 1 &&
           context.target->has_masked_loads(static_cast<int>(dtype_size(type)) * 8, is_float(type));
  });
}

// Along output loop p vectors of an operand that no near cache holds come from other pages, none of which rows share.
bool leaves_page(const StageContext& context, int vector_loop, int p) {
  const auto& operands = context.loops.operands;
  return p != vector_loop && std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
           if (!operand.affine || context.distance(operand, vector_loop) == 0) return false;
           for (int r = 0; r < context.reductions(); ++r)
             if (share_of_overlap(context, operand, r, p, 2) < 1) return false;
           return context.bytes_apart(operand, p) >= costs::kWayBytes &&
                  NestModel{context}.bytes_of(operand) > static_cast<double>(context.target->l2_bytes);
         });
}

std::vector<bool> guarded_loops(const StageContext& context) {
  std::vector<bool> guarded;
  const auto& statement = context.program->statements[context.statement];
  const auto guarding = ir::guarding_indices(statement);
  for (const int index : context.loops.output_index)
    guarded.push_back(std::binary_search(guarding.begin(), guarding.end(), index) ||
                      codegen::is_constrained(statement, index));
  return guarded;
}

// Of vectors along a batch, which all operands have: what is not copied and no near cache holds, of a vector of the
// batch, tiles read again from the last one, line by line. bmk,knb->mbn of 24 x 34 x 277 by 277 x 240 x 24 took 1.8 ms
// with vectors along b, 0.79 with one operand copied for vectors along n (two Zen 4 cores, 2026-11-27). Empty: nothing.
std::vector<double> reread_by_operand(const StageContext& context, int vector_loop, int lanes) {
  const auto& operands = context.loops.operands;
  if (std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
        return !operand.affine || context.distance(operand, vector_loop) == 0;
      }))
    return {};
  std::vector<double> result;
  for (const Operand& operand : operands) {
    const double bytes = NestModel{context}.bytes_of(operand);
    const double of_vector = bytes * lanes / static_cast<double>(context.loops.output[vector_loop]);
    const bool is_near = of_vector <= static_cast<double>(context.target->l2_bytes) / 2;
    result.push_back(context.distance(operand, vector_loop) > 1 || is_near ? 0 : bytes / costs::kFromL3);
  }
  return result;
}

Candidate candidate_for(const StageContext& context, int loop, const VectorWidth& width) {
  Candidate candidate{context, loop, width.lanes, width.share, {}};
  candidate.windows = window_loops(context, loop);
  candidate.guarded = guarded_loops(context);
  while (candidate.lanes > context.loops.output[loop] && candidate.lanes != masked_lanes(context, loop))
    candidate.lanes /= 2;
  for (const auto& natural : vector_widths(*context.target, context.type))
    if (candidate.lanes <= natural.lanes) candidate.share = natural.share;
  for (const auto& operand : context.loops.operands) {
    const Access access =
        operand.affine ? access_along(context, operand, loop, candidate.lanes, candidate.share) : Access{2, 0};
    candidate.load_cost.push_back(access.load);
    candidate.moves += access.packing;
  }
  const auto& statement = context.program->statements[context.statement];
  candidate.reread = reread_by_operand(context, loop, candidate.lanes);
  candidate.masks_borders = are_masked_at_borders(context, loop);
  for (int p = 0; p < context.outputs(); ++p) candidate.turns_pages.push_back(leaves_page(context, loop, p));
  candidate.stores_rows = codegen::output_stride(*context.program, statement, context.loops, loop) == 1;
  return candidate;
}

// Vectors of half the natural width fill the loop, or two of them do as well as one with lanes left out.
bool halves_fit(const StageContext& context, int loop) {
  const int64_t lanes = context.target->lanes(context.type), extent = context.loops.output[loop];
  return (extent > lanes && extent % lanes == lanes / 2) || masked_lanes(context, loop) == lanes;
}

bool is_reused(const StageContext& context) {
  for (const auto& operand : context.loops.operands)
    for (int p = 0; p < context.outputs(); ++p)
      if (operand.affine && context.loops.output[p] > 1 && context.distance(operand, p) == 0) return true;
  return false;
}

}  // namespace

std::vector<DotForm> dot_products_of(const StageContext& context) {
  const auto& statement = context.program->statements[context.statement];
  const auto type = codegen::dot_product_type(statement);
  std::vector<DotForm> forms{DotForm::None};
  if (!type) return forms;
  if (codegen::has_dot_products_of(*context.target, *type) &&
      (context.target->device == codegen::Device::Gpu || !codegen::leaves_shifted_out(statement)))
    forms.push_back(DotForm::Plain);
  if (type == DType::I8 && codegen::has_pairs(*context.target, *type)) forms.push_back(DotForm::Pairs);
  if (type != DType::I16 && context.target->has_matrix_tiles()) forms.push_back(DotForm::Tiles);
  return forms;
}

DotForm usual_dot_product(const StageContext& context) {
  const auto forms = dot_products_of(context);
  return forms.size() > 1 ? forms[1] : DotForm::None;
}

void set_dot_product(codegen::NestSchedule& stage, DotForm form) {
  stage.dot_product = form != DotForm::None;
  stage.dot_pairs = form == DotForm::Pairs;
  stage.dot_tiles = form == DotForm::Tiles;
}

DotForm dot_form(const codegen::NestSchedule& stage) {
  if (!stage.dot_product) return DotForm::None;
  return stage.dot_tiles ? DotForm::Tiles : stage.dot_pairs ? DotForm::Pairs : DotForm::Plain;
}

int iterations_in_lane(const StageContext& context) {
  const DotForm form = usual_dot_product(context);
  if (form != DotForm::Plain) return form == DotForm::Pairs ? 2 : 1;
  const auto type = codegen::dot_product_type(context.program->statements[context.statement]);
  return dtype_size(context.type) / dtype_size(*type);
}

std::vector<VectorWidth> vector_widths(const codegen::Target& target, DType type) {
  const int lanes = target.lanes(type);
  if (costs::halves_wide_vectors(target) && lanes > 2) return {{lanes, 1}, {lanes / 2, 0.5}};
  return {{lanes, 1}};
}

double step_time(double accumulators, double loads, double share, double latency) {
  return std::max({accumulators * share, loads * share, latency}) + costs::kLoadShare * loads * share;
}

double elements_of_output(const StageContext& context) {
  double count = 1;
  for (const int64_t extent : context.loops.output) count *= static_cast<double>(std::max<int64_t>(extent, 1));
  return count;
}

double whole_footprint(const StageContext& context, const Operand& operand) {
  std::vector<int64_t> all = context.loops.output;
  all.insert(all.end(), context.loops.reduction.begin(), context.loops.reduction.end());
  for (auto& extent : all) extent = std::max<int64_t>(extent, 1);
  return context.loops.footprint(*context.program, operand, all);
}

int packing_dimension(const StageContext& context, const Operand& operand, int loop) {
  if (!operand.affine) return -1;
  const int outputs = context.outputs();
  const int index = loop < outputs ? context.loops.output_index[loop] : context.loops.reduction_index[loop - outputs];
  int found = -1;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    const int64_t coefficient = std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index);
    if (coefficient == 0) continue;
    if (found >= 0 || std::abs(coefficient) != 1) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

std::vector<RegisterTile> register_tiles_by_width(const StageContext& context) {
  std::vector<RegisterTile> tiles;
  if (!is_reused(context)) return tiles;
  for (int p = context.outputs(); p-- > 0;) {
    if (context.loops.output[p] < 2) continue;
    for (const auto& width : vector_widths(*context.target, context.type)) {
      if (width.share < 1 && !halves_fit(context, p)) continue;
      const Candidate candidate = candidate_for(context, p, width);
      for (int64_t vectors = candidate.most_vectors(); vectors >= 1; --vectors)
        if (auto found = candidate.best(vectors)) tiles.push_back(std::move(*found));
    }
  }
  // Of equal ones the first stays first: long runs of memory before many rows, inner loops before outer ones.
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const RegisterTile& a, const RegisterTile& b) { return a.cost < b.cost; });
  return tiles;
}

double lane_reduction_cost(const StageContext& context, int loop) {
  const int64_t extent = context.loops.reduction[loop - context.outputs()];
  const int natural = context.target->lanes(context.type);
  const auto filled = static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(extent, 0, natural))));
  const int lanes = std::max(filled, 1);
  const double terms = elements_of_output(context) * iterations_of_reduction(context);
  double loads = 0;
  for (const auto& operand : context.loops.operands) {
    const int64_t distance = context.distance(operand, loop);
    loads += !operand.affine || distance > 1 ? costs::kScalarMove * lanes
             : distance == 1                 ? costs::kVectorLoad
                                             : costs::kBroadcast;
  }
  // What fills no vector takes one more; an element's lanes are folded by halves, shuffle and combination, those of
  // rows shorter than a vector together: 1640 rows of 8 by a vector took 2.7 us with a copy for vectors of columns,
  // 0.75 so (two Zen 4 cores, 2026-12-01).
  const int64_t vectors = (extent + lanes - 1) / lanes;
  const double folds = lanes < natural ? costs::kFolds : 2 * std::log2(static_cast<double>(lanes));
  const double parts = is_complex(context.type) ? 2 : 1;
  return terms / static_cast<double>(extent) * static_cast<double>(vectors) * std::max(loads * parts, parts * parts) +
         elements_of_output(context) * folds * parts;
}

}  // namespace tile_tune::search
