// Reading and writing numpy's .npy files (format versions 1.0 to 3.0, little-endian, C or Fortran order).
// bf16 has no numpy type: it travels as '<u2' bit patterns both ways (rulings 20).
#pragma once

#include <filesystem>
#include <optional>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/tensor/array.h"

namespace tile_tune::tensor {

/// Whole file as a C-ordered array. `expected` lets '<u2' be read as BF16. A file that cannot be opened is
/// of class Failure; a malformed, truncated, big-endian or object array of class Mismatch; each names the file.
Result<Array> read_npy(const std::filesystem::path& path, std::optional<DType> expected = std::nullopt);

/// Version 1.0, written beside the target and renamed; on failure nothing is left behind.
Result<void> write_npy(const std::filesystem::path& path, const Array& array, bool fortran_order = false);

}  // namespace tile_tune::tensor
