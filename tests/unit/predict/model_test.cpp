#include "search/predict/model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "search/predict/quality.h"

namespace tile_tune::predict {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// Fast where the first column is above 3 and the second below 2; the third says nothing.
std::vector<Sample> samples() {
  std::vector<Sample> result;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 4; ++b) {
      const bool fast = a > 3 && b < 2;
      result.push_back({{static_cast<float>(a), static_cast<float>(b), kUnknown}, fast ? 0.9F : 0.2F});
    }
  return result;
}

template <typename T>
T value(Result<T> result) {
  REQUIRE(result);
  return std::move(*result);
}

}  // namespace

TEST_CASE("the model learns what two columns say together") {
  const CostModel model = value(CostModel::fit(samples()));
  const auto predicted =
      value(model.predict({{6, 1, kUnknown}, {6, 3, kUnknown}, {1, 1, kUnknown}, {kUnknown, kUnknown, kUnknown}}));
  CHECK(predicted[0] == Approx(0.9).margin(0.1));
  CHECK(predicted[1] == Approx(0.2).margin(0.1));
  CHECK(predicted[2] == Approx(0.2).margin(0.1));
  CHECK(std::isfinite(predicted[3]));
  CHECK(value(model.predict({})).empty());
}

TEST_CASE("the same samples give the same model") {
  const std::vector<std::vector<float>> rows{{5, 1, 0}, {2, 2, 1}, {7, 3, 2}};
  const auto first = value(value(CostModel::fit(samples())).predict(rows));
  const auto second = value(value(CostModel::fit(samples())).predict(rows));
  CHECK(first == second);
}

TEST_CASE("one sample, and samples that are all alike, are no error") {
  CHECK(value(value(CostModel::fit({{{1, 2}, 0.5F}})).predict({{1, 2}})).size() == 1);
  const auto alike = value(value(CostModel::fit({{{1}, 0}, {{1}, 0}, {{1}, 0}})).predict({{1}, {9}}));
  CHECK(alike[0] == alike[1]);
}

TEST_CASE("quality: pairs that differ by more than noise, and the fastest quarter") {
  // Measured 1.005 and 1.0 are equal; the model puts 0.5 before 0.8.
  const Quality quality = quality_of({4, 3, 1, 2}, {1.0, 1.005, 0.8, 0.5});
  CHECK(quality.pairs == 5);
  CHECK(quality.ordered == 4);
  CHECK(quality.top == 1);
  CHECK(quality.found == 0);  // the fastest was the second
  CHECK(quality.pairwise_accuracy() == 0.8);

  Quality sum = quality;
  sum += quality_of({2, 1}, {2, 1});
  CHECK(sum.pairs == 6);
  CHECK(sum.found == 1);
  CHECK(sum.top_recall() == 0.5);
  CHECK(quality_of({1, 1}, {2, 1}).ordered == 0);  // undecided is wrong
  CHECK(quality_of({1, 2}, {0, 0}).pairs == 0);    // two faults
  CHECK(quality_of({1, 2}, {0, 0}).top == 0);
  CHECK(quality_of({}, {}).pairwise_accuracy() == 0);
  CHECK(quality_of({5, 4, 3, 2, 1}, {5, 4, 3, 2, 1}).found == 2);  // a quarter of five, rounded up
}

}  // namespace tile_tune::predict
