// What an in/out output starts from when the caller gives nothing.
#pragma once

#include <string>

#include "frontend/ir/program.h"
#include "frontend/tensor/array.h"

namespace tile_tune::engine {

struct InitialValue {
  tensor::Array array;
  std::string text;  // "zeros", "ones", "the smallest float32", ...
};

/// `number`: a tensor of role InOut in a bound program. Zeros, but the identity for products, minima and maxima.
InitialValue initial_value(const ir::Program& program, int number);
/// One element of it.
std::vector<std::byte> initial_element(const ir::Program& program, int number);

}  // namespace tile_tune::engine
