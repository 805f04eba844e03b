#include "cli/db_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_sized.h"
#include "cli/db_rows.h"
#include "cli/fitted_table.h"
#include "engine/records/workload.h"

namespace tile_tune::cli {

namespace {

struct ListArguments {
  std::string text;  // in any cell of a line
  std::string sort = "tuned";
  bool reverse = false, wide = false;
};

/// --target and --threads, where they are given.
struct Place {
  std::vector<codegen::Target> targets;
  int threads = 0;

  bool holds(const db::TargetRow& row) const {
    const auto is_it = [&](const codegen::Target& one) { return one.text() == row.text(); };
    return (targets.empty() || std::any_of(targets.begin(), targets.end(), is_it)) &&
           (threads == 0 || threads == row.machine.threads);
  }
};

using Cells = std::vector<std::string>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool mentions(const Cells& cells, const std::string& text) {
  return std::any_of(cells.begin(), cells.end(),
                     [&](const std::string& cell) { return lower(cell).find(lower(text)) != std::string::npos; });
}

/// The least important last.
std::vector<FittedColumn> list_columns() {
  return {{{"id"}, Keep::Whole},
          {{"program"}, Keep::Cut},
          {{"sizes"}, Keep::Cut},
          {{"time", Align::Right}, Keep::Whole},
          {{"speed-up", Align::Right}, Keep::Whole},
          {{"of roofline", Align::Right}},
          {{"threads", Align::Right}},
          {{"target"}},
          {{"layout"}},
          {{"types"}},
          {{"tuned"}},
          {{"trials", Align::Right}}};
}

Cells cells_of(const db::ListRow& row) {
  const auto& best = row.best;
  return {row.id,
          program_text(row.program),
          engine::sizes_text(row.program.sizes_json),
          best ? base::format_time(best->median_ns) : "-",
          best ? speed_text(best->ratio, 0, 0) : "-",
          best ? base::format_percent(best->peak_fraction) : "-",
          std::to_string(row.target.machine.threads),
          engine::machine_text(row.target),
          storage_text(row.program),
          row.program.dtypes,
          base::format_date(row.created_ms),
          std::to_string(row.trials)};
}

/// What each order begins with is what one looks for: the latest, the longest, the largest gain, the most to gain.
using Before = std::function<bool(const db::ListRow&, const db::ListRow&)>;

double figure(const db::ListRow& row, double db::BestRow::*field) { return row.best ? (*row.best).*field : 0; }

Before order_of(const std::string& key) {
  const auto largest = [](double db::BestRow::*field) {
    return [field](const db::ListRow& a, const db::ListRow& b) { return figure(a, field) > figure(b, field); };
  };
  if (key == "program")
    return [](const db::ListRow& a, const db::ListRow& b) {
      const std::string mine = program_text(a.program), theirs = program_text(b.program);
      return std::tie(mine, a.program.flops) < std::tie(theirs, b.program.flops);
    };
  if (key == "time") return largest(&db::BestRow::median_ns);
  if (key == "speed-up") return largest(&db::BestRow::ratio);
  if (key == "roofline") return largest(&db::BestRow::peak_fraction);
  if (key == "trials") return [](const db::ListRow& a, const db::ListRow& b) { return a.trials > b.trials; };
  return [](const db::ListRow& a, const db::ListRow& b) { return a.created_ms > b.created_ms; };
}

void choose(std::vector<db::ListRow>& rows, const ListArguments& arguments, const Place& place) {
  std::erase_if(rows, [&](const db::ListRow& row) {
    return !place.holds(row.target) || !mentions(cells_of(row), arguments.text);
  });
  std::stable_sort(rows.begin(), rows.end(), order_of(arguments.sort));
  if (arguments.reverse) std::reverse(rows.begin(), rows.end());
}

void choose(std::vector<engine::ListedEntry>& entries, const ListArguments& arguments, const Place& place) {
  std::erase_if(entries, [&](const engine::ListedEntry& entry) {
    return !place.holds(entry.row.target) || !mentions(entry_cells(entry), arguments.text);
  });
}

std::string list_text(const std::vector<db::ListRow>& rows, const std::vector<engine::ListedEntry>& entries,
                      bool filtered, size_t width) {
  std::vector<Cells> cells;
  for (const auto& row : rows) cells.push_back(cells_of(row));
  if (!cells.empty()) return fitted_text(fit_table(list_columns(), std::move(cells), width));
  if (!entries.empty()) return "";
  return filtered ? "no tuned program fits what was asked for\n" : "the database holds no tuned program\n";
}

Result<Exit> list(const ListArguments& arguments, bool by_target, const Session& session) {
  Place place;
  place.threads = session.settings.threads;
  if (by_target) {
    TILE_TUNE_TRY(targets, session.targets());
    place.targets = std::move(targets);
  }
  TILE_TUNE_TRY(databases, engine::open_checked(session));
  const size_t width = arguments.wide ? 0 : output_columns();
  const bool filtered = by_target || place.threads > 0 || !arguments.text.empty();
  nlohmann::json json = nlohmann::json::array();
  std::string text;
  for (auto& one : databases) {
    TILE_TUNE_TRY(rows, one.database.list());
    TILE_TUNE_TRY(entries, engine::listed_entries(one.database));
    warn_of_damage(one.database, session.report);
    choose(rows, arguments, place);
    choose(entries, arguments, place);
    const auto add = [&](nlohmann::json row) {
      row["database"] = one.path.string();
      json.push_back(std::move(row));
    };
    for (const auto& row : rows) add(list_row_json(row));
    for (const auto& row : entries) add(entry_row_json(row));
    text += from_text(one, databases) + list_text(rows, entries, filtered, width) + entries_text(entries, width);
  }
  TILE_TUNE_CHECK(session.output.json ? print_json(json) : print(text));
  return Exit::Success;
}

}  // namespace

void add_db_list(Verb& app, Verb& db, Command& command) {
  auto arguments = std::make_shared<ListArguments>();
  Verb verb = db.add_verb("list",
                          "One line for each program and target, as wide as the terminal; --target and "
                          "--threads choose among them");
  verb.add_option("TEXT", arguments->text, "Only lines with this text in any column").type_name("");
  verb.add_option("--sort", arguments->sort,
                  "tuned (default: the latest first), program, time, speed-up, roofline or trials (the most first)")
      .type_name("COLUMN")
      .one_of({"tuned", "program", "time", "speed-up", "roofline", "trials"});
  verb.add_flag("--reverse", arguments->reverse, "The other way round");
  verb.add_flag("--wide", arguments->wide, "All columns at full width, as where the output is no terminal");
  const Option target = app.option("--target");
  verb.on_parsed([&command, arguments, target] {
    command = [arguments, by_target = target.is_given()](Session& session) {
      return list(*arguments, by_target, session);
    };
  });
}

}  // namespace tile_tune::cli
