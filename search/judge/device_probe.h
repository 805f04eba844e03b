// How fast a CUDA device multiplies and adds: a kernel that does nothing else, in PTX.
#pragma once

#include <optional>
#include <string>

#include "frontend/tensor/dtype.h"

namespace tile_tune::search {

/// A kernel of one buffer and a number of iterations (u32), of kProbeFma multiply-adds a thread each; it writes
/// nothing.
struct ProbeKernel {
  std::string entry, text;
};
inline constexpr int kProbeFma = 128;
/// f32 and f64; no other type has one.
std::optional<ProbeKernel> fma_probe_kernel(DType type);

}  // namespace tile_tune::search
