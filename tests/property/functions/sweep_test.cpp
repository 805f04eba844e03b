// Every function at every value of f32, or at a thousand million arguments.
#include <catch2/catch.hpp>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/accuracy.h"
#include "tests/property/functions/samples.h"

namespace tile_tune::codegen::functions {
namespace {

constexpr size_t kBlock = 3 << 20, kBlocks = 320;

// "strict" has no fused multiply-adds, and the same bits whatever the CPU.
const std::vector<std::string> kTargets{"host", "strict"};

template <typename T>
void check_many(const Name& function, const std::string& target) {
  for (size_t block = 0; block < kBlocks; ++block) {
    std::vector<std::vector<T>> columns;
    for (int k = 0; k < function.arguments; ++k) columns.push_back(samples<T>(kBlock, 1000 * (3 * block + k)));
    const Worst worst = worst_error<T>(function.name, target, columns);
    INFO(described<T>(function.name, target, worst));
    REQUIRE(worst.error <= allowance(function.name).ulp);
  }
}

}  // namespace

TEST_CASE("functions of one f32 are within their allowance everywhere", "[nightly]") {
  for (const Name& function : names())
    for (const auto& target : kTargets) {
      if (function.arguments > 1) continue;
      const Worst worst = worst_error_of_all(function.name, target);
      INFO(described<float>(function.name, target, worst));
      CHECK(worst.error <= allowance(function.name).ulp);
    }
}

TEST_CASE("functions of f64 and of two numbers are within their allowance at 10^9 arguments", "[nightly]") {
  for (const Name& function : names())
    for (const auto& target : kTargets) {
      check_many<double>(function, target);
      if (function.arguments > 1) check_many<float>(function, target);
    }
}

}  // namespace tile_tune::codegen::functions
