#include <tile_tune/host_tensor.h>

#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor::detail {

std::optional<int64_t> place_of(const Layout& layout, std::span<const int64_t> indices) {
  if (indices.size() != layout.rank()) return std::nullopt;
  int64_t place = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= layout.shape()[d]) return std::nullopt;
    place += indices[d] * layout.strides()[d];
  }
  return place;
}

Error wrong_rank(size_t given, int wanted) {
  return errors::rank_mismatch("of", "dimensions", given, static_cast<size_t>(wanted));
}

}  // namespace tile_tune::tensor::detail
