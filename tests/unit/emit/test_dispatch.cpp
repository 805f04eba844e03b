// Which function of a kernel runs: the order of instruction sets, and the generated choice among them, asked with
// features of CPUs that need not be here.
#include <fmt/format.h>
#include <stdlib.h>

#include <catch2/catch.hpp>

#include "base/files.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/runtime_files.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/toolchain.h"
#include "codegen/lower/compile.h"
#include "codegen/target/host.h"
#include "tests/integration/emit/programs.h"
#include "tests/unit/emit/scratch.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using tile_tune::test::Scratch;
namespace fs = std::filesystem;

namespace {

Target described_target(const std::string& text) {
  const auto described = describe_target(text, 2);
  REQUIRE(described);
  return *described;
}

std::vector<std::string> order(const std::vector<std::string>& names) {
  std::vector<Target> targets;
  for (const auto& name : names) targets.push_back(described_target(name));
  const auto ordered = dispatch_order(std::move(targets));
  REQUIRE(ordered);
  std::vector<std::string> result;
  for (const auto& one : *ordered) result.push_back(one.text());
  return result;
}

// A CPU with the features of the command line; stand-ins for three compiled functions; which of them is called?
constexpr const char* kHarness = R"(
#include <stdio.h>
#include <string.h>
#include "tile_tune_rt.h"
static const char** features;
int test_has(const char* name) {
  for (const char** one = features; *one != NULL; ++one)
    if (strcmp(*one, name) == 0) return 1;
  return 0;
}
int f_0(void* call, void* a, void* b, void* c) { (void)call, (void)a, (void)b, (void)c; return 100; }
int f_1(void* call, void* a, void* b, void* c) { (void)call, (void)a, (void)b, (void)c; return 101; }
int f_2(void* call, void* a, void* b, void* c) { (void)call, (void)a, (void)b, (void)c; return 102; }
int f(struct tile_tune_call*, struct tile_tune_buffer*, struct tile_tune_buffer*, struct tile_tune_buffer*);
int main(int count, char** arguments) {
  (void)count;
  features = (const char**)arguments + 1;
  const int first = f(NULL, NULL, NULL, NULL);
  static const char* none[] = {NULL};
  features = none; /* it is not asked again */
  printf("%d %d", first, f(NULL, NULL, NULL, NULL));
}
)";

}  // namespace

TEST_CASE("instruction sets are asked for from the one that needs most down to the baseline") {
  const std::vector<std::string> expected = {described_target("x86-64-linux-avx512_skylake").text(),
                                             described_target("x86-64-linux-avx2-fma").text(), "x86-64-linux"};
  CHECK(order({"x86-64-linux-avx2-fma", "x86-64-linux-avx512_skylake"}) == expected);
  CHECK(order({"x86-64-linux-avx512_skylake", "x86-64-linux", "x86-64-linux-avx2-fma", "x86-64-linux-avx2-fma"}) ==
        expected);
  CHECK(order({"x86-64-linux"}) == std::vector<std::string>{"x86-64-linux"});
  CHECK(order({"arm-64-linux-arm_dot_prod"}) ==
        std::vector<std::string>{described_target("arm-64-linux-arm_dot_prod").text(), "arm-64-linux"});
  const auto mixed = dispatch_order({described_target("x86-64-linux-avx2"), described_target("arm-64-linux")});
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().code == "several-platforms");
  CHECK(mixed.error().error_class == ErrorClass::Program);
  CHECK(mixed.error().message.find("for x86-64-linux-avx2 and for arm-64-linux") != std::string::npos);
}

TEST_CASE("avx512 alone is what every processor with it has but Knights Landing") {
  const auto skylake = described_target("x86-64-linux-avx512_skylake");
  CHECK(described_target("x86-64-linux-avx512") == skylake);
  CHECK(described_target("x86-64-linux-avx2-fma-avx512") == described_target("x86-64-linux-avx2-fma-avx512_skylake"));
  CHECK(order({"x86-64-linux-avx512", "x86-64-linux-avx512_skylake"}) ==
        std::vector<std::string>{skylake.text(), "x86-64-linux"});
  CHECK(described_target("x86-64-linux-avx512-avx512_knl").text().find("skylake") == std::string::npos);
}

TEST_CASE("kernels are compiled for every feature that a package may be made for") {
  const Scratch scratch;
  const Kernel kernel = test::matmul_kernel("f");
  for (const std::string platform : {"x86-64-linux", "arm-64-linux"}) {
    const auto features = testable_features(described_target(platform).platform);
    REQUIRE(features.size() >= 2);
    for (const Feature feature : features) {
      INFO(platform << " " << name(feature));
      const auto one = described_target(fmt::format("{}-{}", platform, name(feature)));
      CHECK(required_cpu_features(one));
      const auto compiled = compile_object(kernel.program, kernel.schedule, one, "f", scratch.path / "f.o");
      CHECK(compiled);
    }
  }
  CHECK(testable_features(described_target("arm-64-osx").platform).empty());
}

