#include "cli/command.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/option_checks.h"

namespace tile_tune::cli {

namespace {

constexpr int kMostDevices = 64;  // that the runtime of devices looks at

/// A variable that is set to nothing counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
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

void add_common_options(Verb& app, CommonOptions& options) {
  const std::string group = "Common options";
  refuse_empty(app.add_option("--db", options.settings.databases,
                              "Tuning database; repeated: the first is written, later ones are read")
                   .type_name("FILE")
                   .one_value_each()
                   .group(group));
  app.add_option("--target", options.settings.target,
                 "'host', 'host-opencl', 'host-cuda' or a Halide target string; of build and tune several: T,T")
      .type_name("T")
      .show_default()
      .group(group);
  app.add_option("--device", options.settings.device,
                 "Of 'host-opencl' or 'host-cuda': which of this machine's devices")
      .type_name("N")
      .check(whole_number(0, kMostDevices - 1))
      .show_default()
      .group(group);
  app.add_option("--threads", options.settings.threads, "Threads of a kernel (default: the cores this process may use)")
      .type_name("N")
      .check(whole_number(1, engine::kMaxThreads))
      .group(group);
  app.add_flag("--deterministic", options.settings.deterministic,
               "The same bits whatever the schedule, the threads and the CPU: sums in one order, nothing fused")
      .group(group);
  app.add_flag("--werror", options.werror, "Warnings about a program are errors: exit code 2, before any work is begun")
      .group(group);
  app.add_flag("--json", options.output.json, "Results and diagnostics as JSON").group(group);
  Option quiet = app.add_flag("--quiet", options.output.quiet, "Only results and errors").group(group);
  app.add_flag("--verbose", options.output.verbose, "Say more").group(group).excludes(quiet);
  app.add_option("--color", options.output.color,
                 "Colour in diagnostics: always, never or auto (on a terminal, unless NO_COLOR is set)")
      .type_name("WHEN")
      .one_of({"auto", "always", "never"})
      .show_default()
      .group(group);
}

Session make_session(const CommonOptions& options) {
  const Output& output = options.output;
  return {{.settings = options.settings,
           .report = reporter(output.volume(), output.json, use_color(output.color), options.werror)},
          output};
}

}  // namespace tile_tune::cli
