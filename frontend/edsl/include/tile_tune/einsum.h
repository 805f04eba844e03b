// Programs from einsum notation. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/edsl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tile_tune::einsum {

/// "ij,jk->ik" as a Program named einsum, from in0, in1, ... to out. Without operands all are f32 and labels are
/// sizes to bind, which order the contractions; with them, one (type, shape) for each, the program has numbers. Errors are
/// ProgramErrors.
edsl::Program parse(const std::string& subscripts,
                    const std::vector<std::pair<DType, std::vector<int64_t>>>& operands = {});

}  // namespace tile_tune::einsum
