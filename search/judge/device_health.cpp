#include "search/judge/device_health.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace tile_tune::search {

/// What is used of nvml.h: enumerations are ints, a device is a pointer, 0 is success. What a driver lacks costs one
/// figure.
struct DeviceHealth::Library {
  enum Clock { Multiprocessors = 1, Memory = 2 };
  // nvmlClocksEventReasons: bits of what sets the clock at present.
  static constexpr unsigned long long kPowerLimit = 0x4, kSlowdown = 0x8, kWarm = 0x20, kHot = 0x40, kPowerBrake = 0x80;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_on)(const char*, void**) = nullptr;
  int (*clock_of)(void*, int, unsigned*) = nullptr;
  int (*temperature_of)(void*, int, unsigned*) = nullptr;
  int (*reasons_of)(void*, unsigned long long*) = nullptr;
  void* device = nullptr;
  bool is_started = false;

  ~Library() {
    if (is_started) shutdown();
  }
  /// The handle stays: other libraries of the process may have it, too.
  bool load(const std::string& bus_id) {
    void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    if (!find(init, "nvmlInit_v2") || !find(shutdown, "nvmlShutdown") ||
        !find(device_on, "nvmlDeviceGetHandleByPciBusId_v2"))
      return false;
    find(clock_of, "nvmlDeviceGetClockInfo");
    find(temperature_of, "nvmlDeviceGetTemperature");
    // The name of drivers since 535, and the one before.
    if (!find(reasons_of, "nvmlDeviceGetCurrentClocksEventReasons"))
      find(reasons_of, "nvmlDeviceGetCurrentClocksThrottleReasons");
    is_started = init() == 0;
    return is_started && device_on(bus_id.c_str(), &device) == 0;
  }
  unsigned long long reasons() const {
    unsigned long long bits = 0;
    return reasons_of && reasons_of(device, &bits) == 0 ? bits : 0;
  }
};

DeviceHealth::DeviceHealth(const std::string& bus_id) {
  if (bus_id.empty()) return;
  auto library = std::make_unique<Library>();
  if (library->load(bus_id)) library_ = std::move(library);
}

DeviceHealth::~DeviceHealth() = default;

bool DeviceHealth::is_held_back() const {
  constexpr auto kHeldBack = Library::kSlowdown | Library::kWarm | Library::kHot | Library::kPowerBrake;
  return library_ && (library_->reasons() & kHeldBack) != 0;
}

std::string DeviceHealth::text() const {
  if (!library_) return "";
  std::vector<std::string> parts;
  unsigned value = 0;
  const auto says = [&](auto function, int which) {
    return function && function(library_->device, which, &value) == 0;
  };
  if (says(library_->clock_of, Library::Multiprocessors)) parts.push_back(fmt::format("{} MHz", value));
  if (says(library_->clock_of, Library::Memory)) parts.push_back(fmt::format("memory {} MHz", value));
  if (says(library_->temperature_of, 0)) parts.push_back(fmt::format("{} C", value));
  const auto reasons = library_->reasons();
  for (const auto& [bit, why] : {std::pair{Library::kWarm | Library::kHot, "held back by heat"},
                                 {Library::kSlowdown, "held back by the hardware"},
                                 {Library::kPowerBrake, "held back by the power supply"},
                                 {Library::kPowerLimit, "at its limit of power"}})
    if (reasons & bit) parts.emplace_back(why);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tile_tune::search
