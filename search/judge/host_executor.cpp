#include "search/judge/host_executor.h"

#include <HalideRuntime.h>
#include <fmt/format.h>

#include "search/judge/buffers.h"
#include "search/judge/guard_watch.h"
#include "search/judge/host_kernel.h"
#include "search/judge/kernel_call.h"
#include "search/judge/kernel_runtime.h"

namespace tile_tune::search {

Result<std::unique_ptr<PreparedKernel>> HostExecutor::load(const std::filesystem::path& object) const {
  TILE_TUNE_TRY(kernel, Kernel::load(object, function_, takes_context_));
  return std::make_unique<Kernel>(std::move(kernel));
}

std::unique_ptr<Memory> HostExecutor::allocate(const Problem& problem, Flush flush) const {
  return std::make_unique<Buffers>(problem, flush);
}

std::unique_ptr<Call> HostExecutor::bind(const ir::Program& program, const PreparedKernel& kernel, Memory& memory,
                                         Flush flush) const {
  return std::make_unique<KernelCall>(program, static_cast<const Kernel&>(kernel), static_cast<Buffers&>(memory),
                                      flush);
}

void HostExecutor::watch_guards(const Memory* memory, int reply_fd) const {
  search::watch_guards(static_cast<const Buffers*>(memory), reply_fd);
  tile_tune_fill_memory(memory != nullptr);
}

Reply HostExecutor::fault(int code) const {
  const std::string said = take_runtime_error();
  const auto outcome = code == halide_error_code_out_of_memory ? Outcome::OutOfMemory : Outcome::RunError;
  return Reply::fault(outcome, fmt::format("it returned error code {}{}{}", code, said.empty() ? "" : ": ", said));
}

}  // namespace tile_tune::search
