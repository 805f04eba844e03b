#include "frontend/plan/program_warnings.h"

#include <fmt/format.h>

#include "base/units.h"
#include "frontend/ir/warnings.h"
#include "frontend/plan/factoring.h"

namespace tile_tune::plan {

std::vector<Diagnostic> program_warnings(const ir::Program& program) {
  auto warnings = ir::warnings_of(program);
  if (!program.is_bound()) return warnings;
  // By FLOP alone: what traffic makes dearer than the sum as written is left so by choice.
  const auto by_flops = [](double flops, double) { return flops; };
  for (const auto& sum : unfactored(program, best_path(program, by_flops))) {
    const auto& statement = program.statements[static_cast<size_t>(sum.statement)];
    warnings.push_back(
        {ErrorClass::Program, "unfactored-sum",
         fmt::format("{} takes {} where its products in steps would take {}: {}",
                     program.tensors[static_cast<size_t>(statement.target)].name, base::format_count(sum.flops, "FLOP"),
                     base::format_count(sum.possible_flops, "FLOP"), sum.reason),
         statement.place, "", Severity::Warning});
  }
  return warnings;
}

}  // namespace tile_tune::plan
