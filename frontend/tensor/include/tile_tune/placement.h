// Where a tensor's memory is, and the only two ways from one place to another.
//
// Nothing crosses silently: what takes tensors takes them where they are, or returns an error. Part of the SDK: the
// standard library is all this header needs.
#pragma once

#include <tile_tune/tensor.h>

#include <memory>

namespace tile_tune::tensor {

/// A device, as whoever has one offers it: memory on it, and the copies between it and the host. Transfers are compact
/// and column-major on both sides. May be called from several threads at once.
class Device {
 public:
  virtual ~Device() = default;
  virtual Placement placement() const = 0;
  virtual Expected<std::shared_ptr<DeviceMemory>> allocate(size_t bytes) = 0;
  virtual Expected<void> copy_in(const void* from, DeviceMemory& to) = 0;
  virtual Expected<void> copy_out(const DeviceMemory& from, void* to) = 0;
};

/// From now on upload() and download() find it by its placement; one of the same placement gives way.
void add_device(std::shared_ptr<Device> device);

/// A copy on that device. Errors: no-device (none was added for this placement), and the device's own.
Expected<Tensor> upload(const TensorView& from, const Placement& to);
/// A copy in this process's memory. Errors: no-device, already-on-host, and the device's own.
Expected<Tensor> download(const Tensor& from);

}  // namespace tile_tune::tensor
