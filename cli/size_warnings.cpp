#include "cli/size_warnings.h"

#include "frontend/ir/partial_reductions.h"

namespace tile_tune::cli {

void warn_at_sizes(const ir::Program& program, const Reporter& report) {
  for (const auto& warning : ir::partial_reductions(program)) report.diagnostic(warning);
}

}  // namespace tile_tune::cli
