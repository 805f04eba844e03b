// Searching by prediction alone.
#include "search/evolve/predicted.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace tile_tune::search {
namespace {

codegen::Schedule numbered(int number) {
  codegen::NestSchedule stage;
  stage.tiles = {{number}};
  return {{stage}};
}

int number_of(const codegen::Schedule& schedule) { return static_cast<int>(schedule.stages[0].nest().tiles[0][0]); }

/// Numbers up to 1,000, of which 400 is the fastest, hopeless ones in between.
Moves numbers() {
  Moves moves;
  moves.default_schedule = [] { return numbered(10); };
  moves.alternatives = [] { return std::vector{numbered(20)}; };
  moves.sample = [](Rng& rng) { return Drawn(numbered(1 + static_cast<int>(rng.below(1000)))); };
  moves.mutate = [](const codegen::Schedule& parent, Rng& rng) {
    return Drawn(numbered(std::clamp(number_of(parent) + static_cast<int>(rng.below(21)) - 10, 1, 1000)));
  };
  moves.crossover = [](const codegen::Schedule& a, const codegen::Schedule& b, Rng&) {
    return Drawn(numbered((number_of(a) + number_of(b)) / 2));
  };
  moves.key = codegen::schedule_id;
  moves.estimate = [](const codegen::Schedule& schedule) { return 1.0 + std::abs(number_of(schedule) - 400); };
  moves.hopeless = [](const codegen::Schedule& schedule) -> std::optional<std::string> {
    return number_of(schedule) % 7 == 0 ? std::optional<std::string>("it is a multiple of 7") : std::nullopt;
  };
  return moves;
}

}  // namespace

TEST_CASE("the best predicted schedules come first, and are the same for the same seed") {
  const std::atomic<bool> stop = false;
  const auto best = best_predicted(numbers(), 3, 600, 5, {}, stop);
  REQUIRE(best.size() == 5);
  CHECK(number_of(best[0].schedule) == 400);
  for (size_t i = 1; i < best.size(); ++i) {
    CHECK(best[i].cycles >= best[i - 1].cycles);
    CHECK(number_of(best[i].schedule) % 7 != 0);
  }
  const auto again = best_predicted(numbers(), 3, 600, 5, {}, stop);
  for (size_t i = 0; i < best.size(); ++i) CHECK(again[i].schedule == best[i].schedule);
}

TEST_CASE("a small space is seen whole, and one that is stopped has the default at least") {
  std::atomic<bool> stop = false;
  CHECK(best_predicted(numbers(), 3, 100000, 2000, {}, stop).size() > 500);
  stop = true;
  const auto best = best_predicted(numbers(), 3, 100, 5, {}, stop);
  CHECK(best.size() == 2);
}

}  // namespace tile_tune::search
