// Dense tensors: data that a Tensor owns, and views of data that somebody owns.
//
//   auto a = tensor::Tensor::zeros(DType::F64, {3, 4});            // Expected<Tensor>: 3 x 4, column-major
//   auto transposed = a->view().transpose({1, 0});                 // 4 x 3, the same memory
//   auto copy = tensor::to_contiguous(*transposed);                // a Tensor of its own
//
// An owned tensor is compact, column-major (the first index fastest), and moves; duplicate() spells a copy. Any other
// order, direction, repetition or part is a view: a Layout over borrowed memory, which has to outlive it. Tensors carry
// no computation: functions of tile_tune::engine compute. Errors are values (docs/tensors.md). Part of the SDK: the
// standard library is all this header needs.
#pragma once

#include <tile_tune/element_types.h>
#include <tile_tune/layout.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tile_tune::tensor {

enum class MemoryKind { Device, PinnedHost, UnpinnedHost, Managed, Other };
enum class DeviceKind { Cpu, Cuda, Rocm, Other };

struct DeviceId {
  DeviceKind kind = DeviceKind::Cpu;
  int number = 0;
  bool operator==(const DeviceId&) const = default;
};

struct Placement {
  MemoryKind memory = MemoryKind::UnpinnedHost;
  std::optional<DeviceId> device = std::nullopt;
  std::string other = {};  // the name of an Other kind
  bool operator==(const Placement&) const = default;

  /// Whether this process may read and write it.
  bool is_on_host() const { return memory != MemoryKind::Device && memory != MemoryKind::Other; }
};

/// Memory that only its device can do something with. Whoever made it knows what it is.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
};

/// Elements to read. Cheap to copy. Memory that is not the host's has no view.
class TensorView {
 public:
  /// Compact and column-major, or as `strides` (in elements) and `offset` say. Errors: those of Layout; shape-mismatch
  /// (more or fewer elements than a compact shape has), null-data.
  template <Element T>
  static Expected<TensorView> of(std::span<const T> elements, Shape shape) {
    return compact(elements.data(), elements.size(), kElementType<T>, std::move(shape));
  }
  template <Element T>
  static Expected<TensorView> of(std::span<const T> elements, Shape shape, Strides strides, int64_t offset = 0) {
    auto layout = Layout::strided(std::move(shape), std::move(strides), offset, static_cast<int64_t>(elements.size()));
    if (!layout) return layout.error();
    return over(elements.data(), kElementType<T>, std::move(*layout));
  }
  /// Of any element type. The buffer holds as many elements as the layout says.
  static Expected<TensorView> over(const void* buffer, DType type, Layout layout);

  DType type() const { return type_; }
  const Layout& layout() const { return layout_; }
  const Shape& shape() const { return layout_.shape(); }
  const Strides& strides() const { return layout_.strides(); }
  size_t rank() const { return layout_.rank(); }
  int64_t element_count() const { return layout_.element_count(); }
  /// The first element of the buffer, and element (0, ..., 0), which need not exist.
  const void* buffer() const { return buffer_; }
  const void* data() const {
    return buffer_
               ? static_cast<const std::byte*>(buffer_) + layout_.offset() * static_cast<int64_t>(element_size(type_))
               : nullptr;
  }

  /// As Layout has them.
  Expected<TensorView> transpose(const std::vector<int>& axes) const { return with(layout_.transpose(axes)); }
  Expected<TensorView> slice(const std::vector<Slice>& slices) const { return with(layout_.slice(slices)); }
  Expected<TensorView> reshape(Shape shape) const { return with(layout_.reshape(std::move(shape))); }
  Expected<TensorView> broadcast(Shape shape, const std::vector<int>& axes) const {
    return with(layout_.broadcast(std::move(shape), axes));
  }
  Expected<TensorView> diagonal(int first, int second) const { return with(layout_.diagonal(first, second)); }

  /// The elements in order, where they are neighbours. Errors: dtype-mismatch, not-contiguous.
  template <Element T>
  Expected<std::span<const T>> as_span() const {
    const auto fits = check_span(kElementType<T>);
    if (!fits) return fits.error();
    return std::span<const T>(static_cast<const T*>(data()), static_cast<size_t>(element_count()));
  }

 private:
  friend class Tensor;
  friend class MutableTensorView;
  TensorView(const void* buffer, DType type, Layout layout)
      : buffer_(buffer), type_(type), layout_(std::move(layout)) {}
  static Expected<TensorView> compact(const void* elements, size_t count, DType type, Shape shape);
  Expected<TensorView> with(Expected<Layout> layout) const {
    if (!layout) return layout.error();
    return TensorView(buffer_, type_, std::move(*layout));
  }
  Expected<void> check_span(DType type) const;

  const void* buffer_;
  DType type_;
  Layout layout_;
};

