#include "codegen/target/matrix_unit.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tile_tune::codegen {

bool may_use_matrix_unit() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool may = [] {
    // AMX-BF16, AMX-TILE and AMX-INT8; ARCH_REQ_XCOMP_PERM of XTILEDATA.
    constexpr unsigned kUnit = 1U << 22 | 1U << 24 | 1U << 25;
    constexpr long kRequest = 0x1023, kTileData = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kUnit) == kUnit &&
           syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  }();
  return may;
#else
  return false;
#endif
}

}  // namespace tile_tune::codegen
