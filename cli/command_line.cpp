#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/auxv.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/nearest_name.h"
#include "cli/config_file.h"
#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "search/timing/deadline.h"

namespace tile_tune::cli {

namespace {

/// Named in the documentation, which says that they come later.
constexpr std::string_view kPlanned[] = {"report", "doctor"};

/// CLI11's sentences go over several lines and may end in a full stop; ours are one line without.
std::string sentence_of(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(verb->get_name());
  return names;
}

/// What a configuration file got wrong, with its line: the option it names is unknown there.
Diagnostic explain(const CLI::ConfigError& error, const std::string& file) {
  const std::string text = error.what();
  const std::string not_allowed = text.substr(0, text.find(": "));
  const std::string option = text == not_allowed ? text.substr(text.rfind(' ') + 1) : not_allowed;
  const std::string name = option.substr(option.rfind('.') + 1);
  return {ErrorClass::Program, "command-line", fmt::format("{} sets '{}', which is no option here", file, option),
          find_in_config(file, name),
          "options stand as on the command line without dashes: threads=2, [tune] trials=64"};
}

/// The verb a command line named, with its own verb where it has some ("db list"); the tool itself if it named none.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// "tile-tune db show"
std::string path_of(const CLI::App& verb) {
  return verb.get_parent() ? path_of(*verb.get_parent()) + " " + verb.get_name() : verb.get_name();
}

/// A word where a command should stand: planned, mistyped, or anything else.
Diagnostic unknown_command(const std::string& word, const CLI::App& verb) {
  const bool is_tool = verb.get_parent() == nullptr;
  const std::string of = is_tool ? "" : " of '" + verb.get_name() + "'";
  const auto names = verb_names(verb);
  const std::string all = fmt::format("the commands{} are {}", of, fmt::join(names, ", "));
  if (is_tool && std::find(std::begin(kPlanned), std::end(kPlanned), word) != std::end(kPlanned))
    return {ErrorClass::Program, "command-line", fmt::format("the command '{}' is not there yet", word), std::nullopt,
            all};
  const std::string nearest = base::nearest_name(word, names);
  return {ErrorClass::Program, "command-line", fmt::format("unknown command '{}'{}", word, of), std::nullopt,
          nearest.empty() ? all : fmt::format("did you mean {}? {}", nearest, all)};
}

/// The place in the configuration file of a wrong value ("--threads: Value 0 not in range"), if it is from there.
std::optional<Place> place_of_value(const std::string& text, const std::string& file, int argc, char** argv) {
  const std::string option = text.substr(0, text.find(": "));
  if (file.empty() || !option.starts_with("--")) return std::nullopt;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).starts_with(option)) return std::nullopt;
  return find_in_config(file, option.substr(2));
}

Diagnostic explain(const CLI::ParseError& error, CLI::App& app, int argc, char** argv) {
  const auto diagnostic = [](ErrorClass error_class, std::string message, std::string note) {
    return Diagnostic{error_class, "command-line", std::move(message), std::nullopt, std::move(note)};
  };
  if (dynamic_cast<const CLI::FileError*>(&error))
    return diagnostic(ErrorClass::Failure, "cannot read the configuration file: " + sentence_of(error.what()), "");
  const std::string config = app.get_config_ptr()->empty() ? "" : app.get_config_ptr()->as<std::string>();
  if (const auto* wrong = dynamic_cast<const CLI::ConfigError*>(&error)) return explain(*wrong, config);
  const CLI::App& verb = innermost(app);
  const auto unknown = app.remaining(true);
  const bool needs_verb = !verb.get_subcommands([](const CLI::App*) { return true; }).empty();
  if (needs_verb) {
    const std::string of = verb.get_parent() ? " of '" + verb.get_name() + "'" : "";
    for (const auto& word : unknown)
      if (!word.starts_with('-')) return unknown_command(word, verb);
    if (unknown.empty() && dynamic_cast<const CLI::RequiredError*>(&error))
      return diagnostic(ErrorClass::Program, fmt::format("a command{} is missing", of),
                        fmt::format("the commands{} are {}", of, fmt::join(verb_names(verb), ", ")));
  }
  const std::string help = fmt::format("see {} --help", path_of(verb));
  // A verb that is missing because an option was mistyped is not worth telling of.
  const bool told_by_extras = dynamic_cast<const CLI::ExtrasError*>(&error) || needs_verb;
  if (!unknown.empty() && told_by_extras) {
    const char* what = unknown.front().starts_with('-') ? "unknown option" : "unexpected argument";
    return diagnostic(ErrorClass::Program, fmt::format("{} '{}'", what, unknown.front()), help);
  }
  auto result = diagnostic(ErrorClass::Program, sentence_of(error.what()), help);
  result.place = place_of_value(error.what(), config, argc, argv);
  return result;
}

