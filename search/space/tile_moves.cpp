// Tiles and the orders of the loops over them, and how many of these run in parallel.
#include <cmath>

#include "search/space/choices.h"
#include "search/space/group_rules.h"
#include "search/space/draws.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;

constexpr std::string_view kNoOutputLoops = "it has no loops to tile";

int64_t extent(const StageContext& context, int p) { return std::max<int64_t>(context.loops.output[p], 1); }

// One to three levels of tiles, and one loop order.
double log_tiles(const StageContext& context) {
  codegen::NestSchedule plain;
  double log_count = 0;
  for (int p = 0; p < context.outputs(); ++p) {
    const double registers = static_cast<double>(register_tiles(context, plain, p).size());
    const double multiples = static_cast<double>(tile_multiples(1, context.loops.output[p]).size());
    log_count += std::log(registers) + std::log(1 + multiples + multiples * multiples / 2) + std::log(p + 1.0);
  }
  return log_count;
}

void draw_tiles(const StageContext& context, NestSchedule& stage, Rng& rng) {
  const size_t levels = 1 + rng.below(kMaxLevels);
  for (size_t l = 0; l < levels; ++l) stage.order.push_back(random_order(context.outputs(), rng));
  stage.tiles.assign(context.outputs(), std::vector<int64_t>(levels, 1));
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    tiles.back() = rng.pick(register_tiles(context, stage, p));
    for (size_t l = levels - 1; l-- > 0;)
      tiles[l] = tiles[l + 1] * rng.pick(tile_multiples(tiles[l + 1], extent(context, p)));
  }
}

Changed change_register_tile(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() == 0) return refused(kNoOutputLoops);
  const int p = static_cast<int>(rng.below(context.outputs()));
  auto& tiles = stage.tiles[p];
  const int64_t before = tiles.back();
  tiles.back() = step_or_draw(register_tiles(context, stage, p), before, rng);
  // Outer tiles keep the number of tiles they hold, so that only one decision changes.
  for (size_t l = 0; l + 1 < tiles.size(); ++l) tiles[l] = tiles[l] / before * tiles.back();
  return stage;
}

Changed change_outer_tile(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() == 0) return refused(kNoOutputLoops);
  if (stage.order.size() == 1) return refused("it has no tiles but those in registers");
  const int p = static_cast<int>(rng.below(context.outputs()));
  auto& tiles = stage.tiles[p];
  const size_t l = rng.below(tiles.size() - 1);
  tiles[l] =
      tiles[l + 1] * step_or_draw(tile_multiples(tiles[l + 1], extent(context, p)), tiles[l] / tiles[l + 1], rng);
  return stage;
}

Changed change_order(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() < 2) return refused("it has no two loops to swap");
  auto& order = stage.order[rng.below(stage.order.size())];
  std::swap(order[rng.below(order.size())], order[rng.below(order.size())]);
  return stage;
}

// Adds or removes one level of outer tiles.
Changed change_levels(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() == 0) return refused(kNoOutputLoops);
  const bool add = stage.order.size() == 1 || (stage.order.size() < kMaxLevels && rng.chance(0.5));
  if (!add) {
    stage.order.erase(stage.order.begin());
    for (auto& tiles : stage.tiles) tiles.erase(tiles.begin());
    return stage;
  }
  stage.order.insert(stage.order.begin(), random_order(context.outputs(), rng));
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    tiles.insert(tiles.begin(), tiles.front() * rng.pick(tile_multiples(tiles.front(), extent(context, p))));
  }
  return stage;
}

double log_threads(const StageContext& context) { return std::log(context.outputs() + 1.0); }

void draw_threads(const StageContext& context, NestSchedule& stage, Rng& rng) {
  stage.cpu().parallel = static_cast<int>(rng.below(context.outputs() + 1));
}

Changed change_threads(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.outputs() == 0) return refused("it has no loops to run in parallel");
  if (stage.compute_at) return refused("it is computed inside the loops of another statement, by one thread");
  draw_threads(context, stage, rng);
  return stage;
}

}  // namespace

// Shares: tile sizes decide most of the time of a kernel (TVM's mutator gives them 0.90); here copies and loop order,
// which it does not search, share with them.
GroupRules tile_rules() {
  return {
      .group = codegen::Group::Tiles,
      .log_count = log_tiles,
      .draw = draw_tiles,
      .moves = {{0.30, change_register_tile}, {0.20, change_outer_tile}, {0.10, change_order}, {0.04, change_levels}}};
}

GroupRules thread_rules() {
  return {.group = codegen::Group::Threads,
          .log_count = log_threads,
          .draw = draw_threads,
          .moves = {{0.07, change_threads}}};
}

}  // namespace tile_tune::search
