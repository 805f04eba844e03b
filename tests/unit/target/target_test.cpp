// Targets as values: read from their text, written, described.
#include "codegen/target/target.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/target/host.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

Target parsed(const std::string& text) {
  INFO(text);
  const auto target = parse_target(text);
  REQUIRE(target);
  return *target;
}

}  // namespace

TEST_CASE("a target's text is read into what it names") {
  const Target target = parsed("x86-64-linux-tune_znver4-avx-avx512_zen4-strict_float-vector_bits_256");
  CHECK(target.platform == Platform{Architecture::X86, 64, System::Linux});
  CHECK(target.features == Features{Feature::Avx, Feature::Avx512Zen4});
  CHECK(target.deterministic);
  CHECK(target.tuned_for == Processor::ZnVer4);
  CHECK(target.scalable_bits == 256);
  CHECK(target.device == Device::Cpu);
  CHECK(target.vector_bytes == 64);
  CHECK(target.vector_registers == 32);
  CHECK(target.has_dot_products());
  CHECK(parsed("x86-64-linux-cuda").device == Device::Gpu);
  CHECK(parsed("arm-64-osx").platform == Platform{Architecture::Arm, 64, System::MacOs});
  CHECK_FALSE(parsed("x86-64-linux-avx2").deterministic);
  CHECK(parsed("x86-64-linux-amx").has_matrix_tiles());
  CHECK_FALSE(parsed("x86-64-linux-avx512_sapphirerapids").has_matrix_tiles());
  CHECK_FALSE(parse_target("arm-64-linux-amx"));
  CHECK_FALSE(parse_target("x86-32-linux-amx"));
}

TEST_CASE("a target with a matrix unit has the vectors of the processors that come with one") {
  const auto target = describe_target("x86-64-linux-amx", 1);
  REQUIRE(target);
  CHECK(target->text() == "x86-64-linux-amx-avx512_sapphirerapids");
  CHECK(target->vector_bytes == 64);
  CHECK(target->vector_registers == 32);
}

TEST_CASE("a target has one text, in whatever order it was named") {
  const std::string text =
      "x86-64-linux-tune_znver4-avx-avx2-f16c-fma-no_asserts-strict_float-user_context-vector_bits_512";
  CHECK(parsed(text).text() == text);
  CHECK(parsed("vector_bits_512-user_context-strict_float-no_asserts-fma-f16c-avx2-avx-tune_znver4-linux-64-x86")
            .text() == text);
  CHECK(parsed("x86-64-linux-avx2-avx2").text() == "x86-64-linux-avx2");
  CHECK(parsed("x86-64-linux-tune_generic").text() == "x86-64-linux");
  CHECK(parsed("x86-64-linux-vector_bits_0").text() == "x86-64-linux");
  CHECK(parsed("x86-64-linux") != parsed("x86-64-linux-strict_float"));
  CHECK(deterministic(parsed("x86-64-linux-tune_k8_sse3-x86apx")).text() ==
        "x86-64-linux-tune_k8_sse3-strict_float-x86apx");
}

TEST_CASE("what is no target is refused with the user's words") {
  const std::string text =
      GENERATE(as<std::string>(), "", "-", "avx2", "x86", "x86-64", "linux", "x86-64-linux-", "x86--64-linux",
               "x86-64-linux-avx3", "X86-64-linux", "x86-64-linux-AVX2", "x86-64-linux-linux", "x86-64-linux-32",
               "x86-arm-64-linux", "x86-16-linux", "x86-64-linux-tune_", "x86-64-linux-tune_znver4-tune_znver3",
               "x86-64-linux-tune_i486", "arm-64-linux-avx2", "x86-64-linux-sve2", "x86-64-linux-vector_bits_",
               "x86-64-linux-vector_bits_x", "x86-64-linux-vector_bits_-1", "x86-64-linux-vector_bits_99999999999",
               "host", "host-avx2", "x86-64-linux-host");
  INFO(text);
  const auto target = parse_target(text);
  REQUIRE_FALSE(target);
  CHECK(target.error().code == "unknown-target");
  CHECK(target.error().error_class == ErrorClass::Program);
  CHECK(target.error().message.starts_with("'" + text + "' is not a target"));
}

TEST_CASE("of what is no target the word to blame is named, if it is one") {
  const auto message = [](const char* text) { return parse_target(text).error().message; };
  CHECK(message("x86-64-linux-avx3-fma") == "'x86-64-linux-avx3-fma' is not a target: 'avx3' has no place in it");
  CHECK(message("x86-64-linux-linux") == "'x86-64-linux-linux' is not a target: 'linux' has no place in it");
  CHECK(message("toaster") == "'toaster' is not a target");
  CHECK(message("x86-linux-avx2") == "'x86-linux-avx2' is not a target");
}

