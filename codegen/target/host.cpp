#include "codegen/target/host.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <fstream>

#include "Halide.h"
#include "codegen/target/device_limits.h"
#include "codegen/target/matrix_unit.h"

namespace tile_tune::codegen {
namespace {

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

/// What code can be made for that runs here, whatever the caches are.
Result<Target> host() {
  TILE_TUNE_TRY(target, parse_target(Halide::get_host_target().to_string()));
  if (target.features.has(Feature::Avx512SapphireRapids) && may_use_matrix_unit()) target.features.add(Feature::Amx);
  return target;
}

// Halide's avx512 alone is AVX512F and AVX512CD, which LLVM 21 does not compile our kernels for (an "unexpected illegal
// type" ends the process). Every processor but Knights Landing, which has a feature of its own, has what
// avx512_skylake names, and who writes avx512 means that.
void complete_avx512(Target& target) {
  const Features whole = {Feature::Avx512Knl,  Feature::Avx512Skylake,        Feature::Avx512Cannonlake,
                          Feature::Avx512Zen4, Feature::Avx512SapphireRapids, Feature::Avx512Zen5};
  if (!target.features.has(Feature::Avx512) || target.features.has_any(whole)) return;
  target.features.remove(Feature::Avx512);
  target.features.add(Feature::Avx512Skylake);
}

Result<void> check_words(const Target& target, const std::string& text) {
  for (const Feature feature : target.features.list())
    if (is_of_compiler(feature))
      return fail(
          ErrorClass::Program, "unknown-target",
          fmt::format("'{}' is not a target: {} says how code is made, not what it runs on", text, name(feature)),
          "leave it out");
  return {};
}

Result<void> complete_gpu(Target& target, const std::string& text) {
  const bool is_cuda = target.features.has(Feature::Cuda), is_opencl = target.features.has(Feature::OpenCl);
  if (is_cuda == is_opencl || target.platform.system != System::Linux)
    return fail(ErrorClass::Target, "target-unavailable",
                fmt::format("target {} needs a GPU back end which this version does not have", text),
                "it has opencl and cuda, on Linux, one at a time");
  target.threads = 1;  // of the host, which only launches
  if (is_cuda && !cuda_capability(target)) target.features.add(feature_of_capability(kLeastCapability));
  return {};
}

}  // namespace

Result<Target> describe_target(const std::string& text, int threads) {
  TILE_TUNE_TRY(here, host());
  TILE_TUNE_TRY(target, parse_target(text, &here));
  TILE_TUNE_CHECK(check_words(target, text));
  target.threads = threads;
  if (text == kHost) {
    target.cpu_model = cpu_model();
    read_caches(target);
    return target;
  }
  if (target.device == Device::Gpu) TILE_TUNE_CHECK(complete_gpu(target, text));
  complete_avx512(target);
  return target;
}

Result<void> check_runs_here(const Target& target) {
  TILE_TUNE_TRY(here, host());
  if (target.platform != here.platform)
    return fail(ErrorClass::Target, "target-unavailable",
                fmt::format("target {} cannot be verified on this machine ({})", target.text(), here.text()));
  // Running an instruction that this CPU does not know ends the process.
  for (const Feature feature : target.features.list())
    if (architecture_of(feature) == Architecture::X86 && !here.features.has(feature))
      return fail(ErrorClass::Target, "target-unavailable",
                  fmt::format("this CPU lacks {}, which target {} needs", name(feature), target.text()));
  if (target.device == Device::Gpu && target.found.number < 0)
    return fail(ErrorClass::Target, "target-unavailable",
                fmt::format("target {} is compiled for, not run: it names no device of this machine", target.text()),
                "host-opencl and host-cuda do, --device N tells one of several");
  return {};
}

Result<Target> resolve_target(const std::string& text, int threads) {
  TILE_TUNE_TRY(target, describe_target(text, threads));
  TILE_TUNE_CHECK(check_runs_here(target));
  return target;
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
