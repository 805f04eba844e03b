#include "codegen/schedule/collapsed_form.h"

#include <utility>

#include "frontend/ir/collapsed.h"

namespace tile_tune::codegen {

Result<CollapsedForm> collapsed_form(const ir::Program& program, const Schedule& schedule) {
  const auto invalid = [](const char* why) { return fail(ErrorClass::Program, "invalid-schedule", why); };
  if (!schedule.runtime.sizes.empty()) return invalid("a schedule of collapsed dimensions is for one size");
  auto collapsed = ir::collapsed(program);
  if (!collapsed) return invalid("the schedule is of collapsed dimensions, of which the program has none");
  CollapsedForm form{std::move(*collapsed), schedule};
  form.schedule.collapsed = false;
  return form;
}

}  // namespace tile_tune::codegen
