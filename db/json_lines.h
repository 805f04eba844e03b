// Records as text that can be shared, kept under version control and compared: JSON Lines.
//
// The first line names the kind of file and the version of its format; each other line is one record with its fields
// in a fixed order, records in the order of Database::each_record. Numbers come back to the last bit, texts byte by
// byte: what SQLite and JSON cannot both hold is spelled out ("nan" is null, infinities are texts, bytes that are no
// UTF-8 are base64).
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "db/exchange.h"

namespace tile_tune::db {

std::string header_line();
std::string to_line(const Record& record);

/// The record of a line; of class Failure with code bad-record-file and a sentence without a place.
Result<Record> record_from_line(const std::string& line);

/// The records of a file that says in its first line, read at once, that it holds some. Errors name `path` and the
/// line. Nothing in it is executed or used as a path.
Result<RecordSource> records_of(std::istream& stream, const std::string& path);

}  // namespace tile_tune::db
