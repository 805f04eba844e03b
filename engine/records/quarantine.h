// Reproducers that make a failure happen again: a program, a schedule, and the command that tries it.
#pragma once

#include <filesystem>
#include <string>

#include "db/records.h"
#include "frontend/diagnostic/diagnostic.h"
#include "search/judge/trial.h"

namespace tile_tune::engine {

/// Of a trial; names in reproducers come from digests alone, nothing else of a record is used as a path.
std::string reproducer_name(const std::string& trial_id);

/// Writes FOLDER/NAME with program.json, schedule.json and reproduce.txt, which says what was seen, by which versions
/// where, and the command. Program and schedule are what this version makes of the record, not the record's text; one
/// that it cannot read is an error.
Result<void> write_reproducer(const db::FaultRow& fault, const std::filesystem::path& folder);

/// Whether a failure says that a compiler or a schedule is broken: a crash, of the kernel or the compiler, or a wrong
/// result. (Schedules that are refused, take too long or too much memory are in the nature of a search.)
bool is_worth_a_reproducer(const search::Measurement& measurement);

/// Where `tune` puts the reproducers of a database.
std::filesystem::path quarantine_folder(const std::filesystem::path& database);

}  // namespace tile_tune::engine