TEST_CASE("host stands for what is named nowhere else") {
  Target base = parsed("x86-64-linux-tune_znver5-avx-avx2");
  base.cpu_model = "Model";
  const auto named = [&](const char* text) {
    const auto target = parse_target(text, &base);
    REQUIRE(target);
    return target->text();
  };
  CHECK(named("host") == "x86-64-linux-tune_znver5-avx-avx2");
  CHECK(named("host-fma-strict_float") == "x86-64-linux-tune_znver5-avx-avx2-fma-strict_float");
  CHECK(named("host-tune_znver3") == "x86-64-linux-tune_znver3-avx-avx2");
  CHECK(named("host-windows") == "x86-64-windows-tune_znver5-avx-avx2");
  CHECK(named("x86-64-osx") == "x86-64-osx");
  CHECK_FALSE(parse_target("linux-host", &base));
  CHECK_FALSE(parse_target("host-host", &base));
  CHECK_FALSE(parse_target("host-arm", &base));  // the host's features are not those of the other architecture
}

TEST_CASE("this machine is a target, and others are judged by what it lacks") {
  const auto host = describe_target("host", 3);
  REQUIRE(host);
  CHECK(host->threads == 3);
  CHECK_FALSE(host->cpu_model.empty());
  CHECK(parsed(host->text()).features == host->features);
  CHECK(check_runs_here(*host));
  CHECK(check_runs_here(deterministic(*host)));
  const auto named = describe_target(host->text(), 1);
  REQUIRE(named);
  CHECK(named->cpu_model.empty());
  CHECK(named->l3_bytes == Target().l3_bytes);
  const auto knl = check_runs_here(parsed("x86-64-linux-avx512_knl"));
  REQUIRE_FALSE(knl);
  CHECK(knl.error().message == "this CPU lacks avx512_knl, which target x86-64-linux-avx512_knl needs");
}

TEST_CASE("targets for GPUs are described, and run where a device of this machine was found") {
  const auto cuda = describe_target("x86-64-linux-cuda", 4);
  REQUIRE(cuda);
  CHECK(cuda->device == Device::Gpu);
  CHECK(cuda->threads == 1);
  CHECK(cuda->text() == "x86-64-linux-cuda-cuda_capability_70");
  CHECK(check_runs_here(*cuda).error().error_class == ErrorClass::Target);
  CHECK(describe_target("x86-64-linux-cuda-cuda_capability_86", 1)->text() == "x86-64-linux-cuda-cuda_capability_86");
  for (const char* text :
       {"x86-64-linux-vulkan", "x86-64-windows-opencl", "x86-64-linux-cuda-opencl", "arm-64-osx-metal"})
    CHECK(describe_target(text, 1).error().code == "target-unavailable");

  auto here = describe_target("host-opencl", 4);
  REQUIRE(here);
  CHECK(here->cpu_model.empty());
  CHECK_FALSE(check_runs_here(*here));
  here->found.number = 0;
  CHECK(check_runs_here(*here));
  const auto host = host_part(*here);
  CHECK(host.device == Device::Cpu);
  CHECK(host.text() == describe_target("host", 1)->text());
  CHECK(host_part(*cuda).text() == "x86-64-linux");
}

TEST_CASE("avx512 alone is what every processor with it has") {
  CHECK(describe_target("x86-64-linux-avx512", 1)->text() == "x86-64-linux-avx512_skylake");
  CHECK(describe_target("x86-64-linux-avx512-avx512_knl", 1)->text() == "x86-64-linux-avx512-avx512_knl");
  CHECK(parsed("x86-64-linux-avx512").text() == "x86-64-linux-avx512");  // as records have it
}

TEST_CASE("a platform's baseline is what its text alone names; host is a word of its own") {
  for (const char* text : {"x86-64-linux", "arm-64-linux", "x86-64-windows", "arm-64-osx", "wasm-32-wasmrt"}) {
    const auto named = parse_target(text);
    REQUIRE(named);
    CHECK(baseline_of(named->platform) == *named);
  }
  CHECK(names_host("host"));
  CHECK(names_host("host-opencl"));
  CHECK_FALSE(names_host("hosted-opencl"));
  CHECK_FALSE(names_host("x86-64-linux-host"));
  CHECK_FALSE(names_host(""));
}

TEST_CASE("targets go through JSON with all they say, in the words of their text alone") {
  Target target = parsed("arm-64-linux-arm_dot_prod-sve2-vector_bits_256");
  target.cpu_model = "Neoverse \"V1\"";
  target.threads = 7;
  target.l3_bytes = (int64_t{1} << 40) + 1;
  const auto back = target_from_json(to_json(target));
  REQUIRE(back);
  CHECK(*back == target);
  auto json = to_json(target);
  json["halide"] = "arm-64-linux-sve2-arm_dot_prod-vector_bits_256";
  const auto other = target_from_json(json);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == "malformed-target");
  json.erase("threads");
  json["halide"] = target.text();
  CHECK(target_from_json(json).error().code == "malformed-target");
}
