#include "engine/sized/sized_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/json_text.h"
#include "base/units.h"
#include "db/identity.h"
#include "engine/packages/packaging.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/session/plain_onlooker.h"
#include "engine/sized/choice.h"
#include "engine/sized/sizes.h"
#include "engine/sized/spelling.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

/// Keys in the options of sessions.
constexpr const char *kRechecked = "rechecked", *kRefuted = "refuted_family";

Result<void> check_entry_program(const LoadedProgram& loaded, const ir::Sizes& given,
                                 const std::vector<codegen::EntrySize>& sizes) {
  ir::Sizes all = given;
  for (const auto& size : sizes) all[size.name] = size.first;
  TILE_TUNE_CHECK(check_size_names({loaded.program}, all));
  for (const auto& size : sizes)
    if (loaded.sizes.contains(size.name))
      return fail(ErrorClass::Program, "bad-size", fmt::format("size {} has one value, from --shape", size.name));
  return {};
}

/// "no-size-range" with what to do about it.
Diagnostic no_range(const SizedWorkload& workload, const std::string& why, const char* fix) {
  return {ErrorClass::Program, "no-size-range",
          fmt::format("{} cannot be built for all of {}: {}", workload.top.program.name,
                      entry_sizes_text(workload.program.sizes), why),
          std::nullopt, fix};
}

