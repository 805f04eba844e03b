// Signs of zeros, infinities and NaN in kernels of every float type, compared bit by bit with what IEEE 754 has.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/repeated.h"

namespace tile_tune {
namespace {

using test::kInfinity;
using test::kNan;

struct SignCase {
  const char* text;
  std::function<double(double)> wanted;  // of an input, before rounding
};

// Where the C library has the function it is the expectation; else the arithmetic is written out.
const std::vector<SignCase>& cases() {
  static const std::vector<SignCase> result{
      {"-a(i)", [](double a) { return -a; }},
      {"fabs(a(i))", [](double a) { return std::abs(a); }},
      {"-fabs(a(i))", [](double a) { return -std::abs(a); }},
      {"-(-a(i))", [](double a) { return a; }},
      {"1.0 / fabs(a(i))", [](double a) { return 1 / std::abs(a); }},
      {"1.0 / (-a(i))", [](double a) { return 1 / -a; }},
      {"1.0 / (0.0 - a(i))", [](double a) { return 1 / (0.0 - a); }},
      {"1.0 / (a(i) + 0.0)", [](double a) { return 1 / (a + 0.0); }},
      {"1.0 / (a(i) - 0.0)", [](double a) { return 1 / (a - 0.0); }},
      {"1.0 / (a(i) * 1.0)", [](double a) { return 1 / a; }},
      {"1.0 / (a(i) / 1.0)", [](double a) { return 1 / a; }},
      {"1.0 / (a(i) * -1.0)", [](double a) { return 1 / -a; }},
      {"1.0 / (a(i) * 0.0)", [](double a) { return 1 / (a * 0.0); }},
      {"1.0 / (-a(i) * 0.0)", [](double a) { return 1 / (-a * 0.0); }},
      {"a(i) / 0.0", [](double a) { return a / 0.0; }},
      {"a(i) / -0.0", [](double a) { return a / -0.0; }},
      {"1.0 / ceil(a(i))", [](double a) { return 1 / std::ceil(a); }},
      {"1.0 / floor(a(i))", [](double a) { return 1 / std::floor(a); }},
      {"1.0 / trunc(a(i))", [](double a) { return 1 / std::trunc(a); }},
      {"1.0 / round(a(i))", [](double a) { return 1 / std::round(a); }},
      {"1.0 / sign(a(i))", [](double a) { return 1 / (a > 0   ? 1
                                                      : a < 0 ? -1
                                                              : a); }},
      {"copysign(1.0, -a(i))", [](double a) { return std::copysign(1.0, -a); }},
      {"1.0 / (a(i) == 0.0 ? 0.0 : a(i))", [](double a) { return 1 / (a == 0 ? 0.0 : a); }},
      {"1.0 / (a(i) < 0.0 ? -a(i) : a(i))", [](double a) { return 1 / (a < 0 ? -a : a); }},
      {"1.0 / (a(i) > 0.0 ? a(i) : 0.0 - a(i))", [](double a) { return 1 / (a > 0 ? a : 0.0 - a); }},
      {"a(i) - a(i)", [](double a) { return a - a; }},
  };
  return result;
}

void check_bits(DType type, const std::string& name, const codegen::Target& target) {
  std::string text, outputs;
  for (size_t i = 0; i < cases().size(); ++i) {
    outputs += (i > 0 ? ", o" : "o") + std::to_string(i);
    text += "  o" + std::to_string(i) + "(i) = " + cases()[i].text + "\n";
  }
  const double least = type == DType::F64 ? 0x1p-1074 : type == DType::F16 ? 0x1p-24 : 0x1p-133;
  const auto values = test::repeated<double>(
      {0.0, -0.0, kInfinity, -kInfinity, kNan, 0.25, -0.25, -0.75, 1, -1, 1.5, -2.5, least, -least});
  auto a = tensor::Array::zeros(type, {37});
  for (size_t i = 0; i < values.size(); ++i) tensor::store_real(type, a.data.data(), i, values[i]);
  const ir::Program program =
      test::bound_program("def f(" + name + "(N) a) -> (" + outputs + ") {\n" + text + "}", {{"N", 37}});
  test::KernelCheck check(program, {{0, a}}, target);
  const auto got = check.outputs(search::Space(program, target).default_schedule());
  for (size_t c = 0; c < cases().size(); ++c)
    for (size_t i = 0; i < values.size(); ++i) {
      // Halves are computed in f32 and rounded once, which from double is the same.
      const double wanted = tensor::round_to(type, cases()[c].wanted(values[i]));
      const double result = tensor::load_real(type, got[c].data(), i);
      CAPTURE(name, cases()[c].text, values[i], wanted, result);
      CHECK(
          (std::isnan(wanted) ? std::isnan(result) : result == wanted && std::signbit(result) == std::signbit(wanted)));
    }
}

}  // namespace

TEST_CASE("signs are those of IEEE 754, in every float type and mode", "[property]") {
  auto targets = test::runnable({"host", "x86-64-linux-sse41-avx-f16c-fma-avx2"});
  targets.push_back(codegen::deterministic(test::host(1)));
  for (const auto& one : targets) {
    CAPTURE(one.text());
    check_bits(DType::F16, "float16", one);
    check_bits(DType::BF16, "bfloat16", one);
    check_bits(DType::F32, "float", one);
    check_bits(DType::F64, "double", one);
  }
}

TEST_CASE("where the reference has more range than f32, right kernels pass", "[property]") {
  const std::vector<float> values{-95, 95, -89, 3e19f, -3e19f, 1e-30f, 2e38f, 1e-42f, 0, 1};
  for (const std::string value :
       {"1 / (1 + exp(-a(i)))", "sqrt(a(i) * a(i) + 1)", "a(i) * a(i) / (a(i) * a(i) + 1)", "1 / (a(i) * a(i))",
        "log(a(i) * a(i))", "exp(a(i)) * exp(-a(i))", "a(i) * a(i) > 1e20 ? 1 : 2"}) {
    CAPTURE(value);
    const ir::Program program = test::bound_program("def f(float(N) a) -> (o) { o(i) = " + value + " }", {{"N", 37}});
    test::KernelCheck check(program, {{0, test::array_of(DType::F32, test::repeated(values))}});
    check.expect_right(search::Space(program, test::host(1)).default_schedule());
  }
}

TEST_CASE("a kernel that is wrong on special numbers alone is refused", "[property]") {
  struct Pair {
    const char *right, *wrong;  // equal on ordinary numbers
  };
  for (const auto& [right, wrong] :
       {Pair{"O(i) = max(A(i), 0.5)", "O(i) = A(i) > 0.5 ? A(i) : 0.5"},
        Pair{"O(i) = 0.0 * A(i)", "O(i) = A(i) == A(i) ? 0.0 : A(i)"}, Pair{"O(i) = -A(i)", "O(i) = 0.0 - A(i)"},
        Pair{"O(i) = 1 / fabs(A(i))", "O(i) = 1 / (A(i) < 0 ? -A(i) : A(i))"},
        Pair{"O(i) = A(i) * 1e-3", "O(i) = (A(i) < 2.0 ? A(i) : 2.0) * 1e-3"}}) {
    CAPTURE(right, wrong);
    const auto program = [](const std::string& statement) {
      return test::bound_program("def f(float(N) A) -> (float(N) O) { " + statement + " }", {{"N", 1000}});
    };
    test::KernelCheck check(program(right), test::host(1));
    CHECK(check(search::Space(check.program(), test::host(1)).default_schedule()).verdict.reason == "");
    const ir::Program other = program(wrong);
    const auto refused = check(search::Space(other, test::host(1)).default_schedule(), other);
    CHECK(refused.error == "");
    CHECK_THAT(refused.verdict.reason, Catch::Contains("infinities, NaN"));
  }
}

}  // namespace tile_tune
