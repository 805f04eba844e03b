#include "codegen/target/feature.h"

#include <algorithm>
#include <array>

namespace tile_tune::codegen {
namespace {

constexpr std::optional<Architecture> kEvery = std::nullopt;

struct Row {
  std::string_view name;
  std::optional<Architecture> architecture;
};

// The names are Halide's, which users write, but for "amx": the matrix unit, which Halide takes for granted.
constexpr std::array<Row, kFeatures> kRows = {{
    {"amx", Architecture::X86},
    {"arm_dot_prod", Architecture::Arm},
    {"arm_fp16", Architecture::Arm},
    {"armv7s", Architecture::Arm},
    {"armv81a", Architecture::Arm},
    {"armv82a", Architecture::Arm},
    {"armv83a", Architecture::Arm},
    {"armv84a", Architecture::Arm},
    {"armv85a", Architecture::Arm},
    {"armv86a", Architecture::Arm},
    {"armv87a", Architecture::Arm},
    {"armv88a", Architecture::Arm},
    {"armv89a", Architecture::Arm},
    {"armv8a", Architecture::Arm},
    {"asan", kEvery},
    {"avx", Architecture::X86},
    {"avx10_1", Architecture::X86},
    {"avx2", Architecture::X86},
    {"avx512", Architecture::X86},
    {"avx512_cannonlake", Architecture::X86},
    {"avx512_knl", Architecture::X86},
    {"avx512_sapphirerapids", Architecture::X86},
    {"avx512_skylake", Architecture::X86},
    {"avx512_zen4", Architecture::X86},
    {"avx512_zen5", Architecture::X86},
    {"avxvnni", Architecture::X86},
    {"c_plus_plus_name_mangling", kEvery},
    {"check_unsafe_promises", kEvery},
    {"cl_atomics64", kEvery},
    {"cl_doubles", kEvery},
    {"cl_half", kEvery},
    {"cuda", kEvery},
    {"cuda_capability_30", kEvery},
    {"cuda_capability_32", kEvery},
    {"cuda_capability_35", kEvery},
    {"cuda_capability_50", kEvery},
    {"cuda_capability_61", kEvery},
    {"cuda_capability_70", kEvery},
    {"cuda_capability_75", kEvery},
    {"cuda_capability_80", kEvery},
    {"cuda_capability_86", kEvery},
    {"d3d12compute", kEvery},
    {"debug", kEvery},
    {"egl", kEvery},
    {"embed_bitcode", kEvery},
    {"enable_backtraces", kEvery},
    {"enable_llvm_loop_opt", kEvery},
    {"f16c", Architecture::X86},
    {"fma", Architecture::X86},
    {"fma4", Architecture::X86},
    {"fuzz_float_stores", kEvery},
    {"hexagon_dma", kEvery},
    {"hvx", Architecture::Hexagon},
    {"hvx_v62", Architecture::Hexagon},
    {"hvx_v65", Architecture::Hexagon},
    {"hvx_v66", Architecture::Hexagon},
    {"hvx_v68", Architecture::Hexagon},
    {"jit", kEvery},
    {"large_buffers", kEvery},
    {"llvm_large_code_model", kEvery},
    {"metal", kEvery},
    {"msan", kEvery},
    {"no_asserts", kEvery},
    {"no_bounds_query", kEvery},
    {"no_neon", Architecture::Arm},
    {"no_runtime", kEvery},
    {"opencl", kEvery},
    {"power_arch_2_07", Architecture::PowerPc},
    {"profile", kEvery},
    {"profile_by_timer", kEvery},
    {"rvv", Architecture::RiscV},
    {"sanitizer_coverage", kEvery},
    {"semihosting", kEvery},
    {"simulator", kEvery},
    {"soft_float_abi", kEvery},
    {"spirv", kEvery},
    {"sse41", Architecture::X86},
    {"sve", Architecture::Arm},
    {"sve2", Architecture::Arm},
    {"trace_all", kEvery},
    {"trace_loads", kEvery},
    {"trace_pipeline", kEvery},
    {"trace_realizations", kEvery},
    {"trace_stores", kEvery},
    {"tsan", kEvery},
    {"user_context", kEvery},
    {"vk_float16", kEvery},
    {"vk_float64", kEvery},
    {"vk_int16", kEvery},
    {"vk_int64", kEvery},
    {"vk_int8", kEvery},
    {"vk_v10", kEvery},
    {"vk_v12", kEvery},
    {"vk_v13", kEvery},
    {"vsx", Architecture::PowerPc},
    {"vulkan", kEvery},
    {"wasm_bulk_memory", Architecture::Wasm},
    {"wasm_mvponly", Architecture::Wasm},
    {"wasm_simd128", Architecture::Wasm},
    {"wasm_threads", Architecture::Wasm},
    {"webgpu", kEvery},
    {"x86apx", Architecture::X86},
}};
static_assert(std::is_sorted(kRows.begin(), kRows.end(), [](const Row& a, const Row& b) { return a.name < b.name; }));

}  // namespace

std::string_view name(Feature feature) { return kRows[static_cast<size_t>(feature)].name; }

std::optional<Feature> feature_named(std::string_view name) {
  const auto found = std::lower_bound(kRows.begin(), kRows.end(), name,
                                      [](const Row& row, std::string_view wanted) { return row.name < wanted; });
  if (found == kRows.end() || found->name != name) return std::nullopt;
  return static_cast<Feature>(found - kRows.begin());
}

std::optional<Architecture> architecture_of(Feature feature) {
  return kRows[static_cast<size_t>(feature)].architecture;
}

bool is_of_gpu(Feature feature) {
  static const Features kOfGpu = {Feature::Cuda,   Feature::D3d12Compute, Feature::Metal,
                                  Feature::OpenCl, Feature::Vulkan,       Feature::WebGpu};
  return kOfGpu.has(feature);
}

bool is_for_gpu(Feature feature) {
  const auto starts = [text = name(feature)](std::string_view prefix) { return text.starts_with(prefix); };
  return is_of_gpu(feature) || starts("cl_") || starts("cuda_capability_") || starts("vk_") ||
         feature == Feature::Spirv;
}

bool is_of_compiler(Feature feature) {
  static const Features kOfCompiler = {Feature::Asan,          Feature::CPlusPlusNameMangling,
                                       Feature::Debug,         Feature::CheckUnsafePromises,
                                       Feature::EmbedBitcode,  Feature::EnableBacktraces,
                                       Feature::Jit,           Feature::FuzzFloatStores,
                                       Feature::Msan,          Feature::NoAsserts,
                                       Feature::NoBoundsQuery, Feature::NoRuntime,
                                       Feature::Profile,       Feature::ProfileByTimer,
                                       Feature::Semihosting,   Feature::SanitizerCoverage,
                                       Feature::Simulator,     Feature::TraceAll,
                                       Feature::TraceLoads,    Feature::TracePipeline,
                                       Feature::TraceStores,   Feature::TraceRealizations,
                                       Feature::Tsan,          Feature::UserContext};
  return kOfCompiler.has(feature);
}

std::vector<Feature> Features::list() const {
  std::vector<Feature> features;
  for (size_t i = 0; i < kFeatures; ++i)
    if (set_[i]) features.push_back(static_cast<Feature>(i));
  return features;
}

}  // namespace tile_tune::codegen
