// Every function at every value of f32, or at ten million arguments.
#include <catch2/catch.hpp>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/accuracy.h"

namespace tile_tune::codegen::functions {
namespace {

constexpr uint64_t kMany = 10'000'000;

// "strict" has no fused multiply-adds, and the same bits whatever the CPU.
const std::vector<std::string> kTargets{"host", "strict"};

template <typename T>
void check(const std::string& name, const std::vector<Worst>& worst) {
  for (size_t k = 0; k < worst.size(); ++k) {
    INFO(described<T>(name, kTargets[k], worst[k]));
    CHECK(worst[k].error <= allowance(name).ulp);
  }
}

}  // namespace

TEST_CASE("functions of one f32 are within their allowance everywhere", "[nightly]") {
  for (const auto& [name, arguments] : names())
    if (arguments == 1) check<float>(name, worst_errors_of_all(name, kTargets));
}

TEST_CASE("functions of f64 and of two numbers are within their allowance at 10^7 arguments", "[nightly]") {
  for (const auto& [name, arguments] : names()) {
    check<double>(name, worst_errors_of_many<double>(name, arguments, kTargets, kMany));
    if (arguments > 1) check<float>(name, worst_errors_of_many<float>(name, arguments, kTargets, kMany));
  }
}

}  // namespace tile_tune::codegen::functions
