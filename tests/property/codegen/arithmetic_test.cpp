// Kernels keep the IR's arithmetic where compilers like to assume it away: NaN, infinities, overflow, conversions out
// of range (frontend/ir/expr.h). Judged against the reference on the values that tell.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/ir/canonical.h"
#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/repeated.h"

namespace tile_tune {
namespace {

using test::array_of;
using test::repeated;

void check_default(const std::string& text, const reference::Inputs& inputs) {
  CAPTURE(text);
  const ir::Program program = test::bound_program(text, {{"N", 37}});
  test::KernelCheck check(program, inputs);
  check.expect_right(search::Space(program, test::host(2)).default_schedule());
}

}  // namespace

TEST_CASE("floats follow IEEE rules, NaN and infinities included", "[property]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const reference::Inputs inputs{
      {0, array_of(DType::F32, repeated<float>({1, -1, nan, inf, -inf, 3e9f, -3e9f, 0, 1.5f, 2e19f}))}};
  for (const std::string value :
       {"a(i) / 0.0", "a(i) * 0.0 + 1.0", "a(i) - a(i)", "a(i) / a(i)", "a(i) == a(i) ? 1.0 : 2.0",
        "a(i) < 1.0 ? 1.0 : a(i)", "a(i) >= 0.0 ? 1.0 : 2.0", "a(i) <= 1.0 ? a(i) : 3.0", "max(a(i), 1.0)",
        "min(1.0, a(i))", "relu(a(i))", "int32(a(i))", "uint8(a(i))", "int64(a(i))"})
    check_default("def f(float(N) a) -> (o) { o(i) = " + value + " }", inputs);
}

TEST_CASE("fmax and fmin leave out the NaN that a sum has become, relu and isnan see it", "[property]") {
  const std::string value =
      GENERATE("fmax(H(i,j), 0)", "fmax(0.5, H(i,j))", "fmin(H(i,j), 0.25)", "fmin(H(i,j), c(j))", "fmax(c(j), H(i,j))",
               "relu(H(i,j))", "isnan(H(i,j)) ? 7.0 : 1.0", "H(i,j) == H(i,j) ? H(i,j) : 7.0",
               "H(i,j) != H(i,j) ? 7.0 : H(i,j)", "H(i,j) <= H(i,j) ? 1.0 : 2.0", "H(i,j) < c(j) ? 1.0 : 2.0",
               "H(i,j) >= 0.25 ? 1.0 : 2.0", "max(H(i,j), 0.5)", "min(c(j), H(i,j))");
  const auto program = test::bound_program(
      "def f(float(M,K) a, float(K,N) b, float(N) c) -> (o) { H(i,j) +=! a(i,k) * "
      "b(k,j)  o(i,j) = " +
          value + " }",
      {{"M", 5}, {"N", 7}, {"K", 9}});
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto array = [](const std::vector<int64_t>& shape, const std::vector<float>& values) {
    return test::filled(DType::F32, shape, values);
  };
  // Sums of infinities of both signs, and of their products with 0.
  const reference::Inputs inputs{{0, array({5, 9}, {1, inf, -2, 0.5f, 0, 3, -1, 0.25f, 2, -3, -0.5f})},
                                 {1, array({9, 7}, {1, 0, -inf, 2, -1, inf, 0.5f, -2, 4})},
                                 {2, array({7}, {nan, 1, -1, inf, -inf, 0, nan})}};
  CAPTURE(value);
  test::KernelCheck check(program, inputs);
  auto schedule = search::Space(program, test::host(2)).default_schedule();
  check.expect_right(schedule);
  // A product and one element at a time took NaN for what does not occur.
  for (const int rows : {1, 2, 5}) {
    auto& nest = schedule.stages[0].nest();
    nest = {};
    nest.tiles = {{rows}, {1}};
    nest.order = {{0, 1}};
    nest.reduction_order = {0};
    nest.reduction_block = {9};
    nest.reduction_unroll = {1};
    CAPTURE(rows);
    check.expect_right(schedule);
  }
}

TEST_CASE("floats become unsigned 64-bit integers, negative ones 0", "[property]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{0,      0.75f,   -0.75f,  -1.5f,   -7,     3e9f, -3e9f, -9e18f,
                                  -1e19f, 9.3e18f, 1.8e19f, 1.9e19f, -1e30f, nan,  inf,   -inf};
  check_default("def f(float(N) a) -> (o) { o(i) = uint64(a(i)) }", {{0, array_of(DType::F32, repeated(values))}});
  check_default("def f(double(N) a) -> (o) { o(i) = uint64(a(i)) }",
                {{0, array_of(DType::F64, repeated(std::vector<double>(values.begin(), values.end())))}});
}

