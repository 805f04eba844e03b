#include <tile_tune/tensor.h>

#include <cstring>
#include <limits>
#include <utility>

#include "frontend/tensor/copy_elements.h"
#include "frontend/tensor/kept_memory.h"
#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor {

Expected<TensorView> TensorView::over(const void* buffer, DType type, Layout layout) {
  if (!buffer && layout.element_count() > 0) return errors::null_data("over");
  return TensorView(buffer, type, std::move(layout));
}

Expected<TensorView> TensorView::compact(const void* elements, size_t count, DType type, Shape shape) {
  auto layout = Layout::column_major(std::move(shape));
  if (!layout) return layout.error();
  if (layout->element_count() != static_cast<int64_t>(count))
    return errors::shape_mismatch("of", "numbers of elements", static_cast<int64_t>(count), layout->element_count());
  return over(elements, type, std::move(*layout));
}

Expected<void> TensorView::check_span(DType type) const {
  if (type != type_) return errors::dtype_mismatch("as_span", type_, type);
  if (!layout_.is_column_major()) return errors::not_contiguous("as_span");
  return {};
}

Expected<MutableTensorView> MutableTensorView::from(Expected<TensorView> view) {
  if (!view) return view.error();
  if (const auto writable = view->layout().check_mutable(); !writable) return writable.error();
  return MutableTensorView(std::move(*view));
}

void Tensor::Free::operator()(void* memory) const { give_back_memory(memory); }

Expected<Tensor> Tensor::allocated(const char* operation, DType type, Shape shape) {
  auto layout = Layout::column_major(std::move(shape));
  if (!layout) return layout.error();
  int64_t bytes;
  if (__builtin_mul_overflow(layout->element_count(), static_cast<int64_t>(element_size(type)), &bytes) ||
      bytes > std::numeric_limits<int64_t>::max() - 64)  // rounded up to it
    return errors::integer_overflow(operation, "the number of bytes");
  Tensor tensor;
  tensor.type_ = type;
  tensor.layout_ = std::move(*layout);
  if (bytes == 0) return tensor;
  tensor.host_.reset(take_memory(static_cast<size_t>(bytes)));
  if (!tensor.host_) return errors::out_of_memory(operation, bytes);
  return tensor;
}

Expected<Tensor> Tensor::uninitialized(DType type, Shape shape) {
  return allocated("uninitialized", type, std::move(shape));
}

Expected<Tensor> Tensor::zeros(DType type, Shape shape) {
  auto tensor = allocated("zeros", type, std::move(shape));
  if (tensor && tensor->host_) std::memset(tensor->host_.get(), 0, tensor->byte_count());
  return tensor;
}

Expected<Tensor> Tensor::on_device(std::shared_ptr<DeviceMemory> memory, Placement placement, DType type, Shape shape) {
  auto layout = Layout::column_major(std::move(shape));
  if (!layout) return layout.error();
  if (!memory) return errors::null_data("on_device");
  Tensor tensor;
  tensor.type_ = type;
  tensor.layout_ = std::move(*layout);
  tensor.device_ = std::move(memory);
  tensor.placement_ = std::move(placement);
  return tensor;
}

Expected<Tensor> Tensor::copy_of(const TensorView& view) {
  auto tensor = uninitialized(view.type(), view.shape());
  if (!tensor) return tensor;
  copy_elements({static_cast<const std::byte*>(view.data()), view.strides()},
                {static_cast<std::byte*>(tensor->host_.get()), tensor->layout_.strides()}, view.shape(), view.type());
  return tensor;
}

Expected<TensorView> Tensor::view() const& {
  if (device_) return errors::not_on_host("view");
  return TensorView(host_.get(), type_, layout_);
}

Expected<MutableTensorView> Tensor::mutable_view() & {
  if (device_) return errors::not_on_host("mutable_view");
  return MutableTensorView(TensorView(host_.get(), type_, layout_));
}

Expected<void> Tensor::check_elements(DType type) const {
  if (type != type_) return errors::dtype_mismatch("elements", type_, type);
  if (device_) return errors::not_on_host("elements");
  return {};
}

Expected<void> Tensor::set_shape(Shape shape) {
  auto layout = layout_.reshape(std::move(shape));
  if (!layout) return layout.error();
  layout_ = std::move(*layout);
  return {};
}

Expected<Tensor> duplicate(const Tensor& tensor) {
  const auto view = tensor.view();
  return view ? Tensor::copy_of(*view) : Expected<Tensor>(errors::not_on_host("duplicate"));
}

Expected<void> copy(const TensorView& from, const MutableTensorView& to) {
  if (from.type() != to.type()) return errors::dtype_mismatch("copy", from.type(), to.type());
  if (from.rank() != to.shape().size())
    return errors::rank_mismatch("copy", "dimensions", from.rank(), to.shape().size());
  for (size_t d = 0; d < from.rank(); ++d)
    if (from.shape()[d] != to.shape()[d])
      return errors::shape_mismatch("copy", "extents of dimension " + std::to_string(d), from.shape()[d],
                                    to.shape()[d]);
  copy_elements({static_cast<const std::byte*>(from.data()), from.strides()},
                {static_cast<std::byte*>(to.data()), to.view().strides()}, from.shape(), from.type());
  return {};
}

}  // namespace tile_tune::tensor