TEST_CASE("a call runs the first function that its CPU has all features for") {
  const Scratch scratch;
  Kernel kernel = test::matmul_kernel("f");
  kernel.variants = {{described_target("x86-64-linux-avx512_skylake"), kernel.schedule, "tuned", {}},
                     {described_target("x86-64-linux-avx2-fma"), kernel.schedule, "tuned", {}}};
  const auto described = described_alternatives(kernel, described_target("x86-64-linux"));
  REQUIRE(described);
  const auto &avx512 = (*described)[0].cpu_features, &avx2 = (*described)[1].cpu_features;
  REQUIRE(avx2.size() > 5);
  REQUIRE(tile_tune::base::write_text(scratch.path / "dispatch.c", cpu_dispatch_text("f", *described)));
  REQUIRE(tile_tune::base::write_text(scratch.path / "harness.c", kHarness));
  for (const auto& [name, text] : runtime_files()) REQUIRE(tile_tune::base::write_text(scratch.path / name, text));
  const auto built =
      run_tool({"cc", "-std=c11", "-Wall", "-Wextra", "-Wno-builtin-macro-redefined", "-include", "test_has.h",
                "dispatch.c", "harness.c", "-o", "harness"},
               [&] {
                 REQUIRE(tile_tune::base::write_text(scratch.path / "test_has.h",
                                                     "int test_has(const char*);\n"
                                                     "#define __builtin_cpu_supports(name) test_has(name)\n"));
                 return scratch.path;
               }());
  if (!built) FAIL(render(built.error()));
  const auto chosen = [&](std::vector<std::string> features) {
    features.insert(features.begin(), "./harness");
    const auto output = run_tool(features, scratch.path);
    REQUIRE(output);
    return *output;
  };
  CHECK(chosen(avx512) == "100 100");
  CHECK(chosen(avx2) == "101 101");
  CHECK(chosen({}) == "102 102");
  // One feature short of a set is without it.
  for (size_t missing = 0; missing < avx2.size(); ++missing) {
    auto features = avx512;
    std::erase(features, avx2[missing]);
    INFO(avx2[missing]);
    CHECK(chosen(features) == "102 102");
    features = avx2;
    std::erase(features, avx2[missing]);
    CHECK(chosen(features) == "102 102");
  }
  auto without_vl = avx512;
  std::erase(without_vl, "avx512vl");
  CHECK(chosen(without_vl) == "101 101");
}

TEST_CASE("default schedules suit the target's vectors, not this machine's") {
  CHECK(described_target("x86-64-linux").vector_bytes == 16);
  CHECK(described_target("x86-64-linux").vector_registers == 16);
  CHECK(described_target("x86-64-linux-avx").vector_bytes == 32);
  CHECK(described_target("x86-64-linux-avx2-fma").vector_bytes == 32);
  CHECK(described_target("x86-64-linux-avx512_skylake").vector_bytes == 64);
  CHECK(described_target("x86-64-linux-avx512_skylake").vector_registers == 32);
  CHECK(described_target("arm-64-linux").vector_bytes == 16);
  CHECK(described_target("arm-64-linux").vector_registers == 32);
  CHECK(described_target("wasm-32-wasmrt").vector_bytes == 16);
  CHECK(described_target("x86-64-linux").cpu_model.empty());
}

TEST_CASE("targets elsewhere can be described, and do not run here") {
  const auto arm = describe_target("arm-64-osx", 1);
  REQUIRE(arm);
  CHECK(check_runs_here(*arm).error().error_class == ErrorClass::Target);
  CHECK(resolve_target("arm-64-osx", 1).error().code == "target-unavailable");
  CHECK(describe_target("x86-64-linux-vulkan", 1).error().error_class == ErrorClass::Target);
  for (const char* text : {"x86-63-linux", "", "x86-64-linux-", "nonsense", "arm-64-linux-sve2-nonsense"}) {
    INFO(text);
    const auto unknown = describe_target(text, 1);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().error_class == ErrorClass::Program);
    CHECK(unknown.error().code == "unknown-target");
  }
}

TEST_CASE("Halide's words for how code is made are no targets") {
  for (const char* word : {"asan", "no_runtime", "jit", "c_plus_plus_name_mangling", "user_context", "trace_all"}) {
    INFO(word);
    const auto target = describe_target(std::string("host-") + word, 1);
    REQUIRE_FALSE(target);
    CHECK(target.error().code == "unknown-target");
    CHECK(target.error().message.find(std::string(": ") + word + " says how") != std::string::npos);
  }
  CHECK(describe_target("host-strict_float", 1));
}
