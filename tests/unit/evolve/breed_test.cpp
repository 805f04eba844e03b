#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "search/evolve/breed.h"
#include "tests/unit/evolve/landscape.h"

namespace tile_tune::search {
namespace {

/// `count` members that verify, from all over the landscape, the later the better.
Population population_of(size_t count) {
  Population population;
  for (size_t i = 0;; i += 397) {
    const auto schedule = schedule_of(matmul().members[i]);
    Measurement measurement;
    measurement.ratio = 1 + static_cast<double>(population.ranked.size());
    if (matmul().time(schedule) > 0) add(population, schedule, key_of(schedule), measurement);
    if (population.ranked.size() == count) return population;
  }
}

size_t rank_of(const Population& population, const std::string& key) {
  const auto found = std::find_if(population.ranked.begin(), population.ranked.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found - population.ranked.begin();
}

}  // namespace

TEST_CASE("the population is ranked by ratio, of equal ones the earlier first") {
  Population population;
  const std::vector<double> ratios{1.0, 2.0, 1.5, 2.0, 0.5};
  for (size_t i = 0; i < ratios.size(); ++i) {
    Measurement measurement;
    measurement.ratio = ratios[i];
    add(population, schedule_of({static_cast<int>(i)}), std::to_string(i), measurement);
  }
  std::string order;
  for (const Member& member : population.ranked) order += member.key;
  CHECK(order == "13204");
  CHECK(find(population, "4")->ratio == 0.5);
  CHECK(find(population, "5") == nullptr);
}

TEST_CASE("a ratio that is no number ranks nowhere") {
  Population population;
  const auto schedule = schedule_of({1});
  for (double ratio : {std::nan(""), HUGE_VAL, 0.0, -1.0}) {
    Measurement measurement;
    measurement.ratio = ratio;
    add(population, schedule, std::to_string(ratio), measurement);
  }
  CHECK(population.ranked.empty());
  CHECK(population.tried.size() == 4);
}

TEST_CASE("stagnation leads to exploring, then to local steps, then over again") {
  std::vector<Mode> modes;
  for (int stale = 0; stale < 9; ++stale) modes.push_back(mode_after(stale));
  CHECK(modes == std::vector{Mode::Exploit, Mode::Exploit, Mode::Exploit, Mode::Explore, Mode::Local, Mode::Local,
                             Mode::Local, Mode::Exploit, Mode::Exploit});
}

TEST_CASE("each mode takes its parents from where it should") {
  const Population population = population_of(40);
  const Moves moves = moves_of(matmul());
  const auto widest = [&](Mode mode, double& random_share) {
    Rng rng(17);
    size_t rank = 0;
    int random = 0;
    const auto candidates = breed(mode, 400, 400, population, moves, rng);
    REQUIRE(candidates.size() == 400);
    std::set<std::string> keys;
    for (const Candidate& candidate : candidates) {
      CHECK(keys.insert(candidate.key).second);
      CHECK(population.tried.count(candidate.key) == 0);
      CHECK(candidate.key == key_of(candidate.schedule));
      random += candidate.origin == "random";
      for (const auto& parent : candidate.parents) rank = std::max(rank, rank_of(population, parent));
    }
    random_share = random / 400.0;
    return rank;
  };
  double random_share = 0;
  CHECK(widest(Mode::Exploit, random_share) == 3);
  CHECK(random_share == Approx(0.1).margin(0.05));
  CHECK(widest(Mode::Explore, random_share) == 15);
  CHECK(random_share == Approx(0.5).margin(0.08));
  CHECK(widest(Mode::Local, random_share) == 0);
  CHECK(random_share < 0.5);  // once the surroundings are used up
  CHECK(widest(Mode::Random, random_share) == 0);
  CHECK(random_share == 1);
}

TEST_CASE("fitter parents have more offspring") {
  const Population population = population_of(40);
  Rng rng(23);
  std::vector<int> children(4, 0);
  for (const Candidate& candidate : breed(Mode::Exploit, 1200, 1200, population, moves_of(matmul()), rng))
    if (candidate.origin == "mutation") ++children[rank_of(population, candidate.parents[0])];
  CHECK(children[0] > children[1]);  // weights 7 : 5 : 3 : 1
  CHECK(children[1] > children[2]);
  CHECK(children[2] > children[3]);
  CHECK(children[3] > 0);
}

TEST_CASE("seeds: every one of the first once, then random ones up to the count") {
  const Moves moves = moves_of(matmul());
  Population population;
  population.tried.insert(key_of(schedule_of(matmul().members[5])));
  const auto prior = [](size_t i) {
    const auto schedule = schedule_of(matmul().members[i]);
    return Candidate{schedule, key_of(schedule), "prior", {}};
  };
  Rng rng(1);
  const auto few = seeds({prior(1), prior(5), prior(1), prior(2)}, 4, population, moves, rng);
  REQUIRE(few.size() == 4);
  CHECK(few[0].schedule == prior(1).schedule);
  CHECK(few[1].schedule == prior(2).schedule);
  CHECK(few[1].origin == "prior");
  CHECK(few[2].origin == "random");
  CHECK(few[3].key != few[2].key);
  CHECK(seeds({prior(1), prior(2), prior(3)}, 2, population, moves, rng).size() == 3);
}

TEST_CASE("beyond what is needed only what is near the parents is bred") {
  Landscape row{.name = "row", .sizes = {60}, .default_member = {0}};
  for (int i = 0; i < 60; ++i) {
    row.members.push_back({i});
    row.time_ns[key_of(schedule_of({i}))] = 100;
  }
  Moves moves = moves_of(row);
  moves.mutate = [](const codegen::Schedule& parent, Rng& rng) {
    return schedule_of({std::min(genome_of(parent)[0] + 1 + static_cast<int>(rng.below(3)), 59)});
  };
  Population population;
  Measurement measurement;
  measurement.ratio = 1;
  add(population, schedule_of({0}), key_of(schedule_of({0})), measurement);
  Rng rng(4);
  CHECK(breed(Mode::Local, 40, 40, population, moves, rng).size() == 40);
  const auto pool = breed(Mode::Local, 40, 2, population, moves, rng);
  CHECK(pool.size() == 3);
  for (const Candidate& candidate : pool) CHECK(genome_of(candidate.schedule)[0] <= 3);
}

TEST_CASE("with nobody to descend from, offspring is random") {
  Rng rng(1);
  const auto candidates = breed(Mode::Exploit, 4, 4, {}, moves_of(matmul()), rng);
  REQUIRE(candidates.size() == 4);
  for (const Candidate& candidate : candidates) CHECK(candidate.origin == "random");
}

}  // namespace tile_tune::search
