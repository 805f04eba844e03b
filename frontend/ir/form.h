// What programs have in common whose kernels are alike: the computation without element types and batches.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Output indices along which a program of one statement only repeats itself on other data: every operand has a
/// dimension for it alone. None for programs of several statements or without a reduction, and never all of them.
std::vector<int> batch_indices(const Program& canonical);

/// The program without its batches, with f32 for every real element type and without conversions among those;
/// canonical. Two programs of one family hash of it (canonical.h) have nests of loops that differ in their batches
/// alone. What reads by computed subscripts is its own form.
Program form_of(const Program& canonical);

}  // namespace tile_tune::ir
