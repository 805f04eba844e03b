// The text header of .npy files: a Python dictionary of 'descr', 'fortran_order' and 'shape'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::tensor {

struct NpyHeader {
  std::string descr;  // "<f4", "|b1", ...; of records the text of the list
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Parses the dictionary, which may be followed by white space only. The error message is a clause, without the
/// file's name: "the header has no 'shape'".
tl::expected<NpyHeader, std::string> parse_npy_header(std::string_view text);

/// The dictionary as numpy writes it, without padding.
std::string format_npy_header(const NpyHeader& header);

}  // namespace tile_tune::tensor
