// What judges kernels on a device of this machine in tests, as workers do: in children, on guarded memory.
#pragma once

#include <filesystem>
#include <functional>

#include "base/temporary_directory.h"
#include "codegen/target/target.h"
#include "search/judge/executor.h"

namespace tile_tune::test {

/// Whether there is an OpenCL device; if not, that is said. Asked in a child: this process must not start a driver.
bool has_device();

/// A folder with the runtime that kernels need, and the target of device 0.
struct DeviceJudge {
  DeviceJudge();

  base::TemporaryDirectory folder;
  std::filesystem::path runtime;
  codegen::Target target;

  search::Reply in_child(const std::function<search::Reply(const search::Executor&, int reply_fd)>& work) const;
  /// Of the kernel in an object; a call may take so many seconds, of which the driver needs a few.
  search::Reply verified(const ir::Program& program, const std::filesystem::path& object, double seconds = 30) const;
};

}  // namespace tile_tune::test