/// Elements to write: no two of them lie in one place.
class MutableTensorView {
 public:
  template <Element T>
  static Expected<MutableTensorView> of(std::span<T> elements, Shape shape) {
    return from(TensorView::of(std::span<const T>(elements), std::move(shape)));
  }
  template <Element T>
  static Expected<MutableTensorView> of(std::span<T> elements, Shape shape, Strides strides, int64_t offset = 0) {
    return from(TensorView::of(std::span<const T>(elements), std::move(shape), std::move(strides), offset));
  }
  static Expected<MutableTensorView> over(void* buffer, DType type, Layout layout) {
    return from(TensorView::over(buffer, type, std::move(layout)));
  }

  const TensorView& view() const { return view_; }
  DType type() const { return view_.type(); }
  const Shape& shape() const { return view_.shape(); }
  /// Element (0, ..., 0).
  void* data() const { return const_cast<void*>(view_.data()); }

  Expected<MutableTensorView> transpose(const std::vector<int>& axes) const { return from(view_.transpose(axes)); }
  Expected<MutableTensorView> slice(const std::vector<Slice>& slices) const { return from(view_.slice(slices)); }
  Expected<MutableTensorView> reshape(Shape shape) const { return from(view_.reshape(std::move(shape))); }
  Expected<MutableTensorView> diagonal(int first, int second) const { return from(view_.diagonal(first, second)); }

 private:
  friend class Tensor;
  explicit MutableTensorView(TensorView view) : view_(std::move(view)) {}
  static Expected<MutableTensorView> from(Expected<TensorView> view);

  TensorView view_;
};

class Tensor {
 public:
  /// On the host. Errors: those of Layout::column_major(), out-of-memory.
  static Expected<Tensor> zeros(DType type, Shape shape);
  /// The same with elements that were not written.
  static Expected<Tensor> uninitialized(DType type, Shape shape);
  /// A copy of the elements, given column by column.
  template <Element T>
  static Expected<Tensor> from(std::span<const T> elements, Shape shape) {
    auto view = TensorView::of(elements, std::move(shape));
    if (!view) return view.error();
    return copy_of(*view);
  }
  /// On a device: compact elements in its memory.
  static Expected<Tensor> on_device(std::shared_ptr<DeviceMemory> memory, Placement placement, DType type, Shape shape);

  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  DType type() const { return type_; }
  const Layout& layout() const { return layout_; }
  const Shape& shape() const { return layout_.shape(); }
  size_t rank() const { return layout_.rank(); }
  int64_t element_count() const { return layout_.element_count(); }
  size_t byte_count() const { return static_cast<size_t>(element_count()) * element_size(type_); }
  const Placement& placement() const { return placement_; }
  const std::shared_ptr<DeviceMemory>& device_memory() const { return device_; }

  /// Of a tensor on the host, as long as it lives; of another one not-on-host.
  Expected<TensorView> view() const&;
  Expected<MutableTensorView> mutable_view() &;
  Expected<TensorView> view() && = delete;
  /// Its elements, column by column. Errors: dtype-mismatch, not-on-host.
  template <Element T>
  Expected<std::span<T>> elements() & {
    const auto fits = check_elements(kElementType<T>);
    if (!fits) return fits.error();
    return std::span<T>(static_cast<T*>(host_.get()), static_cast<size_t>(element_count()));
  }
  template <Element T>
  Expected<std::span<const T>> elements() const& {
    const auto fits = check_elements(kElementType<T>);
    if (!fits) return fits.error();
    return std::span<const T>(static_cast<const T*>(host_.get()), static_cast<size_t>(element_count()));
  }
  /// The same elements in another shape, without a copy. The tensor is as it was where they do not fit.
  Expected<void> set_shape(Shape shape);

 private:
  friend Expected<Tensor> duplicate(const Tensor& tensor);
  Tensor() = default;
  static Expected<Tensor> allocated(const char* operation, DType type, Shape shape);
  static Expected<Tensor> copy_of(const TensorView& view);
  Expected<void> check_elements(DType type) const;

  struct Free {
    void operator()(void* memory) const;
  };
  DType type_ = DType::F32;
  Layout layout_;
  std::unique_ptr<void, Free> host_;
  std::shared_ptr<DeviceMemory> device_;
  Placement placement_;
};

/// A copy at the same place. Of a device's tensor: download() and upload().
Expected<Tensor> duplicate(const Tensor& tensor);
/// The elements of a view in a tensor of their own.
Expected<Tensor> to_contiguous(const TensorView& view);
/// Into a view of the same type and shape; the two have no memory in common. Errors: dtype-mismatch, shape-mismatch.
Expected<void> copy(const TensorView& from, const MutableTensorView& to);

/// In a type that holds every value of the present one (can_convert()). Errors: lossy-conversion.
Expected<Tensor> convert(const TensorView& view, DType type);
/// In any type, by the rule of kernels (docs/meaning.md): floats become integers by truncation, within the type's
/// range, NaN 0; integers keep their low bits; floats are rounded; of complex numbers the real part stays; true is what
/// is not 0.
Expected<Tensor> cast(const TensorView& view, DType type);

}  // namespace tile_tune::tensor
