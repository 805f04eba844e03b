#include <tile_tune/layout.h>

#include <cstring>

#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {
namespace {

/// Numbers of one byte, small ones, or of eight, any; 0 where there are no more.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}
  bool is_at_end() const { return bytes_.empty(); }
  int64_t next() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<int8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    if (first != -128 || bytes_.size() < 8) return first;
    int64_t number;
    std::memcpy(&number, bytes_.data(), 8);
    bytes_.remove_prefix(8);
    return number;
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> all(static_cast<size_t>(next() & 7));
    for (auto& number : all) number = next();
    return all;
  }
  std::vector<int> axes() {
    const auto all = numbers();
    return {all.begin(), all.end()};
  }

 private:
  std::string_view bytes_;
};

void keep_promises(const tensor::Layout& layout, const tensor::Layout* of) {
  require(layout.shape().size() == layout.strides().size(), "a layout has a stride for each dimension");
  const auto reach = layout.reach();
  require(reach.has_value() == (layout.element_count() > 0), "what has elements reaches some place");
  require(layout.offset() >= 0 && layout.offset() <= layout.buffer(), "a layout begins in its buffer, or at its end");
  if (!reach) return;
  require(0 <= reach->first && reach->first <= reach->last && reach->last < layout.buffer(),
          "every element is inside the buffer");
  if (!of) return;
  const auto within = of->reach();
  require(within && within->first <= reach->first && reach->last <= within->last,
          "a view reaches nothing that what it is of does not");
}

}  // namespace

void layout(std::string_view bytes) {
  NumberReader read(bytes);
  const auto shape = read.numbers();
  const auto strides = read.numbers();
  const int64_t offset = read.next(), buffer = read.next();
  auto made = tensor::Layout::strided(shape, strides, offset, buffer);
  if (!made) made = tensor::Layout::column_major(shape);
  if (!made) return;
  tensor::Layout layout = *made;
  keep_promises(layout, nullptr);
  while (!read.is_at_end()) {
    auto next = [&]() -> tensor::Expected<tensor::Layout> {
      switch (read.next() & 3) {
        case 0:
          return layout.transpose(read.axes());
        case 1: {
          std::vector<tensor::Slice> slices(layout.rank());
          for (auto& slice : slices) slice.start = read.next(), slice.end = read.next(), slice.step = read.next();
          return layout.slice(slices);
        }
        case 2:
          if (read.next() & 1) return layout.reshape(read.numbers());
          return layout.broadcast(read.numbers(), read.axes());
        default:
          return layout.diagonal(static_cast<int>(read.next()), static_cast<int>(read.next()));
      }
    }();
    if (!next) continue;
    keep_promises(*next, &layout);
    (void)next->check_mutable();
    layout = std::move(*next);
  }
}

}  // namespace tile_tune::fuzz
