#include "frontend/tensor/copy_elements.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tile_tune::tensor {
namespace {

/// One dimension of a copy; distances in bytes.
struct Loop {
  int64_t count, from, to;
};

/// Beside an extent of 0 the others may be of any size.
int64_t wrapped_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::vector<int64_t> compact(const std::vector<int64_t>& shape, bool first_fastest) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t n = 0; n < shape.size(); ++n) {
    const size_t d = first_fastest ? n : shape.size() - 1 - n;
    strides[d] = stride;
    stride = wrapped_product(stride, shape[d]);
  }
  return strides;
}

/// The loops of a copy, the innermost first. What runs backwards on both sides runs forward from the other end, and an
/// element that stands for many on both sides is copied once.
std::vector<Loop> loops_of(const View<const std::byte>& from, const View<std::byte>& to,
                           const std::vector<int64_t>& shape, int64_t size, const std::byte*& source,
                           std::byte*& target) {
  std::vector<Loop> loops;
  for (size_t d = 0; d < shape.size(); ++d) {
    Loop loop{shape[d], from.strides[d] * size, to.strides[d] * size};
    if (loop.count == 1 || (loop.from == 0 && loop.to == 0)) continue;
    if (loop.from < 0 && loop.to < 0) {
      source += loop.from * (loop.count - 1);
      target += loop.to * (loop.count - 1);
      loop.from = -loop.from;
      loop.to = -loop.to;
    }
    loops.push_back(loop);
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return std::abs(a.to) < std::abs(b.to); });
  return loops;
}

}  // namespace

std::vector<int64_t> c_strides(const std::vector<int64_t>& shape) { return compact(shape, false); }
std::vector<int64_t> fortran_strides(const std::vector<int64_t>& shape) { return compact(shape, true); }

void copy_elements(const View<const std::byte>& from, const View<std::byte>& to, const std::vector<int64_t>& shape,
                   DType type) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  const std::byte* source = from.elements;
  std::byte* target = to.elements;
  auto block = static_cast<int64_t>(dtype_size(type));
  auto loops = loops_of(from, to, shape, block, source, target);
  while (!loops.empty() && loops.front().from == block && loops.front().to == block) {
    block *= loops.front().count;
    loops.erase(loops.begin());
  }
  std::vector<int64_t> done(loops.size(), 0);
  while (true) {
    std::memcpy(target, source, static_cast<size_t>(block));
    size_t l = 0;
    for (; l < loops.size(); ++l) {
      const auto& [count, step, other] = loops[l];
      if (++done[l] < count) {
        source += step;
        target += other;
        break;
      }
      source -= step * (count - 1);
      target -= other * (count - 1);
      done[l] = 0;
    }
    if (l == loops.size()) return;
  }
}

}  // namespace tile_tune::tensor
