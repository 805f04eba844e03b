// Every function against MPFR: special values and a few thousand others, on every target that this CPU can run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/accuracy.h"
#include "tests/property/functions/samples.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {
namespace {

// Columns of arguments: special values with each other, and samples.
template <typename T>
std::vector<std::vector<T>> columns(int arguments, size_t count) {
  if (arguments == 1) return {samples<T>(count, 1)};
  std::vector<std::vector<T>> all;
  for (int k = 0; k < arguments; ++k) all.push_back(samples<T>(count, 10 * (k + 1)));
  const auto special = special_values<T>();
  for (const T a : special)
    for (const T b : special) {
      all[0].push_back(a);
      all[1].push_back(b);
      if (arguments == 3) all[2].push_back(a);
    }
  return all;
}

template <typename T>
bool have_same_bits(const T& a, const T& b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

// What a deterministic target promises, of functions alone.
template <typename T>
void check_bits() {
  const auto known = targets();
  std::vector<std::string> narrower{"strict sse41"};
  const bool has_avx2 = std::find(known.begin(), known.end(), "avx2") != known.end();
  if (has_avx2 && sizeof(T) == sizeof(float)) narrower.push_back("strict avx2");
  for (const auto& [name, arguments] : names()) {
    const auto given = columns<T>(arguments, 3000);
    const auto wide = VectorFunction<T>(name, arguments, "strict")(given);
    for (const auto& target : narrower) {
      CAPTURE(name, target);
      const auto narrow = VectorFunction<T>(name, arguments, target)(given);
      for (size_t k = 0; k < wide.size(); ++k) {
        if (have_same_bits(wide[k], narrow[k])) continue;
        CAPTURE(given[0][k], given.back()[k], wide[k], narrow[k]);
        FAIL("other bits");
      }
    }
  }
}

// Odd functions and an even one are that to the last bit.
template <typename T>
void check_signs() {
  const auto given = samples<T>(3000, 1);
  std::vector<T> turned;
  for (const T x : given) turned.push_back(-x);
  for (const std::string name : {"sin", "tan", "atan", "cos"})
    for (const auto& target : targets()) {
      CAPTURE(name, target);
      const VectorFunction<T> function(name, 1, target);
      const auto of_given = function({given}), of_turned = function({turned});
      for (size_t k = 0; k < given.size(); ++k) {
        const T expected = name == "cos" ? of_given[k] : -of_given[k];
        if (have_same_bits(expected, of_turned[k])) continue;
        CAPTURE(given[k], of_given[k], of_turned[k]);
        FAIL("other bits");
      }
    }
}

template <typename T>
void check_all() {
  for (const auto& [name, arguments] : names()) {
    const auto worst = worst_errors<T>(name, targets(), columns<T>(arguments, 6000));
    for (size_t k = 0; k < worst.size(); ++k) {
      INFO(described<T>(name, targets()[k], worst[k]));
      CHECK(worst[k].error <= allowance(name).ulp);
    }
  }
}

// Where the largest errors lie: intervals in which the parts of a function meet, and arguments found by sweeps.
struct Hard {
  std::string name;
  double least, most;
  std::vector<double> found;
};
template <typename T>
void check_hard(const std::vector<Hard>& all) {
  for (const auto& [name, least, most, found] : all) {
    auto column = between<T>(least, most, 20000, 5);
    column.insert(column.end(), found.begin(), found.end());
    const auto worst = worst_errors<T>(name, targets(), {column});
    for (size_t k = 0; k < worst.size(); ++k) {
      INFO(described<T>(name, targets()[k], worst[k]));
      CHECK(worst[k].error <= allowance(name).ulp);
    }
  }
}

// What C99 (F.9) gives numbers for, but for infinities and zeros, which the allowance already wants.
struct Exact {
  std::string name;
  std::vector<double> arguments;
  double value;
};
template <typename T>
void check_exact() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, arguments, value] : std::vector<Exact>{{"cos", {0}, 1},
                                                                 {"cos", {-0.0}, 1},
                                                                 {"cosh", {0}, 1},
                                                                 {"exp", {0}, 1},
                                                                 {"exp2", {0}, 1},
                                                                 {"exp10", {0}, 1},
                                                                 {"acos", {1}, 0},
                                                                 {"log", {1}, 0},
                                                                 {"log2", {1}, 0},
                                                                 {"log10", {1}, 0},
                                                                 {"acosh", {1}, 0},
                                                                 {"expm1", {-kInfinity}, -1},
                                                                 {"erf", {kInfinity}, 1},
                                                                 {"erfc", {-kInfinity}, 2},
                                                                 {"tanh", {-kInfinity}, -1},
                                                                 {"lgamma", {1}, 0},
                                                                 {"lgamma", {2}, 0},
                                                                 {"pow", {7, 0}, 1},
                                                                 {"pow", {1, -kInfinity}, 1},
                                                                 {"pow", {-1, kInfinity}, 1},
                                                                 {"hypot", {-3, 0}, 3}})
    for (const auto& target : targets()) {
      CAPTURE(name, arguments, target);
      std::vector<std::vector<T>> columns;  // of whole vectors
      for (const double argument : arguments) columns.emplace_back(64, static_cast<T>(argument));
      const auto result = VectorFunction<T>(name, static_cast<int>(columns.size()), target)(columns);
      CHECK(result[0] == static_cast<T>(value));
    }
}

