#include "cli/fitted_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace tile_tune::cli {

namespace {

constexpr size_t kGap = 2;         // between columns
constexpr size_t kNarrowest = 18;  // of what is cut: less of a name or of sizes tells nothing apart

using Rows = std::vector<std::vector<std::string>>;

void erase_column(std::vector<FittedColumn>& columns, Rows& rows, size_t c) {
  const auto at = static_cast<std::ptrdiff_t>(c);
  columns.erase(columns.begin() + at);
  for (auto& row : rows) row.erase(row.begin() + at);
}

/// "layout row", or "no speed-up".
std::string shared_text(const std::string& title, const std::string& value) {
  return value.empty() || value == "-" ? "no " + title : title + " " + value;
}

std::vector<size_t> widths_of(const std::vector<FittedColumn>& columns, const Rows& rows) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    widths.push_back(text_width(columns[c].column.title));
    for (const auto& row : rows) widths[c] = std::max(widths[c], text_width(row[c]));
  }
  return widths;
}

size_t total(const std::vector<size_t>& widths) {
  size_t sum = widths.empty() ? 0 : kGap * (widths.size() - 1);
  for (const size_t one : widths) sum += one;
  return sum;
}

/// The widest of those that may be cut gives way, again and again; false: they cannot give way far enough.
bool shrink(const std::vector<FittedColumn>& columns, std::vector<size_t>& widths, size_t width) {
  while (total(widths) > width) {
    size_t widest = columns.size();
    for (size_t c = 0; c < columns.size(); ++c)
      if (columns[c].keep == Keep::Cut && widths[c] > kNarrowest &&
          (widest == columns.size() || widths[c] > widths[widest]))
        widest = c;
    if (widest == columns.size()) return false;
    --widths[widest];
  }
  return true;
}

std::string cut(const std::string& cell, size_t width) {
  return text_width(cell) <= width ? cell : base::cut_to_width(cell, width - 1) + "…";
}

}  // namespace

FittedTable fit_table(std::vector<FittedColumn> columns, Rows rows, size_t width) {
  FittedTable table;
  table.width = width;
  for (auto& row : rows)
    for (auto& cell : row) cell = one_line(cell);
  std::vector<std::string> shared;
  for (size_t c = columns.size(); rows.size() > 1 && c-- > 0;) {
    const auto same = [&](const auto& row) { return row[c] == rows[0][c]; };
    if (columns[c].keep != Keep::Hide || !std::all_of(rows.begin(), rows.end(), same)) continue;
    shared.insert(shared.begin(), shared_text(columns[c].column.title, rows[0][c]));
    erase_column(columns, rows, c);
  }
  table.shared = fmt::format("{}", fmt::join(shared, ", "));
  auto widths = widths_of(columns, rows);
  while (width > 0 && !shrink(columns, widths, width)) {
    const auto last =
        std::find_if(columns.rbegin(), columns.rend(), [](const auto& c) { return c.keep == Keep::Hide; });
    if (last == columns.rend()) break;
    table.hidden.insert(table.hidden.begin(), last->column.title);
    erase_column(columns, rows, static_cast<size_t>(columns.rend() - last) - 1);
    widths = widths_of(columns, rows);
  }
  std::vector<Column> plain;
  for (const auto& column : columns) plain.push_back(column.column);
  for (auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) row[c] = cut(row[c], widths[c]);
  table.text = format_table(plain, rows);
  return table;
}

std::string fitted_text(const FittedTable& table) {
  const auto in_lines = [&](const std::string& words) {
    if (table.width == 0) return words + "\n";
    return fmt::format("{}\n", fmt::join(base::broken_into_lines(words, table.width), "\n"));
  };
  std::string text = table.shared.empty() ? "" : in_lines("in all lines: " + table.shared);
  text += table.text;
  if (!table.hidden.empty())
    text += in_lines(fmt::format("hidden: {} (--wide shows all)", fmt::join(table.hidden, ", ")));
  return text;
}

size_t output_columns() {
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace tile_tune::cli