TEST_CASE("functions and conversions of every float type keep NaN, infinities and halves", "[property]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = repeated<double>(
      {nan, inf, -inf, 0, -0.0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2.5, -2.5, 3.5, 0.25, 0.75, -0.75, 7, 12, -12, 300});
  for (const DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const std::string name = type == DType::BF16 ? "bfloat16" : "float" + std::to_string(8 * dtype_size(type));
    std::string text, outputs;
    int count = 0;
    const auto add = [&](const std::string& value) {
      outputs += (count > 0 ? ", o" : "o") + std::to_string(count);
      text += "  o" + std::to_string(count++) + "(i) = " + value + "\n";
    };
    for (const char* function :
         {"acos", "asin",  "asinh", "atan", "cbrt",  "ceil",  "cos",  "cosh",  "erf",   "exp",   "exp2",    "expm1",
          "abs",  "floor", "isnan", "log",  "log10", "log1p", "log2", "relu",  "round", "rsqrt", "sigmoid", "sign",
          "sin",  "sinh",  "sqrt",  "tan",  "tanh",  "trunc", "bool", "int32", "uint8", "int64", "uint64",  "double"})
      add(std::string(function) + "(a(i))");
    for (const char* value : {"float(a(i)) != float(a(i)) ? 1 : 2", "double(a(i)) == double(a(i)) ? 1 : 2",
                              "bool(a(i)) ? 5 : 6", "max(a(i), sqrt(a(i)))"})
      add(value);
    auto array = tensor::Array::zeros(type, {37});
    for (size_t i = 0; i < values.size(); ++i) tensor::store_real(type, array.data.data(), i, values[i]);
    check_default("def f(" + name + "(N) a) -> (" + outputs + ") {\n" + text + "}", {{0, array}});
  }
  check_default("def f(int32(N) a) -> (o) { o(i) = bool(a(i)) }",
                {{0, array_of(DType::I32, repeated<int32_t>({0, 1, 2, 3, -4, 256}))}});
  // Sums, and rounding to the narrower type afterwards.
  auto half = tensor::Array::zeros(DType::F16, {37});
  for (size_t i = 0; i < values.size(); ++i) tensor::store_real(DType::F16, half.data.data(), i, values[i]);
  check_default("def f(float16(N) a) -> (s, p, m) { s +=! a(i)  p(i) +=! a(i) * a(j)  m max=! a(i) }", {{0, half}});
}

TEST_CASE("exponentials and logarithms at the ends of their range", "[property]") {
  const std::vector<float> values{2e9f, 1e10f,   1e30f, -2e9f,  -2e10f, -1e30f, 88.7f,    88.8f,   89.1f, -87.4f,
                                  -104, -104.5f, -2000, 1e-38f, 1e-39f, 1e-40f, 1.4e-45f, -1e-40f, 0.0f,  -0.0f};
  const reference::Inputs inputs{{0, array_of(DType::F32, repeated(values))}};
  for (const std::string function : {"exp", "sigmoid", "log"})
    check_default("def f(float(N) a) -> (o) { o(i) = " + function + "(a(i)) }", inputs);
}

TEST_CASE("rows divided by what they share come out as by a division, at both ends of the type", "[property]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const DType type : {DType::F32, DType::F64}) {
    const bool single = type == DType::F32;
    // Beside the scales' borders and the subnormal numbers, what a reciprocal of 64 bits or none would get wrong.
    const std::vector<double> divisors = single ? std::vector<double>{1,        3,           -7,        0,
                                                                      -0.0,     inf,         -inf,      nan,
                                                                      0x1p-149, -0x1.8p-148, 0x1p-127,  0x1.8p-101,
                                                                      0x1p-100, 0x1p100,     0x1.8p100, -0x1.fffffep127,
                                                                      49}
                                                : std::vector<double>{1,         3,
                                                                      -7,        0,
                                                                      -0.0,      inf,
                                                                      -inf,      nan,
                                                                      0x1p-1074, -0x1.8p-1073,
                                                                      0x1p-1023, 0x1.8p-901,
                                                                      0x1p-900,  0x1p900,
                                                                      0x1.8p900, -0x1.fffffffffffffp1023,
                                                                      49};
    std::vector<double> values = divisors;
    values.insert(values.end(), {1e-30, -1e30, 0x1p-60, 0x1.8p63, 49 * 5});
    const auto rows = static_cast<int64_t>(divisors.size()), columns = int64_t{83};
    auto a = tensor::Array::zeros(type, {rows, columns}), z = tensor::Array::zeros(type, {rows});
    for (int64_t i = 0; i < rows; ++i) {
      tensor::store_real(type, z.data.data(), i, divisors[i]);
      for (int64_t j = 0; j < columns; ++j)
        tensor::store_real(type, a.data.data(), i * columns + j, values[(i + j) % values.size()]);
    }
    const std::string name = single ? "float" : "double";
    const std::string head = "def f(" + name + "(M,N) a, " + name + "(M) z) -> (o) { ";
    for (const std::string value : {"a(i,j) / z(i)", "a(i,j) / (z(i) - 0.25)", "1.0 - a(i,j) / max(z(i), -3.0)"}) {
      CAPTURE(name, value);
      const ir::Program program = test::bound_program(head + "o(i,j) = " + value + " }", {{"M", rows}, {"N", columns}});
      test::KernelCheck check(program, {{0, a}, {1, z}});
      check.expect_right(search::Space(program, test::host(2)).default_schedule());
    }
  }
}

