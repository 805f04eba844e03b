// Tensors in numpy's .npy files. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/tensor.h>

#include <string>

namespace tile_tune::tensor {

/// All that numpy writes, in C or Fortran order, of the element types that a tensor has; little-endian. Errors:
/// cannot-open, cannot-read, malformed-npy, npy-type, out-of-memory; each message names the file.
Expected<Tensor> load_npy(const std::string& path);

/// In Fortran order. An older file stays as it was where this fails (cannot-write). bf16 becomes '<u2', its bits.
Expected<void> save_npy(const std::string& path, const TensorView& view);

}  // namespace tile_tune::tensor
