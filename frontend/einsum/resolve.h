// Labels and `...` as axes: what each subscript of each operand is, once the operands are known.
#pragma once

#include <vector>

#include "frontend/einsum/einsum.h"
#include "frontend/plan/network.h"

namespace tile_tune::einsum {

/// A label, or one of the axes that `...` stands for (these follow the labels).
struct Axis {
  std::string name;  // for messages
  ir::SizeExpr extent = 0;
  std::optional<int64_t> value;  // of the extent, where it is known
};

using plan::kRepeats;

struct Resolved {
  std::vector<Axis> axes;
  std::vector<std::vector<int>> operands;  // for each dimension the number of its axis, or kRepeats
  std::vector<int> result;
  ir::Sizes sizes;  // known ones, by name
};

/// Errors as make_program() says, but for types.
Result<Resolved> resolve(const Einsum& einsum, const Known& known);

}  // namespace tile_tune::einsum