TEST_CASE("zeros keep their sign from one statement to the next", "[property]") {
  const reference::Inputs inputs{{0, array_of(DType::F32, repeated<float>({0.0f, -0.0f, -0.5f, 0.5f, -1, 1}))}};
  for (const std::string value : {"ceil(a(i))", "sin(a(i))", "trunc(a(i))", "max(a(i), -1.0)", "a(i)", "a(i) * 1.0"})
    check_default("def f(float(N) a) -> (o) { t(i) = " + value + "  o(i) = 1.0 / t(i) }", inputs);
  check_default("def f(float(N) a) -> (o) { t(i) max=! a(i)  o(i) = 1.0 / t(i) }", inputs);
  check_default("def f(float(N) a) -> (o) { t(i) = bfloat16(a(i))  o(i) = 1.0 / float(t(i)) }", inputs);
}

TEST_CASE("what is infinite whatever the data are comes out infinite", "[property]") {
  const reference::Inputs inputs{{0, array_of(DType::F32, repeated<float>({0.0f, -0.0f, -0.5f, 0.5f, -1, 1}))}};
  for (const std::string value :
       {"1.0 / -k", "1.0 / (2 * k - 4)", "a(i) / k", "log(k)", "1.0 / sqrt(k)", "1.0 / (1.0 / 1e-40)"}) {
    for (const std::string op : {"*=!", "max=!", "+=!"}) {
      CAPTURE(value, op);
      const ir::Program program = test::bound_program(
          "def f(float(N) a) -> (o) { o(i) " + op + " " + value + " where i in 0:N, k in 0:5 }", {{"N", 37}});
      test::KernelCheck check(program, inputs);
      const search::Space space(program, test::host(2));
      search::Rng rng(3);
      check.expect_right(space.default_schedule());
      check.expect_right(space.sample(rng).schedule);
    }
  }
}

TEST_CASE("signed integers wrap", "[property]") {
  const int32_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
  const reference::Inputs inputs{
      {0, array_of(DType::I32, repeated<int32_t>({(1 << 30) + 1, most, least, 5, -7, 1 << 30, 0}))}};
  for (const std::string value :
       {"(a(i) * 2) / 2", "(a(i) * 6) / 3", "a(i) + 1 > a(i) ? 1 : 0", "max(a(i) + 1, a(i) + 2)", "-a(i)",
        "a(i) - 2 < a(i) ? 1 : 0", "a(i) / -3", "a(i) % -3", "a(i) / 0"})
    check_default("def f(int32(N) a) -> (o) { o(i) = " + value + " }", inputs);
  check_default("def f(int32(N) a) -> (o) { o +=! a(i) }", inputs);
  check_default("def f(int32(N) a) -> (o) { o *=! a(i) }", inputs);
}

TEST_CASE("bools add by or and multiply by and, in every form of reduction", "[property]") {
  for (const std::string op : {"+=!", "*=!", "max=!", "min=!"}) {
    const ir::Program program =
        test::bound_program("def f(bool(N,M) A) -> (C) { C(n) " + op + " A(n,m) }", {{"N", 19}, {"M", 40}});
    test::KernelCheck check(program);
    const search::Space space(program, test::host(2));
    search::Rng rng(5);
    std::vector<codegen::Schedule> schedules{space.default_schedule()};
    for (int i = 0; i < 4; ++i) schedules.push_back(space.sample(rng).schedule);
    for (const auto& schedule : schedules) {
      const auto result = check(schedule);
      CHECK(result.error == "");
      CHECK(result.verdict.reason == "");
    }
  }
}

// The second part of a product is computed from the first one's old value.
TEST_CASE("products of complex numbers, all terms and those that a condition lets in", "[property]") {
  for (const bool some : {false, true})
    for (const DType type : {DType::C32, DType::C64}) {
      ir::Program program =
          test::bound_program("def f(float(I,J) A) -> (o) { o(i) *=! A(i,j) }", {{"I", 35}, {"J", 13}});
      for (auto& tensor : program.tensors) tensor.type = type;
      auto& statement = program.statements[0];
      statement.accumulator = type;
      statement.value = ir::make_expr(type, std::get<ir::Read>(statement.value->node));
      if (some) statement.constraints.push_back({ir::AffineExpr{{{0, 1}, {1, -1}}, 0, 1}, 20});
      program = ir::canonicalize(program);
      for (const auto& target : {test::host(2), codegen::deterministic(test::host(2))}) {
        CAPTURE(some, type, target.text());
        const search::Space space(program, target);
        test::KernelCheck check(program, target);
        search::Rng rng(1);
        check.expect_right(space.default_schedule());
        for (int i = 0; i < 3; ++i) check.expect_right(space.sample(rng).schedule);
      }
    }
}

}  // namespace tile_tune