int run(const Command& command, Session& session) {
  try {
    const auto checked = session.check_settings();
    const auto outcome = checked ? command(session) : tl::unexpected(checked.error());
    if (outcome) return *outcome == Exit::Interrupted ? interrupt_exit_code() : static_cast<int>(*outcome);
    session.report.diagnostic(outcome.error());
    return static_cast<int>(outcome.error().error_class);
  } catch (const std::bad_alloc&) {
    session.report.diagnostic(failure("out-of-memory", "there is not enough memory for this").value());
  } catch (const std::exception& error) {
    session.report.diagnostic(failure("internal", fmt::format("internal error: {}", error.what())).value());
  }
  return static_cast<int>(ErrorClass::Failure);
}

/// --json and --color must hold for errors in the command line itself, which are found before it is parsed in full.
CommonOptions options_so_far(CommonOptions options, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) options.output.json = options.output.json || std::strcmp(argv[i], "--json") == 0;
  return options;
}

/// The exit code of a command line that only prints.
int finish(const Result<void>& printed, const CommonOptions& options) {
  if (printed) return 0;
  make_session(options).report.diagnostic(printed.error());
  return static_cast<int>(printed.error().error_class);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  // Not when the process began: it may have been a script, which built the tool first. Loading took 10 ms (Zen 4).
  const double began = search::now_seconds();
  exit_on_interrupt();
  CLI::App app("Tunes tensor programs for this machine and emits them as static libraries.", "tile-tune");
  app.set_version_flag("--version", version_text, "Versions of the tool and of what it is made of");
  app.set_config("--config", "", "Options from a file (CLI11's configuration format)")->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.require_subcommand(1);
  app.fallthrough();
  app.option_defaults()->always_capture_default(false);
  CommonOptions options;
  Verb tool(&app);
  add_common_options(tool, options);
  Command command;
  add_check(tool, command);
  add_explain(tool, command);
  add_run(tool, command);
  add_tune(tool, command);
  add_simulate(tool, command);
  add_bench(tool, command);
  add_build(tool, command);
  add_db(tool, command);
  add_worker(tool, command);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verb->footer("--db, --target, --threads, --json and other options that all commands have: tile-tune --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    const CommonOptions so_far = options_so_far(options, argc, argv);
    return finish(so_far.output.json ? print_json(version_json()) : print(version_text() + "\n"), so_far);
  } catch (const CLI::Success& success) {  // --help
    std::ostringstream text;
    app.exit(success, text, text);
    return finish(print(text.str()), options_so_far(options, argc, argv));
  } catch (const CLI::ParseError& error) {
    const Diagnostic diagnostic = explain(error, app, argc, argv);
    make_session(options_so_far(options, argc, argv)).report.diagnostic(diagnostic);
    return static_cast<int>(diagnostic.error_class);
  }
  Session session = make_session(options);
  session.began = began;
  // A loader that was started as a program, as a bundle's launcher does, is /proc/self/exe itself and has no base.
  if (getauxval(AT_BASE) == 0) session.executable = argv[0];
  return run(command, session);
}

}  // namespace tile_tune::cli
