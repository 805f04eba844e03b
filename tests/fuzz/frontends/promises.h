// What every program that a reader accepts must keep to; std::logic_error where it does not.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::fuzz {

void require(bool holds, const char* what);

/// The program is valid and survives its JSON form. Bound to small sizes (or to `known`), as far as bind() takes them,
/// it is still valid, its canonical form is one, and whatever `check` and `explain` ask of it has an answer. Programs
/// of more than 500 statements pass unseen.
void require_promises(const ir::Program& program, const ir::Sizes& known = {});

}  // namespace tile_tune::fuzz
