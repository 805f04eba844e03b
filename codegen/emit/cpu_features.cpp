#include "codegen/emit/cpu_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace tile_tune::codegen {
namespace {

using Features = std::vector<std::string>;

// What LLVM 21 may use under the CPU model that Halide 21 picks for each feature: -mcpu as found in the
// "target-cpu" attribute of Halide's LLVM output, features as in LLVM's X86.td, those left out that code generation
// never uses by itself (aes, sha, pclmul, cache control, AMX tiles).
const Features kPenryn = {"sse3", "ssse3", "sse4.1"};
const Features kSandyBridge = {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx"};
const Features kHaswell = {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
const Features kAvx512 = {"avx512f", "avx512cd"};
const Features kSkylake = {"avx512bw", "avx512dq", "avx512vl"};
const Features kCannonlake = {"avx512ifma", "avx512vbmi"};
const Features kIceLake = {"avx512bf16", "avx512bitalg", "avx512vbmi2", "avx512vnni", "avx512vpopcntdq", "gfni"};

Features operator+(Features a, const Features& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::map<std::string, Features, std::less<>>& x86_features() {
  static const std::map<std::string, Features, std::less<>> table = [] {
    std::map<std::string, Features, std::less<>> t;
    t["sse41"] = kPenryn;
    t["avx"] = kSandyBridge;
    t["f16c"] = kSandyBridge + Features{"f16c"};
    t["fma"] = kSandyBridge + Features{"fma"};
    t["fma4"] = kSandyBridge + Features{"fma4"};
    t["avx2"] = kSandyBridge + kHaswell;
    t["avxvnni"] = t["avx2"] + Features{"avxvnni"};
    t["avx512"] = t["avx2"] + kAvx512;
    t["avx512_knl"] = t["avx512"];
    t["avx512_skylake"] = t["avx512"] + kSkylake;
    t["avx512_cannonlake"] = t["avx512_skylake"] + kCannonlake;
    t["avx512_zen4"] = t["avx512_cannonlake"] + kIceLake + Features{"sse4a"};
    t["avx512_zen5"] = t["avx512_zen4"] + Features{"avxvnni"};
    t["avx512_sapphirerapids"] = t["avx512_cannonlake"] + kIceLake + Features{"avx512fp16", "avxvnni"};
    return t;
  }();
  return table;
}

/// Features that change how code is made but not what it needs of the CPU or of the caller.
bool is_neutral(std::string_view feature) {
  static const std::set<std::string_view> neutral = {"no_asserts",    "no_bounds_query", "no_runtime",
                                                     "large_buffers", "strict_float",    "enable_llvm_loop_opt",
                                                     "embed_bitcode"};
  return neutral.contains(feature) || feature.starts_with("tune_") || feature.starts_with("vector_bits_");
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '-');) parts.push_back(part);
  return parts;
}

#if defined(__x86_64__)
constexpr std::string_view kCompilerPlatform = "x86-64-linux";
#elif defined(__aarch64__)
constexpr std::string_view kCompilerPlatform = "arm-64-linux";
#else
#error "packages are emitted on x86-64 or AArch64 Linux"
#endif

}  // namespace

Target runtime_target(const Target& target) {
  const auto parts = split(target.halide);
  Target runtime = target;
  if (parts.size() > 3) runtime.halide = fmt::format("{}-{}-{}", parts[0], parts[1], parts[2]);
  return runtime;
}

Result<Features> required_cpu_features(const Target& target) {
  if (runtime_target(target).halide != kCompilerPlatform)
    return fail(ErrorClass::Target, "foreign-target",
                fmt::format("packages for '{}' cannot be made here: the C compiler makes code for {}", target.halide,
                            kCompilerPlatform));
  const auto parts = split(target.halide);
  Features required;
  for (size_t i = 3; i < parts.size(); ++i) {
    const auto known = x86_features().find(parts[i]);
    if (known != x86_features().end() && kCompilerPlatform.starts_with("x86")) {
      required = required + known->second;
    } else if (!is_neutral(parts[i])) {
      return fail(ErrorClass::Target, "unsupported-target-feature",
                  fmt::format("a package cannot be made for the target feature '{}' of '{}'", parts[i], target.halide));
    }
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  return required;
}

}  // namespace tile_tune::codegen
