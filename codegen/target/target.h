// What we compile for, as it stands in the database key. What this machine offers is in host.h.
//
// A target's text is Halide's spelling of it, which users give: this folder reads it, with a table of its own,
// and codegen/lower makes what Halide takes from it. Nobody else looks into it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/target/feature.h"
#include "frontend/diagnostic/diagnostic.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::codegen {

enum class System : uint8_t { Linux, Windows, MacOs, Android, Ios, QuRt, None, Fuchsia, Wasm };

/// Where code runs: all that packages of one runtime have in common.
struct Platform {
  Architecture architecture = Architecture::X86;
  int bits = 64;
  System system = System::Linux;
  bool operator==(const Platform&) const = default;

  /// "x86-64".
  std::string instruction_set() const;
  /// "x86-64-linux".
  std::string text() const;
};

/// Bytes of a line of a cache, on every CPU that we have targets for but Apple's, which have 128.
constexpr int64_t kLineBytes = 64;

/// What kernels run on.
enum class Device : uint8_t { Cpu, Gpu };

/// The processor whose timings the compiler goes by; the instructions are those of the features.
enum class Processor : uint8_t {
  Any,
  AmdFam10,
  BdVer1,
  BdVer2,
  BdVer3,
  BdVer4,
  BtVer1,
  BtVer2,
  K8,
  K8Sse3,
  ZnVer1,
  ZnVer2,
  ZnVer3,
  ZnVer4,
  ZnVer5
};

/// What a GPU of this machine says of itself; 0: it does not say.
struct FoundDevice {
  int number = -1;     // which of its kind runs kernels; -1: none was found
  int capability = 0;  // CUDA's, 90 for 9.0: it may be newer than any that kernels are made for
  int multiprocessors = 0;
  int64_t block_shared_bytes = 0;  // the most that a block may have
  int64_t multiprocessor_shared_bytes = 0, multiprocessor_threads = 0;
  int64_t cache_bytes = 0;  // its last
  bool operator==(const FoundDevice&) const = default;
};
nlohmann::json to_json(const FoundDevice& device);
FoundDevice found_device_from_json(const nlohmann::json& json);  // throws nlohmann's errors

/// For a target that the user named, cpu_model is empty and caches are conservative defaults (decision 16).
struct Target {
  Platform platform;
  Features features;
  Device device = Device::Cpu;
  bool deterministic = false;  // a result's bits depend on the program and its inputs alone; see deterministic()
  Processor tuned_for = Processor::Any;
  int scalable_bits = 0;  // of a vector, where the instruction set leaves that open (SVE, RVV); 0: not known

  std::string cpu_model;                                                  // as the kernel names it; a GPU's by driver
  int vector_bytes = 16;                                                  // natural vector register: 16, 32, 64
  int vector_registers = 16;                                              // 16 (SSE, AVX2) or 32 (AVX-512, NEON)
  int threads = 1;                                                        // threads a kernel may use
  int64_t l1_bytes = 32 << 10, l2_bytes = 256 << 10, l3_bytes = 8 << 20;  // data caches: L1, L2 per core; L3 shared
  FoundDevice found;  // what runs kernels for a GPU here: in no key or file
  bool operator==(const Target&) const = default;

  /// What is compiled for, the first six fields: "x86-64-linux-avx-avx2-strict_float". One text for each.
  std::string text() const;
  /// Whether it has instructions for dot products of 2 or 4 narrow numbers a lane (AVX-512 VNNI and BF16).
  bool has_dot_products() const {
    // The first processors that have all of them; the features of later ones come with these.
    return features.has(Feature::Avx512Zen4) || features.has(Feature::Avx512SapphireRapids);
  }
  /// Whether it has a unit that multiplies tiles of 16 rows by 64 bytes of narrow numbers (AMX).
  bool has_matrix_tiles() const { return features.has(Feature::Amx); }
  /// Whether it has loads of vectors of such elements, of which a mask leaves lanes out without touching memory.
  bool has_masked_loads(int bits, bool are_floats) const;
  /// The same of stores, as fast as others.
  bool has_masked_stores(int bits) const;
  /// Of a natural vector; complex numbers are computed as vectors of either part.
  int lanes(DType type) const { return vector_bytes / static_cast<int>(dtype_size(component_type(type))); }
};

/// The platform, features and so on that a text names in any order, and the vector unit that goes with them. What is
/// not named is `base`'s, which kHost in front of it stands for; without one all of the platform must be there.
/// Errors: unknown-target of class Program.
Result<Target> parse_target(std::string_view text, const Target* base = nullptr);

/// The word for this machine, alone or in front of what is changed of it: "host-opencl".
inline constexpr std::string_view kHost = "host";
bool names_host(std::string_view text);

/// What every processor of the platform has, without features.
Target baseline_of(const Platform& platform);

/// A target for which the compiler neither reorders nor fuses operations on floats, so that they round alike on every
/// CPU, and schedules keep to one order of sums (codegen/schedule/sum_order.h). What is known of schedules for it is
/// apart from what is known of the others, as with every feature.
Target deterministic(Target target);

/// What of a target for a GPU is its host's: all of a target for a CPU.
Target host_part(Target target);

/// Names for what is stored and shown: "cpu", "znver4"; Processor::Any is "".
std::string_view name(Device device);
std::string_view name(Processor processor);
std::string_view name(System system);
std::optional<Device> device_named(std::string_view name);
std::optional<Processor> processor_named(std::string_view name);
/// Of Platform::instruction_set() and the system's name.
std::optional<Platform> platform_named(std::string_view instruction_set, std::string_view system);

nlohmann::json to_json(const Target& target);
/// Errors: malformed-target, also of a text that is not the target's own.
Result<Target> target_from_json(const nlohmann::json& json);

}  // namespace tile_tune::codegen
