#include "search/space/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "search/space/choices.h"

namespace tile_tune::search {
namespace {

// A tile of half or twice the size is given up for one that saves a tenth of the work: sizes next to each other are as
// a rule within some percent of each other, of which no size at hand knows. (A choice, not a measurement.)
constexpr double kPerDoubling = 0.1;

double distance(int64_t a, int64_t b) { return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))); }

/// By ratio; of two equally near the larger.
int64_t nearest_divisor(int64_t number, int64_t wanted) {
  int64_t best = 1;
  const auto look = [&](int64_t divisor) {
    const double nearer = distance(best, wanted) - distance(divisor, wanted);
    if (nearer > 0 || (nearer == 0 && divisor > best)) best = divisor;
  };
  for (int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    look(d);
    look(number / d);
  }
  return best;
}

void fit_reduction(const StageContext& context, const codegen::Loops& from, codegen::NestSchedule& stage,
                   bool whole_stays_whole) {
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[r], 1);
    int64_t& block = stage.reduction_block[r];
    const bool whole = block >= from.reduction[r];
    if (whole && whole_stays_whole) {
      block = extent;
      continue;
    }
    constexpr double kNear = 0.5;  // chosen; beyond it the last block is shorter, where a device has such
    const int64_t divisor = nearest_divisor(extent, block);
    const bool divides = stage.is_gpu() || stage.dot_product || distance(divisor, block) <= kNear;
    block = divides ? divisor : std::min(block, extent);
  }
}

/// Register tiles hold what registers do: they shrink, never grow.
int64_t fit_register_tile(int64_t tile, int64_t extent, int64_t step) {
  tile = std::max(std::min(tile, extent) / step, int64_t{1}) * step;
  const auto cost = [&](int64_t size) {
    return static_cast<double>(round_up(extent, size)) * (1 + kPerDoubling * distance(size, tile));
  };
  int64_t best = tile;
  for (int64_t size = tile - step; size >= step; size -= step)
    if (cost(size) < cost(best)) best = size;
  return best;
}

/// The sizes of one loop's tiles, outermost first, in register tiles.
struct Chain {
  std::vector<int64_t> multiples;
  double change = 0;  // sum of the distances from what was wanted
};

Chain chain_below(int64_t outermost, const std::vector<int64_t>& wanted) {
  Chain chain{{outermost}, distance(outermost, wanted.front())};
  for (size_t level = 1; level < wanted.size(); ++level) {
    const int64_t multiple = nearest_divisor(chain.multiples.back(), wanted[level]);
    chain.multiples.push_back(multiple);
    chain.change += distance(multiple, wanted[level]);
  }
  return chain;
}

/// Outermost tiles worth a look: those that cut `units` into equal shares, and those near the old one. Few shares need
/// the first, many shares waste little whatever the tile.
std::set<int64_t> outermost_choices(int64_t units, int64_t wanted, int64_t most) {
  constexpr int64_t kLooks = 128;
  std::set<int64_t> choices;
  const auto add = [&](int64_t multiple) { choices.insert(std::clamp<int64_t>(multiple, 1, most)); };
  for (int64_t shares = 1; shares <= std::min(units, kLooks); ++shares)
    for (const int64_t more : {0, 1}) add((units + shares - 1) / shares + more);
  for (int64_t multiple = std::max<int64_t>(wanted - kLooks / 2, 1); multiple <= wanted + kLooks / 2; ++multiple)
    add(multiple);
  return choices;
}

/// How much longer the slowest thread works than the mean one.
double imbalance(int64_t grains, int threads) {
  return static_cast<double>(round_up(grains, threads)) / static_cast<double>(grains);
}

/// `others`: iterations of the other parallel loops; 0 if the loop is not parallel.
std::vector<int64_t> fit_tiles(const std::vector<int64_t>& tiles, int64_t register_tile, int64_t extent, int64_t others,
                               int threads) {
  std::vector<int64_t> wanted;
  for (size_t level = 0; level + 1 < tiles.size(); ++level)
    wanted.push_back(std::max<int64_t>(tiles[level] / tiles.back(), 1));
  std::vector<int64_t> result;
  if (!wanted.empty()) {
    const int64_t units = (extent + register_tile - 1) / register_tile;
    double least = std::numeric_limits<double>::infinity();
    Chain best;
    for (const int64_t multiple : outermost_choices(units, wanted.front(), extent / register_tile)) {
      const int64_t trips = (units + multiple - 1) / multiple;
      Chain chain = chain_below(multiple, wanted);
      const double work = static_cast<double>(trips * multiple) / static_cast<double>(units);
      const double cost =
          work * (others > 0 ? imbalance(trips * others, threads) : 1) * (1 + kPerDoubling * chain.change);
      if (cost >= least) continue;
      least = cost;
      best = std::move(chain);
    }
    for (const int64_t multiple : best.multiples) result.push_back(multiple * register_tile);
  }
  result.push_back(register_tile);
  return result;
}

int64_t trips(int64_t extent, int64_t tile) { return (extent + tile - 1) / std::max<int64_t>(tile, 1); }

}  // namespace

codegen::NestSchedule fit(const StageContext& context, const codegen::Loops& from, codegen::NestSchedule stage,
                          const FitRules& rules) {
  const auto& extents = context.loops.output;
  const int outputs = context.outputs();
  const bool over_output = stage.cpu().vector_loop >= 0 && stage.cpu().vector_loop < outputs;
  if (over_output)
    while (stage.cpu().lanes > 1 && stage.cpu().lanes > extents[stage.cpu().vector_loop] &&
           stage.cpu().lanes != masked_lanes(context, stage.cpu().vector_loop))
      stage.cpu().lanes /= 2;
  fit_reduction(context, from, stage, rules.whole_stays_whole);
  const auto parallel_end = stage.order[0].begin() + std::min(stage.cpu().parallel, outputs);
  std::vector<int64_t> parallel_trips(outputs, 1);
  for (auto p = stage.order[0].begin(); p != parallel_end; ++p)
    parallel_trips[*p] = trips(std::max<int64_t>(extents[*p], 1), std::min(stage.tiles[*p][0], extents[*p]));
  for (const int p : stage.order[0]) {
    const int64_t extent = extents[p], step = p == stage.cpu().vector_loop ? stage.cpu().lanes : 1;
    if (extent < step || extent < 1) continue;  // repair() knows what to do with empty loops
    const int64_t whole = std::max(std::min(stage.tiles[p].back(), extent) / step, int64_t{1}) * step;
    const int64_t inner = rules.keep_registers ? whole : fit_register_tile(whole, extent, step);
    const bool is_parallel = std::find(stage.order[0].begin(), parallel_end, p) != parallel_end;
    int64_t others = is_parallel ? 1 : 0;
    for (int q = 0; q < outputs; ++q)
      if (q != p) others *= parallel_trips[q];
    stage.tiles[p] = fit_tiles(stage.tiles[p], inner, extent, others, context.target->threads);
    if (is_parallel) parallel_trips[p] = trips(extent, stage.tiles[p][0]);
  }
  return stage;
}

}  // namespace tile_tune::search
