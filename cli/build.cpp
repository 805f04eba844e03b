// tile-tune build: programs with their best stored schedules as one ahead-of-time package.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/bindings.h"
#include "cli/family.h"
#include "cli/family_recheck.h"
#include "cli/family_sizes.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/option_checks.h"
#include "cli/output_folder.h"
#include "cli/package_targets.h"
#include "cli/packaging.h"
#include "cli/plain_onlooker.h"
#include "cli/planned.h"
#include "cli/program_argument.h"
#include "cli/rebuild.h"
#include "cli/revalidation.h"
#include "cli/schedule_choice.h"
#include "cli/verbs.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/names.h"
#include "frontend/ir/warnings.h"

namespace tile_tune::cli {

namespace {

struct BuildOptions {
  std::vector<std::string> programs;
  BindingOptions bindings;
  std::string directory, name, schedule, manifest;
  bool revalidate = false;
  bool checked = false;
};

Result<std::vector<Workload>> load_workloads(const BuildOptions& options, const Session& session) {
  TILE_TUNE_TRY(loaded, load_programs(options.programs, options.bindings, session.report));
  TILE_TUNE_TRY(bound, bind_programs(loaded, options.bindings, session.report));
  TILE_TUNE_TRY(sizes, parse_sizes(options.bindings.sizes));
  std::vector<Workload> workloads;
  for (size_t i = 0; i < loaded.size(); ++i)
    workloads.push_back(planned_workload(loaded[i], bound[i], sizes_of(loaded[i], sizes), session));
  return workloads;
}

/// --name; else the program's own if there is one, else the file's.
Result<std::string> library_name(const BuildOptions& options, const std::vector<Workload>& workloads) {
  if (!options.name.empty()) return options.name;
  if (workloads.size() == 1) return workloads.front().program.name;
  if (options.programs.size() == 1) return std::filesystem::path(options.programs.front()).stem().string();
  return fail(ErrorClass::Program, "missing-name", "a library of several programs needs a name",
              "give one with --name NAME");
}

/// --name names a single program's function, too (rulings 11).
std::string function_name(const BuildOptions& options, const std::vector<Workload>& workloads, const Workload& one) {
  return workloads.size() == 1 && !options.name.empty() ? options.name : one.program.name;
}

/// What would stop the package is said before anything is warned of or compiled.
Result<void> check_names(const std::string& library, const BuildOptions& options,
                         const std::vector<Workload>& workloads) {
  TILE_TUNE_CHECK(codegen::check_external_name("library", library));
  for (const auto& workload : workloads)
    TILE_TUNE_CHECK(codegen::check_external_name("function", function_name(options, workloads, workload)));
  return {};
}

Result<ScheduleChoice> choose(const BuildOptions& options, const Workload& workload, const codegen::Target& target,
                              std::vector<db::Database>& databases, const Session& session,
                              const std::atomic<bool>& stop) {
  if (!options.schedule.empty()) return given_choice(workload, target, options.schedule);
  if (options.revalidate) return revalidated_choice(workload, target, databases, session, stop);
  return stored_choice(workload, target, databases, session);
}

/// One program with one entry for many sizes.
Result<Package> package_of_many_sizes(const BuildOptions& options, const std::vector<codegen::FamilySize>& sizes,
                                      const Session& session, const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(loaded, load_programs(options.programs, options.bindings, session.report));
  if (loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "ranges and lists of sizes are for a single program",
                "build a library for each program");
  if (!options.schedule.empty())
    return fail(ErrorClass::Program, "command-line", "--schedule is for one size of each name");
  TILE_TUNE_TRY(workload, load_family(loaded.front(), options.bindings, sizes, session));
  tell_of_steps(workload.top, session.report);
  const std::string name = options.name.empty() ? workload.top.program.name : options.name;
  TILE_TUNE_CHECK(codegen::check_external_name("library", name));
  TILE_TUNE_CHECK(codegen::check_external_name("function", name));
  TILE_TUNE_TRY(targets, session.targets());
  if (targets.size() != 1)
    return fail(ErrorClass::Program, "several-targets", "an entry for many sizes has kernels for one target",
                "build a library for each target");
  TILE_TUNE_CHECK(check_package_folder(options.directory, name));
  const auto recheck = [&](const StoredFamily& stored) {
    return rechecked_family(workload, stored, targets.front(), session, stop);
  };
  TILE_TUNE_TRY(kernel, family_kernel(workload, name, targets.front(), session,
                                      options.revalidate ? RecheckFamily(recheck) : RecheckFamily()));
  return Package{{std::move(kernel)},
                 {name, options.directory, targets.front(), TILE_TUNE_VERSION, false, options.checked}};
}

Result<Package> package_of_programs(BuildOptions options, const Session& session, const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(many, take_family_sizes(options.bindings.sizes));
  if (!many.empty()) return package_of_many_sizes(options, many, session, stop);
  TILE_TUNE_TRY(workloads, load_workloads(options, session));
  if (!options.schedule.empty() && workloads.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  TILE_TUNE_TRY(name, library_name(options, workloads));
  TILE_TUNE_CHECK(check_names(name, options, workloads));
  for (const auto& workload : workloads) TILE_TUNE_CHECK(check_size(workload.program, Use::Build));
  TILE_TUNE_TRY(targets, package_targets(session));
  TILE_TUNE_CHECK(check_package_folder(options.directory, name));
  const bool asks = options.schedule.empty() || !session.options.databases.empty();
  TILE_TUNE_TRY(databases, asks ? open_stack(session) : Result<std::vector<db::Database>>());
  std::vector<codegen::Kernel> kernels;
  for (const auto& one : workloads) {
    TILE_TUNE_TRY(workload, faster_form(one, targets.back(), databases));
    tell_of_steps(workload, session.report);
    const auto pick = [&](const codegen::Target& target) {
      return choose(options, workload, target, databases, session, stop);
    };
    TILE_TUNE_TRY(kernel, kernel_for(workload, function_name(options, workloads, workload), targets, pick));
    kernels.push_back(std::move(kernel));
  }
  return Package{std::move(kernels),
                 {name, options.directory, targets.back(), TILE_TUNE_VERSION, false, options.checked}};
}

/// Of the programs in a manifest, as bind_programs() has those of a command line.
Result<void> warn_of_programs(const Package& package, const Reporter& report) {
  for (const auto& kernel : package.kernels) {
    auto warnings = ir::warnings_of(kernel.meaning());
    for (auto& warning : warnings) warning.message.insert(0, kernel.function + ": ");
    TILE_TUNE_CHECK(report.program_warnings(warnings));
  }
  return {};
}

/// Of PROGRAMs or of a manifest.
Result<Package> package_of(const BuildOptions& options, const Session& session, const std::atomic<bool>& stop) {
  if (options.manifest.empty() && options.programs.empty())
    return fail(ErrorClass::Program, "command-line", "PROGRAM is required", "see tile-tune build --help");
  if (options.manifest.empty()) return package_of_programs(options, session, stop);
  if (session.options.target != "host" || session.options.deterministic)
    return fail(ErrorClass::Program, "command-line", "--from excludes --target and --deterministic",
                "the manifest says the target");
  TILE_TUNE_CHECK(check_writable(options.directory));
  TILE_TUNE_TRY(package, package_of_manifest(options.manifest, options.directory));
  TILE_TUNE_CHECK(warn_of_programs(package, session.report));
  return package;
}

/// Kernels are verified while they are compiled, where they run here (packaging.h).
void warn_of_unverified(const Package& package, const Reporter& report) {
  std::set<std::string> targets;
  for (const auto& kernel : package.kernels)
    for (const auto& one : codegen::alternatives_of(kernel, package.options.target))
      if (!codegen::check_runs_here(one.target)) targets.insert(one.target.halide);
  for (const auto& target : targets)
    report.warn("unverified", fmt::format("kernels for {} do not run here: nothing they compute was checked", target));
}

/// For --json: "variants" are the other instruction sets of several.
nlohmann::json describe(const codegen::Kernel& kernel, const codegen::Target& target) {
  nlohmann::json json{{"function", kernel.function},
                      {"target", target.halide},
                      {"rung", kernel.rung},
                      {"record", kernel.record},
                      {"variants", nlohmann::json::array()}};
  for (const auto& one : kernel.variants)
    json["variants"].push_back({{"target", one.target.halide}, {"rung", one.rung}, {"record", one.record}});
  return json;
}

Result<void> tell(const Package& package, const std::vector<std::filesystem::path>& files, const Session& session) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back((package.options.directory / file).string());
  if (session.report.json()) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const auto& kernel : package.kernels) kernels.push_back(describe(kernel, package.options.target));
    return print_json({{"name", package.options.name}, {"kernels", kernels}, {"files", paths}});
  }
  for (const auto& path : paths) TILE_TUNE_CHECK(print(path + "\n"));
  return {};
}

