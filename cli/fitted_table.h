// Tables of records for a terminal: what all rows share is said once, and what is left fits its width.
#pragma once

#include <string>
#include <vector>

#include "cli/table.h"

namespace tile_tune::cli {

/// How a column gives way to a terminal's width.
enum class Keep {
  Whole,  // never hidden, never cut: who looks a row up types it
  Cut,    // never hidden, cut where it must be
  Hide    // hidden where all rows agree or the width is short; the last such column first
};

struct FittedColumn {
  Column column;
  Keep keep = Keep::Hide;
};

struct FittedTable {
  std::string shared;  // "layout row, 2 threads": columns in which all rows agree, or empty
  std::string text;
  std::vector<std::string> hidden;  // titles of columns that the width leaves no room for
  size_t width = 0;                 // what it was made for
};

/// `width` 0: all the width there is. Columns with one value are taken out of the table if it has several rows.
FittedTable fit_table(std::vector<FittedColumn> columns, std::vector<std::vector<std::string>> rows, size_t width);

/// The table between a line of what is shared and one of what is hidden, or more where these are wider than the table
/// may be.
std::string fitted_text(const FittedTable& table);

/// Of the terminal that standard output is; 0: it is none.
size_t output_columns();

}  // namespace tile_tune::cli
