#include <tile_tune/dlpack_exchange.h>

#include <fmt/format.h>

#include <utility>

#include "frontend/tensor/copy_elements.h"
#include "frontend/tensor/dtype.h"
#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor {
namespace {

// Of dlpack.h.
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
enum DeviceType : int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11, kCudaManaged = 13 };
constexpr uint32_t kMajorVersion = 1;

dlpack::DataType data_type(DType type) {
  const auto bits = static_cast<uint8_t>(8 * element_size(type));
  const Code code = type == DType::Bool   ? kBool
                    : type == DType::BF16 ? kBfloat
                    : is_complex(type)    ? kComplex
                    : is_float(type)      ? kFloat
                    : is_signed(type)     ? kInt
                                          : kUInt;
  return {code, bits, 1};
}

std::optional<DType> element_type(dlpack::DataType given) {
  constexpr DType kAll[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16, DType::U16,
                            DType::I32,  DType::U32, DType::I64, DType::U64, DType::F16,
                            DType::BF16, DType::F32, DType::F64, DType::C32, DType::C64};
  for (const DType type : kAll) {
    const auto known = data_type(type);
    if (known.code == given.code && known.bits == given.bits && given.lanes == 1) return type;
  }
  return std::nullopt;
}

std::optional<Placement> placement_of(dlpack::Device device) {
  const auto on = [&](MemoryKind memory, DeviceKind kind) { return Placement{memory, DeviceId{kind, device.number}}; };
  switch (device.type) {
    case kCpu:
      return Placement{};
    case kCudaHost:
      return on(MemoryKind::PinnedHost, DeviceKind::Cuda);
    case kRocmHost:
      return on(MemoryKind::PinnedHost, DeviceKind::Rocm);
    case kCudaManaged:
      return on(MemoryKind::Managed, DeviceKind::Cuda);
    default:
      return std::nullopt;
  }
}

/// What an exported tensor needs as long as it lives.
template <typename Managed, typename Owner>
struct Export {
  Export(Owner kept, const void* buffer, DType type, const Layout& layout)
      : owner(std::move(kept)), shape(layout.shape()), strides(layout.strides()) {
    managed.data = {const_cast<void*>(buffer),
                    {kCpu, 0},
                    static_cast<int32_t>(shape.size()),
                    data_type(type),
                    shape.data(),
                    strides.data(),
                    buffer ? static_cast<uint64_t>(layout.offset()) * element_size(type) : 0};
    managed.context = this;
    managed.deleter = [](Managed* self) { delete static_cast<Export*>(self->context); };
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) managed.version = {kMajorVersion, 0};
  }

  Managed managed = {};
  Owner owner;
  Shape shape;
  Strides strides;
};

template <typename Managed>
Expected<Managed*> exported(Tensor tensor) {
  const auto view = tensor.view();
  if (!view) return errors::not_on_host("to_dlpack");
  const void* buffer = view->buffer();
  const DType type = tensor.type();
  const Layout layout = tensor.layout();
  return &(new Export<Managed, Tensor>(std::move(tensor), buffer, type, layout))->managed;
}

}  // namespace