/// One kernel for each listed point.
Result<void> add_listed(const SizedWorkload& workload, const codegen::Target& target, const Session& session,
                        codegen::SizedEntry& entry) {
  TILE_TUNE_TRY(databases, open_stack(session));
  std::vector<codegen::EntryMember> own;
  for (const auto& point : points_to_search(workload.program.sizes, 1)) {
    TILE_TUNE_TRY(one, workload.at(point));
    TILE_TUNE_TRY(choice, stored_choice(one, target, databases, session));
    own.push_back({point, true, std::move(one.program), std::move(choice.schedule), std::move(choice.record)});
  }
  for (auto& member : entry.table) member = static_cast<uint8_t>(member + own.size());
  entry.members.insert(entry.members.begin(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return {};
}

bool is_of_here(const db::TargetRow& target, const db::ToolRow& tool, const codegen::Target& here) {
  return db::target_id(target) == db::target_id(target_row(here)) && db::tool_id(tool) == db::tool_id(tool_row());
}

/// Sessions whose entries a recheck on this target by this tool did not find to hold.
Result<std::set<std::string>> refuted_sessions(std::vector<db::Database>& stack, const SizedWorkload& workload,
                                               const codegen::Target& target) {
  std::set<std::string> refuted;
  for (auto& database : stack) {
    TILE_TUNE_TRY(some, database.done_sessions(db::kRecheckStrategy, db::workload_id(workload.top.row)));
    for (const auto& one : some) {
      const auto json = json_of_text(one.session.options_json);
      if (!is_of_here(one.target, one.tool, target) || !json.is_object() || !json.contains(kRefuted)) continue;
      if (json[kRefuted].is_string()) refuted.insert(json[kRefuted].get<std::string>());
    }
  }
  return refuted;
}

/// Of the workload and the instruction set, unless refuted: those for at least as many threads as the target's, the
/// nearest number first, then those for fewer; of equals this target before others and this tool before others.
Result<std::vector<db::DoneSession>> sessions_by_distance(const SizedWorkload& workload, const codegen::Target& target,
                                                          const Session& session) {
  TILE_TUNE_TRY(stack, open_stack(session));
  TILE_TUNE_TRY(refuted, refuted_sessions(stack, workload, target));
  const std::string here = db::target_id(target_row(target)), tool = db::tool_id(tool_row());
  std::vector<db::DoneSession> all;
  for (auto& database : stack) {
    TILE_TUNE_TRY(some, database.done_sessions(db::kSizedStrategy, db::workload_id(workload.top.row)));
    for (auto& one : some)
      if (one.target.text() == target.text() && !refuted.contains(one.session.id)) all.push_back(std::move(one));
  }
  const auto distance = [&](const db::DoneSession& one) {
    const int more = one.target.machine.threads - target.threads;
    return std::tuple(more < 0, std::abs(more), db::target_id(one.target) != here, db::tool_id(one.tool) != tool);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return all;
}

std::string rung_of(const db::DoneSession& one, const nlohmann::json& options, const codegen::Target& target) {
  if (one.target.machine.threads != target.threads) return "nearest";
  if (!is_of_here(one.target, one.tool, target)) return "stale";
  return options.contains(kRechecked) && options.at(kRechecked) == true ? "rechecked" : "exact";
}

/// A session without trials, which is what its options say.
Result<std::string> store_session(const SizedWorkload& workload, const char* strategy, const nlohmann::json& options,
                                  uint64_t seed, const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  const db::SessionRow row{{}, seed, strategy, base::json_text(options), "{}", {}, 0};
  TILE_TUNE_TRY(id, database.begin_session(workload.top.row, target_row(target), tool_row(), row));
  TILE_TUNE_CHECK(database.finish_session(id, "done"));
  return id;
}

void tell_of(const StoredEntry& stored, const SizedWorkload& workload, const codegen::Target& target,
             const Reporter& report) {
  const std::string words = described(workload);
  const char* again = "tile-tune tune with the same -s tunes it again";
  if (stored.rung == "exact" || stored.rung == "rechecked")
    report.notice(fmt::format("{}: tuned, {} ({})", words, base::format_number(stored.entry.members.size(), "kernel"),
                              stored.rung));
  else if (stored.rung == "stale")
    report.warn("stale-record",
                fmt::format("the kernels of {} were tuned by another version of the tool or on another CPU", words),
                "--recheck rechecks them against the default schedule here");
  else
    report.warn("untuned",
                fmt::format("{} is tuned for {}, not for {}: those kernels are taken", words,
                            threads_text(stored.threads), threads_text(target.threads)),
                again);
}

}  // namespace

std::string described(const SizedWorkload& workload) {
  return fmt::format("{} ({})", workload.top.program.name, entry_sizes_text(workload.program.sizes));
}

ir::Sizes SizedWorkload::sizes_at(const std::vector<int64_t>& values) const {
  ir::Sizes sizes = program.fixed;
  for (size_t k = 0; k < values.size(); ++k) sizes[program.sizes[k].name] = values[k];
  return sizes;
}

Result<Workload> SizedWorkload::at(const std::vector<int64_t>& values) const {
  const ir::Sizes sizes = sizes_at(values);
  TILE_TUNE_TRY(bound, ir::bind(written, sizes));
  Workload workload = workload_in_steps(make_workload(loaded, bound, sizes), path);
  if (!path.empty() && !workload.written)
    return failure("bad-path", fmt::format("the steps of {} are others at other sizes", loaded.program.name));
  workload.written.reset();  // an entry for many sizes has one form
  return workload;
}

namespace {

/// The steps that are best at the top, for all sizes: as written where the program has another form with names.
Result<void> put_into_steps(SizedWorkload& workload, bool is_deterministic) {
  const auto path = plan::best_path(workload.top.program, cost_of_steps(is_deterministic));
  if (path.empty()) return {};
  const auto steps = plan::factored(ir::canonicalize(workload.written), path);
  if (!steps) return {};
  const codegen::SizedProgram program{*steps, workload.program.fixed, workload.program.sizes};
  TILE_TUNE_TRY(at_top, program.at(program.top()));
  const auto top = workload_in_steps(workload.top, path);
  if (ir::to_json(at_top) != ir::to_json(top.program)) return {};
  workload.program = program;
  workload.path = path;
  workload.top = top;
  return {};
}

}  // namespace

Result<SizedWorkload> load_sized(const LoadedProgram& loaded, const BindingOptions& options,
                                 const std::vector<codegen::EntrySize>& sizes, const Session& session,
                                 Strides strides) {
  TILE_TUNE_TRY(given, parse_sizes(options.sizes));
  TILE_TUNE_CHECK(check_entry_program(loaded, given, sizes));
  if (!options.constants.empty())
    return fail(ErrorClass::Program, "constant-of-many-sizes",
                "constants are packed for one size: an entry for many sizes cannot take them", "leave out --constant");
  TILE_TUNE_TRY(stored, with_storage(loaded.program, options));
  for (const auto& tensor : stored.tensors)
    if (strides == Strides::Refused && !tensor.storage.is_compact())
      return fail(ErrorClass::Program, "strides-of-many-sizes",
                  fmt::format("{} has the strides {}: an entry for many sizes takes compact tensors", tensor.name,
                              ir::to_text(tensor.storage)),
                  "build each size by itself, or leave out the strides");
  SizedWorkload workload{loaded, {stored, sizes_of(loaded, given), sizes}, stored, {}, {}};
  const ir::Sizes largest = workload.sizes_at(workload.program.top());
  TILE_TUNE_TRY(bound, bind_and_warn(stored, largest, session.report));
  workload.top = make_workload(loaded, bound, largest);
  TILE_TUNE_CHECK(put_into_steps(workload, session.settings.deterministic));
  TILE_TUNE_CHECK(check_size(workload.top.program, Use::Measure));
  return workload;
}

Result<codegen::SizedEntry> generic_entry(const SizedWorkload& workload, const codegen::Target& target) {
  codegen::SizedEntry entry{workload.program, {}, {}, {}};
  auto runtime = codegen::runtime_sizes_of(entry.program);
  if (!runtime) {
    if (runtime.error().code != "no-size-range") return tl::unexpected(runtime.error());
    return tl::unexpected(no_range(workload, runtime.error().message, "build each size by itself"));
  }
  entry.runtime = std::move(*runtime);
  const auto schedule = search::Space(workload.top.program, target, search::Dimensions::Apart).default_schedule();
  auto generic = codegen::member_for_many(entry, workload.program.top(), schedule, true);
  if (!generic && has_range(workload.program.sizes))
    return tl::unexpected(no_range(workload, generic.error().message, "give a list of sizes, as in -s N=64,128,200"));
  if (!generic) return entry;
  generic->record = {{"generic", true}};
  entry.members.push_back(std::move(*generic));
  if (entry.program.sizes.size() > codegen::kMostSizes) return entry;  // it is the only one: there is nothing to choose
  return choose_members(std::move(entry), {});
}

Result<std::optional<StoredEntry>> stored_entry(const SizedWorkload& workload, const codegen::Target& target,
                                                const Session& session) {
  TILE_TUNE_TRY(sessions, sessions_by_distance(workload, target, session));
  for (const auto& one : sessions) {
    TILE_TUNE_TRY(json, spelled_as(json_of_text(one.session.options_json), workload));
    if (!json) continue;
    if (one.target.machine.threads < target.threads) {
      session.report.warn("untuned",
                          fmt::format("{} is tuned for {}, not for {}", described(workload),
                                      threads_text(one.target.machine.threads), threads_text(target.threads)),
                          fmt::format("--threads {} takes what was tuned", one.target.machine.threads));
      return std::nullopt;
    }
    auto entry = codegen::entry_from_json(*json, workload.program.symbolic, workload.program.fixed);
    if (entry)
      return StoredEntry{std::move(*entry), rung_of(one, *json, target), one.target.machine.threads, one.session.id};
    session.report.warn(
        "stale-record",
        fmt::format("a record of {} for many sizes is not taken: {}", workload.top.row.name, entry.error().message),
        "tune it again");
  }
  return std::nullopt;
}

Result<std::string> store_entry(const SizedWorkload& workload, const codegen::SizedEntry& entry, uint64_t seed,
                                const codegen::Target& target, const Session& session, bool is_rechecked) {
  auto options = codegen::to_json(entry);
  TILE_TUNE_TRY(roles, size_roles(workload));
  options["roles"] = roles;
  if (is_rechecked) options[kRechecked] = true;
  return store_session(workload, db::kSizedStrategy, options, seed, target, session);
}

Result<void> refute_entry(const SizedWorkload& workload, const std::string& refuted, const codegen::Target& target,
                          const Session& session) {
  TILE_TUNE_CHECK(store_session(workload, db::kRecheckStrategy, {{kRefuted, refuted}}, 0, target, session));
  return {};
}

Result<codegen::Kernel> sized_kernel(const SizedWorkload& workload, const std::string& function,
                                     const codegen::Target& target, const Session& session,
                                     const RecheckEntry& recheck) {
  TILE_TUNE_TRY(stored, stored_entry(workload, target, session));
  if (stored && recheck && stored->rung != "exact" && stored->rung != "rechecked") {
    TILE_TUNE_TRY(checked, recheck(*stored));
    stored = std::move(checked);
  }
  const std::string words = described(workload);
  codegen::SizedEntry entry;
  std::string rung = "default", provenance = "default";
  if (stored) {
    tell_of(*stored, workload, target, session.report);
    rung = stored->rung;
    provenance = rung == "nearest" ? "nearest" : "tuned";
    entry = std::move(stored->entry);
  } else {
    TILE_TUNE_TRY(generic, generic_entry(workload, target));
    entry = std::move(generic);
    session.report.warn("untuned", fmt::format("{} is not tuned for this target", words),
                        untuned_note(target, "tile-tune tune with the same -s finds faster kernels"));
    if (!has_range(workload.program.sizes)) TILE_TUNE_CHECK(add_listed(workload, target, session, entry));
    if (entry.table.empty())
      session.report.warn("listed-only", fmt::format("{} has no kernel for sizes that are not listed", words));
  }
  const auto& last = entry.members.back();
  const nlohmann::json record{{provenance == "tuned" ? "timed" : "untimed", true}};
  codegen::Kernel kernel{last.program, last.schedule, function, provenance, record, rung};
  kernel.entry = std::move(entry);
  return kernel;
}

Result<std::vector<std::string>> package(const SizedWorkload& workload, const codegen::Target& target,
                                         const std::string& directory, const Session& session,
                                         const std::atomic<bool>* stop) {
  const std::string& name = workload.top.program.name;
  TILE_TUNE_TRY(kernel, sized_kernel(workload, name, target, session));
  return package_in_child({kernel}, {name, directory, target, tool_row().tile_tune}, session.executable,
                          plain_onlooker(session.report), stop);
}

}  // namespace tile_tune::engine
