// Programs with padding, which the Tile eDSL says without constraints.
#pragma once

#include <tile_tune/edsl.h>

#include <vector>

#include "frontend/ir/canonical.h"

namespace tile_tune::test {

/// The canonical program that computes `output`, named O.
inline ir::Program program_of(const std::vector<edsl::Tensor>& inputs, const edsl::Tensor& output) {
  return ir::canonicalize(edsl::Program("p", inputs, {{"O", output}}).ir());
}

}  // namespace tile_tune::test
