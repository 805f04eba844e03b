#include "search/space/index_checks.h"

#include "codegen/schedule/check.h"
#include "search/space/space.h"

namespace tile_tune::search {

codegen::Schedule with_index_checks(const ir::Program& checked, const codegen::Schedule& schedule,
                                    const codegen::Target& target) {
  const Space space(checked, target);
  codegen::Schedule result = schedule;
  const auto by_default = space.default_schedule().stages;
  result.stages.insert(result.stages.end(), by_default.begin() + static_cast<std::ptrdiff_t>(schedule.stages.size()),
                       by_default.end());
  return codegen::check(checked, result) ? result : space.adapt(result);
}

}  // namespace tile_tune::search
