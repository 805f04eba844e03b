// Tensors to and from other libraries of the process by DLPack, without a copy.
//
// The structs of namespace dlpack are those of dlpack.h 1.0 (github.com/dmlc/dlpack), which is not needed: a
// `DLManagedTensorVersioned*` is passed as `reinterpret_cast<tensor::dlpack::ManagedTensorVersioned*>(...)`. Part of
// the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/tensor.h>

#include <cstdint>

namespace tile_tune::tensor {

namespace dlpack {

struct Version {
  uint32_t major, minor;
};
struct Device {
  int32_t type, number;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
/// DLTensor. `strides` count elements; null: compact, the last index fastest.
struct TensorData {
  void* data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
/// DLManagedTensor, of versions before 1.0.
struct ManagedTensor {
  TensorData data;
  void* context;
  void (*deleter)(ManagedTensor*);
};
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  TensorData data;
};
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

}  // namespace dlpack

/// Another library's tensor: its elements as they lie, given back when this ends.
class ForeignTensor {
 public:
  /// Takes over the tensor; where it does not fit, the caller still has it. Errors: dlpack-version, dlpack-type (bits
  /// and codes that no element type has, several lanes), dlpack-device (memory that is not the host's; numbers:
  /// DLPack's type and number of the device), null-data, and those of Layout.
  static Expected<ForeignTensor> take(dlpack::ManagedTensorVersioned* managed);
  static Expected<ForeignTensor> take(dlpack::ManagedTensor* managed);

  const TensorView& view() const { return view_; }
  const Placement& placement() const { return placement_; }
  bool is_read_only() const { return is_read_only_; }
  /// Errors: read-only, overlapping-elements.
  Expected<MutableTensorView> mutable_view();

 private:
  ForeignTensor(TensorView view, Placement placement, bool is_read_only, std::shared_ptr<void> owner)
      : view_(std::move(view)),
        placement_(std::move(placement)),
        is_read_only_(is_read_only),
        owner_(std::move(owner)) {}
  static Expected<ForeignTensor> make(const dlpack::TensorData& data, bool is_read_only);

  TensorView view_;
  Placement placement_;
  bool is_read_only_;
  std::shared_ptr<void> owner_;
};

/// For another library, which calls the deleter when it is done. Errors: not-on-host.
Expected<dlpack::ManagedTensorVersioned*> to_dlpack(Tensor tensor);
Expected<dlpack::ManagedTensor*> to_older_dlpack(Tensor tensor);
/// The elements of a view, read-only, whose memory lives as long as `owner` does. Errors: negative-stride (numbers: the
/// dimension, its stride), which numpy and PyTorch refuse.
Expected<dlpack::ManagedTensorVersioned*> to_dlpack(const TensorView& view, std::shared_ptr<const void> owner);

}  // namespace tile_tune::tensor
