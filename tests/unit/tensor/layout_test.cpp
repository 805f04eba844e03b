// Layouts, and an oracle that knows of a view nothing but the place of each of its elements.
#include <tile_tune/layout.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>

using namespace tile_tune;
using tensor::Layout;
using tensor::Shape;
using tensor::Slice;
using tensor::Strides;

namespace {

/// Every element's place, the first index fastest.
struct Places {
  Shape shape;
  std::vector<int64_t> places;

  static int64_t count(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
  /// The view that has the element that `source` names (an index of this) at each index of `result`.
  template <typename Source>
  Places select(Shape result, const Source& source) const {
    Places selected{std::move(result), {}};
    const int64_t all = count(selected.shape);
    for (int64_t n = 0; n < all; ++n) {
      std::vector<int64_t> index;
      int64_t rest = n;
      for (const int64_t extent : selected.shape) index.push_back(rest % extent), rest /= extent;
      const std::vector<int64_t> of = source(index);
      int64_t number = 0, step = 1;
      for (size_t d = 0; d < shape.size(); ++d) number += of[d] * step, step *= shape[d];
      selected.places.push_back(places[static_cast<size_t>(number)]);
    }
    return selected;
  }
};

Places places_of(const Layout& layout) {
  Places all{layout.shape(), {layout.offset()}};
  for (size_t d = 0; d < layout.rank(); ++d) {
    std::vector<int64_t> next;
    for (int64_t i = 0; i < layout.shape()[d]; ++i)
      for (const int64_t place : all.places) next.push_back(place + i * layout.strides()[d]);
    all.places = next;
  }
  return all;
}

/// What a slice names, as Python would say it of range(): nothing where it has to be refused.
std::optional<std::vector<int64_t>> elements_of(const Slice& slice, int64_t extent) {
  if (slice.step == 0) return std::nullopt;
  if (extent == 0) return std::vector<int64_t>{};
  std::vector<int64_t> elements;
  if (slice.step > 0) {
    const int64_t from = slice.start < 0 ? slice.start + extent : slice.start;
    const int64_t to = slice.end < 0 ? slice.end + extent : slice.end;
    if (from < 0 || from > extent || to < 0 || to > extent) return std::nullopt;
    for (int64_t i = from; i < to; i += slice.step) elements.push_back(i);
  } else {
    const int64_t from = slice.start < 0 ? slice.start + extent : slice.start;
    const int64_t to = slice.end < -1 ? slice.end + extent : slice.end;
    if (from < 0 || from >= extent || to < -1 || to >= extent) return std::nullopt;
    for (int64_t i = from; i > to; i += slice.step) elements.push_back(i);
  }
  return elements;
}

void check_same(const Layout& layout, const Places& oracle) {
  REQUIRE(layout.shape() == oracle.shape);
  REQUIRE(places_of(layout).places == oracle.places);
  REQUIRE(layout.element_count() == static_cast<int64_t>(oracle.places.size()));
  const auto reach = layout.reach();
  REQUIRE(reach.has_value() == !oracle.places.empty());
  if (reach) {
    const auto [first, last] = std::minmax_element(oracle.places.begin(), oracle.places.end());
    REQUIRE(reach->first == *first);
    REQUIRE(reach->last == *last);
    REQUIRE(*first >= 0);
    REQUIRE(*last < layout.buffer());
  }
  const bool is_in_order = std::adjacent_find(oracle.places.begin(), oracle.places.end(),
                                              [](int64_t a, int64_t b) { return b != a + 1; }) == oracle.places.end();
  REQUIRE(layout.is_column_major() == is_in_order);
  const std::set<int64_t> distinct(oracle.places.begin(), oracle.places.end());
  REQUIRE(static_cast<bool>(layout.check_mutable()) == (distinct.size() == oracle.places.size()));
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int64_t operator()(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  std::vector<int> permutation(size_t n) {
    std::vector<int> axes(n);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), engine_);
    return axes;
  }

