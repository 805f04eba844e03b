#include "frontend/ir/storage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "frontend/ir/program.h"

namespace tile_tune::ir {
namespace {

/// Rows of strides from the buffer are taken to be so much longer than they are: a cache line of f32, where that is
/// little beside them.
constexpr int64_t kPadding = 16, kLongRow = 64;

std::vector<int> compact_order(bool first_fastest, size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (!first_fastest) std::reverse(order.begin(), order.end());
  return order;
}

bool is_from_buffer(const Stride& stride) { return std::holds_alternative<FromBuffer>(stride); }

bool is_number(const Stride& stride) { return std::holds_alternative<int64_t>(stride); }

bool is(const Stride& stride, int64_t number) { return stride == Stride{number}; }

bool is_unit(const Stride& stride) { return is(stride, 1) || is(stride, -1); }

/// Of the least number, which has none, that number.
int64_t distance_of(int64_t stride) { return static_cast<int64_t>(magnitude(stride)); }

/// Neighbours come first, what does not move through memory last. What is no number yet cannot be sorted by.
std::vector<int> order_of(const std::vector<Stride>& strides) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  const bool known = std::all_of(strides.begin(), strides.end(), is_number);
  const auto distance = [&](int d) {
    if (is(strides[d], 0)) return kLast;
    if (!known) return int64_t{is_unit(strides[d]) ? 1 : 2};
    return distance_of(std::get<int64_t>(strides[d]));
  };
  auto order = compact_order(!known && is_unit(strides.front()), strides.size());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return distance(a) < distance(b); });
  return order;
}

/// Beside an extent of 0 the others may be of any size.
int64_t wrapped_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Whether the strides are those of compact rows or columns; along a dimension of one element any stride is right.
bool is_compact(const std::vector<Stride>& strides, const std::vector<int64_t>& extents, bool first_fastest) {
  int64_t compact = 1;
  for (const int d : compact_order(first_fastest, extents.size())) {
    if (extents[d] != 1 && !is(strides[d], compact)) return false;
    compact = wrapped_product(compact, extents[d]);
  }
  return true;
}

int64_t padded(int64_t row) { return row + (row < kLongRow ? 1 : kPadding); }

bool is_empty(const std::vector<int64_t>& extents) {
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

/// Of strides that interleave elements in a way that sizes alone do not show: by looking at each element.
bool has_overlap_among(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents) {
  const Reach reached = reach(strides, extents);
  std::vector<bool> taken(static_cast<size_t>(reached.count));
  std::vector<int64_t> subscripts(extents.size(), 0);
  for (int64_t place = reached.before;;) {
    if (taken[static_cast<size_t>(place)]) return true;
    taken[static_cast<size_t>(place)] = true;
    size_t d = extents.size();
    while (d > 0 && ++subscripts[d - 1] == extents[d - 1]) {
      --d;
      place -= strides[d] * (extents[d] - 1);
      subscripts[d] = 0;
    }
    if (d == 0) return false;
    place += strides[d - 1];
  }
}

tl::unexpected<Diagnostic> bad_layout(ErrorClass error_class, std::string message, std::string note = "") {
  return fail(error_class, "bad-layout", std::move(message), std::move(note));
}

Result<void> check_strides(const Tensor& tensor, const std::vector<int64_t>& extents) {
  const auto distances = strides(tensor.storage, extents);
  const std::string text = fmt::format("the strides {} of {}", to_text(tensor.storage), tensor.name);
  if (!is_addressable(distances, extents, dtype_size(tensor.type)))
    return bad_layout(ErrorClass::Mismatch, text + " reach beyond a 64-bit address space");
  if (tensor.role != Role::Input && has_overlap(distances, extents))
    return bad_layout(ErrorClass::Mismatch, text + " put two elements in one place",
                      "only elements of inputs may overlap");
  return {};
}

}  // namespace

Storage Storage::col() {
  Storage storage;
  storage.first_fastest_ = true;
  return storage;
}

Storage Storage::strided(std::vector<Stride> strides, std::vector<int> order) {
  Storage storage;
  if (strides.empty()) return storage;
  storage.order_ = order.empty() ? order_of(strides) : std::move(order);
  storage.strides_ = std::move(strides);
  return storage;
}

bool Storage::has_strides_from_buffer() const { return std::any_of(strides_.begin(), strides_.end(), is_from_buffer); }

bool Storage::has_own_order() const { return !strides_.empty() && order_ != order_of(strides_); }

std::set<std::string> Storage::names() const {
  std::set<std::string> names;
  for (const auto& stride : strides_)
    if (const auto* size = std::get_if<SizeExpr>(&stride)) names.merge(size->names());
  return names;
}

