// What a target may have beyond its platform's baseline, by name.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace tile_tune::codegen {

enum class Architecture : uint8_t { X86, Arm, PowerPc, Hexagon, Wasm, RiscV };

/// Instruction sets, and how code is made. In the order of their names, which is the order of a target's text.
enum class Feature : uint8_t {
  Amx,
  ArmDotProd,
  ArmFp16,
  Armv7s,
  Armv81a,
  Armv82a,
  Armv83a,
  Armv84a,
  Armv85a,
  Armv86a,
  Armv87a,
  Armv88a,
  Armv89a,
  Armv8a,
  Asan,
  Avx,
  Avx101,
  Avx2,
  Avx512,
  Avx512Cannonlake,
  Avx512Knl,
  Avx512SapphireRapids,
  Avx512Skylake,
  Avx512Zen4,
  Avx512Zen5,
  AvxVnni,
  CPlusPlusNameMangling,
  CheckUnsafePromises,
  ClAtomics64,
  ClDoubles,
  ClHalf,
  Cuda,
  CudaCapability30,
  CudaCapability32,
  CudaCapability35,
  CudaCapability50,
  CudaCapability61,
  CudaCapability70,
  CudaCapability75,
  CudaCapability80,
  CudaCapability86,
  D3d12Compute,
  Debug,
  Egl,
  EmbedBitcode,
  EnableBacktraces,
  EnableLlvmLoopOpt,
  F16c,
  Fma,
  Fma4,
  FuzzFloatStores,
  HexagonDma,
  Hvx,
  HvxV62,
  HvxV65,
  HvxV66,
  HvxV68,
  Jit,
  LargeBuffers,
  LlvmLargeCodeModel,
  Metal,
  Msan,
  NoAsserts,
  NoBoundsQuery,
  NoNeon,
  NoRuntime,
  OpenCl,
  PowerArch207,
  Profile,
  ProfileByTimer,
  Rvv,
  SanitizerCoverage,
  Semihosting,
  Simulator,
  SoftFloatAbi,
  Spirv,
  Sse41,
  Sve,
  Sve2,
  TraceAll,
  TraceLoads,
  TracePipeline,
  TraceRealizations,
  TraceStores,
  Tsan,
  UserContext,
  VkFloat16,
  VkFloat64,
  VkInt16,
  VkInt64,
  VkInt8,
  VkV10,
  VkV12,
  VkV13,
  Vsx,
  Vulkan,
  WasmBulkMemory,
  WasmMvpOnly,
  WasmSimd128,
  WasmThreads,
  WebGpu,
  X86Apx,
};

inline constexpr size_t kFeatures = static_cast<size_t>(Feature::X86Apx) + 1;

/// "avx2".
std::string_view name(Feature feature);
std::optional<Feature> feature_named(std::string_view name);
/// The architecture of which the feature is an instruction set or a processor; nothing: it goes with every one.
std::optional<Architecture> architecture_of(Feature feature);
/// Whether it names what drives a GPU.
bool is_of_gpu(Feature feature);
/// Whether it is one of those, or what kernels driven by one may use.
bool is_for_gpu(Feature feature);
/// Whether it says how Halide makes and checks code, not what code runs on: that is our choice, not the user's.
bool is_of_compiler(Feature feature);

/// A set of features.
class Features {
 public:
  Features() = default;
  Features(std::initializer_list<Feature> features) {
    for (const Feature feature : features) add(feature);
  }
  bool has(Feature feature) const { return set_[static_cast<size_t>(feature)]; }
  bool has_any(const Features& others) const { return (set_ & others.set_).any(); }
  void add(Feature feature) { set_.set(static_cast<size_t>(feature)); }
  void remove(Feature feature) { set_.reset(static_cast<size_t>(feature)); }
  /// In the order of their names.
  std::vector<Feature> list() const;
  bool operator==(const Features&) const = default;

 private:
  std::bitset<kFeatures> set_;
};

}  // namespace tile_tune::codegen
