// What we compile for, as it stands in the database key, and what this machine offers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::codegen {

/// `host` is resolved: `halide` is never the word "host". For a target string the user gave, cpu_model is
/// empty and caches are conservative defaults (decision 16).
struct Target {
  std::string halide;         // canonical Halide target string, for example "x86-64-linux-avx-avx2-..."
  std::string cpu_model;      // as the kernel names it
  int vector_bytes = 16;      // natural vector register: 16, 32, 64
  int vector_registers = 16;  // 16 (SSE, AVX2) or 32 (AVX-512, NEON)
  int threads = 1;            // threads a kernel may use
  int64_t l1_bytes = 32 << 10, l2_bytes = 256 << 10, l3_bytes = 8 << 20;  // data caches: L1, L2 per core; L3 shared
  bool operator==(const Target&) const = default;

  /// Whether it has instructions for dot products of 2 or 4 narrow numbers a lane (AVX-512 VNNI and BF16).
  bool has_dot_products() const {
    // Halide's names of the first processors that have all of them; those of later ones come with these.
    return halide.find("avx512_zen4") != std::string::npos || halide.find("avx512_sapphirerapids") != std::string::npos;
  }
  /// Whether a result's bits are to depend on the program and its inputs alone (deterministic()).
  bool is_deterministic() const { return halide.find("-strict_float") != std::string::npos; }
  int lanes(DType type) const { return vector_bytes / static_cast<int>(dtype_size(type)); }
};

/// `text` is "host" or a Halide target string, of this machine or another: packages for others are made here, too.
/// The feature avx512 alone is taken as avx512_skylake. Unknown string: class Program; one this version makes no
/// kernels for: Target.
Result<Target> describe_target(const std::string& text, int threads);

/// The target with Halide's feature strict_float: the compiler neither reorders nor fuses operations on floats, so that
/// they round alike on every CPU, and schedules keep to one order of sums (codegen/schedule/order.h). What is known of
/// schedules for it is apart from what is known of the others, as with every feature.
Target deterministic(Target target);

/// Nothing if kernels for the target run on this machine; else class Target.
Result<void> check_runs_here(const Target& target);

/// Both: a target to verify and time kernels on.
Result<Target> resolve_target(const std::string& text, int threads);

nlohmann::json to_json(const Target& target);
Result<Target> target_from_json(const nlohmann::json& json);

/// Cores this process may run on (its affinity mask).
std::vector<int> available_cores();

/// Halide's and LLVM's version as the library in use reports them: "21.0.0", "21.1".
std::string halide_version();
std::string llvm_version();

}  // namespace tile_tune::codegen
