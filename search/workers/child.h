// One piece of risky work in a forked child: limited, watched, and reduced to a Reply whatever happens to it.
#pragma once

#include <functional>
#include <optional>

#include "frontend/ir/program.h"
#include "search/workers/protocol.h"

namespace tile_tune::search {

struct ChildLimits {
  double wall_seconds = 10;  // in which this process runs: a machine that is asleep, or stopped, takes nothing of them
  double cpu_seconds = 10;   // of all threads together; whole seconds, rounded up
  int threads = 1;           // address space is left for so many
  int64_t memory_bytes = 0;  // address space beyond what this process has now
  bool limits_addresses = true;
};

/// Of a verification, which makes two calls and compares; the calls have their own limit, so this only bounds the
/// comparing.
inline constexpr double kCallsInVerify = 10;

/// Seconds that a call may take; those of a device's kernel, which its driver compiles in the first one, take longer.
double call_seconds(const Limits& limits, const codegen::Target& target);

/// Of a child that calls kernels of the program on the target's threads: time for so many of the longest calls, memory
/// for the buffers.
ChildLimits limits_of_calls(const Limits& limits, const codegen::Target& target, const ir::Program& program,
                            double calls);

/// What the children's driver compiles for a device, the next child finds in `directory`.
void keep_driver_cache(const codegen::Target& target, const std::filesystem::path& directory);

/// Forks and runs `work` in the child, which gets the descriptor its reply goes to (for signal handlers that must
/// answer in its place). The calling process must have one thread. The child is the leader of its own process group,
/// which is killed when the time is up; it dies with this process. What it prints is kept for the reason of a fault.
/// nullopt if `owner`, the stream requests come from, was closed meanwhile: nobody wants the reply, the child is dead.
///
/// Outcomes: a signal is Crash; SIGALRM, SIGXCPU and our own SIGKILL are Timeout; somebody else's SIGKILL (the system's
/// out-of-memory killer), std::bad_alloc and LLVM's "out of memory" are OutOfMemory.
std::optional<Reply> run_in_child(const ChildLimits& limits, int owner, const std::function<Reply(int reply_fd)>& work);

}  // namespace tile_tune::search