 private:
  std::mt19937 engine_;
};

/// A random operation on both; whether it was to be refused, both say.
void step(Random& random, Layout& layout, Places& oracle) {
  const size_t rank = layout.rank();
  switch (random(0, 4)) {
    case 0: {
      const auto axes = random.permutation(rank);
      Shape shape;
      for (const int axis : axes) shape.push_back(oracle.shape[static_cast<size_t>(axis)]);
      const auto made = layout.transpose(axes);
      REQUIRE(made);
      oracle = oracle.select(shape, [&](const auto& index) {
        std::vector<int64_t> of(rank);
        for (size_t d = 0; d < rank; ++d) of[static_cast<size_t>(axes[d])] = index[d];
        return of;
      });
      layout = *made;
      return;
    }
    case 1: {
      std::vector<Slice> slices;
      std::vector<std::vector<int64_t>> elements;
      bool is_good = true;
      for (const int64_t extent : oracle.shape) {
        const bool is_down = random(0, 1) == 1;
        slices.push_back({random(-extent - 1, extent + 1), random(-extent - 1, extent + 1),
                          is_down ? -random(1, 3) : random(random(0, 20) == 0 ? 0 : 1, 3)});
        if (random(0, 2) > 0) slices.back() = is_down ? Slice{-1, -1, -random(1, 2)} : Slice{0, extent, random(1, 2)};
        const auto named = elements_of(slices.back(), extent);
        is_good &= named.has_value();
        elements.push_back(named.value_or(std::vector<int64_t>{}));
      }
      const auto made = layout.slice(slices);
      REQUIRE(static_cast<bool>(made) == is_good);
      if (!made) return;
      Shape shape;
      for (const auto& named : elements) shape.push_back(static_cast<int64_t>(named.size()));
      oracle = oracle.select(shape, [&](const auto& index) {
        std::vector<int64_t> of;
        for (size_t d = 0; d < rank; ++d) of.push_back(elements[d][static_cast<size_t>(index[d])]);
        return of;
      });
      layout = *made;
      return;
    }
    case 2: {
      if (rank > 3 || oracle.places.size() > 200) return;
      Shape shape;
      std::vector<int> axes;
      const auto order = random.permutation(rank + 1);
      for (size_t d = 0; d < rank; ++d) axes.push_back(order[d]);
      shape.assign(rank + 1, random(0, 3));
      for (size_t d = 0; d < rank; ++d)
        shape[static_cast<size_t>(axes[d])] = oracle.shape[d] == 1 ? random(1, 3) : oracle.shape[d];
      const auto made = layout.broadcast(shape, axes);
      REQUIRE(made);
      oracle = oracle.select(shape, [&](const auto& index) {
        std::vector<int64_t> of;
        for (size_t d = 0; d < rank; ++d) of.push_back(oracle.shape[d] == 1 ? 0 : index[static_cast<size_t>(axes[d])]);
        return of;
      });
      layout = *made;
      return;
    }
    case 3: {
      if (rank < 2) return;
      const auto axes = random.permutation(rank);
      const auto a = static_cast<size_t>(axes[0]), b = static_cast<size_t>(axes[1]);
      const auto made = layout.diagonal(axes[0], axes[1]);
      REQUIRE(static_cast<bool>(made) == (oracle.shape[a] == oracle.shape[b]));
      if (!made) return;
      Shape shape = oracle.shape;
      shape.erase(shape.begin() + axes[1]);
      oracle = oracle.select(shape, [&](const auto& index) {
        std::vector<int64_t> of = index;
        of.insert(of.begin() + axes[1], 0);
        of[b] = of[a];
        return of;
      });
      layout = *made;
      return;
    }
    default: {
      const int64_t count = Places::count(oracle.shape);
      Shape shape{count};
      if (count > 0 && count % 2 == 0) shape = {2, 1, count / 2};
      const bool is_column_major = layout.is_column_major();
      const auto made = layout.reshape(shape);
      REQUIRE(static_cast<bool>(made) == is_column_major);
      if (!made) return;
      oracle.shape = shape;
      layout = *made;
    }
  }
}

}  // namespace

TEST_CASE("Layouts are what an enumeration of their elements says, whatever views are made of them") {
  int empty = 0, strided = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Shape shape;
    const int64_t rank = random(0, 4);
    for (int64_t d = 0; d < rank; ++d) shape.push_back(random(random(0, 9) == 0 ? 0 : 1, 5));
    auto made = random(0, 1) ? Layout::column_major(shape) : Layout::row_major(shape);
    REQUIRE(made);
    Layout layout = *made;
    Places oracle = places_of(layout);
    for (int n = 0; n < 6; ++n) {
      CAPTURE(seed, n);
      step(random, layout, oracle);
      check_same(layout, oracle);
    }
    empty += oracle.places.empty();
    strided += !layout.is_column_major();
  }
  CHECK(empty > 100);
  CHECK(strided > 1000);
}

