// A quantity that follows from one decision of a stage, for the cost model.
#pragma once

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

struct Figure {
  const char* name;
  /// Of a valid stage; finite. `loops` are those that its nest runs over.
  double (*value)(const ir::Program&, const Loops&, const NestSchedule&);
  bool amount;  // spans orders of magnitude: the model sees log2(1 + x)
};

}  // namespace tile_tune::codegen
