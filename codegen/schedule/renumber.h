// A nest said of the same statement in another program, whose canonical form numbers its loops and operands otherwise.
#pragma once

#include <vector>

#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// The numbers there, by those here. Output loops keep theirs.
struct Renumbering {
  int outputs = 0;  // how many output loops there are
  std::vector<int> reductions, operands;
};

/// Every decision's loops and operands, as the table of decisions has them.
NestSchedule renumbered(NestSchedule nest, const Renumbering& to);

}  // namespace tile_tune::codegen
