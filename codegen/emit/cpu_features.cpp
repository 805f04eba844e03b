#include "codegen/emit/cpu_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// The CPU features of Linux on AArch64 (arch/arm64/include/uapi/asm/hwcap.h) by Halide's names.
const std::map<std::string, Features, std::less<>>& arm_features() {
  static const std::map<std::string, Features, std::less<>> table = {{"arm_dot_prod", {"ASIMDDP"}},
                                                                     {"arm_fp16", {"ASIMDHP", "FPHP"}}};
  return table;
}

// A module that needs what an engine of WebAssembly lacks is not loaded, and every Mac with an ARM processor has these.
std::vector<std::string> untested_features(const std::string& platform) {
  if (platform == "wasm-32-wasmrt") return {"wasm_bulk_memory", "wasm_mvponly", "wasm_simd128", "wasm_threads"};
  std::vector<std::string> names;
  if (platform == "arm-64-osx")
    for (const auto& [name, behind] : arm_features()) names.push_back(name);
  return names;
}

bool needs_no_test(const std::string& platform, const std::string& feature) {
  const auto names = untested_features(platform);
  return std::find(names.begin(), names.end(), feature) != names.end();
}

/// Features of which packages for the platform can be made.
std::string known_features(const std::string& platform) {
  auto names = testable_features(platform);
  const auto others = untested_features(platform);
  names.insert(names.end(), others.begin(), others.end());
  return names.empty() ? fmt::format("it can for {} without features", platform)
                       : fmt::format("it can for: {}", fmt::join(names, ", "));
}

// Of one feature of a target string; nullptr if there is no test for it.
const Features* features_behind(const std::string& platform, const std::string& feature) {
  const auto& table = platform.starts_with("x86") ? x86_features() : arm_features();
  const bool testable = platform.starts_with("x86") || platform == "arm-64-linux";
  const auto found = table.find(feature);
  return testable && found != table.end() ? &found->second : nullptr;
}

const std::set<std::string_view> kPlatforms = {"x86-64-linux",   "arm-64-linux",   "x86-64-osx",    "arm-64-osx",
                                               "x86-64-windows", "arm-64-windows", "wasm-32-wasmrt"};

}  // namespace

Target runtime_target(const Target& target) {
  const auto parts = split(target.halide);
  Target runtime = target;
  if (parts.size() > 3) runtime.halide = fmt::format("{}-{}-{}", parts[0], parts[1], parts[2]);
  return runtime;
}

std::vector<std::string> testable_features(const std::string& platform) {
  std::vector<std::string> names;
  for (const auto* table : {&x86_features(), &arm_features()})
    for (const auto& [name, behind] : *table)
      if (features_behind(platform, name) != nullptr) names.push_back(name);
  return names;
}

Result<Features> required_cpu_features(const Target& target) {
  const std::string platform = runtime_target(target).halide;
  if (!kPlatforms.contains(platform))
    return fail(ErrorClass::Target, "unsupported-platform",
                fmt::format("packages cannot be made for '{}'", target.halide),
                fmt::format("they can for {}", fmt::join(kPlatforms, ", ")));
  const auto parts = split(target.halide);
  Features required;
  for (size_t i = 3; i < parts.size(); ++i) {
    if (const auto* known = features_behind(platform, parts[i])) {
      required = required + *known;
    } else if (!is_neutral(parts[i]) && !needs_no_test(platform, parts[i])) {
      return fail(ErrorClass::Target, "unsupported-target-feature",
                  fmt::format("a package cannot be made for the target feature '{}' of '{}'", parts[i], target.halide),
                  known_features(platform));
    }
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  return required;
}

Result<std::string> instruction_set(const Target& target) {
  TILE_TUNE_TRY(features, required_cpu_features(target));
  const auto parts = split(target.halide);
  features.insert(features.begin(), fmt::format("{}-{}", parts[0], parts[1]));
  return fmt::format("{}", fmt::join(features, " "));
}

const char* const kCpuIncludes =
    "#if defined(__aarch64__) && defined(__linux__)\n#include <asm/hwcap.h>\n#include <sys/auxv.h>\n#endif\n";

std::string cpu_condition(const Features& features) {
  std::vector<std::string> tests;
  for (const auto& feature : features) {
    const bool arm = std::any_of(arm_features().begin(), arm_features().end(), [&](const auto& entry) {
      return std::find(entry.second.begin(), entry.second.end(), feature) != entry.second.end();
    });
    tests.push_back(arm ? fmt::format("(getauxval(AT_HWCAP) & HWCAP_{})", feature)
                        : fmt::format("__builtin_cpu_supports(\"{}\")", feature));
  }
  return tests.empty() ? "1" : fmt::format("{}", fmt::join(tests, " &&\n         "));
}

Result<std::vector<Target>> dispatch_order(std::vector<Target> targets) {
  const std::string first = targets.front().halide;
  const Target baseline = runtime_target(targets.front());
  const bool is_deterministic = targets.front().is_deterministic();
  std::vector<std::pair<Features, Target>> order;
  for (auto& target : targets) {
    if (runtime_target(target).halide != baseline.halide)
      return fail(ErrorClass::Program, "several-platforms",
                  fmt::format("one library cannot be for {} and for {}", first, target.halide),
                  "build one for each, in folders of their own");
    TILE_TUNE_TRY(features, required_cpu_features(target));
    order.emplace_back(std::move(features), std::move(target));
  }
  const auto same = [](const auto& a, const auto& b) { return a.second.halide == b.second.halide; };
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(b.first.size(), a.second.halide) < std::pair(a.first.size(), b.second.halide);
  });
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::vector<Target> result;
  for (auto& [features, target] : order) result.push_back(std::move(target));
  if (!order.back().first.empty()) {
    TILE_TUNE_TRY(last, describe_target(baseline.halide, baseline.threads));
    result.push_back(is_deterministic ? deterministic(std::move(last)) : std::move(last));
  }
  return result;
}

}  // namespace tile_tune::codegen