Result<Exit> build(const BuildOptions& options, const Session& session) {
  const StopOnInterrupt interrupt;
  const auto package = package_of(options, session, interrupt.requested());
  if (interrupt.requested()) return Exit::Interrupted;
  if (!package) return tl::unexpected(package.error());
  auto files = package_in_child(package->kernels, package->options, session.executable, plain_onlooker(session.report),
                                &interrupt.requested());
  if (interrupt.requested()) return Exit::Interrupted;
  if (!files && files.error().code == "not-reproduced")
    files.error().note = "nothing was written; the C compiler or binutils are others than those that made it";
  if (!files) return tl::unexpected(files.error());
  warn_of_unverified(*package, session.report);
  TILE_TUNE_CHECK(tell(*package, *files, session));
  return Exit::Success;
}

}  // namespace

void add_build(CLI::App& app, Command& command) {
  auto options = std::make_shared<BuildOptions>();
  auto* verb = app.add_subcommand("build", "Emits a static library with a C header from the best stored schedules");
  verb->add_option("PROGRAM", options->programs,
                   "FILE.tc, FILE.tc:NAME, FILE.json or einsum:SUBSCRIPTS; several make one library")
      ->type_name("");
  add_binding_options(*verb, options->bindings);
  refuse_empty(verb->add_option("--name", options->name, "The library's name; of a single program the function's, too")
                   ->type_name("NAME"));
  refuse_empty(
      verb->add_option("--schedule", options->schedule, "A schedule for a single program, as JSON")->type_name("FILE"));
  verb->add_flag(
      "--revalidate", options->revalidate,
      "Verifies and times what was tuned elsewhere or by another version against the default before it is taken");
  verb->add_flag(
      "--checked", options->checked,
      "Entries also look whether indices that come from arrays (gathers) are inside their tensors, and return "
      "an error else");
  auto* from =
      verb->add_option("--from", options->manifest, "Makes the package of this manifest.json again")->type_name("FILE");
  refuse_empty(from);
  for (CLI::Option* other : verb->get_options())
    if (other != from && other != verb->get_help_ptr()) from->excludes(other);
  auto* output = verb->add_option("-o,--output", options->directory, "Where the package is written");
  refuse_empty(output->required()->type_name("DIR"));
  verb->callback([&command, options] { command = [options](Session& session) { return build(*options, session); }; });
}

}  // namespace tile_tune::cli
