// Casts of kernels, on every instruction set that runs here, against conversions written out here.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/repeated.h"

namespace tile_tune {
namespace {

using test::kInfinity;
using test::kNan;

struct Named {
  DType type;
  const char* name;
};
constexpr Named kIntegers[] = {{DType::I8, "int8"},    {DType::U8, "uint8"},  {DType::I16, "int16"},
                               {DType::U16, "uint16"}, {DType::I32, "int32"}, {DType::U32, "uint32"},
                               {DType::I64, "int64"},  {DType::U64, "uint64"}};
constexpr Named kFloats[] = {
    {DType::F16, "float16"}, {DType::BF16, "bfloat16"}, {DType::F32, "float"}, {DType::F64, "double"}};

// Of an integer of this width, by long double, which holds all 64 bits.
int64_t saturated(DType type, double value) {
  if (std::isnan(value)) return 0;
  const int bits = 8 * static_cast<int>(dtype_size(type)) - (is_signed(type) ? 1 : 0);
  const long double high = std::ldexp(1.0L, bits) - 1, low = is_signed(type) ? -high - 1 : 0;
  const long double clamped = std::min(std::max(std::trunc(static_cast<long double>(value)), low), high);
  return clamped >= 0x1p63L ? static_cast<int64_t>(static_cast<uint64_t>(clamped)) : static_cast<int64_t>(clamped);
}

std::vector<double> telling_floats() {
  std::vector<double> values{0, -0.0, 0.75, -0.75, -1, -1.5, kNan, kInfinity, -kInfinity, 1e-40, 1e30, -1e30, 3e38};
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64})
    for (const double border : {std::ldexp(1.0, bits), -std::ldexp(1.0, bits)})
      for (const double step : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
        values.push_back(border + step);
        values.push_back(std::nextafter(static_cast<float>(border), static_cast<float>(step) * 1e38f));
      }
  return values;
}

// One output o0, o1, ... for each expression.
std::string text_of(const std::string& type, const std::vector<std::string>& expressions) {
  std::string outputs, statements;
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string name = "o" + std::to_string(i);
    outputs += (i > 0 ? ", " : "") + name;
    statements += "  " + name + "(i) = " + expressions[i] + "\n";
  }
  return "def f(" + type + "(N) a) -> (" + outputs + ") {\n" + statements + "}";
}

std::vector<std::vector<std::byte>> outputs(const std::string& text, const tensor::Array& a,
                                            const codegen::Target& target) {
  CAPTURE(text, target.text());
  const ir::Program program = test::bound_program(text, {{"N", a.element_count()}});
  test::KernelCheck check(program, {{0, a}}, target);
  return check.outputs(search::Space(program, target).default_schedule());
}

const std::vector<std::string> kTargets{"host", "x86-64-linux-sse41-avx-f16c-fma-avx2", "x86-64-linux"};

}  // namespace

TEST_CASE("floats become integers by truncation, saturate, and are 0 where they are NaN", "[property]") {
  const std::vector<double> values = telling_floats();
  for (const auto& target : test::runnable(kTargets))
    for (const auto& [from, name] : kFloats) {
      auto a = tensor::Array::zeros(from, {static_cast<int64_t>(values.size())});
      for (size_t i = 0; i < values.size(); ++i) tensor::store_real(from, a.data.data(), i, values[i]);
      std::vector<std::string> casts{"bool(a(i))"};
      for (const auto& to : kIntegers) casts.push_back(std::string(to.name) + "(a(i))");
      const auto got = outputs(text_of(name, casts), a, target);
      for (size_t i = 0; i < values.size(); ++i) {
        const double value = tensor::load_real(from, a.data.data(), i);
        CAPTURE(target.text(), name, value);
        CHECK(tensor::load_integer(DType::Bool, got[0].data(), i) == !(value == 0));
        for (size_t t = 0; t < std::size(kIntegers); ++t) {
          CAPTURE(kIntegers[t].name);
          CHECK(tensor::load_integer(kIntegers[t].type, got[t + 1].data(), i) == saturated(kIntegers[t].type, value));
        }
      }
    }
}

