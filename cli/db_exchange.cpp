// tile-tune db export, import, merge: records on their way between databases.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/db_verbs.h"
#include "cli/option_checks.h"
#include "db/database.h"
#include "db/json_lines.h"

namespace tile_tune::cli {

namespace {

namespace fs = std::filesystem;

/// More of them say nothing new: the file is not what it should be.
constexpr size_t kShownRefusals = 20;

void warn_of_damage(const db::Database& database, const Reporter& report) {
  for (const auto& record : database.damaged_records())
    report.warn("damaged-record", fmt::format("the record {} is damaged and was left out", record));
}

Result<void> write_records(db::Database& database, std::ostream& stream) {
  const auto cannot_write = [] {
    return failure("cannot-write", fmt::format("the records cannot be written: {}", std::strerror(errno)));
  };
  errno = 0;
  stream << db::header_line() << '\n';
  TILE_TUNE_CHECK(database.each_record([&](const db::Record& record) -> Result<void> {
    if (!(stream << db::to_line(record) << '\n')) return cannot_write();
    return {};
  }));
  if (!stream.flush()) return cannot_write();
  return {};
}

/// Beside the file, then renamed: nobody finds half a file under its name.
Result<void> write_file(db::Database& database, const std::string& path) {
  const std::string part = fmt::format("{}.part-{}", path, getpid());
  std::ofstream stream(part, std::ios::binary | std::ios::trunc);
  auto written = stream ? write_records(database, stream)
                        : failure("cannot-write", fmt::format("cannot write {}: {}", part, std::strerror(errno)));
  stream.close();
  std::error_code error;
  if (written) fs::rename(part, path, error);
  if (written && error) written = failure("cannot-write", fmt::format("cannot write {}: {}", path, error.message()));
  if (!written) fs::remove(part, error);
  return written;
}

Result<Exit> export_records(const std::string& output, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
  TILE_TUNE_CHECK(database.check_pages());
  TILE_TUNE_CHECK(output.empty() ? write_records(database, std::cout) : write_file(database, output));
  warn_of_damage(database, session.report);
  return Exit::Success;
}

Result<Exit> tell(const db::Absorbed& absorbed, const std::string& path, const Reporter& report) {
  const size_t refused = absorbed.refused.size();
  for (size_t i = 0; i < std::min(refused, kShownRefusals); ++i)
    report.warn("refused-record", fmt::format("{} was left out", absorbed.refused[i]));
  if (refused > kShownRefusals) report.warn("refused-record", fmt::format("and {} more", refused - kShownRefusals));
  if (report.json()) {
    TILE_TUNE_CHECK(print_json({{"database", path},
                                {"added", absorbed.added},
                                {"known", absorbed.known},
                                {"conflicts", absorbed.conflicts},
                                {"refused", absorbed.refused}}));
    return Exit::Success;
  }
  std::string text = fmt::format("{} records added, {} were there already", absorbed.added, absorbed.known);
  if (refused > 0) text += fmt::format(", {} refused", refused);
  if (absorbed.conflicts > 0)
    text += fmt::format(
        "; {} conflict with trials that were there: both are kept, `tile-tune db verify` measures what "
        "was chosen against each other",
        absorbed.conflicts);
  TILE_TUNE_CHECK(print(text + "\n"));
  return Exit::Success;
}

/// Into the database that is written.
Result<Exit> take(const db::RecordSource& source, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  TILE_TUNE_TRY(absorbed, database.absorb(source));
  return tell(absorbed, path.string(), session.report);
}

Result<Exit> import_records(const std::string& input, const Session& session) {
  if (input == "-") return take(db::records_of(std::cin, "standard input"), session);
  std::error_code error;
  if (fs::is_directory(input, error)) return failure("cannot-read", fmt::format("cannot read {}: a folder", input));
  std::ifstream stream(input, std::ios::binary);
  if (!stream) return failure("cannot-read", fmt::format("cannot read {}: {}", input, std::strerror(errno)));
  return take(db::records_of(stream, input), session);
}

Result<Exit> merge(const std::vector<std::string>& inputs, const Session& session) {
  std::vector<db::Database> sources;  // opened before the target is made: a slip in a name leaves no empty file
  for (const auto& input : inputs) {
    TILE_TUNE_TRY(source, db::Database::open(input, db::Mode::ReadOnly));
    TILE_TUNE_CHECK(source.check_pages());
    sources.push_back(std::move(source));
  }
  const auto all = [&](const db::RecordVisitor& visitor) -> Result<void> {
    for (auto& source : sources) TILE_TUNE_CHECK(source.each_record(visitor));
    return {};
  };
  auto outcome = take(all, session);
  for (const auto& source : sources) warn_of_damage(source, session.report);
  return outcome;
}

}  // namespace

void add_db_export(CLI::App& db, Command& command) {
  auto output = std::make_shared<std::string>();
  auto* verb = db.add_subcommand("export", "Writes all records as JSON Lines, sorted, one record a line");
  refuse_empty(verb->add_option("-o,--output", *output, "Where to (default: standard output)")->type_name("FILE"));
  verb->callback(
      [&command, output] { command = [output](Session& session) { return export_records(*output, session); }; });
}

void add_db_import(CLI::App& db, Command& command) {
  auto input = std::make_shared<std::string>();
  auto* verb = db.add_subcommand("import", "Takes in the records of an export; those that are known change nothing");
  verb->add_option("FILE", *input, "What `db export` wrote; - for standard input")->required()->type_name("");
  verb->callback(
      [&command, input] { command = [input](Session& session) { return import_records(*input, session); }; });
}

void add_db_merge(CLI::App& db, Command& command) {
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto* verb = db.add_subcommand("merge", "Takes the records of databases into the one that --db names");
  verb->add_option("FILE", *inputs, "Databases to take from; they are not changed")->required()->type_name("");
  verb->callback([&command, inputs] { command = [inputs](Session& session) { return merge(*inputs, session); }; });
}

}  // namespace tile_tune::cli