Result<Storage> Storage::bind(const Sizes& sizes) const {
  std::vector<Stride> bound;
  for (const auto& stride : strides_) {
    bound.push_back(stride);
    const auto* size = std::get_if<SizeExpr>(&stride);
    if (!size) continue;
    TILE_TUNE_TRY(value, size->bind(sizes));
    if (const auto number = value.constant()) bound.back() = *number;
  }
  return is_compact() ? *this : strided(std::move(bound), has_own_order() ? order_ : std::vector<int>());
}

std::vector<int> Storage::order(size_t rank) const {
  if (order_.size() == rank) return rank == 0 ? std::vector<int>() : order_;
  return compact_order(first_fastest_ || (!order_.empty() && order_.front() == 0), rank);
}

std::vector<int64_t> strides(const Storage& storage, const std::vector<int64_t>& extents) {
  std::vector<int64_t> result(extents.size());
  int64_t row = 1;  // what one step of the next dimension has to pass over
  for (const int d : storage.order(extents.size())) {
    if (storage.is_compact()) {
      result[d] = row;
    } else {
      const auto* number = std::get_if<int64_t>(&storage.strides()[d]);
      result[d] = number ? *number : padded(row);
      if (result[d] == 0) continue;
    }
    row = wrapped_product(distance_of(result[d]), extents[d]);
  }
  return result;
}

std::vector<int64_t> strides(const Tensor& tensor) { return strides(tensor.storage, shape(tensor)); }

std::vector<int> memory_order(const Tensor& tensor) { return tensor.storage.order(tensor.extents.size()); }

Reach reach(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents) {
  if (is_empty(extents)) return {};
  Reach result{0, 1};
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t length = std::abs(strides[d]) * (extents[d] - 1);
    result.count += length;
    if (strides[d] < 0) result.before += length;
  }
  return result;
}

Reach reach(const Tensor& tensor) { return reach(strides(tensor), shape(tensor)); }

bool has_overlap(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents) {
  constexpr int64_t kMostLookedAt = int64_t{1} << 24;
  if (is_empty(extents)) return false;
  std::vector<std::pair<int64_t, int64_t>> steps;  // how far, how often
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > 1) steps.emplace_back(std::abs(strides[d]), extents[d] - 1);
  std::sort(steps.begin(), steps.end());
  int64_t passed = 0;
  for (const auto& [step, count] : steps) {
    if (step == 0) return true;
    if (step <= passed) return reach(strides, extents).count > kMostLookedAt || has_overlap_among(strides, extents);
    passed += step * count;
  }
  return false;
}

bool is_addressable(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents, size_t element_size) {
  const auto size = static_cast<int64_t>(element_size);
  int64_t bytes = size;
  for (size_t d = 0; d < strides.size(); ++d) {
    int64_t reached = 0;
    if (strides[d] == std::numeric_limits<int64_t>::min() ||
        __builtin_mul_overflow(std::abs(strides[d]), extents[d] - 1, &reached) ||
        __builtin_mul_overflow(reached, size, &reached) || __builtin_add_overflow(bytes, reached, &bytes))
      return false;
  }
  return true;
}

Result<void> check_rank(const Tensor& tensor) {
  const size_t rank = tensor.extents.size(), given = tensor.storage.strides().size();
  if (given == 0) return {};
  if (tensor.role == Role::Temporary)
    return bad_layout(ErrorClass::Program, fmt::format("{} is no argument, and has no strides", tensor.name));
  if (tensor.constant && tensor.storage.has_strides_from_buffer())
    return bad_layout(ErrorClass::Program,
                      fmt::format("{} is a constant with strides that are known only when it is packed: {}",
                                  tensor.name, to_text(tensor.storage)),
                      "give its strides as numbers");
  if (given == rank) return {};
  return bad_layout(ErrorClass::Program,
                    fmt::format("{} has {} dimension{}, but {} stride{}: {}", tensor.name, rank, rank == 1 ? "" : "s",
                                given, given == 1 ? "" : "s", to_text(tensor.storage)));
}

Result<Storage> normal_storage(const Tensor& tensor) {
  const Storage& storage = tensor.storage;
  if (storage.is_compact()) return storage;
  TILE_TUNE_CHECK(check_rank(tensor));
  const auto extents = shape(tensor);
  if (is_empty(extents) || is_compact(storage.strides(), extents, false)) return Storage::row();
  if (is_compact(storage.strides(), extents, true)) return Storage::col();
  TILE_TUNE_CHECK(check_strides(tensor, extents));
  auto strides = storage.strides();
  for (size_t d = 0; d < strides.size(); ++d)
    if (extents[d] == 1) strides[d] = 1;
  return Storage::strided(std::move(strides),
                          storage.has_own_order() ? storage.order(extents.size()) : std::vector<int>());
}

}  // namespace tile_tune::ir
