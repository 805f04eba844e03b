#include "frontend/ir/storage.h"

#include <algorithm>
#include <numeric>

namespace tile_tune::ir {

std::vector<int> memory_order(Layout layout, size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (layout == Layout::Row) std::reverse(order.begin(), order.end());
  return order;
}

std::vector<int> memory_order(const Tensor& tensor) { return memory_order(tensor.layout, tensor.extents.size()); }

}  // namespace tile_tune::ir
