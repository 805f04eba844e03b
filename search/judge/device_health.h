// How an NVIDIA device is doing while kernels are timed on it, by its library for that (NVML), which is loaded where it
// is installed and not missed where it is not.
#pragma once

#include <memory>
#include <string>

namespace tile_tune::search {

class DeviceHealth {
 public:
  /// Of the device on this bus (tile_tune_device_facts::bus_id); "": of none.
  explicit DeviceHealth(const std::string& bus_id);
  ~DeviceHealth();
  DeviceHealth(const DeviceHealth&) = delete;
  DeviceHealth& operator=(const DeviceHealth&) = delete;

  /// Whether heat or the power supply makes it slower than it is by itself. A limit of power that it keeps to does not
  /// count: large products reach it for as long as they run.
  bool is_held_back() const;
  /// "1980 MHz, memory 3201 MHz, 54 C, held back by heat"; "" without the library.
  std::string text() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;  // null: it is not here, or knows no such device
};

}  // namespace tile_tune::search
