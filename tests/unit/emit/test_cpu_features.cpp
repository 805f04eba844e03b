#include <algorithm>
#include <catch2/catch.hpp>

#include "codegen/emit/cpu_features.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

Target parsed_target(const std::string& text) {
  const auto parsed = parse_target(text);
  REQUIRE(parsed);
  return *parsed;
}

std::vector<std::string> required(const std::string& text) {
  const auto features = required_cpu_features(parsed_target(text));
  REQUIRE(features);
  CHECK(std::is_sorted(features->begin(), features->end()));
  return *features;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

TEST_CASE("a kernel needs what LLVM may use under the CPU model Halide picks") {
  CHECK(required("x86-64-linux").empty());
  CHECK(required("x86-64-linux-no_asserts-large_buffers-tune_znver4").empty());
  CHECK(required("x86-64-linux-sse41") == std::vector<std::string>{"sse3", "sse4.1", "ssse3"});
  // avx2 means -mcpu=haswell, whose kernels use bit manipulation instructions that "avx2" does not name.
  const auto avx2 = required("x86-64-linux-avx-avx2-sse41");
  for (const char* feature : {"avx", "avx2", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt"})
    CHECK(contains(avx2, feature));
  CHECK_FALSE(contains(avx2, "avx512f"));
  CHECK(std::adjacent_find(avx2.begin(), avx2.end()) == avx2.end());
  const auto skylake = required("x86-64-linux-avx512_skylake");
  for (const char* feature : {"avx2", "fma", "avx512f", "avx512vl"}) CHECK(contains(skylake, feature));
  CHECK_FALSE(contains(skylake, "avx512vnni"));
  CHECK(contains(required("x86-64-linux-avx512_zen4"), "avx512vnni"));
  CHECK_FALSE(contains(required("x86-64-linux-avx512_zen4"), "avxvnni"));
  CHECK(contains(required("x86-64-linux-avx512_sapphirerapids"), "avx512fp16"));
  CHECK_FALSE(contains(required("x86-64-linux-avx512_sapphirerapids"), "amx"));
  CHECK(contains(required("x86-64-linux-amx"), "amx"));
  CHECK(contains(required("x86-64-linux-amx"), "avx512fp16"));
  CHECK_FALSE(required_cpu_features(parsed_target("x86-64-windows-amx")));  // Linux's permission is asked for
}

TEST_CASE("targets a package cannot serve are refused") {
  for (const char* text : {"arm-64-android", "arm-64-linux-sve2", "x86-32-linux", "arm-64-windows-arm_dot_prod",
                           "x86-64-linux-avx2-user_context", "x86-64-linux-avx10_1"}) {
    INFO(text);
    const auto features = required_cpu_features(parsed_target(text));
    REQUIRE_FALSE(features);
    CHECK(features.error().error_class == ErrorClass::Target);
  }
}

TEST_CASE("packages of one architecture share one runtime") {
  CHECK(runtime_target(parsed_target("x86-64-linux-avx-avx2-tune_znver3-strict_float")).text() == "x86-64-linux");
  CHECK(runtime_target(parsed_target("x86-64-linux")).text() == "x86-64-linux");
}

TEST_CASE("other platforms have features of their own") {
  CHECK(required("arm-64-linux").empty());
  CHECK(required("arm-64-linux-arm_dot_prod") == std::vector<std::string>{"ASIMDDP"});
  CHECK(required("arm-64-osx-arm_dot_prod").empty());  // every Mac has them
  CHECK(contains(required("x86-64-windows-avx2"), "bmi2"));
  CHECK(contains(required("x86-64-osx-avx2"), "bmi2"));
  CHECK(required("wasm-32-wasmrt-wasm_simd128").empty());
  CHECK(cpu_condition({}) == "1");
  CHECK(cpu_condition({"avx2"}) == "__builtin_cpu_supports(\"avx2\")");
  CHECK(cpu_condition({"amx"}) == "tile_tune_has_matrix_unit()");
  CHECK(cpu_preamble({{"avx2"}, {"amx", "avx2"}}).find("int tile_tune_has_matrix_unit(void)") != std::string::npos);
  CHECK(cpu_preamble({{"amx"}}).find("long syscall(long number, ...);") != std::string::npos);  // strict C has none
  CHECK(cpu_preamble({{"avx2"}}).find("matrix") == std::string::npos);
  CHECK(cpu_condition({"ASIMDDP"}) == "(getauxval(AT_HWCAP) & HWCAP_ASIMDDP)");
}
