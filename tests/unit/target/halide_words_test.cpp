// Our table of targets against the library that kernels are compiled with.
#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/target/target.h"

using namespace tile_tune::codegen;

namespace {

const std::vector<std::string> kPlatforms = {"x86-64-linux",   "x86-32-linux",    "arm-64-linux",     "arm-32-linux",
                                             "wasm-32-wasmrt", "riscv-64-linux",  "powerpc-64-linux", "x86-64-windows",
                                             "arm-64-osx",     "hexagon-32-qurt", "arm-64-ios",       "arm-64-android",
                                             "x86-64-noos",    "x86-64-fuchsia"};

/// Halide's names, without those that every target may have.
std::vector<std::string> feature_names() {
  std::vector<std::string> names = {"trace_all"};
  for (int i = 0; i < Halide::Target::FeatureEnd; ++i) {
    try {
      names.push_back(Halide::Target::feature_to_name(static_cast<Halide::Target::Feature>(i)));
    } catch (const Halide::Error&) {  // a number without a name
    }
  }
  return names;
}

}  // namespace

TEST_CASE("every feature that Halide knows has a name here, and the other way round, but for the matrix unit") {
  size_t known = 1;
  CHECK(feature_named("amx") == Feature::Amx);
  for (const auto& name : feature_names()) {
    INFO(name);
    if (name == "strict_float") continue;  // Target::deterministic
    REQUIRE(feature_named(name));
    CHECK(tile_tune::codegen::name(*feature_named(name)) == name);
    ++known;
  }
  CHECK(known == kFeatures);
}

TEST_CASE("texts and vector units are those of Halide's target") {
  for (const auto& platform : kPlatforms)
    for (const auto& feature : feature_names())
      for (const char* more : {"", "-strict_float-tune_znver2", "-vector_bits_256", "-avx2-fma", "-armv8a"}) {
        const std::string text = platform + "-" + feature + more;
        const auto target = parse_target(text);
        if (!target) continue;
        INFO(text);
        const Halide::Target halide(text);
        if (halide.arch == Halide::Target::Hexagon) continue;  // for which two of its names are one
        CHECK(target->text() == halide.to_string());
        CHECK(Halide::Target(target->text()) == halide);
        const int natural = halide.natural_vector_size<float>() * static_cast<int>(sizeof(float));
        CHECK(target->vector_bytes == std::max(16, natural));
        CHECK((target->device == Device::Gpu) == halide.has_gpu_feature());
      }
}

TEST_CASE("what is read for an architecture is what Halide takes for it") {
  for (const auto& platform : kPlatforms)
    for (const auto& feature : feature_names()) {
      const std::string text = platform + "-" + feature;
      INFO(text);
      if (!parse_target(text)) continue;
      CHECK(Halide::Target::validate_target_string(text));
      CHECK_NOTHROW(Halide::Target(text));
    }
  // And what Halide takes for one of two alone is ours for that one.
  const auto takes = [](const std::string& text) {
    try {
      return Halide::Target(text).bits == 64;
    } catch (const Halide::Error&) {
      return false;
    }
  };
  for (const auto& feature : feature_names()) {
    const std::string x86 = "x86-64-linux-" + feature, arm = "arm-64-linux-" + feature;
    INFO(feature);
    if (takes(x86) && !takes(arm)) CHECK(parse_target(x86));
    if (takes(arm) && !takes(x86)) CHECK(parse_target(arm));
  }
}

TEST_CASE("processors that Halide can tune for have names here") {
  for (const char* name : {"k8", "k8_sse3", "amdfam10", "btver1", "bdver1", "bdver2", "bdver3", "bdver4", "btver2",
                           "znver1", "znver2", "znver3", "znver4", "znver5"}) {
    const std::string text = std::string("x86-64-linux-tune_") + name;
    INFO(text);
    REQUIRE(parse_target(text));
    CHECK(parse_target(text)->text() == Halide::Target(text).to_string());
    CHECK(tile_tune::codegen::name(parse_target(text)->tuned_for) == name);
  }
}
