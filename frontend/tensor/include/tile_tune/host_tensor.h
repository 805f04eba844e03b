// Tensors whose element type, and if you like their rank, are known when the program is compiled.
//
//   auto a = tensor::HostTensor<double, 2>::zeros({3, 4});
//   (*a)(1, 2) = 5;                                        // unchecked; at(1, 2) is null where nothing is
//
// Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/tensor.h>

#include <array>
#include <cstdint>
#include <utility>

namespace tile_tune::tensor {

/// Any number of dimensions.
inline constexpr int kAnyRank = -1;

namespace detail {

template <int rank, typename... Index>
concept IndicesOf = (rank == kAnyRank || rank == static_cast<int>(sizeof...(Index))) &&
                    (std::is_convertible_v<Index, int64_t> && ...);

/// Place of an element after (0, ..., 0); nothing where it is outside.
std::optional<int64_t> place_of(const Layout& layout, std::span<const int64_t> indices);
Error wrong_rank(size_t given, int wanted);

template <typename... Index>
int64_t unchecked_place(const Strides& strides, Index... indices) {
  int64_t place = 0;
  size_t d = 0;
  ((place += static_cast<int64_t>(indices) * strides[d++]), ...);
  return place;
}

}  // namespace detail

/// Elements of a view, by their indices.
template <Element T, int rank = kAnyRank>
class HostView {
 public:
  /// Errors: dtype-mismatch, rank-mismatch.
  static Expected<HostView> of(const TensorView& view) {
    if (view.type() != kElementType<T>)
      return Error{"dtype-mismatch", "of: the elements are of another type", "", "of"};
    if (rank != kAnyRank && view.rank() != static_cast<size_t>(rank)) return detail::wrong_rank(view.rank(), rank);
    return HostView(view);
  }

  const TensorView& view() const { return view_; }
  const Shape& shape() const { return view_.shape(); }
  /// As many indices as dimensions, each inside.
  template <typename... Index>
  requires detail::IndicesOf<rank, Index...> T operator()(Index... indices) const {
    return first_[detail::unchecked_place(view_.strides(), indices...)];
  }
  /// Null where there is no such element.
  template <typename... Index>
  requires detail::IndicesOf<rank, Index...>
  const T* at(Index... indices) const {
    const std::array<int64_t, sizeof...(Index)> all{static_cast<int64_t>(indices)...};
    const auto place = detail::place_of(view_.layout(), all);
    return place ? first_ + *place : nullptr;
  }

 private:
  explicit HostView(TensorView view) : view_(std::move(view)), first_(static_cast<const T*>(view_.data())) {}
  TensorView view_;
  const T* first_;
};

/// An owned, compact, column-major tensor on the host. It moves; duplicate() spells a copy.
template <Element T, int rank = kAnyRank>
class HostTensor {
 public:
  static Expected<HostTensor> zeros(Shape shape) { return of(Tensor::zeros(kElementType<T>, std::move(shape))); }
  /// A copy of the elements, given column by column.
  static Expected<HostTensor> from(std::span<const T> elements, Shape shape) {
    return of(Tensor::from(elements, std::move(shape)));
  }
  /// Errors: dtype-mismatch, not-on-host, rank-mismatch.
  static Expected<HostTensor> of(Expected<Tensor> tensor) {
    if (!tensor) return tensor.error();
    const auto elements = tensor->template elements<T>();
    if (!elements) return elements.error();
    if (rank != kAnyRank && tensor->rank() != static_cast<size_t>(rank))
      return detail::wrong_rank(tensor->rank(), rank);
    return HostTensor(std::move(*tensor), elements->data());
  }

  const Tensor& tensor() const& { return tensor_; }
  Tensor tensor() && { return std::move(tensor_); }
  TensorView view() const& { return *tensor_.view(); }
  MutableTensorView mutable_view() & { return *tensor_.mutable_view(); }
  const Shape& shape() const { return tensor_.shape(); }
  std::span<T> elements() { return {first_, static_cast<size_t>(tensor_.element_count())}; }
  std::span<const T> elements() const { return {first_, static_cast<size_t>(tensor_.element_count())}; }

  /// As many indices as dimensions, each inside.
  template <typename... Index>
  requires detail::IndicesOf<rank, Index...> T& operator()(Index... indices) {
    return first_[detail::unchecked_place(tensor_.layout().strides(), indices...)];
  }
  template <typename... Index>
  requires detail::IndicesOf<rank, Index...>
  const T& operator()(Index... indices) const {
    return first_[detail::unchecked_place(tensor_.layout().strides(), indices...)];
  }
  /// Null where there is no such element.
  template <typename... Index>
  requires detail::IndicesOf<rank, Index...> T* at(Index... indices) {
    const std::array<int64_t, sizeof...(Index)> all{static_cast<int64_t>(indices)...};
    const auto place = detail::place_of(tensor_.layout(), all);
    return place ? first_ + *place : nullptr;
  }

 private:
  HostTensor(Tensor tensor, T* first) : tensor_(std::move(tensor)), first_(first) {}
  Tensor tensor_;
  T* first_;
};

}  // namespace tile_tune::tensor
