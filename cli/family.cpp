#include "cli/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/family_choice.h"
#include "cli/family_sizes.h"
#include "cli/memory.h"
#include "cli/schedule_choice.h"
#include "codegen/schedule/check.h"
#include "search/space/space.h"

namespace tile_tune::cli {

namespace {

Result<void> check_family_program(const LoadedProgram& loaded, const ir::Sizes& given,
                                  const std::vector<codegen::FamilySize>& sizes) {
  ir::Sizes all = given;
  for (const auto& size : sizes) all[size.name] = size.first;
  TILE_TUNE_CHECK(check_size_names({loaded.program}, all));
  for (const auto& size : sizes)
    if (loaded.sizes.contains(size.name))
      return fail(ErrorClass::Program, "bad-size", fmt::format("size {} has one value, from --shape", size.name));
  return {};
}

/// "no-size-range" with what to do about it.
Diagnostic no_range(const FamilyWorkload& workload, const std::string& why, const char* fix) {
  return {ErrorClass::Program, "no-size-range",
          fmt::format("{} cannot be built for all of {}: {}", workload.top.program.name,
                      family_text(workload.program.sizes), why),
          std::nullopt, fix};
}

bool has_range(const FamilyWorkload& workload) {
  return std::any_of(workload.program.sizes.begin(), workload.program.sizes.end(),
                     [](const auto& size) { return size.listed.empty(); });
}

/// One kernel for each listed point.
Result<void> add_listed(const FamilyWorkload& workload, const codegen::Target& target, const Session& session,
                        codegen::Family& family) {
  TILE_TUNE_TRY(databases, open_stack(session));
  std::vector<codegen::FamilyMember> own;
  for (const auto& point : points_to_search(workload.program.sizes, 1)) {
    TILE_TUNE_TRY(one, workload.at(point));
    TILE_TUNE_TRY(choice, stored_choice(one, target, databases, session));
    own.push_back({point, true, std::move(one.program), std::move(choice.schedule), std::move(choice.record)});
  }
  for (auto& member : family.table) member = static_cast<uint8_t>(member + own.size());
  family.members.insert(family.members.begin(), std::make_move_iterator(own.begin()),
                        std::make_move_iterator(own.end()));
  return {};
}

}  // namespace

Result<Workload> FamilyWorkload::at(const std::vector<int64_t>& values) const {
  ir::Sizes sizes = program.fixed;
  for (size_t k = 0; k < values.size(); ++k) sizes[program.sizes[k].name] = values[k];
  TILE_TUNE_TRY(bound, ir::bind(program.symbolic, sizes));
  return make_workload(loaded, bound, sizes);
}

Result<FamilyWorkload> load_family(const LoadedProgram& loaded, const BindingOptions& options,
                                   const std::vector<codegen::FamilySize>& sizes) {
  TILE_TUNE_TRY(given, parse_sizes(options.sizes));
  TILE_TUNE_CHECK(check_family_program(loaded, given, sizes));
  if (!options.constants.empty())
    return fail(ErrorClass::Program, "constant-of-many-sizes",
                "constants are packed for one size: an entry for many sizes cannot take them", "leave out --constant");
  TILE_TUNE_TRY(stored, with_storage(loaded.program, options));
  FamilyWorkload workload{loaded, {std::move(stored), sizes_of(loaded, given), sizes}, {}};
  TILE_TUNE_TRY(top, workload.at(workload.program.top()));
  workload.top = std::move(top);
  TILE_TUNE_CHECK(check_memory(workload.top.program));
  return workload;
}

Result<codegen::Family> generic_family(const FamilyWorkload& workload, const codegen::Target& target) {
  codegen::Family family{workload.program, {}, {}, {}};
  auto runtime = codegen::runtime_sizes_of(family.program);
  if (!runtime) {
    if (runtime.error().code != "no-size-range") return tl::unexpected(runtime.error());
    return tl::unexpected(no_range(workload, runtime.error().message, "build each size by itself"));
  }
  family.runtime = std::move(*runtime);
  const auto schedule = search::Space(workload.top.program, target).default_schedule();
  TILE_TUNE_TRY(generic, codegen::member_for_many(family, workload.program.top(), schedule, true));
  if (!generic && has_range(workload))
    return tl::unexpected(no_range(workload, "no kernel of it computes more than one size",
                                   "give a list of sizes, as in -s N=64,128,200"));
  if (!generic) return family;
  generic->record = {{"generic", true}};
  family.members.push_back(std::move(*generic));
  return choose_members(std::move(family), {});
}

Result<std::optional<codegen::Family>> stored_family(const FamilyWorkload& workload, const codegen::Target& target,
                                                     const Session& session) {
  TILE_TUNE_TRY(stack, open_stack(session));
  const auto wanted = codegen::to_json(codegen::Family{workload.program, {}, {}, {}}).at("sizes");
  for (auto& database : stack) {
    TILE_TUNE_TRY(sessions,
                  database.done_sessions(workload.top.row, target_row(target), tool_row(), db::kFamilyStrategy));
    for (const auto& row : sessions) {
      const auto json = json_of_text(row.options_json);
      if (!json.is_object() || json.value("sizes", nlohmann::json()) != wanted) continue;
      auto family = codegen::family_from_json(json, workload.program.symbolic, workload.program.fixed);
      if (!family) {
        session.report.warn("stale-record",
                            fmt::format("a record of {} for many sizes is not taken: {}", workload.top.row.name,
                                        family.error().message),
                            "tune it again");
        continue;
      }
      return std::move(*family);
    }
  }
  return std::nullopt;
}

Result<std::string> store_family(const FamilyWorkload& workload, const codegen::Family& family, uint64_t seed,
                                 const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  const db::SessionRow row{{}, seed, db::kFamilyStrategy, json_text(codegen::to_json(family)), "{}", {}, 0};
  TILE_TUNE_TRY(id, database.begin_session(workload.top.row, target_row(target), tool_row(), row));
  TILE_TUNE_CHECK(database.finish_session(id, "done"));
  return id;
}

Result<codegen::Kernel> family_kernel(const FamilyWorkload& workload, const std::string& function,
                                      const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(stored, stored_family(workload, target, session));
  const std::string words = fmt::format("{} ({})", workload.top.program.name, family_text(workload.program.sizes));
  codegen::Family family;
  if (stored) {
    family = std::move(*stored);
    session.report.notice(fmt::format("{}: tuned, {} kernels", words, family.members.size()));
  } else {
    TILE_TUNE_TRY(generic, generic_family(workload, target));
    family = std::move(generic);
    session.report.warn("untuned", fmt::format("{} is not tuned for this target", words),
                        "tile-tune tune with the same -s finds faster kernels");
    if (!has_range(workload)) TILE_TUNE_CHECK(add_listed(workload, target, session, family));
    if (family.table.empty())
      session.report.warn("listed-only", fmt::format("{} has no kernel for sizes that are not listed", words));
  }
  const auto& last = family.members.back();
  const nlohmann::json record{{stored ? "timed" : "untimed", true}};
  codegen::Kernel kernel{
      last.program, last.schedule, function, stored ? "tuned" : "default", record, stored ? "exact" : "default"};
  kernel.family = std::move(family);
  return kernel;
}

}  // namespace tile_tune::cli
