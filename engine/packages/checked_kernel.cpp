#include "engine/packages/checked_kernel.h"

#include "frontend/ir/index_checks.h"
#include "search/space/checked_schedule.h"

namespace tile_tune::engine {

namespace {

Result<codegen::EntryMember> checked_member(const codegen::SizedEntry& checked, const codegen::EntryMember& member,
                                            const codegen::Target& target) {
  TILE_TUNE_TRY(program, checked.program.at(member.at));
  codegen::Schedule schedule = member.schedule;
  schedule.runtime = {};
  schedule = search::with_index_checks(program, schedule, target);
  if (!member.only) {
    TILE_TUNE_TRY(
        many, codegen::for_all_sizes(program, std::move(schedule), checked.runtime, member.schedule.runtime.guarded));
    schedule = std::move(many);
  }
  return codegen::EntryMember{member.at, member.only, std::move(program), std::move(schedule), member.record};
}

Result<codegen::SizedEntry> checked_entry(const codegen::SizedEntry& entry, const codegen::Target& target) {
  codegen::SizedEntry checked{entry.program, {}, {}, entry.table};
  checked.program.checks_indices = true;
  if (!entry.runtime.empty()) {
    TILE_TUNE_TRY(runtime, codegen::runtime_sizes_of(checked.program));
    checked.runtime = std::move(runtime);
  }
  for (const auto& one : entry.members) {
    TILE_TUNE_TRY(member, checked_member(checked, one, target));
    checked.members.push_back(std::move(member));
  }
  for (size_t cell = 0; cell < checked.table.size(); ++cell)
    if (!codegen::serves_cell(checked, checked.members[checked.table[cell]], cell))
      return failure("no-checked-kernel",
                     "a kernel for many sizes does not serve all of them with its indices checked");
  return checked;
}

}  // namespace

Result<void> add_index_checks(codegen::Kernel& kernel, const codegen::Target& target) {
  auto program = ir::with_index_checks(kernel.program);
  const size_t checks = program.outputs.size() - kernel.program.outputs.size();
  if (checks == 0) return {};
  auto checked = std::make_shared<codegen::Kernel>(kernel);
  checked->checks = checks;
  if (kernel.entry) {
    TILE_TUNE_TRY(entry, checked_entry(*kernel.entry, target));
    checked->program = entry.members.back().program;
    checked->schedule = entry.members.back().schedule;
    checked->entry = std::move(entry);
  } else {
    checked->schedule = search::with_index_checks(program, kernel.schedule, target);
    for (auto& variant : checked->variants)
      variant.schedule = search::with_index_checks(program, variant.schedule, variant.target);
    checked->program = std::move(program);
  }
  kernel.checked = std::move(checked);
  return {};
}

}  // namespace tile_tune::engine
