// tile-tune db export, import, merge: records on their way between databases.
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "base/whole_file.h"
#include "cli/db_verbs.h"
#include "cli/interrupt.h"
#include "cli/option_checks.h"
#include "engine/records/transport.h"

namespace tile_tune::cli {

namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string name, output;
  std::string format = "jsonl";
  bool winners = false;
};

Result<void> check_options(const ExportArguments& arguments) {
  const bool is_t4 = arguments.format == "t4";
  if (is_t4 && arguments.winners)
    return fail(ErrorClass::Program, "command-line", "--winners goes with records: T4 is a format for all trials");
  if (!is_t4 && !arguments.name.empty())
    return fail(ErrorClass::Program, "command-line",
                "a NAME goes with --format t4: a file of records holds all of them");
  return {};
}

Result<Exit> run_export(const ExportArguments& arguments, const Session& session) {
  const StopOnInterrupt interrupt;
  TILE_TUNE_CHECK(check_options(arguments));
  TILE_TUNE_TRY(databases, engine::open_checked(session));
  const auto written =
      arguments.format == "t4"
          ? engine::export_t4(databases, arguments.name, arguments.output, interrupt.requested())
          : engine::export_records(databases, arguments.winners, arguments.output, interrupt.requested());
  if (!written && interrupt.requested()) {
    const bool in_part = arguments.output.empty() || base::is_device(arguments.output);
    session.report.notice(fmt::format("stopped by {}: {}", interrupt_name(),
                                      in_part ? "the records are not all of them" : "nothing was written"));
    return Exit::Interrupted;
  }
  TILE_TUNE_CHECK(written);
  for (const auto& one : databases) warn_of_damage(one.database, session.report);
  return Exit::Success;
}

/// What was refused makes the command fail in the end: scripts must not take part of the records for all of them.
Result<Exit> judge(const db::Absorbed& absorbed) {
  if (absorbed.refused.empty()) return Exit::Success;
  return failure("refused-record",
                 base::format_number(absorbed.refused.size(), "record was refused", "records were refused"),
                 "the others were taken in");
}

Result<Exit> tell(const db::Absorbed& absorbed, const std::string& path, const Session& session) {
  const size_t refused = absorbed.refused.size();
  warn_of_refusals(absorbed.refused, session.report);
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json({{"database", path},
                                {"added", absorbed.added},
                                {"known", absorbed.known},
                                {"conflicts", absorbed.conflicts},
                                {"refused", to_json(absorbed.refused)}}));
    return judge(absorbed);
  }
  std::string text = fmt::format("{} added, {} there already", base::format_number(absorbed.added, "record"),
                                 base::format_number(absorbed.known, "was", "were"));
  if (refused > 0) text += fmt::format(", {} refused", refused);
  if (absorbed.conflicts > 0)
    text += fmt::format(
        "; {} conflict with trials that were there: both are kept, `tile-tune db recheck` measures what "
        "was chosen against each other",
        absorbed.conflicts);
  TILE_TUNE_CHECK(print(text + "\n"));
  return judge(absorbed);
}

/// Into the database that is written.
using TakeIn = std::function<Result<db::Absorbed>(const fs::path& database, const std::atomic<bool>& stop)>;
Result<Exit> take(const TakeIn& take_in, const Session& session) {
  const StopOnInterrupt interrupt;
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(absorbed, take_in(path, interrupt.requested()));
  TILE_TUNE_TRY(told, tell(absorbed, path.string(), session));
  if (!interrupt.requested()) return told;
  session.report.notice(fmt::format("stopped by {}: the same command takes in the rest", interrupt_name()));
  return Exit::Interrupted;
}

Result<Exit> import_records(const std::string& input, const Session& session) {
  const auto take_in = [&](const fs::path& database, const std::atomic<bool>& stop) {
    return engine::import_file(input, database, stop);
  };
  return take(take_in, session);
}

Result<Exit> merge(const std::vector<std::string>& inputs, const Session& session) {
  std::vector<engine::OpenDatabase> sources;  // opened before the target is made: a slip in a name leaves no empty file
  for (const auto& input : inputs) {
    TILE_TUNE_TRY(source, engine::open_checked(input));
    sources.push_back(std::move(source));
  }
  const auto take_in = [&](const fs::path& database, const std::atomic<bool>& stop) {
    return engine::absorb(database, engine::records_in(sources), stop);
  };
  auto outcome = take(take_in, session);
  for (const auto& source : sources) warn_of_damage(source.database, session.report);
  return outcome;
}

}  // namespace

void add_db_export(Verb& db, Command& command) {
  auto arguments = std::make_shared<ExportArguments>();
  Verb verb = db.add_verb("export", "Writes all records as JSON Lines, sorted, one record a line; or for others");
  verb.add_option("NAME", arguments->name, "With --format t4: a program's name or the first digits of its id")
      .type_name("");
  verb.add_option("--format", arguments->format,
                  "jsonl: all records, for `db import` (default); t4: the trials of one program on one target in the "
                  "autotuning community's T4 results format")
      .type_name("FORMAT")
      .one_of({"jsonl", "t4"});
  verb.add_flag("--winners", arguments->winners,
                "Only the schedules that are taken, one for each program, target and version, without other trials");
  refuse_empty(
      verb.add_option("-o,--output", arguments->output, "Where to (default: standard output)").type_name("FILE"));
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return run_export(*arguments, session); }; });
}

void add_db_import(Verb& db, Command& command) {
  auto input = std::make_shared<std::string>();
  Verb verb = db.add_verb("import", "Takes in the records of an export; those that are known change nothing");
  verb.add_option("FILE", *input, "What `db export` wrote; - for standard input").required().type_name("");
  verb.on_parsed(
      [&command, input] { command = [input](Session& session) { return import_records(*input, session); }; });
}

void add_db_merge(Verb& db, Command& command) {
  auto inputs = std::make_shared<std::vector<std::string>>();
  Verb verb = db.add_verb("merge", "Takes the records of databases into the one that --db names");
  verb.add_option("FILE", *inputs, "Databases to take from; they are not changed").required().type_name("");
  verb.on_parsed([&command, inputs] { command = [inputs](Session& session) { return merge(*inputs, session); }; });
}

}  // namespace tile_tune::cli
