// Tensors of the C interface.
#include <tile_tune/tensor_einsum.h>
#include <tile_tune/tile_tune.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "engine/handles/c_errors.h"
#include "frontend/ir/storage.h"
#include "frontend/tensor/copy_elements.h"

using namespace tile_tune;
using namespace tile_tune::engine::c;

struct tt_tensor {
  std::shared_ptr<tensor::Tensor> owner;  // nullptr: borrowed memory
  tensor::TensorView view;
};

namespace {

using tensor::Expected;
using tensor::TensorView;

tt_error* keep(Expected<TensorView> view, std::shared_ptr<tensor::Tensor> owner, tt_tensor** to) {
  if (!view) return made(view.error());
  *to = new tt_tensor{std::move(owner), std::move(*view)};
  return nullptr;
}

tt_error* keep(Expected<tensor::Tensor> made_tensor, tt_tensor** to) {
  if (!made_tensor) return made(made_tensor.error());
  auto owner = std::make_shared<tensor::Tensor>(std::move(*made_tensor));
  auto view = owner->view();
  return keep(std::move(view), std::move(owner), to);
}

/// Over the array's memory, from the first byte that an element takes.
Expected<TensorView> view_of(const engine::Array& array) {
  const auto strides = array.strides.empty() ? tensor::c_strides(array.shape) : array.strides;
  if (std::any_of(array.shape.begin(), array.shape.end(), [](int64_t extent) { return extent < 0; }))
    return engine::Error{"negative-extent", "an array has a negative extent"};
  if (array.shape.size() > tensor::kMaxRank || !ir::is_addressable(strides, array.shape, dtype_size(array.type)))
    return engine::Error{"bad-array", "an array has strides that reach beyond all memory, or too many dimensions"};
  const auto [before, count] = ir::reach(strides, array.shape);
  auto layout = tensor::Layout::strided(array.shape, strides, before, count);
  if (!layout) return layout.error();
  const auto* data = static_cast<const std::byte*>(array.data);
  return TensorView::over(data ? data - before * static_cast<int64_t>(dtype_size(array.type)) : nullptr, array.type,
                          std::move(*layout));
}

std::vector<int> numbers_of(const int32_t* from, size_t count) { return {from, from + count}; }

/// `derive` makes a view of the tensor's.
template <typename Derive>
tt_error* derive(const tt_tensor* of, const void* list, size_t count, tt_tensor** view, const Derive& derive_view) {
  if (!of || !view || (count > 0 && !list)) return null_pointer("an argument");
  return without_exceptions([&] { return keep(derive_view(of->view), of->owner, view); });
}

struct Operands {
  std::vector<TensorView> views;
  engine::EinsumOptions options;
};

tt_error* read_operands(const tt_tensor* const* operands, size_t count, const tt_einsum_request* given, Operands& to) {
  if (!operands && count > 0) return null_pointer("a list of tensors");
  for (size_t i = 0; i < count; ++i) {
    if (!operands[i]) return null_pointer("a tensor");
    to.views.push_back(operands[i]->view);
  }
  if (!given) return nullptr;
  tt_einsum_request all{};
  std::memcpy(&all, given, std::min(given->size, sizeof all));
  if (all.conjugate) to.options.conjugate.assign(all.conjugate, all.conjugate + count);
  if (all.path)
    for (size_t i = 0; i < all.path_steps; ++i) to.options.path.emplace_back(all.path[2 * i], all.path[2 * i + 1]);
  if (all.memory_limit != 0) to.options.memory_limit = all.memory_limit;
  return nullptr;
}

}  // namespace

extern "C" {

tt_error* tt_tensor_new(int32_t dtype, int32_t rank, const int64_t* shape, tt_tensor** tensor) {
  if (!tensor || (rank > 0 && !shape)) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    engine::Array array;
    if (tt_error* error = read_array({nullptr, dtype, rank, shape, nullptr}, array)) return error;
    return keep(tensor::Tensor::zeros(array.type, array.shape), tensor);
  });
}

tt_error* tt_tensor_borrow(const tt_array* array, tt_tensor** tensor) {
  if (!array || !tensor) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    engine::Array read;
    if (tt_error* error = read_array(*array, read)) return error;
    return keep(view_of(read), nullptr, tensor);
  });
}

tt_error* tt_tensor_copy(const tt_array* array, tt_tensor** tensor) {
  if (!array || !tensor) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    engine::Array read;
    if (tt_error* error = read_array(*array, read)) return error;
    const auto view = view_of(read);
    return view ? keep(tensor::to_contiguous(*view), tensor) : made(view.error());
  });
}

void tt_tensor_free(tt_tensor* tensor) { delete tensor; }

tt_array tt_tensor_array(const tt_tensor* tensor) {
  const TensorView& view = tensor->view;
  return {const_cast<void*>(view.data()), static_cast<int32_t>(view.type()), static_cast<int32_t>(view.rank()),
          view.shape().data(), view.strides().data()};
}

