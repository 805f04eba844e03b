#include "codegen/target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using namespace std::string_view_literals;

constexpr std::array kArchitectures = {"x86"sv, "arm"sv, "powerpc"sv, "hexagon"sv, "wasm"sv, "riscv"sv};
constexpr std::array kSystems = {"linux"sv, "windows"sv, "osx"sv,     "android"sv, "ios"sv,
                                 "qurt"sv,  "noos"sv,    "fuchsia"sv, "wasmrt"sv};
constexpr std::array kDevices = {"cpu"sv, "gpu"sv};
constexpr std::array kProcessors = {""sv,       "amdfam10"sv, "bdver1"sv, "bdver2"sv, "bdver3"sv,
                                    "bdver4"sv, "btver1"sv,   "btver2"sv, "k8"sv,     "k8_sse3"sv,
                                    "znver1"sv, "znver2"sv,   "znver3"sv, "znver4"sv, "znver5"sv};

constexpr std::string_view kDeterministic = "strict_float", kTunedFor = "tune_", kAnyProcessor = "generic",
                           kScalableBits = "vector_bits_";

template <typename Enum, size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::optional<int> bits_named(std::string_view name) {
  if (name == "32") return 32;
  return name == "64" ? std::optional(64) : std::nullopt;
}

std::optional<int> number(std::string_view digits) {
  constexpr int kMost = 1 << 16;
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > kMost) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('-', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Takes the words of a target's text one by one.
class Words {
 public:
  explicit Words(Target base) : target_(std::move(base)) {}

  /// False: it is no word of a target, or one of its kind was there already.
  bool take(std::string_view word) {
    if (const auto architecture = named<Architecture>(kArchitectures, word))
      return set(has_architecture_, target_.platform.architecture, *architecture);
    if (const auto bits = bits_named(word)) return set(has_bits_, target_.platform.bits, *bits);
    if (const auto system = named<System>(kSystems, word)) return set(has_system_, target_.platform.system, *system);
    if (word == kDeterministic) return target_.deterministic = true;
    if (word.starts_with(kTunedFor)) {
      const auto wanted = word.substr(kTunedFor.size());
      const auto processor = processor_named(wanted == kAnyProcessor ? "" : wanted);
      return !wanted.empty() && processor && set(has_processor_, target_.tuned_for, *processor);
    }
    if (word.starts_with(kScalableBits)) {
      const auto bits = number(word.substr(kScalableBits.size()));
      if (bits) target_.scalable_bits = *bits;
      return bits.has_value();
    }
    const auto feature = feature_named(word);
    if (feature) target_.features.add(*feature);
    return feature.has_value();
  }
  bool names_platform() const { return has_architecture_ && has_bits_ && has_system_; }
  const Target& target() const { return target_; }

 private:
  template <typename T>
  static bool set(bool& is_set, T& field, T value) {
    field = value;
    return !std::exchange(is_set, true);
  }

  Target target_;
  bool has_architecture_ = false, has_bits_ = false, has_system_ = false, has_processor_ = false;
};

bool fit_architecture(const Target& target) {
  if (target.features.has(Feature::Amx) && target.platform.bits != 64) return false;
  for (const Feature feature : target.features.list())
    if (architecture_of(feature).value_or(target.platform.architecture) != target.platform.architecture) return false;
  return true;
}

const Features kAvx512 = {Feature::Avx512,           Feature::Avx512Knl,  Feature::Avx512Skylake,
                          Feature::Avx512Cannonlake, Feature::Avx512Zen4, Feature::Avx512SapphireRapids,
                          Feature::Avx512Zen5};

// Vectors of floats, which on AVX and the first AVX-512 are wider than those of integers. Where there are none at all
// (WebAssembly without SIMD), LLVM takes vectors apart.
int natural_vector_bytes(const Target& target) {
  constexpr int kLeast = 16;
  switch (target.platform.architecture) {
    case Architecture::X86:
      if (target.features.has_any(kAvx512)) return 64;
      return target.features.has_any({Feature::Avx, Feature::Avx2}) ? 32 : kLeast;
    case Architecture::Arm:
      if (!target.features.has_any({Feature::Sve, Feature::Sve2})) return kLeast;
      return std::max(kLeast, target.scalable_bits / 8);
    case Architecture::RiscV:
      return target.features.has(Feature::Rvv) ? std::max(kLeast, target.scalable_bits / 8) : kLeast;
    default:
      return kLeast;
  }
}

// All but the first ones, which have vectors of 32 and 64 bits only.
const Features kAvx512OfBytes = {Feature::Avx512Skylake, Feature::Avx512Cannonlake, Feature::Avx512Zen4,
                                 Feature::Avx512SapphireRapids, Feature::Avx512Zen5};

void describe_vector_unit(Target& target) {
  const Platform& platform = target.platform;
  const bool many = (platform.architecture == Architecture::Arm && platform.bits == 64) ||
                    platform.architecture == Architecture::RiscV || target.features.has_any(kAvx512);
  target.vector_bytes = natural_vector_bytes(target);
  target.vector_registers = many ? 32 : 16;
}

/// `word`: what of the text is to blame, if it is one word alone.
tl::unexpected<Diagnostic> unknown_target(std::string_view text, std::string_view word = {}) {
  const std::string blamed = word.empty() || word == text ? "" : fmt::format(": '{}' has no place in it", word);
  return fail(ErrorClass::Program, "unknown-target", fmt::format("'{}' is not a target{}", text, blamed),
              "give host, or an architecture, a system and features: x86-64-linux-avx2-fma, x86-64-linux-avx512, "
              "arm-64-linux, x86-64-windows, x86-64-osx, arm-64-osx, wasm-32-wasmrt-wasm_simd128");
}

}  // namespace

