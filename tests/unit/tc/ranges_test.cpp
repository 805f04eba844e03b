// Inferred ranges against the definition: the largest interval for which every read is in bounds.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "frontend/tc/parse.h"
#include "frontend/tc/ranges.h"

using namespace tile_tune;
using namespace tile_tune::tc;

namespace {

SubscriptBound bound(std::vector<std::pair<int, int64_t>> terms, int64_t constant, int64_t extent,
                     int64_t divisor = 1) {
  return {{std::move(terms), constant, 1}, divisor, extent, "read", {}};
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// All i in a window for which 0 <= floor((a*i + b*k + c)/d) < extent for every k in [lo, hi).
std::pair<int64_t, int64_t> by_trial(int64_t a, int64_t b, int64_t c, int64_t d, int64_t extent, int64_t lo,
                                     int64_t hi) {
  std::optional<int64_t> first, last;
  for (int64_t i = -200; i <= 200; ++i) {
    bool is_inside = true;
    for (int64_t k = lo; k < hi; ++k) {
      const auto value = floor_div(a * i + b * k + c, d);
      is_inside = is_inside && value >= 0 && value < extent;
    }
    if (!is_inside) continue;
    if (!first) first = i;
    last = i;
  }
  return first ? std::pair(*first, *last + 1) : std::pair<int64_t, int64_t>(0, 0);
}

}  // namespace

TEST_CASE("solved intervals are exactly the values that keep every read in bounds") {
  for (const int64_t a : {1, 2, 3, -1, -2})
    for (const int64_t b : {0, 1, -1, 2})
      for (const int64_t c : {0, 1, -2, 5})
        for (const int64_t d : {1, 3})
          for (const int64_t extent : {1, 7, 16}) {
            std::vector<Variable> variables{{{"i", 0, 0, ""}, false}, {{"k", 1, 4, ""}, true}};
            auto terms = std::vector<std::pair<int, int64_t>>{{0, a}};
            if (b != 0) terms.emplace_back(1, b);
            REQUIRE(!infer_ranges(variables, {bound(terms, c, extent, d)}));
            REQUIRE(variables[0].solved);
            const auto expected = by_trial(a, b, c, d, extent, 1, 4);
            const auto lo = variables[0].index.lo.constant().value(), hi = variables[0].index.hi.constant().value();
            INFO(a << "*i + " << b << "*k + " << c << " over " << d << " in " << extent << ": [" << lo << ", " << hi
                   << ")");
            if (expected.first == expected.second) {
              CHECK(lo >= hi);
            } else {
              CHECK(std::pair(lo, hi) == expected);
            }
          }
}

TEST_CASE("variables solved in one round use earlier rounds only") {
  // i + j and j bound j; i + j bounds i once j is known, by j's range alone.
  std::vector<Variable> variables{{{"i", 0, 0, ""}, false}, {{"j", 0, 0, ""}, false}};
  infer_ranges(variables, {bound({{0, 1}, {1, 1}}, 0, 10), bound({{1, 1}}, 0, 4)});
  CHECK(variables[1].index.hi == 4);
  CHECK(variables[0].index.lo == 0);
  CHECK(variables[0].index.hi == 7);
}

TEST_CASE("what bounds two unknowns only together stays unsolved") {
  std::vector<Variable> variables{{{"i", 0, 0, ""}, false}, {{"j", 0, 0, ""}, false}};
  infer_ranges(variables, {bound({{0, 1}, {1, 1}}, 0, 10), bound({{0, 1}, {1, -1}}, 0, 10)});
  CHECK(!variables[0].solved);
  CHECK(!variables[1].solved);
}

TEST_CASE("a chain of reads is solved in as many rounds as it is long") {
  constexpr int kLength = 60;
  std::vector<Variable> variables;
  std::vector<SubscriptBound> bounds;
  for (int i = 0; i < kLength; ++i) variables.push_back({{"v", 0, 0, ""}, false});
  for (int i = kLength - 1; i > 0; --i) bounds.push_back(bound({{i - 1, 1}, {i, 1}}, 0, 1000));
  bounds.push_back(bound({{0, 1}}, 0, 2));
  infer_ranges(variables, bounds);
  CHECK(variables[0].index.hi == 2);
  CHECK(variables[1].index.hi == 999);
  CHECK(variables[2].index.hi == 2);
  CHECK(variables[kLength - 1].index.hi == 999);
}

TEST_CASE("more different ends than anyone writes are given up") {
  std::vector<Variable> variables{{{"i", 0, 0, ""}, false}};
  std::vector<SubscriptBound> bounds;
  for (int n = 0; n < 100; ++n) {
    bounds.push_back(bound({{0, 1}}, 0, 1));
    bounds.back().extent = ir::SizeExpr::name(fmt::format("N{}", n));
  }
  CHECK(infer_ranges(variables, bounds) == 0);
}
