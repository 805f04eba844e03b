// Small tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace tile_tune::cli {

enum class Align { Left, Right };

struct Column {
  std::string title;
  Align align = Align::Left;
};

/// One line for the titles (left out if all are empty) and one a row, columns two blanks apart, no blanks at the
/// ends of lines. Widths count UTF-8 characters. `indent` blanks stand before every line. What would reach the terminal
/// as more than a character (control characters, newlines, bytes that are not UTF-8) is spelled out. Of a row that is
/// wider than `width` (0: there is no such bound) the last cell, if it is aligned left, goes on below itself.
std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                         int indent = 0, size_t width = 0);

/// A cell in one line that a terminal can bear: names in a database may hold anything.
std::string one_line(const std::string& cell);

/// Characters of a UTF-8 text.
size_t text_width(const std::string& text);

}  // namespace tile_tune::cli
