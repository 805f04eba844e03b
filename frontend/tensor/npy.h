// Reading and writing numpy's .npy files (format versions 1.0 to 3.0, little-endian, C or Fortran order).
// bf16 has no numpy type: it travels as '<u2' bit patterns both ways (decision 8).
#pragma once

#include <filesystem>
#include <optional>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/tensor/array.h"

namespace tile_tune::tensor {

/// Whole file as a C-ordered array. `expected` lets '<u2' be read as BF16. Bytes after the array are ignored, as
/// numpy does. A file that cannot be opened or read is of class Failure ("cannot-open", "cannot-read"); a malformed
/// or truncated one ("malformed-npy") and one of a type we do not have, big-endian or objects ("npy-type"), of
/// class Mismatch. Each message names the file. Never allocates more than the file's own size.
Result<Array> read_npy(const std::filesystem::path& path, std::optional<DType> expected = std::nullopt);
/// The same with the elements as they lie in the file: one in Fortran order has strides.
Result<Array> read_npy_as_stored(const std::filesystem::path& path, std::optional<DType> expected = std::nullopt);

/// Version 1.0, written beside the target and renamed; on failure ("cannot-write", class Failure) nothing is left
/// behind and an older file stays as it was. What exists and is no regular file (a pipe, /dev/stdout) is written
/// directly. `fortran_order` stores it column by column, whatever order it has here.
Result<void> write_npy(const std::filesystem::path& path, const Array& array, bool fortran_order = false);

}  // namespace tile_tune::tensor
