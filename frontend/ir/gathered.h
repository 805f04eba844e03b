// The gather form together with the change of variables that leads to it (private to frontend/ir; gather.h).
#pragma once

#include "frontend/ir/change_of_variables.h"
#include "frontend/ir/program.h"

namespace tile_tune::ir {

struct Gathered {
  Statement statement;
  /// The original indices over those of `statement`; nullopt if the statement writes nothing.
  std::optional<ChangeOfVariables> change;
};
Result<Gathered> gather(const Program& program, const Statement& statement);

}  // namespace tile_tune::ir
