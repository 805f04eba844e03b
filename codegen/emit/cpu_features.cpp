#include "codegen/emit/cpu_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <iterator>

namespace tile_tune::codegen {
namespace {

using CpuFeatures = std::vector<std::string>;

// What LLVM 21 may use under the CPU model that Halide 21 picks for each feature: -mcpu as found in the
// "target-cpu" attribute of Halide's LLVM output, features as in LLVM's X86.td, those left out that code generation
// never uses by itself (aes, sha, pclmul, cache control, AMX tiles).
const CpuFeatures kPenryn = {"sse3", "ssse3", "sse4.1"};
const CpuFeatures kSandyBridge = {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx"};
const CpuFeatures kHaswell = {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
const CpuFeatures kAvx512 = {"avx512f", "avx512cd"};
const CpuFeatures kSkylake = {"avx512bw", "avx512dq", "avx512vl"};
const CpuFeatures kCannonlake = {"avx512ifma", "avx512vbmi"};
const CpuFeatures kIceLake = {"avx512bf16", "avx512bitalg", "avx512vbmi2", "avx512vnni", "avx512vpopcntdq", "gfni"};

// AMX-BF16, AMX-INT8 and AMX-TILE, and what Linux says to it.
constexpr std::string_view kMatrixUnit = "amx";

CpuFeatures operator+(CpuFeatures a, const CpuFeatures& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::map<Feature, CpuFeatures>& x86_features() {
  static const std::map<Feature, CpuFeatures> table = [] {
    std::map<Feature, CpuFeatures> t;
    t[Feature::Sse41] = kPenryn;
    t[Feature::Avx] = kSandyBridge;
    t[Feature::F16c] = kSandyBridge + CpuFeatures{"f16c"};
    t[Feature::Fma] = kSandyBridge + CpuFeatures{"fma"};
    t[Feature::Fma4] = kSandyBridge + CpuFeatures{"fma4"};
    t[Feature::Avx2] = kSandyBridge + kHaswell;
    t[Feature::AvxVnni] = t[Feature::Avx2] + CpuFeatures{"avxvnni"};
    t[Feature::Avx512] = t[Feature::Avx2] + kAvx512;
    t[Feature::Avx512Knl] = t[Feature::Avx512];
    t[Feature::Avx512Skylake] = t[Feature::Avx512] + kSkylake;
    t[Feature::Avx512Cannonlake] = t[Feature::Avx512Skylake] + kCannonlake;
    t[Feature::Avx512Zen4] = t[Feature::Avx512Cannonlake] + kIceLake + CpuFeatures{"sse4a"};
    t[Feature::Avx512Zen5] = t[Feature::Avx512Zen4] + CpuFeatures{"avxvnni"};
    t[Feature::Amx] = {std::string(kMatrixUnit)};
    t[Feature::Avx512SapphireRapids] = t[Feature::Avx512Cannonlake] + kIceLake + CpuFeatures{"avx512fp16", "avxvnni"};
    return t;
  }();
  return table;
}

/// Features that change how code is made but not what it needs of the CPU or of the caller.
const Features kNeutral = {Feature::NoAsserts,    Feature::NoBoundsQuery,     Feature::NoRuntime,
                           Feature::LargeBuffers, Feature::EnableLlvmLoopOpt, Feature::EmbedBitcode};

// The CPU features of Linux on AArch64 (arch/arm64/include/uapi/asm/hwcap.h).
const std::map<Feature, CpuFeatures>& arm_features() {
  static const std::map<Feature, CpuFeatures> table = {{Feature::ArmDotProd, {"ASIMDDP"}},
                                                       {Feature::ArmFp16, {"ASIMDHP", "FPHP"}}};
  return table;
}

constexpr Platform kLinuxOnArm = {Architecture::Arm, 64, System::Linux},
                   kMacOsOnArm = {Architecture::Arm, 64, System::MacOs}, kWasm = {Architecture::Wasm, 32, System::Wasm};

// A module that needs what an engine of WebAssembly lacks is not loaded, and every Mac with an ARM processor has these.
Features untested_features(const Platform& platform) {
  if (platform == kWasm)
    return {Feature::WasmBulkMemory, Feature::WasmMvpOnly, Feature::WasmSimd128, Feature::WasmThreads};
  if (platform == kMacOsOnArm) return {Feature::ArmDotProd, Feature::ArmFp16};
  return {};
}

// Of one feature of a target; nullptr if there is no test for it.
const CpuFeatures* features_behind(const Platform& platform, Feature feature) {
  const bool is_x86 = platform.architecture == Architecture::X86;
  const auto& table = is_x86 ? x86_features() : arm_features();
  const auto found = table.find(feature);
  const bool is_asked_for = feature != Feature::Amx || platform.system == System::Linux;
  return (is_x86 || platform == kLinuxOnArm) && is_asked_for && found != table.end() ? &found->second : nullptr;
}

/// Features of which packages for the platform can be made.
std::string known_features(const Platform& platform) {
  std::vector<std::string_view> names;
  for (const Feature feature : testable_features(platform)) names.push_back(name(feature));
  for (const Feature feature : untested_features(platform).list()) names.push_back(name(feature));
  return names.empty() ? fmt::format("it can for {} without features", platform.text())
                       : fmt::format("it can for: {}", fmt::join(names, ", "));
}

/// Those that packages are made for.
constexpr Platform kPlatforms[] = {kLinuxOnArm,
                                   kMacOsOnArm,
                                   {Architecture::Arm, 64, System::Windows},
                                   kWasm,
                                   {Architecture::X86, 64, System::Linux},
                                   {Architecture::X86, 64, System::MacOs},
                                   {Architecture::X86, 64, System::Windows}};

std::string platform_names() {
  std::vector<std::string> names;
  for (const Platform& platform : kPlatforms) names.push_back(platform.text());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Target runtime_target(const Target& target) {
  Target runtime = target;
  runtime.features = {};
  runtime.deterministic = false;
  runtime.tuned_for = Processor::Any;
  runtime.scalable_bits = 0;
  return runtime;
}

std::vector<Feature> testable_features(const Platform& platform) {
  std::vector<Feature> features;
  for (const auto* table : {&x86_features(), &arm_features()})
    for (const auto& [feature, behind] : *table)
      if (features_behind(platform, feature) != nullptr) features.push_back(feature);
  return features;
}

Result<CpuFeatures> required_cpu_features(const Target& whole) {
  const Target target = host_part(whole);
  const Platform& platform = target.platform;
  if (std::find(std::begin(kPlatforms), std::end(kPlatforms), platform) == std::end(kPlatforms))
    return fail(ErrorClass::Target, "unsupported-platform",
                fmt::format("packages cannot be made for '{}'", target.text()), "they can for " + platform_names());
  CpuFeatures required;
  for (const Feature feature : target.features.list()) {
    if (const auto* known = features_behind(platform, feature)) {
      required = required + *known;
    } else if (!kNeutral.has(feature) && !untested_features(platform).has(feature)) {
      return fail(
          ErrorClass::Target, "unsupported-target-feature",
          fmt::format("a package cannot be made for the target feature '{}' of '{}'", name(feature), target.text()),
          known_features(platform));
    }
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  return required;
}

Result<std::string> instruction_set(const Target& target) {
  TILE_TUNE_TRY(features, required_cpu_features(target));
  features.insert(features.begin(), target.platform.instruction_set());
  return fmt::format("{}", fmt::join(features, " "));
}

std::string cpu_preamble(const std::vector<CpuFeatures>& alternatives) {
  const std::string includes =
      "#if defined(__aarch64__) && defined(__linux__)\n#include <asm/hwcap.h>\n#include <sys/auxv.h>\n#endif\n";
  const auto has_unit = [](const CpuFeatures& features) {
    return std::find(features.begin(), features.end(), kMatrixUnit) != features.end();
  };
  if (std::none_of(alternatives.begin(), alternatives.end(), has_unit)) return includes;
  return includes + R"(#include <cpuid.h>
#include <stdatomic.h>
#include <sys/syscall.h>

long syscall(long number, ...); /* which <unistd.h> keeps from strict C */

/* AMX-BF16, AMX-TILE and AMX-INT8, which Linux lends to a process that asks for it (ARCH_REQ_XCOMP_PERM). */
static int tile_tune_has_matrix_unit(void) {
  static atomic_int known; /* 1 + the answer */
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
  if (answer == 0) {
    const unsigned unit = 1u << 22 | 1u << 24 | 1u << 25;
    unsigned a, b, c, d;
    answer = 1 + (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & unit) == unit &&
                  syscall(SYS_arch_prctl, 0x1023, 18) == 0);
    atomic_store_explicit(&known, answer, memory_order_relaxed);
  }
  return answer - 1;
}
)";
}

std::string cpu_condition(const CpuFeatures& features) {
  std::vector<std::string> tests;
  for (const auto& feature : features) {
    const bool arm = std::any_of(arm_features().begin(), arm_features().end(), [&](const auto& entry) {
      return std::find(entry.second.begin(), entry.second.end(), feature) != entry.second.end();
    });
    tests.push_back(feature == kMatrixUnit ? "tile_tune_has_matrix_unit()"
                    : arm                  ? fmt::format("(getauxval(AT_HWCAP) & HWCAP_{})", feature)
                                           : fmt::format("__builtin_cpu_supports(\"{}\")", feature));
  }
  return tests.empty() ? "1" : fmt::format("{}", fmt::join(tests, " &&\n         "));
}

Result<std::vector<Target>> dispatch_order(std::vector<Target> targets) {
  const Target first = targets.front();
  if (first.device == Device::Gpu && targets.size() == 1) return targets;
  for (const auto& target : targets)
    if (target.device == Device::Gpu)
      return fail(ErrorClass::Program, "several-devices",
                  fmt::format("one library cannot be for {} and another target", target.text()),
                  "build one for each, in folders of their own");
  std::vector<std::pair<CpuFeatures, Target>> order;
  for (auto& target : targets) {
    if (target.platform != first.platform)
      return fail(ErrorClass::Program, "several-platforms",
                  fmt::format("one library cannot be for {} and for {}", first.text(), target.text()),
                  "build one for each, in folders of their own");
    TILE_TUNE_TRY(features, required_cpu_features(target));
    order.emplace_back(std::move(features), std::move(target));
  }
  const auto same = [](const auto& a, const auto& b) { return a.second.text() == b.second.text(); };
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(b.first.size(), a.second.text()) < std::pair(a.first.size(), b.second.text());
  });
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::vector<Target> result;
  for (auto& [features, target] : order) result.push_back(std::move(target));
  if (!order.back().first.empty()) {
    Target baseline = baseline_of(first.platform);
    baseline.threads = first.threads;
    baseline.deterministic = first.deterministic;
    result.push_back(std::move(baseline));
  }
  return result;
}

}  // namespace tile_tune::codegen
