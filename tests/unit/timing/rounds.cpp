// What becomes of rounds in which the system took a core.
#include <catch2/catch.hpp>
#include <cmath>

#include "search/timing/timing.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

std::vector<Contestant> contestants(int count) {
  std::vector<Contestant> result;
  for (int i = 0; i < count; ++i) result.push_back({failure("none", "no kernel"), 1, {}});
  return result;
}

/// As a round leaves them: samples of all, then the booking.
void play(std::vector<Contestant>& all, const std::vector<Sample>& samples,
          const std::optional<Probes>& probes = std::nullopt) {
  std::vector<int> numbers;
  for (size_t i = 0; i < all.size(); ++i) {
    if (samples[i].ns <= 0) continue;
    numbers.push_back(static_cast<int>(i));
    all[i].timing.samples_ns.push_back(samples[i].ns);
    all[i].timing.switched += samples[i].switched;
  }
  book_round(all, numbers, samples, probes);
}

}  // namespace

TEST_CASE("a round counts where neither the sample nor the default's lost a core") {
  auto all = contestants(2);
  play(all, {{100}, {50}});
  play(all, {{100, 0, true}, {60}});
  play(all, {{100}, {70, 0, true}});
  play(all, {{100}, {80}});
  CHECK(all[0].calm == std::vector<bool>{true, false, true, true});
  CHECK(all[1].calm == std::vector<bool>{true, false, false, true});
  CHECK(fewest_calm(all, {0, 1}) == 2);
  CHECK(fewest_calm(all, {0}) == 3);

  keep_calm(all, 2);
  CHECK(all[1].timing.samples_ns == std::vector<double>{50, 80});
  CHECK(all[1].timing.log_ratios.size() == 2);
  CHECK(std::exp(all[1].timing.log_ratios[1]) == Approx(1.25));
  CHECK(all[1].timing.left_out == 2);
  CHECK(all[0].timing.left_out == 1);
  CHECK(all[1].timing.switched == 1);
}

TEST_CASE("a round in which one lost its core can be made to count for nobody") {
  std::vector<Sample> samples{{100}, {50}, {70, 0, true}};
  share_loss(samples);
  CHECK(samples[0].switched);
  CHECK(samples[1].switched);
  samples = {{100}, {50}};
  share_loss(samples);
  CHECK_FALSE(samples[0].switched);
}

TEST_CASE("with too few rounds without a lost core all of them count") {
  auto all = contestants(2);
  play(all, {{100}, {50}}, Probes{10, 20});
  play(all, {{100}, {60, 0, true}}, Probes{12, 24});
  keep_calm(all, 2);
  CHECK(all[1].timing.samples_ns.size() == 2);
  CHECK(all[1].timing.left_out == 0);
  CHECK(all[1].timing.flop_fractions == std::vector<double>{0.2, 0.2});
  keep_calm(all, 1);
  CHECK(all[1].timing.flop_fractions == std::vector<double>{0.2});
  CHECK(all[1].timing.bandwidth_fractions == std::vector<double>{0.4});
}

TEST_CASE("a contestant that failed in a round has no round") {
  auto all = contestants(3);
  play(all, {{100}, {50}, {0}});
  play(all, {{100}, {50}, {40}});
  CHECK(all[2].calm.size() == 1);
  CHECK(all[2].timing.log_ratios.size() == 1);
}

TEST_CASE("disturbance is seen in lost cores, and in the spread of times and of their ratios") {
  Timing calm;
  calm.samples_ns.assign(40, 1000);
  calm.log_ratios.assign(40, 0.1);
  calm.switched = 10;
  CHECK_FALSE(is_disturbed(calm));
  CHECK_FALSE(is_disturbed({}));
  Timing timing = calm;
  timing.switched = 11;
  CHECK(is_disturbed(timing));
  timing.left_out = 4;  // of 44 then
  CHECK_FALSE(is_disturbed(timing));
  timing = calm;
  timing.samples_ns[3] = 9000;  // a single hiccup moves no quartile
  timing.log_ratios[3] = 5;
  CHECK_FALSE(is_disturbed(timing));
  for (size_t i = 0; i < timing.log_ratios.size(); i += 2) timing.log_ratios[i] = 0.3;
  CHECK(is_disturbed(timing));
  timing = calm;
  for (size_t i = 0; i < timing.samples_ns.size(); i += 2) timing.samples_ns[i] = 1300;  // and the default's with them
  CHECK(is_disturbed(timing));
}