TEST_CASE("integers become narrower ones by their low bits, and floats by rounding", "[property]") {
  std::vector<int64_t> values{0, 1, -1, 100, 127, 128, -128, -129, 255, 256, 300, 65535, 65536, -32769, 100001};
  for (const int bit : {24, 25, 30, 31, 32, 53, 54, 62})
    for (const int64_t step : {-1, 0, 1, 3}) values.push_back((int64_t{1} << bit) + step);
  values.insert(values.end(), {INT64_MAX, INT64_MIN, (int64_t{1} << 30) + (1 << 22) + 1, (int64_t{1} << 60) + 1});
  for (const auto& target : test::runnable({"host", "x86-64-linux"}))
    for (const auto& [from, name] : kIntegers) {
      auto a = tensor::Array::zeros(from, {static_cast<int64_t>(values.size())});
      for (size_t i = 0; i < values.size(); ++i) tensor::store_integer(from, a.data.data(), i, values[i]);
      std::vector<std::string> casts{"bool(a(i))"};
      for (const auto& to : kIntegers) casts.push_back(std::string(to.name) + "(a(i))");
      for (const auto& to : kFloats) casts.push_back(std::string(to.name) + "(a(i))");
      const auto got = outputs(text_of(name, casts), a, target);
      for (size_t i = 0; i < values.size(); ++i) {
        const int64_t value = tensor::load_integer(from, a.data.data(), i);
        const bool upper = from == DType::U64 && value < 0;
        const float single = upper ? static_cast<float>(static_cast<uint64_t>(value)) : static_cast<float>(value);
        const double wide = upper ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
        CAPTURE(target.text(), name, value);
        CHECK(tensor::load_integer(DType::Bool, got[0].data(), i) == (value != 0));
        for (size_t t = 0; t < std::size(kIntegers); ++t)
          CHECK(tensor::load_integer(kIntegers[t].type, got[t + 1].data(), i) ==
                tensor::wrap(kIntegers[t].type, value));
        for (size_t t = 0; t < std::size(kFloats); ++t) {
          const DType to = kFloats[t].type;
          CAPTURE(kFloats[t].name);
          CHECK(tensor::load_real(to, got[std::size(kIntegers) + 1 + t].data(), i) ==
                (to == DType::F64 ? wide : tensor::round_to(to, single)));
        }
      }
    }
}

TEST_CASE("floats become narrower ones by one rounding", "[property]") {
  std::vector<double> values{0, -0.0, kNan, kInfinity, -kInfinity, 1, 65504, 65519.99, 65520, -65536, 1e-8, 3e38};
  for (const double sign : {1.0, -1.0})
    for (const int exponent : {0, 3, -14, -24, -126, -130, -140, 127})
      // Ties of f16, bf16 and f32, and what lies beside them in f64 alone.
      for (const double part : {0x1p-8, 0x1.8p-7, 0x1p-11, 0x1.8p-10, 0x1p-24, 0x1.8p-23})
        for (const double beside : {0.0, 0x1p-40, -0x1p-40, 0x1p-52})
          values.push_back(sign * std::ldexp(1 + part + beside, exponent));
  for (const double border : {0x1.ffffffp127, 0x1.ff7p127, 0x1.ffp127, 0x1.feffffp127})
    values.insert(values.end(), {border, -border, std::nextafter(border, 0)});
  for (const auto& target : test::runnable(kTargets))
    for (const auto& [from, name] : kFloats) {
      auto a = tensor::Array::zeros(from, {static_cast<int64_t>(values.size())});
      for (size_t i = 0; i < values.size(); ++i) tensor::store_real(from, a.data.data(), i, values[i]);
      std::vector<std::string> casts;
      for (const auto& to : kFloats) casts.push_back(std::string(to.name) + "(a(i))");
      const auto got = outputs(text_of(name, casts), a, target);
      for (size_t i = 0; i < values.size(); ++i)
        for (size_t t = 0; t < std::size(kFloats); ++t) {
          const double value = tensor::load_real(from, a.data.data(), i);
          const double wanted = tensor::round_to(kFloats[t].type, value);
          const double result = tensor::load_real(kFloats[t].type, got[t].data(), i);
          CAPTURE(target.text(), name, kFloats[t].name, value, wanted, result);
          CHECK((std::isnan(wanted) ? std::isnan(result)
                                    : result == wanted && std::signbit(result) == std::signbit(wanted)));
        }
    }
}

TEST_CASE("every NaN stays one as a half", "[property]") {
  std::vector<uint32_t> bits{0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001, 0x7fc00000, 0x7fbfffff, 0x7f808000};
  const auto a = test::array_of(DType::F32, test::repeated(bits));
  const auto got = outputs(text_of("float", {"bfloat16(a(i))", "float16(a(i))"}), a, test::host(1));
  for (int64_t i = 0; i < 37; ++i) {
    CHECK(std::isnan(tensor::load_real(DType::BF16, got[0].data(), i)));
    CHECK(std::isnan(tensor::load_real(DType::F16, got[1].data(), i)));
  }
}

}  // namespace tile_tune
