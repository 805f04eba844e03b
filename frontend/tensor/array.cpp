#include "frontend/tensor/array.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tile_tune::tensor {

int64_t Array::element_count() const {
  // Beside an extent of 0 the others may be of any size.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Array Array::zeros(DType type, std::vector<int64_t> shape) {
  Array array{type, std::move(shape), {}};
  array.data.resize(array.element_count() * dtype_size(type));
  return array;
}

}  // namespace tile_tune::tensor
