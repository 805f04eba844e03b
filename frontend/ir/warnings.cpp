#include "frontend/ir/warnings.h"

#include <fmt/format.h>

#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/partial_reductions.h"

namespace tile_tune::ir {

std::vector<Diagnostic> warnings_of(const Program& program) {
  std::vector<Diagnostic> warnings = partial_reductions(program);
  for (const auto& statement : program.statements)
    if (writes_nothing(statement))
      warnings.push_back(
          {ErrorClass::Program, "empty-domain",
           fmt::format("no indices are valid in {}, so it computes nothing", to_text(program, statement)),
           statement.place, "", Severity::Warning});
  return warnings;
}

}  // namespace tile_tune::ir