bool Target::has_masked_loads(int bits, bool are_floats) const {
  if (bits < 32) return features.has_any(kAvx512OfBytes);
  return features.has_any(kAvx512) || features.has(Feature::Avx2) || (are_floats && features.has(Feature::Avx));
}

bool Target::has_masked_stores(int bits) const { return features.has_any(bits < 32 ? kAvx512OfBytes : kAvx512); }

std::string_view name(Device device) { return kDevices[static_cast<size_t>(device)]; }
std::string_view name(Processor processor) { return kProcessors[static_cast<size_t>(processor)]; }
std::string_view name(System system) { return kSystems[static_cast<size_t>(system)]; }

std::optional<Device> device_named(std::string_view name) { return named<Device>(kDevices, name); }
std::optional<Processor> processor_named(std::string_view name) { return named<Processor>(kProcessors, name); }

std::optional<Platform> platform_named(std::string_view instruction_set, std::string_view system) {
  const size_t dash = instruction_set.find('-');
  const auto architecture = named<Architecture>(kArchitectures, instruction_set.substr(0, dash));
  const auto bits = bits_named(dash == std::string_view::npos ? "" : instruction_set.substr(dash + 1));
  const auto known = named<System>(kSystems, system);
  if (!architecture || !bits || !known) return std::nullopt;
  return Platform{*architecture, *bits, *known};
}

std::string Platform::instruction_set() const {
  return fmt::format("{}-{}", kArchitectures[static_cast<size_t>(architecture)], bits);
}
std::string Platform::text() const { return fmt::format("{}-{}", instruction_set(), name(system)); }

std::string Target::text() const {
  std::vector<std::string_view> words;
  for (const Feature feature : features.list()) words.push_back(name(feature));
  if (deterministic) words.insert(std::lower_bound(words.begin(), words.end(), kDeterministic), kDeterministic);
  std::string text = platform.text();
  if (tuned_for != Processor::Any) text += fmt::format("-{}{}", kTunedFor, name(tuned_for));
  for (const auto word : words) text.append("-").append(word);
  if (scalable_bits > 0) text += fmt::format("-{}{}", kScalableBits, scalable_bits);
  return text;
}

Result<Target> parse_target(std::string_view text, const Target* base) {
  auto words = words_of(text);
  const bool is_host = names_host(text);
  if (is_host && base == nullptr) return unknown_target(text);
  if (is_host) words.erase(words.begin());
  Words named(is_host ? *base : Target());
  for (const auto word : words)
    if (!named.take(word)) return unknown_target(text, word);
  Target target = named.target();
  // The first processors with a matrix unit, for which alone Halide makes code with its instructions.
  if (target.features.has(Feature::Amx)) target.features.add(Feature::Avx512SapphireRapids);
  if ((!is_host && !named.names_platform()) || !fit_architecture(target)) return unknown_target(text);
  const auto features = target.features.list();
  target.device = std::any_of(features.begin(), features.end(), is_of_gpu) ? Device::Gpu : Device::Cpu;
  describe_vector_unit(target);
  return target;
}

bool names_host(std::string_view text) { return words_of(text).front() == kHost; }

Target baseline_of(const Platform& platform) {
  Target target;
  target.platform = platform;
  describe_vector_unit(target);
  return target;
}

Target deterministic(Target target) {
  target.deterministic = true;
  return target;
}

Target host_part(Target target) {
  for (const Feature feature : target.features.list())
    if (is_for_gpu(feature)) target.features.remove(feature);
  target.device = Device::Cpu;
  return target;
}

nlohmann::json to_json(const FoundDevice& device) {
  return {{"number", device.number},
          {"capability", device.capability},
          {"multiprocessors", device.multiprocessors},
          {"block_shared_bytes", device.block_shared_bytes},
          {"multiprocessor_shared_bytes", device.multiprocessor_shared_bytes},
          {"multiprocessor_threads", device.multiprocessor_threads},
          {"cache_bytes", device.cache_bytes}};
}

FoundDevice found_device_from_json(const nlohmann::json& json) {
  return {json.at("number"),
          json.at("capability"),
          json.at("multiprocessors"),
          json.at("block_shared_bytes"),
          json.at("multiprocessor_shared_bytes"),
          json.at("multiprocessor_threads"),
          json.at("cache_bytes")};
}

nlohmann::json to_json(const Target& target) {
  return {{"halide", target.text()},
          {"cpu_model", target.cpu_model},
          {"vector_bytes", target.vector_bytes},
          {"vector_registers", target.vector_registers},
          {"threads", target.threads},
          {"l1_bytes", target.l1_bytes},
          {"l2_bytes", target.l2_bytes},
          {"l3_bytes", target.l3_bytes}};
}

Result<Target> target_from_json(const nlohmann::json& json) try {
  const auto text = json.at("halide").get<std::string>();
  TILE_TUNE_TRY(target, parse_target(text));
  if (target.text() != text)
    return fail(ErrorClass::Program, "malformed-target",
                fmt::format("malformed target: '{}' is spelled {}", text, target.text()));
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

}  // namespace tile_tune::codegen
