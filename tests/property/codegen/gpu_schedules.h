// GPU schedules for tests: a plain one and random ones of any program, within what check() takes.
#pragma once

#include <functional>
#include <random>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

/// A nest for each statement: threads along the target's contiguous loop, sums in registers.
codegen::Schedule plain_gpu_schedule(const ir::Program& program);

/// One drawn anew until check() takes it, and check_for() of opencl_host(); the plain one if that is never.
codegen::Schedule random_gpu_schedule(const ir::Program& program, std::mt19937& random);

/// `change` applied to the nest of one statement of the plain schedule.
codegen::Schedule changed(codegen::Schedule schedule, int statement,
                          const std::function<void(codegen::NestSchedule&)>& change);

}  // namespace tile_tune::test
