#include "engine/records/transport.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/process/stoppable_stream.h"
#include "base/whole_file.h"
#include "db/json_lines.h"
#include "engine/records/t4.h"
#include "search/workers/session_directory.h"

namespace tile_tune::engine {

namespace {

namespace fs = std::filesystem;

Result<void> write_lines(db::Database& database, bool winners, std::ostream& stream, const std::atomic<bool>& stop) {
  stream << db::header_line() << '\n';
  const auto write = [&](const db::Record& record) -> Result<void> {
    if (stop) return failure("stopped", "stopped");
    if (stream << db::to_line(record) << '\n') return {};
    return failure("cannot-write", fmt::format("the records cannot be written: {}", std::strerror(errno)));
  };
  return winners ? database.each_record_in_use(write) : database.each_record(write);
}

/// Records up to the one before which `stop` is set.
db::RecordSource until(const std::atomic<bool>& stop, db::RecordSource source) {
  return [&stop, source = std::move(source)](const db::RecordVisitor& visitor) -> Result<void> {
    auto all = source([&](const db::Record& record) -> Result<void> {
      if (stop) return failure("stopped", "stopped");
      return visitor(record);
    });
    if (!all && stop && (all.error().code == "stopped" || all.error().code == "cannot-read")) return {};
    return all;
  };
}

}  // namespace

Result<void> export_records(std::vector<OpenDatabase>& databases, bool winners, const std::string& output,
                            const std::atomic<bool>& stop) {
  const auto write = [&](db::Database& database) {
    const auto produce = [&](std::ostream& stream) { return write_lines(database, winners, stream, stop); };
    return base::write_whole(output, produce, stop);
  };
  if (databases.size() == 1) return write(databases.front().database);
  TILE_TUNE_TRY(folder, search::SessionDirectory::create());
  TILE_TUNE_TRY(merged, db::Database::open(folder.path() / "merged.db", db::Mode::ReadWrite));
  TILE_TUNE_CHECK(merged.absorb(until(stop, records_in(databases))));
  return write(merged);
}

Result<void> export_t4(std::vector<OpenDatabase>& databases, const std::string& name, const std::string& output,
                       const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(json, t4_json(databases, name));
  const auto write = [&](std::ostream& stream) -> Result<void> {
    if (stop) return failure("stopped", "stopped");
    // Bytes that are not UTF-8 (comments in a program may hold them) are replaced.
    stream << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return {};
  };
  return base::write_whole(output, write, stop);
}

Result<db::Absorbed> absorb(const fs::path& path, const db::RecordSource& source, const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  TILE_TUNE_CHECK(database.check_pages(db::Database::Depth::Indexes));  // they say what is there already
  return database.absorb(until(stop, source));
}

Result<db::Absorbed> import_file(const std::string& input, const fs::path& path, const std::atomic<bool>& stop) {
  std::error_code error;
  if (input != "-" && fs::is_directory(input, error))
    return failure("cannot-read", fmt::format("cannot read {}: a folder", input));
  base::Fd file = input == "-" ? base::Fd(dup(STDIN_FILENO)) : base::open_to_read(input);
  const std::string name = input == "-" ? "standard input" : input;
  if (file.get() < 0) return failure("cannot-read", fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  base::StoppableBuffer buffer(std::move(file), stop);
  std::istream stream(&buffer);
  // What holds no records is found out before the database is made.
  TILE_TUNE_TRY(source, db::records_of(stream, name));
  return absorb(path, source, stop);
}

db::RecordSource records_in(std::vector<OpenDatabase>& databases) {
  return [&databases](const db::RecordVisitor& visitor) -> Result<void> {
    for (auto& one : databases) TILE_TUNE_CHECK(one.database.each_record(visitor));
    return {};
  };
}

}  // namespace tile_tune::engine
