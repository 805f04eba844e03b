// Records on their way between databases and files.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/records/open_database.h"

namespace tile_tune::engine {

/// All records of the databases, or, `winners`, the schedules that are taken, as JSON Lines (db/json_lines.h). Several
/// databases are exported as what merging them would give. `output`: as of base::write_whole(). Once `stop` is set the
/// rest is left out, and with it what was written; code: stopped.
Result<void> export_records(std::vector<OpenDatabase>& databases, bool winners, const std::string& output,
                            const std::atomic<bool>& stop);

/// The trials of one program (t4.h), likewise.
Result<void> export_t4(std::vector<OpenDatabase>& databases, const std::string& name, const std::string& output,
                       const std::atomic<bool>& stop);

/// Takes the source's records into the database at `path`, which is made if it is not there, up to the one before which
/// `stop` is set.
Result<db::Absorbed> absorb(const std::filesystem::path& path, const db::RecordSource& source,
                            const std::atomic<bool>& stop);

/// The records of a file of JSON Lines, "-": of standard input. Read as they are asked for; what holds none is found
/// out at once.
Result<db::Absorbed> import_file(const std::string& input, const std::filesystem::path& path,
                                 const std::atomic<bool>& stop);

/// All records of databases, one after the other.
db::RecordSource records_in(std::vector<OpenDatabase>& databases);

}  // namespace tile_tune::engine
