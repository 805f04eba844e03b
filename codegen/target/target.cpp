#include "codegen/target/target.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "Halide.h"

namespace tile_tune::codegen {
namespace {

using Feature = Halide::Target::Feature;

// x86 features a kernel may be compiled for that not every CPU has; running one without its feature is an illegal
// instruction.
constexpr Feature kInstructionSets[] = {Feature::SSE41,
                                        Feature::AVX,
                                        Feature::AVX2,
                                        Feature::FMA,
                                        Feature::FMA4,
                                        Feature::F16C,
                                        Feature::AVXVNNI,
                                        Feature::AVX512,
                                        Feature::AVX512_KNL,
                                        Feature::AVX512_Skylake,
                                        Feature::AVX512_Cannonlake,
                                        Feature::AVX512_SapphireRapids,
                                        Feature::AVX512_Zen4,
                                        Feature::AVX512_Zen5};

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

// Sizes of the data caches one core sees; what hwloc does not know keeps its default.
void read_caches(Target& target) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    auto size_of = [&](hwloc_obj_type_t type, int64_t& bytes) {
      const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
      if (cache && cache->attr->cache.size > 0) bytes = static_cast<int64_t>(cache->attr->cache.size);
    };
    size_of(HWLOC_OBJ_L1CACHE, target.l1_bytes);
    size_of(HWLOC_OBJ_L2CACHE, target.l2_bytes);
    size_of(HWLOC_OBJ_L3CACHE, target.l3_bytes);
  }
  hwloc_topology_destroy(topology);
}

// Vectors of floats, which on AVX and the first AVX-512 are wider than those of integers. Where there are none at all
// (WebAssembly without SIMD), LLVM takes vectors apart.
void read_vector_unit(Target& target, const Halide::Target& halide) {
  constexpr int kLeast = 16;
  target.vector_bytes = std::max(kLeast, halide.natural_vector_size<float>() * static_cast<int>(sizeof(float)));
  bool many = (halide.arch == Halide::Target::ARM && halide.bits == 64) || halide.arch == Halide::Target::RISCV;
  for (const auto feature : {Feature::AVX512, Feature::AVX512_KNL, Feature::AVX512_Skylake, Feature::AVX512_Cannonlake,
                             Feature::AVX512_SapphireRapids, Feature::AVX512_Zen4, Feature::AVX512_Zen5})
    many = many || halide.has_feature(feature);
  target.vector_registers = many ? 32 : 16;
}

// Halide's avx512 alone is AVX512F and AVX512CD, which LLVM 21 does not compile our kernels for (an "unexpected illegal
// type" ends the process). Every processor but Knights Landing, which has a feature of its own, has what
// avx512_skylake names, and who writes avx512 means that.
Halide::Target with_whole_avx512(const Halide::Target& target) {
  if (!target.has_feature(Feature::AVX512) ||
      target.features_any_of({Feature::AVX512_KNL, Feature::AVX512_Skylake, Feature::AVX512_Cannonlake,
                              Feature::AVX512_SapphireRapids, Feature::AVX512_Zen4, Feature::AVX512_Zen5}))
    return target;
  return target.without_feature(Feature::AVX512).with_feature(Feature::AVX512_Skylake);
}

// Halide throws for targets that are spelled well and make no sense (SVE without a length).
Result<Halide::Target> parse(const std::string& text) {
  const auto unknown = [&] {
    return fail(ErrorClass::Program, "unknown-target", fmt::format("'{}' is not a target", text),
                "give host, or an architecture, a system and features: x86-64-linux-avx2-fma, x86-64-linux-avx512, "
                "arm-64-linux, x86-64-windows, x86-64-osx, arm-64-osx, wasm-32-wasmrt-wasm_simd128");
  };
  if (!Halide::Target::validate_target_string(text)) return unknown();
  try {
    return with_whole_avx512(Halide::Target(text));
  } catch (const Halide::Error&) {
    return unknown();
  }
}

}  // namespace

Result<Target> describe_target(const std::string& text, int threads) {
  Target target;
  target.threads = threads;
  if (text == "host") {
    const Halide::Target host = Halide::get_host_target();
    target.halide = host.to_string();
    target.cpu_model = cpu_model();
    read_vector_unit(target, host);
    read_caches(target);
    return target;
  }
  TILE_TUNE_TRY(named, parse(text));
  if (named.has_gpu_feature())
    return fail(ErrorClass::Target, "target-unavailable",
                fmt::format("target {} needs a GPU back end, which this version does not have", text));
  target.halide = named.to_string();
  read_vector_unit(target, named);
  return target;
}

Target deterministic(Target target) {
  target.halide = Halide::Target(target.halide).with_feature(Feature::StrictFloat).to_string();
  return target;
}

Result<void> check_runs_here(const Target& target) {
  TILE_TUNE_TRY(named, parse(target.halide));
  const Halide::Target host = Halide::get_host_target();
  if (named.arch != host.arch || named.os != host.os || named.bits != host.bits)
    return fail(ErrorClass::Target, "target-unavailable",
                fmt::format("target {} cannot be verified on this machine ({})", target.halide, host.to_string()));
  for (const auto feature : kInstructionSets)
    if (named.has_feature(feature) && !host.has_feature(feature))
      return fail(ErrorClass::Target, "target-unavailable",
                  fmt::format("this CPU lacks {}, which target {} needs", Halide::Target::feature_to_name(feature),
                              target.halide));
  return {};
}

Result<Target> resolve_target(const std::string& text, int threads) {
  TILE_TUNE_TRY(target, describe_target(text, threads));
  TILE_TUNE_CHECK(check_runs_here(target));
  return target;
}

nlohmann::json to_json(const Target& target) {
  return {{"halide", target.halide},
          {"cpu_model", target.cpu_model},
          {"vector_bytes", target.vector_bytes},
          {"vector_registers", target.vector_registers},
          {"threads", target.threads},
          {"l1_bytes", target.l1_bytes},
          {"l2_bytes", target.l2_bytes},
          {"l3_bytes", target.l3_bytes}};
}

Result<Target> target_from_json(const nlohmann::json& json) try {
  Target target;
  json.at("halide").get_to(target.halide);
  json.at("cpu_model").get_to(target.cpu_model);
  json.at("vector_bytes").get_to(target.vector_bytes);
  json.at("vector_registers").get_to(target.vector_registers);
  json.at("threads").get_to(target.threads);
  json.at("l1_bytes").get_to(target.l1_bytes);
  json.at("l2_bytes").get_to(target.l2_bytes);
  json.at("l3_bytes").get_to(target.l3_bytes);
  return target;
} catch (const nlohmann::json::exception& error) {
  return fail(ErrorClass::Program, "malformed-target", std::string("malformed target: ") + error.what());
}

std::vector<int> available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::string halide_version() {
  return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH);
}

std::string llvm_version() {
  return fmt::format("{}.{}", Halide::Internal::get_llvm_version() / 10, Halide::Internal::get_llvm_version() % 10);
}

}  // namespace tile_tune::codegen