Expected<ForeignTensor> ForeignTensor::make(const dlpack::TensorData& data, bool is_read_only) {
  const auto type = element_type(data.type);
  if (!type)
    return Error{
        "dlpack-type",
        fmt::format("take: elements of code {}, {} bits, {} lanes", data.type.code, data.type.bits, data.type.lanes),
        "",
        "take",
        {data.type.code, data.type.bits, data.type.lanes}};
  auto placement = placement_of(data.device);
  if (!placement)
    return Error{
        "dlpack-device",
        fmt::format("take: the memory is that of device {} of DLPack's type {}", data.device.number, data.device.type),
        "",
        "take",
        {data.device.type, data.device.number}};
  if (data.rank < 0)
    return Error{"rank-mismatch", fmt::format("take: a rank of {}", data.rank), "", "take", {data.rank}};
  if (data.rank > static_cast<int32_t>(kMaxRank))
    return errors::too_many_dimensions("take", static_cast<size_t>(data.rank));
  if (data.rank > 0 && !data.shape) return errors::rank_mismatch("take", "extents", 0, static_cast<size_t>(data.rank));
  const auto rank = static_cast<size_t>(data.rank);
  Shape shape;
  if (rank > 0) shape.assign(data.shape, data.shape + rank);
  Strides strides = c_strides(shape);
  if (data.strides) strides.assign(data.strides, data.strides + rank);
  // DLPack does not say how large the buffer is: it is what is reached. Any place is within so large a one.
  constexpr int64_t kLargest = int64_t{1} << 62;
  const auto anywhere = Layout::strided(shape, strides, kLargest / 2, kLargest);
  if (!anywhere) return anywhere.error();
  const auto reach = anywhere->reach().value_or(Layout::Reach{kLargest / 2, kLargest / 2 - 1});
  const int64_t before = kLargest / 2 - reach.first;
  auto layout = Layout::strided(std::move(shape), std::move(strides), before, reach.last - reach.first + 1);
  if (!layout) return layout.error();
  if (!data.data && layout->element_count() > 0) return errors::null_data("take");
  const std::byte* first = nullptr;
  if (data.data)
    first = static_cast<const std::byte*>(data.data) + data.byte_offset -
            before * static_cast<int64_t>(element_size(*type));
  auto view = TensorView::over(first, *type, std::move(*layout));
  if (!view) return view.error();
  return ForeignTensor(std::move(*view), std::move(*placement), is_read_only, nullptr);
}

Expected<ForeignTensor> ForeignTensor::take(dlpack::ManagedTensorVersioned* managed) {
  if (!managed) return errors::null_data("take");
  // Of another major version nothing but the version and the deleter may be read.
  if (managed->version.major != kMajorVersion)
    return Error{"dlpack-version",
                 fmt::format("take: version {} of DLPack, not {}", managed->version.major, kMajorVersion),
                 "",
                 "take",
                 {managed->version.major, kMajorVersion}};
  auto foreign = make(managed->data, (managed->flags & dlpack::kReadOnly) != 0);
  if (foreign)
    foreign->owner_ = std::shared_ptr<void>(managed, [managed](void*) {
      if (managed->deleter) managed->deleter(managed);
    });
  return foreign;
}

Expected<ForeignTensor> ForeignTensor::take(dlpack::ManagedTensor* managed) {
  if (!managed) return errors::null_data("take");
  auto foreign = make(managed->data, false);
  if (foreign)
    foreign->owner_ = std::shared_ptr<void>(managed, [managed](void*) {
      if (managed->deleter) managed->deleter(managed);
    });
  return foreign;
}

Expected<MutableTensorView> ForeignTensor::mutable_view() {
  if (is_read_only_)
    return Error{"read-only", "mutable_view: the tensor's owner lets nobody write it", "to_contiguous() copies it",
                 "mutable_view"};
  return MutableTensorView::over(const_cast<void*>(view_.buffer()), view_.type(), view_.layout());
}

Expected<dlpack::ManagedTensorVersioned*> to_dlpack(Tensor tensor) {
  return exported<dlpack::ManagedTensorVersioned>(std::move(tensor));
}

Expected<dlpack::ManagedTensor*> to_older_dlpack(Tensor tensor) {
  return exported<dlpack::ManagedTensor>(std::move(tensor));
}

Expected<dlpack::ManagedTensorVersioned*> to_dlpack(const TensorView& view, std::shared_ptr<const void> owner) {
  for (size_t d = 0; d < view.rank(); ++d)
    if (view.strides()[d] < 0 && view.shape()[d] > 1)
      return Error{
          "negative-stride",
          fmt::format("to_dlpack: dimension {} has the stride {}, which other libraries refuse", d, view.strides()[d]),
          "to_contiguous() copies it",
          "to_dlpack",
          {static_cast<int64_t>(d), view.strides()[d]}};
  using Exported = Export<dlpack::ManagedTensorVersioned, std::shared_ptr<const void>>;
  auto* managed = &(new Exported(std::move(owner), view.buffer(), view.type(), view.layout()))->managed;
  managed->flags = dlpack::kReadOnly;
  return managed;
}

}  // namespace tile_tune::tensor
