#include "codegen/schedule/gpu_check.h"

#include <fmt/format.h>

namespace tile_tune::codegen {

Result<void> check_gpu_stage(const ir::Program&, const Loops&, int number, const NestSchedule&) {
  return fail(
      ErrorClass::Program, "invalid-schedule",
      fmt::format("the schedule does not fit statement {} of this program: nothing is lowered to a GPU yet", number));
}

}  // namespace tile_tune::codegen