// Around the odd multiples of pi / 2 (0 of a cosine) sums are nearest to 1.
template <typename T>
void check_at_most_one() {
  for (const std::string name : {"sin", "cos"}) {
    std::vector<T> given;
    for (int multiple = 0; multiple < 40; ++multiple) {
      T x = static_cast<T>((multiple + (name == "sin" ? 0.5 : 0.0)) * 3.14159265358979323846);
      for (int k = 0; k < 3000; ++k) x = std::nextafter(x, T(-1));
      for (int k = 0; k < 6000; ++k) given.push_back(x = std::nextafter(x, T(1e6)));
    }
    for (const auto& target : targets()) {
      CAPTURE(name, target);
      for (const T value : VectorFunction<T>(name, 1, target)({given}))
        if (!(std::abs(value) <= 1)) FAIL("a value of " << value);
    }
  }
}

}  // namespace

TEST_CASE("functions have the values that C99 names", "[property]") {
  check_exact<float>();
  check_exact<double>();
}

TEST_CASE("sines and cosines are at most 1", "[property]") {
  check_at_most_one<float>();
  check_at_most_one<double>();
}

TEST_CASE("functions are within their allowance where their errors are largest", "[property]") {
  check_hard<float>({{"erfc", 8, 9.3, {0x1.1599d4p+3, 0x1.882f2p+1}},
                     {"sinh", 0.3, 6, {0x1.632dep+1, 0x1.66dep-2}},
                     {"sigmoid", -1, 0, {-0x1.b1fp-10}},
                     {"log10", 0.9, 1.1, {0x1.f6e4p-1}}});
  check_hard<double>({{"erfc", 1.2, 1.5, {0x1.51e4ae824c65ep+0, 0x1.57b1e79d52dbcp+0}},
                      {"erf", 1.2, 1.45, {0x1.53fdf55db9c38p+0}},
                      {"sinh", 0.34, 0.4, {-0x1.71bb7a89a8664p-2, 0x1.a775afe0dc5bp-2, 0x1.63230dea6723cp+1}},
                      {"sigmoid", -2, 0, {-0x1.f22f381546d08p+0, -0x1.be21e8fda1137p-26}},
                      {"lgamma", 0.5, 3.2, {0x1.d5578a4883d4ap+0, 0x1.081f444c8403ap+1}}});
}

TEST_CASE("functions of f32 are within their allowance", "[property]") { check_all<float>(); }

TEST_CASE("functions of f64 are within their allowance", "[property]") { check_all<double>(); }

TEST_CASE("odd functions are odd to the last bit and cos is even", "[property]") {
  check_signs<float>();
  check_signs<double>();
}

TEST_CASE("functions of a deterministic target have the same bits with the fewest instructions", "[property]") {
  if (Halide::get_host_target().arch != Halide::Target::X86) return;
  check_bits<float>();
  check_bits<double>();
}

}  // namespace tile_tune::codegen::functions
