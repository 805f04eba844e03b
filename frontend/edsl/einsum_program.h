// An einsum as a Program, for all who make one.
#pragma once

#include <tile_tune/edsl.h>

#include "frontend/einsum/einsum.h"

namespace tile_tune::edsl {

/// `made` is make_program(notation, known). Where no sizes are known of it, the Program has names for them, and its
/// contractions are ordered once it gets numbers.
Program einsum_program(const einsum::Einsum& notation, const einsum::Known& known, einsum::Made made);

}  // namespace tile_tune::edsl
