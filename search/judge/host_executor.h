// Kernels in this process, on its CPU; the runtime that they call is loaded before (Runtime::load).
#pragma once

#include "search/judge/executor.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::search {

class HostExecutor final : public Executor {
 public:
  /// Of kernels with this function, as of Kernel::load.
  explicit HostExecutor(std::string function = kKernelFunction, bool takes_context = false)
      : function_(std::move(function)), takes_context_(takes_context) {}

  Result<std::unique_ptr<PreparedKernel>> load(const std::filesystem::path& object) const override;
  std::unique_ptr<Memory> allocate(const Problem& problem, Flush flush) const override;
  std::unique_ptr<Call> bind(const ir::Program& program, const PreparedKernel& kernel, Memory& memory,
                             Flush flush) const override;
  void watch_guards(const Memory* memory, int reply_fd) const override;
  Reply fault(int code) const override;

 private:
  std::string function_;
  bool takes_context_;
};

}  // namespace tile_tune::search