TEST_CASE("Random strides are taken exactly where every element is inside the buffer") {
  int taken = 0, refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Shape shape;
    Strides strides;
    for (int64_t d = random(0, 3); d > 0; --d) shape.push_back(random(0, 4)), strides.push_back(random(-6, 6));
    const int64_t offset = random(-2, 30), buffer = random(0, 40);
    int64_t first = offset, last = offset;
    bool is_empty = false;
    for (size_t d = 0; d < shape.size(); ++d) is_empty |= shape[d] == 0;
    if (!is_empty)
      for (size_t d = 0; d < shape.size(); ++d)
        for (int64_t i = 0; i + 1 < shape[d]; ++i) (strides[d] < 0 ? first : last) += strides[d];
    const auto layout = Layout::strided(shape, strides, offset, buffer);
    CAPTURE(seed);
    const bool is_inside = is_empty ? offset >= 0 && offset <= buffer : first >= 0 && last < buffer;
    REQUIRE(static_cast<bool>(layout) == is_inside);
    if (!layout) {
      ++refused;
      CHECK(layout.error().code == "view-out-of-bounds");
      CHECK(layout.error().numbers == std::vector<int64_t>{first, last, buffer});
      continue;
    }
    ++taken;
    check_same(*layout, places_of(*layout));
  }
  CHECK(taken > 500);
  CHECK(refused > 500);
}

TEST_CASE("Numbers of layouts do not overflow") {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  CHECK(Layout::column_major({kHuge, 2}).error().code == "integer-overflow");
  CHECK(Layout::strided({kHuge, 2}, {0, 0}, 0, 1).error().code == "integer-overflow");
  CHECK(Layout::strided({3}, {kHuge}, 0, kHuge).error().code == "integer-overflow");
  CHECK(Layout::strided({2}, {kLeast}, 0, kHuge).error().code == "view-out-of-bounds");
  CHECK(Layout::strided({2}, {kLeast}, -1, kHuge).error().code == "integer-overflow");
  CHECK(Layout::column_major({-1}).error().numbers == std::vector<int64_t>{0, -1});
  // Without elements the other extents say nothing, and of one element no stride does.
  CHECK(Layout::column_major({kHuge, 0, kHuge})->element_count() == 0);
  CHECK(Layout::strided({1}, {kLeast}, 0, 1)->slice({{0, 1, 2}})->element_count() == 1);
  const auto halves = Layout::strided({2}, {kHuge / 2}, 0, kHuge);
  CHECK(halves->slice({{0, 2, 3}})->element_count() == 1);
  CHECK(halves->slice({{0, 2, kHuge}})->reach()->last == 0);
  CHECK(halves->slice({{1, -1, kLeast}})->reach()->last == kHuge / 2);
  CHECK(Layout::strided({1, 1}, {kHuge, kHuge}, 0, 1)->diagonal(0, 1)->element_count() == 1);
  CHECK(Layout::column_major({5})->slice({{4, -1, kLeast + 1}})->element_count() == 1);
  CHECK(Layout::column_major({5})->slice({{kLeast, kHuge, 1}}).error().numbers ==
        std::vector<int64_t>{0, 5, kLeast, kHuge, 1});
}

TEST_CASE("What does not fit a layout is named") {
  const auto layout = *Layout::column_major({3, 4});
  const auto code = [](const auto& made) { return made.error().code; };
  CHECK(code(layout.transpose({0})) == "rank-mismatch");
  CHECK(code(layout.transpose({0, 2})) == "axis-out-of-range");
  CHECK(layout.transpose({0, 0}).error().message == "transpose: axis 0 is named twice");
  CHECK(code(layout.slice({{0, 3, 0}, {0, 4, 1}})) == "invalid-slice-step");
  CHECK(layout.slice({{0, 3, 1}, {0, 5, 1}}).error().message ==
        "slice: dimension 1 of extent 4 has nothing from 0 to 5 by 1");
  CHECK(code(layout.reshape({5})) == "shape-mismatch");
  CHECK(layout.reshape({5}).error().numbers == std::vector<int64_t>{12, 5});
  CHECK(code(layout.transpose({1, 0})->reshape({12})) == "not-contiguous");
  CHECK(code(layout.broadcast({3, 5}, {0, 1})) == "shape-mismatch");
  CHECK(code(layout.broadcast({3, 4}, {0, 0})) == "duplicate-axis");
  CHECK(code(layout.diagonal(0, 1)) == "shape-mismatch");
  CHECK(code(layout.diagonal(0, 0)) == "duplicate-axis");
  CHECK(layout.slice({{0, 3, 0}, {0, 4, 1}}).error().operation == "slice");
  CHECK(code(layout.broadcast({3, 4, 2}, {0, 1})->check_mutable()) == "overlapping-elements");
  CHECK(layout.broadcast({3, 4, 2}, {0, 1})->check_mutable().error().numbers == std::vector<int64_t>{2, 0});
  CHECK(code(Layout::column_major(Shape(33, 1))) == "rank-mismatch");
}
