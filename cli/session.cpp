#include "cli/session.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/option_checks.h"
#include "cli/units.h"

namespace tile_tune::cli {

namespace {

/// A variable that is set to nothing counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::filesystem::path> data_folder() {
  // The XDG base directory specification says that relative paths are to be ignored.
  if (const std::filesystem::path given = variable("XDG_DATA_HOME"); given.is_absolute()) return given;
  std::string home = variable("HOME");
  if (home.empty()) {
    if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
  }
  if (home.empty())
    return failure("no-home", "there is no home folder to keep the tuning database in", "name a file with --db FILE");
  return std::filesystem::path(home) / ".local" / "share";
}

bool use_color(const std::string& choice) {
  return wants_color(choice, isatty(STDERR_FILENO), variable("TERM"), variable("NO_COLOR"));
}

}  // namespace

bool wants_color(const std::string& choice, bool is_terminal, const std::string& terminal,
                 const std::string& no_color) {
  if (choice != "auto") return choice == "always";
  return is_terminal && !terminal.empty() && terminal != "dumb" && no_color.empty();
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  const std::string group = "Common options";
  refuse_empty(
      app.add_option("--db", options.databases, "Tuning database; repeated: the first is written, later ones are read")
          ->type_name("FILE")
          ->allow_extra_args(false)
          ->group(group));
  app.add_option("--target", options.target, "'host' or a Halide target string; of build and tune several: T,T")
      ->type_name("T")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", options.threads, "Threads of a kernel (default: the cores this process may use)")
      ->type_name("N")
      ->check(whole_number(1, kMaxThreads))
      ->group(group);
  app.add_flag("--deterministic", options.deterministic,
               "The same bits whatever the schedule, the threads and the CPU: sums in one order, nothing fused")
      ->group(group);
  app.add_flag("--werror", options.werror, "Warnings about a program are errors: exit code 2, before any work is begun")
      ->group(group);
  app.add_flag("--json", options.json, "Results and diagnostics as JSON")->group(group);
  auto* quiet = app.add_flag("--quiet", options.quiet, "Only results and errors")->group(group);
  app.add_flag("--verbose", options.verbose, "Say more")->group(group)->excludes(quiet);
  app.add_option("--color", options.color,
                 "Colour in diagnostics: always, never or auto (on a terminal, unless NO_COLOR is set)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str()
      ->group(group);
}

int Session::threads() const {
  if (options.threads > 0) return options.threads;
  return std::clamp<int>(static_cast<int>(codegen::available_cores().size()), 1, kMaxThreads);
}

void Session::warn_of_threads() const {
  const size_t cpus = codegen::available_cores().size();
  if (options.threads <= 0 || static_cast<size_t>(options.threads) <= cpus) return;
  report.warn("many-threads",
              fmt::format("--threads {} is more than the {} that this process may use", options.threads,
                          format_number(cpus, "CPU")),
              "threads take turns then, which makes kernels slower and figures a matter of chance");
}

Result<std::vector<codegen::Target>> Session::targets() const {
  std::vector<codegen::Target> targets;
  std::istringstream list(options.target + ",");  // a list that ends in a comma has an empty name at its end
  for (std::string name; std::getline(list, name, ',');) {
    TILE_TUNE_TRY(target, codegen::describe_target(name, threads()));
    targets.push_back(options.deterministic ? codegen::deterministic(std::move(target)) : std::move(target));
  }
  return targets;
}

Result<void> Session::check_options() const {
  if (options.target == "host") return {};
  const auto named = targets();
  if (!named && named.error().error_class == ErrorClass::Program) return tl::unexpected(named.error());
  return {};
}

Result<codegen::Target> Session::target() const {
  if (options.target.find(',') != std::string::npos)
    return fail(ErrorClass::Program, "several-targets", "this command takes one target",
                "build and tune take several: --target T,T");
  TILE_TUNE_TRY(all, targets());
  TILE_TUNE_CHECK(codegen::check_runs_here(all.front()));
  return all.front();
}

Result<std::vector<std::filesystem::path>> Session::databases() const {
  if (!options.databases.empty())
    return std::vector<std::filesystem::path>(options.databases.begin(), options.databases.end());
  if (const std::string given = variable("TILE_TUNE_DB"); !given.empty())
    return std::vector<std::filesystem::path>{given};
  TILE_TUNE_TRY(folder, data_folder());
  return std::vector{folder / "tile-tune" / "tuning.db"};
}

Result<std::filesystem::path> Session::database() const {
  TILE_TUNE_TRY(all, databases());
  return all.front();
}

Session make_session(const CommonOptions& options) {
  const Volume volume = options.quiet ? Volume::Quiet : options.verbose ? Volume::Verbose : Volume::Normal;
  return {.options = options, .report = Reporter(volume, options.json, use_color(options.color), options.werror)};
}

}  // namespace tile_tune::cli
