#include "engine/build/package_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "codegen/emit/c_names.h"
#include "engine/build/rebuild.h"
#include "engine/packages/output_folder.h"
#include "engine/packages/package_targets.h"
#include "engine/programs/memory.h"
#include "engine/programs/program_argument.h"
#include "engine/recheck/rechecked_choice.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/sized/sized_workload.h"
#include "engine/sized/rechecked_entry.h"
#include "engine/sized/sizes.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::engine {

namespace {

Result<std::vector<LoadedProgram>> programs_of(const PackageRequest& request, const Session& session) {
  if (!request.loaded.empty()) return request.loaded;
  return load_programs(request.programs, request.bindings, session.report);
}

Result<std::vector<Workload>> load_workloads(const PackageRequest& request, const Session& session) {
  TILE_TUNE_TRY(loaded, programs_of(request, session));
  TILE_TUNE_TRY(bound, bind_programs(loaded, request.bindings, session.report));
  TILE_TUNE_TRY(sizes, parse_sizes(request.bindings.sizes));
  std::vector<Workload> workloads;
  for (size_t i = 0; i < loaded.size(); ++i)
    workloads.push_back(planned_workload(loaded[i], bound[i], sizes_of(loaded[i], sizes), session));
  return workloads;
}

/// --name; else the program's own if there is one, else the file's.
Result<std::string> library_name(const PackageRequest& request, const std::vector<Workload>& workloads) {
  if (!request.name.empty()) return request.name;
  if (workloads.size() == 1) return workloads.front().program.name;
  if (request.programs.size() == 1) return std::filesystem::path(request.programs.front()).stem().string();
  return fail(ErrorClass::Program, "missing-name", "a library of several programs needs a name",
              "give one with --name NAME");
}

/// --name names a single program's function, too.
std::string function_name(const PackageRequest& request, const std::vector<Workload>& workloads, const Workload& one) {
  return workloads.size() == 1 && !request.name.empty() ? request.name : one.program.name;
}

/// What would stop the package is said before anything is warned of or compiled.
Result<void> check_names(const std::string& library, const PackageRequest& request,
                         const std::vector<Workload>& workloads) {
  TILE_TUNE_CHECK(codegen::check_external_name("library", library));
  for (const auto& workload : workloads)
    TILE_TUNE_CHECK(codegen::check_external_name("function", function_name(request, workloads, workload)));
  return {};
}

Result<ScheduleChoice> choose(const PackageRequest& request, const Workload& workload, const codegen::Target& target,
                              std::vector<db::Database>& databases, const Session& session,
                              const std::atomic<bool>& stop) {
  if (!request.schedule.empty()) return given_choice(workload, target, request.schedule);
  if (request.recheck) return rechecked_choice(workload, target, databases, session, stop);
  return stored_choice(workload, target, databases, session);
}

/// One program with one entry for many sizes.
Result<Package> package_of_many_sizes(const PackageRequest& request, const std::vector<codegen::EntrySize>& sizes,
                                      const Session& session, const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(loaded, programs_of(request, session));
  if (loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "ranges and lists of sizes are for a single program",
                "build a library for each program");
  if (!request.schedule.empty())
    return fail(ErrorClass::Program, "command-line", "--schedule is for one size of each name");
  TILE_TUNE_TRY(workload, load_sized(loaded.front(), request.bindings, sizes, session));
  tell_of_steps(workload.top, session.report);
  const std::string name = request.name.empty() ? workload.top.program.name : request.name;
  TILE_TUNE_CHECK(codegen::check_external_name("library", name));
  TILE_TUNE_CHECK(codegen::check_external_name("function", name));
  TILE_TUNE_TRY(targets, session.targets());
  if (targets.size() != 1)
    return fail(ErrorClass::Program, "several-targets", "an entry for many sizes has kernels for one target",
                "build a library for each target");
  TILE_TUNE_CHECK(check_package_folder(request.directory, name));
  const auto recheck = [&](const StoredEntry& stored) {
    return rechecked_entry(workload, stored, targets.front(), session, stop);
  };
  TILE_TUNE_TRY(kernel, sized_kernel(workload, name, targets.front(), session,
                                     request.recheck ? RecheckEntry(recheck) : RecheckEntry()));
  return Package{{std::move(kernel)},
                 {name, request.directory, targets.front(), tool_row().tile_tune, false, request.checked}};
}

Result<Package> package_of_programs(PackageRequest request, const Session& session, const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(many, take_entry_sizes(request.bindings.sizes));
  if (!many.empty()) return package_of_many_sizes(request, many, session, stop);
  TILE_TUNE_TRY(workloads, load_workloads(request, session));
  if (!request.schedule.empty() && workloads.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  TILE_TUNE_TRY(name, library_name(request, workloads));
  TILE_TUNE_CHECK(check_names(name, request, workloads));
  for (const auto& workload : workloads) TILE_TUNE_CHECK(check_size(workload.program, Use::Build));
  TILE_TUNE_TRY(targets, package_targets(session));
  TILE_TUNE_CHECK(check_package_folder(request.directory, name));
  const bool asks = request.schedule.empty() || !session.settings.databases.empty();
  TILE_TUNE_TRY(databases, asks ? open_stack(session) : Result<std::vector<db::Database>>());
  std::vector<codegen::Kernel> kernels;
  for (const auto& one : workloads) {
    TILE_TUNE_TRY(workload, faster_form(one, targets.back(), databases));
    tell_of_steps(workload, session.report);
    const auto pick = [&](const codegen::Target& target) {
      return choose(request, workload, target, databases, session, stop);
    };
    TILE_TUNE_TRY(kernel, kernel_for(workload, function_name(request, workloads, workload), targets, pick));
    kernels.push_back(std::move(kernel));
  }
  return Package{std::move(kernels),
                 {name, request.directory, targets.back(), tool_row().tile_tune, false, request.checked}};
}

/// Of the programs in a manifest, as bind_programs() has those of a command line.
Result<void> warn_of_programs(const Package& package, const Reporter& report) {
  for (const auto& kernel : package.kernels) {
    auto warnings = plan::program_warnings(kernel.meaning());
    for (auto& warning : warnings) warning.message.insert(0, kernel.function + ": ");
    TILE_TUNE_CHECK(report.program_warnings(warnings));
  }
  return {};
}

}  // namespace

Result<Package> package_of(const PackageRequest& request, const Session& session, const std::atomic<bool>& stop) {
  if (request.manifest.empty() && request.programs.empty() && request.loaded.empty())
    return fail(ErrorClass::Program, "command-line", "PROGRAM is required", "see tile-tune build --help");
  if (request.manifest.empty()) return package_of_programs(request, session, stop);
  if (session.settings.target != codegen::kHost || session.settings.deterministic)
    return fail(ErrorClass::Program, "command-line", "--from excludes --target and --deterministic",
                "the manifest says the target");
  TILE_TUNE_CHECK(check_writable(request.directory));
  TILE_TUNE_TRY(package, package_of_manifest(request.manifest, request.directory));
  TILE_TUNE_CHECK(warn_of_programs(package, session.report));
  return package;
}

}  // namespace tile_tune::engine
