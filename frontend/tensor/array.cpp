#include "frontend/tensor/array.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "frontend/tensor/copy_elements.h"

namespace tile_tune::tensor {

int64_t Array::element_count() const {
  // Beside an extent of 0 the others may be of any size.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t Array::place(int64_t element) const {
  if (strides.empty()) return element;
  int64_t place = origin;
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) place += element % shape[d] * strides[d];
  return place;
}

Array Array::in_c_order() const {
  if (strides.empty()) return *this;
  Array result = zeros(type, shape);
  const auto size = static_cast<int64_t>(dtype_size(type));
  copy_elements({data.data() + origin * size, strides}, {result.data.data(), c_strides(shape)}, shape, type);
  return result;
}

Array Array::zeros(DType type, std::vector<int64_t> shape) {
  Array array{type, std::move(shape), {}};
  array.data.resize(array.element_count() * dtype_size(type));
  return array;
}

}  // namespace tile_tune::tensor
