#include <tile_tune/placement.h>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor {
namespace {

class Devices {
 public:
  void add(std::shared_ptr<Device> device) {
    const std::lock_guard lock(mutex_);
    std::erase_if(devices_, [&](const auto& other) { return other->placement() == device->placement(); });
    devices_.push_back(std::move(device));
  }
  std::shared_ptr<Device> find(const Placement& placement) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const auto& device) { return device->placement() == placement; });
    return found == devices_.end() ? nullptr : *found;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Device>> devices_;
};

Devices& devices() {
  static Devices all;
  return all;
}

std::string words(const Placement& placement) {
  constexpr const char* kMemory[] = {"device memory", "pinned memory", "memory of the host", "managed memory",
                                     "other memory"};
  constexpr const char* kDevice[] = {"CPU", "CUDA", "ROCm", "other"};
  std::string text = kMemory[static_cast<size_t>(placement.memory)];
  if (placement.device)
    text +=
        fmt::format(" of {} device {}", kDevice[static_cast<size_t>(placement.device->kind)], placement.device->number);
  if (!placement.other.empty()) text += fmt::format(" ({})", placement.other);
  return text;
}

Error no_device(const char* operation, const Placement& placement) {
  return {"no-device", fmt::format("{}: there is no {}", operation, words(placement)),
          "add_device() makes a device known", operation,
          placement.device ? std::vector<int64_t>{placement.device->number} : std::vector<int64_t>{}};
}

}  // namespace

void add_device(std::shared_ptr<Device> device) { devices().add(std::move(device)); }

Expected<Tensor> upload(const TensorView& from, const Placement& to) {
  const auto device = devices().find(to);
  if (!device) return no_device("upload", to);
  std::optional<Tensor> compact;
  const void* data = from.data();
  if (!from.layout().is_column_major()) {
    auto copied = to_contiguous(from);
    if (!copied) return copied;
    compact = std::move(*copied);
    data = compact->view()->data();
  }
  const auto bytes = static_cast<size_t>(from.element_count()) * element_size(from.type());
  auto memory = device->allocate(bytes);
  if (!memory) return memory.error();
  if (bytes > 0)
    if (const auto copied = device->copy_in(data, **memory); !copied) return copied.error();
  return Tensor::on_device(std::move(*memory), to, from.type(), from.shape());
}

Expected<Tensor> download(const Tensor& from) {
  if (!from.device_memory())
    return Error{"already-on-host", "download: the tensor is in this process's memory", "duplicate() copies it",
                 "download"};
  const auto device = devices().find(from.placement());
  if (!device) return no_device("download", from.placement());
  auto tensor = Tensor::uninitialized(from.type(), from.shape());
  if (!tensor || tensor->byte_count() == 0) return tensor;
  if (const auto copied = device->copy_out(*from.device_memory(), tensor->mutable_view()->data()); !copied)
    return copied.error();
  return tensor;
}

}  // namespace tile_tune::tensor
