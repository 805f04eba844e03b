// Lets every process it is preloaded into take this machine for a lesser one: the instruction sets FEATURES instead of
// the CPU's own, and PROCESSORS of them. Kernels are then compiled, chosen and judged as there; what asks the CPU
// itself (the dispatch of emitted libraries) still sees this one.
//
// Halide's symbols stay open until they are called, so that it can be loaded into programs that do not have them.
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "Halide.h"

namespace Halide {

// Not from a string: that asks for the host.
Target get_host_target() { return Target(Target::Linux, Target::X86, 64, {FEATURES}); }

}  // namespace Halide

#ifdef PROCESSORS
namespace {

// What this thread asked for itself; new processes begin with every processor. Who asks for all that there really are
// wants every one: hwloc gives a thread back what it had, but for processors it does not know.
thread_local cpu_set_t chosen;
thread_local bool has_chosen = false;

}  // namespace

extern "C" int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* set) {
  CPU_ZERO_S(size, set);
  for (int cpu = 0; cpu < PROCESSORS; ++cpu)
    if (thread != 0 || !has_chosen || CPU_ISSET(cpu, &chosen)) CPU_SET_S(static_cast<size_t>(cpu), size, set);
  return 0;
}

// A thread that wants a processor there is none of runs on any.
extern "C" int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* set) {
  if (thread == 0) {
    CPU_ZERO(&chosen);
    for (int cpu = 0; cpu < PROCESSORS; ++cpu)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), size, set)) CPU_SET(cpu, &chosen);
    has_chosen = CPU_COUNT(&chosen) < sysconf(_SC_NPROCESSORS_ONLN);
  }
  using Function = int (*)(pid_t, size_t, const cpu_set_t*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sched_setaffinity"));
  real(thread, size, set);
  return 0;
}
#endif
