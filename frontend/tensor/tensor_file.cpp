#include <tile_tune/tensor_file.h>

#include <utility>

#include "frontend/tensor/copy_elements.h"
#include "frontend/tensor/npy.h"

namespace tile_tune::tensor {
namespace {

Error error_of(const Diagnostic& diagnostic, const char* operation) {
  return {diagnostic.code, diagnostic.message, diagnostic.note, operation};
}

}  // namespace

Expected<Tensor> load_npy(const std::string& path) {
  const auto array = read_npy_as_stored(path);
  if (!array) return error_of(array.error(), "load_npy");
  const auto elements = static_cast<int64_t>(array->data.size() / element_size(array->type));
  auto strides = array->strides.empty() ? c_strides(array->shape) : array->strides;
  auto layout = Layout::strided(array->shape, std::move(strides), array->origin, elements);
  if (!layout) return layout.error();
  const auto view = TensorView::over(array->data.data(), array->type, std::move(*layout));
  return view ? to_contiguous(*view) : view.error();
}

Expected<void> save_npy(const std::string& path, const TensorView& view) {
  const auto compact = to_contiguous(view);
  if (!compact) return compact.error();
  Array array{view.type(), view.shape(), std::vector<std::byte>(compact->byte_count()), compact->layout().strides()};
  const auto* first = static_cast<const std::byte*>(compact->view()->data());
  std::copy(first, first + compact->byte_count(), array.data.begin());
  const auto written = write_npy(path, array, /*fortran_order=*/true);
  return written ? Expected<void>() : error_of(written.error(), "save_npy");
}

}  // namespace tile_tune::tensor