tt_error* tt_tensor_read(const tt_tensor* tensor, void* to, size_t bytes) {
  if (!tensor || (bytes > 0 && !to)) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    const TensorView& view = tensor->view;
    const size_t has = static_cast<size_t>(view.element_count()) * dtype_size(view.type());
    if (bytes != has)
      return made({"bad-array",
                   "there are " + std::to_string(bytes) + " bytes for a tensor of " + std::to_string(has),
                   "",
                   "tt_tensor_read",
                   {static_cast<int64_t>(bytes), static_cast<int64_t>(has)}});
    tensor::copy_elements({static_cast<const std::byte*>(view.data()), view.strides()},
                          {static_cast<std::byte*>(to), tensor::c_strides(view.shape())}, view.shape(), view.type());
    return nullptr;
  });
}

tt_error* tt_tensor_transpose(const tt_tensor* tensor, const int32_t* axes, size_t count, tt_tensor** view) {
  return derive(tensor, axes, count, view, [&](const TensorView& of) { return of.transpose(numbers_of(axes, count)); });
}

tt_error* tt_tensor_slice(const tt_tensor* tensor, const tt_slice* slices, size_t count, tt_tensor** view) {
  return derive(tensor, slices, count, view, [&](const TensorView& of) {
    std::vector<tensor::Slice> each;
    for (size_t i = 0; i < count; ++i) each.push_back({slices[i].start, slices[i].end, slices[i].step});
    return of.slice(each);
  });
}

tt_error* tt_tensor_reshape(const tt_tensor* tensor, int32_t rank, const int64_t* shape, tt_tensor** view) {
  if (rank < 0) return made("bad-array", "a shape of less than 0 dimensions");
  const auto count = static_cast<size_t>(rank);
  return derive(tensor, shape, count, view, [&](const TensorView& of) { return of.reshape({shape, shape + count}); });
}

tt_error* tt_tensor_broadcast(const tt_tensor* tensor, int32_t rank, const int64_t* shape, const int32_t* axes,
                              size_t count, tt_tensor** view) {
  if (rank < 0) return made("bad-array", "a shape of less than 0 dimensions");
  const auto dimensions = static_cast<size_t>(rank);
  if ((dimensions > 0 && !shape)) return null_pointer("a shape");
  return derive(tensor, axes, count, view, [&](const TensorView& of) {
    return of.broadcast({shape, shape + dimensions}, numbers_of(axes, count));
  });
}

tt_error* tt_tensor_diagonal(const tt_tensor* tensor, int32_t first, int32_t second, tt_tensor** view) {
  return derive(tensor, nullptr, 0, view, [&](const TensorView& of) { return of.diagonal(first, second); });
}

tt_error* tt_tensor_to_contiguous(const tt_tensor* tensor, tt_tensor** result) {
  if (!tensor || !result) return null_pointer("an argument");
  return without_exceptions([&] { return keep(engine::to_contiguous(tensor->view), result); });
}

tt_error* tt_tensor_convert(const tt_tensor* tensor, int32_t dtype, tt_tensor** result) {
  if (!tensor || !result) return null_pointer("an argument");
  if (!is_dtype(dtype)) return made("dtype-mismatch", "there is no such element type");
  return without_exceptions([&] { return keep(tensor::convert(tensor->view, static_cast<DType>(dtype)), result); });
}

tt_error* tt_tensor_cast(const tt_tensor* tensor, int32_t dtype, tt_tensor** result) {
  if (!tensor || !result) return null_pointer("an argument");
  if (!is_dtype(dtype)) return made("dtype-mismatch", "there is no such element type");
  return without_exceptions([&] { return keep(tensor::cast(tensor->view, static_cast<DType>(dtype)), result); });
}

tt_error* tt_einsum_tensors(const char* subscripts, const tt_tensor* const* operands, size_t count,
                            const tt_einsum_request* request, tt_tensor** result) {
  if (!subscripts || !result) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    Operands all;
    if (tt_error* error = read_operands(operands, count, request, all)) return error;
    return keep(engine::einsum(subscripts, all.views, all.options), result);
  });
}

tt_error* tt_einsum_into(const double alpha[2], const char* subscripts, const tt_tensor* const* operands, size_t count,
                         const double beta[2], tt_tensor* output, const tt_einsum_request* request) {
  if (!alpha || !subscripts || !beta || !output) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    Operands all;
    if (tt_error* error = read_operands(operands, count, request, all)) return error;
    const TensorView& view = output->view;
    const auto writable = tensor::MutableTensorView::over(const_cast<void*>(view.buffer()), view.type(), view.layout());
    if (!writable) return made(writable.error());
    return result_of(
        engine::einsum_into({alpha[0], alpha[1]}, subscripts, all.views, {beta[0], beta[1]}, *writable, all.options));
  });
}
}
