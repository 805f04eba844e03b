#include "search/judge/host_executor.h"

#include <HalideRuntime.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "search/judge/buffers.h"
#include "search/judge/kernel.h"
#include "search/judge/kernel_call.h"

namespace tile_tune::search {
namespace {

// What the signal handler needs, made before anything can fault: the handler itself may only write and exit.
const Buffers* watched = nullptr;
int watched_reply_fd = -1;
std::vector<std::string> outside_replies;  // one a buffer

void on_fault(int signal, siginfo_t* info, void*) {
  if (const int buffer = watched ? watched->guarding(info->si_addr) : -1; buffer >= 0) {
    const ssize_t written = write(watched_reply_fd, outside_replies[buffer].data(), outside_replies[buffer].size());
    _exit(written > 0 ? 0 : 1);
  }
  // Not ours: returning runs the instruction again, which then ends the process by the signal itself.
  ::signal(signal, SIG_DFL);
}

}  // namespace

Result<std::unique_ptr<LoadedKernel>> HostExecutor::load(const std::filesystem::path& object) const {
  TILE_TUNE_TRY(kernel, Kernel::load(object, function_, takes_context_));
  return std::make_unique<Kernel>(std::move(kernel));
}

std::unique_ptr<Memory> HostExecutor::allocate(const Problem& problem, Flush flush) const {
  return std::make_unique<Buffers>(problem, flush);
}

std::unique_ptr<Call> HostExecutor::bind(const ir::Program& program, const LoadedKernel& kernel, Memory& memory,
                                         Flush flush) const {
  return std::make_unique<KernelCall>(program, static_cast<const Kernel&>(kernel), static_cast<Buffers&>(memory),
                                      flush);
}

void HostExecutor::watch_guards(const Memory* memory, int reply_fd) const {
  const auto* buffers = static_cast<const Buffers*>(memory);
  watched = nullptr;
  if (buffers) {
    outside_replies.clear();
    for (const auto& name : buffers->names())
      outside_replies.push_back(encode(Reply::fault(Outcome::Wrong, "it touched memory outside " + name)) + "\n");
  }
  watched = buffers;
  watched_reply_fd = reply_fd;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

Reply HostExecutor::fault(int code) const {
  const std::string said = take_runtime_error();
  const auto outcome = code == halide_error_code_out_of_memory ? Outcome::OutOfMemory : Outcome::RunError;
  return Reply::fault(outcome, fmt::format("it returned error code {}{}{}", code, said.empty() ? "" : ": ", said));
}

}  // namespace tile_tune::search
