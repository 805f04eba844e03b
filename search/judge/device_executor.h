// Kernels on a device, through the runtime of emitted libraries (codegen/emit/runtime/tile_tune_device.h). What is made
// here loads the device's driver and makes a context, neither of which survives a fork: only a process that ends with
// its work makes one.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "codegen/target/target.h"
#include "search/judge/device_health.h"
#include "search/judge/device_probe.h"
#include "search/judge/executor.h"
#include "search/judge/kernel_arguments.h"

struct tile_tune_device_interface;

namespace tile_tune::search {

/// Memory is that of this process, between guards. OpenCL's device uses it in place: where that is the CPU under
/// another name (PoCL), a kernel that leaves its buffers is caught. A CUDA device has copies of it, made before and
/// after a run.
class DeviceExecutor final : public Executor {
 public:
  /// Of kernels with this function. The target's device, number target.found.number of its kind, is looked for when a
  /// kernel is loaded, which fails without it.
  explicit DeviceExecutor(const codegen::Target& target, std::string function = kKernelFunction);

  Result<std::unique_ptr<PreparedKernel>> load(const std::filesystem::path& object) const override;
  std::unique_ptr<Memory> allocate(const Problem& problem, Flush flush) const override;
  std::unique_ptr<Call> bind(const ir::Program& program, const PreparedKernel& kernel, Memory& memory,
                             Flush flush) const override;
  void watch_guards(const Memory* memory, int reply_fd) const override;
  Reply fault(int code) const override;
  bool first_call_loads() const override { return true; }
  bool is_held_back() const override { return health().is_held_back(); }
  double flop_ns(double flops, DType type) const override;
  double copy_ns(int64_t bytes) const override;
  std::string condition() const override { return health().text(); }
  /// Work that is nobody's and touches no memory, for so long on a CUDA device: the host has launched what follows when
  /// the time of that begins. A kernel of 3 us is otherwise timed with its own launch.
  void keep_busy(double ns) const;

 private:
  /// Of the device, from when it is first asked for.
  const DeviceHealth& health() const;
  /// Multiply-adds and nothing else, in the queue; false: there is no such kernel.
  bool launch_probe(DType type, int blocks, int threads, uint32_t iterations) const;

  const tile_tune_device_interface* device_;
  int number_;
  std::string function_;
  mutable std::unique_ptr<DeviceHealth> health_;
  /// What copy_ns() copies; it goes with the process.
  struct Copied {
    int64_t bytes = 0;
    uint64_t from = 0, to = 0;
    void *begin = nullptr, *end = nullptr;
  };
  mutable Copied copied_;
  mutable std::optional<int32_t> megahertz_;
  /// What launch_probe() runs, by type; also for as long as the process.
  struct Probe {
    ProbeKernel kernel;
    void* state = nullptr;
  };
  mutable std::map<DType, Probe> probes_;
};

}  // namespace tile_tune::search
