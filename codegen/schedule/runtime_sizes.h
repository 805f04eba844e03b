// One kernel for many sizes: numbers of a program that the kernel takes from its buffers when it is called.
//
// Schedules and kernels know bound programs, in which every size has become numbers: extents, ranges, bounds, constants
// of subscripts. With RuntimeSizes in its schedule a kernel for a program bound at N = 64 also computes the same
// program at other N: a number that is 64, 63 or 128 there because of N is N, N - 1 or 2N when the kernel is called.
// How each number follows from each size is found from the program bound at many values, and never taken from a file;
// where that is not affine, there are no such kernels.
#pragma once

#include <functional>
#include <optional>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Visits what bind() makes numbers of, in one fixed order: extents by tensor; by statement the ranges, the bounds of
/// constraints, the constants of subscripts and constraints, the sizes in values.
void for_each_number(ir::Program& program, const std::function<void(ir::SizeExpr&)>& visit);

/// A program, canonical and bound, at these values of the runtime sizes.
using ProgramAt = std::function<Result<ir::Program>(const std::vector<int64_t>& values)>;

/// How the numbers of the program follow from each of its sizes, which are called `names`: they rise evenly with each,
/// seen at all of `tried`, of which the first and, of each size, the next are where it is measured. Class Program
/// (no-size-range), with a reason in the user's words, where they do not, where the canonical form changes with the
/// sizes, or where no input has an extent that is the size.
Result<std::vector<RuntimeSize>> find_runtime_sizes(const ProgramAt& program_at, const std::vector<std::string>& names,
                                                    const std::vector<std::vector<int64_t>>& tried);

/// `schedule` of a bound program as one for all its sizes, with as few other choices as that allows (reductions over
/// such sizes are neither unrolled nor blocked, statements computed at root, without running totals and dot products).
/// `guarded`: it computes every size, however small; else sizes down to those at which the outermost tiles still fit.
/// Class Program (invalid-schedule) if there is none, with what stands against it.
Result<Schedule> for_all_sizes(const ir::Program& program, Schedule schedule, std::vector<RuntimeSize> sizes,
                               bool guarded);

/// The program with size k of the schedule as the name runtime_name(k) in all that depends on it.
ir::Program with_names(const ir::Program& program, const RuntimeSizes& runtime);
std::string runtime_name(size_t k);

/// True if a kernel of this schedule, which is for `program`, computes it at these sizes, too, and at all larger ones.
bool serves(const ir::Program& program, const Schedule& schedule, const std::vector<int64_t>& values);

/// `extents` of the output loops of a nest, those that depend on a size at least as long as their tiles.
std::vector<int64_t> extents_for_guarded_tiles(const ir::Program& program, const Schedule& schedule, int owner,
                                               std::vector<int64_t> extents);

/// Each size is an extent of an input, with a slope for every number of the program: what with_names() takes for
/// granted. Class Program.
Result<void> check_size_sources(const ir::Program& program, const RuntimeSizes& runtime);

/// What check() asks of a schedule with such sizes beside that and what it asks of every schedule. Class Program.
Result<void> check_runtime_sizes(const ir::Program& program, const Schedule& schedule);

}  // namespace tile_tune::codegen
