#include "cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "frontend/diagnostic/utf8.h"

namespace tile_tune::cli {

namespace {

/// A cell behind which nothing stands, from column `left` on, in as many lines as `width` makes it.
std::string in_column(const std::string& cell, size_t left, size_t width) {
  constexpr size_t kNarrowest = 20;  // in less sentences are a word a line
  if (width < left + kNarrowest || left + text_width(cell) <= width) return cell;
  return fmt::format("{}", fmt::join(base::broken_into_lines(cell, width - left), "\n" + std::string(left, ' ')));
}

}  // namespace

std::string one_line(const std::string& cell) {
  std::string line;
  for (const char c : printable(cell)) {
    if (c == '\n' || c == '\t')
      line += c == '\n' ? "\\n" : "\\t";
    else
      line += c;
  }
  return line;
}

size_t text_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& given,
                         int indent, size_t width) {
  auto rows = given;
  for (auto& row : rows)
    for (auto& cell : row) cell = one_line(cell);
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    titles.push_back(columns[c].title);
    widths.push_back(text_width(columns[c].title));
    for (const auto& row : rows)
      if (c < row.size()) widths[c] = std::max(widths[c], text_width(row[c]));
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(static_cast<size_t>(indent), ' ');
    for (size_t c = 0; c < cells.size() && c < columns.size(); ++c) {
      const std::string padding(widths[c] - text_width(cells[c]), ' ');
      if (c > 0) line += "  ";
      if (c + 1 == columns.size() && columns[c].align == Align::Left)
        line += in_column(cells[c], text_width(line), width);
      else
        line += columns[c].align == Align::Right ? padding + cells[c] : cells[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool titled = std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  if (titled) add_line(titles);
  for (const auto& row : rows) add_line(row);
  return text;
}

}  // namespace tile_tune::cli
