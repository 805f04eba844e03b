// Dimensions that lie as one made one: fewer, longer loops over the same memory.
#pragma once

#include <optional>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// The program with neighbouring dimensions that every statement walks together (in a tensor's memory one right behind
/// the other, under the same two indices over their whole extents, wherever either index stands) as one dimension under
/// one index: A(n,h,w,k) with B(k,m) to C(n,h,w,m) is A(n_h_w,k) with B(k,m) to C(n_h_w,m). Tensors, statements and
/// their numbers, values, and where every element lies are the same; nullopt if nothing collapses. Of compact tensors
/// alone, without constants, whose packed forms are made for their shape, and without programs that gather. `program`
/// must be bound. Stored schedules speak of this form: another rule needs another version of
/// theirs (codegen::Schedule::kCollapsedVersion).
std::optional<Program> collapsed(const Program& program);

}  // namespace tile_tune::ir
