// Programs from einsum notation. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/edsl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile_tune::einsum {

/// (type, shape) of each operand; empty: all are f32, and labels are sizes to bind.
using Operands = std::vector<std::pair<DType, std::vector<int64_t>>>;

/// "ij,jk->ik" as a Program named einsum, from in0, in1, ... to out. With operands it has numbers; sizes that are bound
/// order the contractions. The result's type is `out`, else what the operands promote to. Errors are ProgramErrors.
edsl::Program parse(const std::string& subscripts, const Operands& operands = {},
                    std::optional<DType> out = std::nullopt);

/// The same from labels that are whole numbers (at least 0), a list for each operand and one for the result; -1 stands
/// for `...`. The size of label 3 is label_3.
edsl::Program from_labels(const std::vector<std::vector<int64_t>>& operand_labels,
                          const std::vector<int64_t>& result_labels, const Operands& operands = {},
                          std::optional<DType> out = std::nullopt);

}  // namespace tile_tune::einsum
