// tile-tune db verify: does all that is stored still hold, by the bytes of the file and by what kernels do here?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "cli/db_families.h"
#include "cli/damage.h"
#include "cli/db_rows.h"
#include "cli/db_verbs.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/progress_display.h"
#include "cli/recheck.h"
#include "cli/schedule_choice.h"
#include "cli/table.h"
#include "cli/units.h"
#include "db/identity.h"
#include "db/stack.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"

namespace tile_tune::cli {

namespace {

constexpr size_t kTellEvery = 100;  // records

struct VerifyArguments {
  std::string name;
  bool files_only = false;
};

/// One line of the answer.
struct Line {
  db::ProgramRow program;
  std::string rung;     // before
  std::string verdict;  // "holds", "revalidated", "slower", "beaten", "wrong", ... or why it was not checked
  std::string reason;
  search::Measurement measurement;
};

struct Findings {
  std::vector<std::string> damaged;
  std::vector<Line> lines;
  size_t records = 0;               // looked at
  size_t programs = 0, checked = 0;  // that there are for this target, and those looked at
  std::string stopped_by;            // "Ctrl-C"; empty: nobody did
  size_t elsewhere = 0;  // programs on other targets: rows of `db list`
  size_t families = 0;   // tunings of ranges of sizes, of which nothing is run
  bool wrong = false, broken = false;
  std::optional<Diagnostic> unchecked = std::nullopt;  // the first that kept a program from being run
};

/// The first for writing where that is possible, so that the outcome can be stored; its place says whether.
struct Stack {
  std::vector<db::Database> databases;
  bool writable = false;
};

Result<Stack> open_databases(const Session& session, ProgressDisplay& display) {
  TILE_TUNE_TRY(paths, session.databases());
  Stack stack;
  for (const auto& path : paths) {
    display.doing(fmt::format("checking the pages and indexes of {}", path.string()));
    // Found missing or damaged before it is opened for writing, which would make or change it.
    TILE_TUNE_TRY(readable, db::Database::open(path, db::Mode::ReadOnly));
    TILE_TUNE_CHECK(readable.check_pages(db::Database::Depth::Indexes));
    if (stack.databases.empty()) {
      auto writable = db::Database::open(path, db::Mode::ReadWrite);
      stack.writable = writable.has_value();
      if (writable) {
        stack.databases.push_back(std::move(*writable));
        continue;
      }
      warn_of_unstored(writable.error(), session.report);
    }
    stack.databases.push_back(std::move(readable));
  }
  return stack;
}

/// Every program with trials for this instruction set and number of threads, once.
Result<std::vector<db::ProgramRow>> programs_of(Stack& stack, const VerifyArguments& arguments,
                                                const codegen::Target& target, size_t& elsewhere) {
  std::map<std::string, db::ProgramRow> here;
  std::set<std::pair<std::string, std::string>> others;  // and their targets
  bool named = arguments.name.empty();
  for (auto& database : stack.databases) {
    TILE_TUNE_TRY(rows, database.recorded());
    for (auto& row : rows) {
      if (!arguments.name.empty() && row.program.name != arguments.name) continue;
      named = true;
      const std::string id = db::workload_id(row.program);
      if (row.target.halide == target.halide && row.target.threads == target.threads) {
        here.try_emplace(id, std::move(row.program));
      } else {
        others.emplace(id, db::target_id(row.target));
      }
    }
  }
  if (!named)
    return failure("no-such-record", fmt::format("nothing in the tuning database is called {}", arguments.name),
                   "`tile-tune db list` prints names");
  elsewhere = others.size();
  std::vector<db::ProgramRow> programs;
  for (auto& [id, program] : here) programs.push_back(std::move(program));
  std::sort(programs.begin(), programs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.sizes_json, a.content_hash) < std::tie(b.name, b.sizes_json, b.content_hash);
  });
  return programs;
}

std::string verdict_of(const Rechecked& one) {
  using search::Outcome;
  const auto& measured = one.measurement;
  if (measured.outcome == Outcome::Duplicate) return "same code as another";
  if (measured.outcome != Outcome::Ok) return search::outcome_name(measured.outcome);
  if (one.stands) return db::staleness(one.record) == 0 ? "holds" : "revalidated";
  return measured.ratio_hi < 1 ? "slower than the default" : "beaten by another";
}

std::string reason_of(const Rechecked& one) {
  return one.is_default && one.measurement.reason.empty() ? "it is the default schedule" : one.measurement.reason;
}

Result<std::vector<Rechecked>> recheck_what_fits(const ir::Program& program, const std::vector<db::BestRow>& rivals,
                                                 const codegen::Target& target, db::Database* database,
                                                 const Session& session, const std::atomic<bool>& stop) {
  TILE_TUNE_CHECK(check_size(program, Use::Measure));
  return recheck(program, rivals, target, database, session, stop);
}

/// A program that cannot be run is a line like the others: it ends nothing.
Result<void> check_program(const db::ProgramRow& row, Stack& stack, const codegen::Target& target,
                           const Session& session, const std::atomic<bool>& stop, Findings& findings) {
  TILE_TUNE_TRY(rivals, rivals_of(stack.databases, row, target));
  if (rivals.empty()) return {};  // tried, but nothing was ever chosen
  const auto program = program_of(row);
  if (!program) {
    findings.broken = true;
    findings.lines.push_back({row, rung_of(rivals[0]), "unreadable", program.error().message, {}});
    return {};
  }
  const auto database = stack.writable ? &stack.databases.front() : nullptr;
  const auto checked = recheck_what_fits(*program, rivals, target, database, session, stop);
  if (!checked) {
    if (stop) return {};
    findings.lines.push_back({row, rung_of(rivals[0]), "not checked", checked.error().message, {}});
    if (!findings.unchecked) findings.unchecked = checked.error();
    return {};
  }
  for (const auto& one : *checked) {
    findings.lines.push_back({row, rung_of(one.record), verdict_of(one), reason_of(one), one.measurement});
    const auto outcome = one.measurement.outcome;
    findings.wrong |= outcome == search::Outcome::Wrong;
    findings.broken |= outcome != search::Outcome::Ok && outcome != search::Outcome::Duplicate;
  }
  return {};
}

int64_t count_records(const db::Counts& counts) {
  return counts.programs + counts.targets + counts.tools + counts.schedules + counts.sessions + counts.trials;
}

/// Ends early, with what was found so far, once `stop` is set.
Result<void> check_digests(Stack& stack, const std::atomic<bool>& stop, const search::Onlooker& onlooker,
                           Findings& findings) {
  constexpr const char* kStopped = "stopped";
  for (auto& database : stack.databases) {
    TILE_TUNE_TRY(counts, database.counts());
    int64_t checked = 0;
    const auto read = database.each_record([&](const db::Record&) -> Result<void> {
      ++findings.records;
      if (++checked % kTellEvery == 0)
        onlooker.tell_doing(fmt::format("record {} of {}", checked, count_records(counts)));
      if (stop) return failure(kStopped, "stopped");
      return {};
    });
    if (!read && read.error().code != kStopped) return read;
    findings.damaged.insert(findings.damaged.end(), database.damaged_records().begin(),
                            database.damaged_records().end());
    TILE_TUNE_TRY(families, stored_families(database));
    findings.families += families.size();
  }
  return {};
}

std::string speed_text(const search::Measurement& measured) {
  if (measured.ratio <= 0) return "-";
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", measured.ratio, measured.ratio_lo, measured.ratio_hi);
}

/// How far it came: what was not looked at may be damaged, or wrong.
std::string stopped_text(const Findings& findings) {
  std::string text = fmt::format("stopped by {} after {}", findings.stopped_by,
                                 format_number(findings.records, "record"));
  if (findings.programs > 0)
    text += fmt::format(" and {} of {}", findings.checked, format_number(findings.programs, "program"));
  return text + "; the others were not looked at\n";
}

std::string findings_text(const Findings& findings) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& line : findings.lines)
    cells.push_back({line.program.name, sizes_text(line.program.sizes_json), line.rung, line.verdict,
                     speed_text(line.measurement), line.reason});
  std::string text;
  if (!cells.empty()) text = format_table({{"program"}, {"sizes"}, {"was"}, {"is"}, {"over default"}, {""}}, cells);
  if (findings.elsewhere > 0)
    text += format_number(findings.elsewhere, "tuning for another target or number of threads is",
                          "tunings for other targets or numbers of threads are") +
            " stored and not run\n";
  if (findings.families > 0)
    text += format_number(findings.families, "tuning of ranges of sizes is stored, whose kernels were not run\n",
                          "tunings of ranges of sizes are stored, whose kernels were not run\n");
  if (!findings.stopped_by.empty()) text += stopped_text(findings);
  return text + format_number(findings.damaged.size(), "damaged record") + "\n";
}

nlohmann::json findings_json(const Findings& findings) {
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& line : findings.lines)
    lines.push_back({{"name", line.program.name},
                     {"sizes", json_of_text(line.program.sizes_json)},
                     {"content_hash", line.program.content_hash},
                     {"layout", line.program.layout},
                     {"rung", line.rung},
                     {"verdict", line.verdict},
                     {"reason", line.reason},
                     {"ratio", line.measurement.ratio},
                     {"ratio_interval", {line.measurement.ratio_lo, line.measurement.ratio_hi}}});
  nlohmann::json stopped;
  if (!findings.stopped_by.empty()) stopped = findings.stopped_by;
  return {{"schedules", lines},
          {"stopped_by", stopped},
          {"records_read", findings.records},
          {"programs", findings.programs},
          {"programs_checked", findings.checked},
          {"damaged", findings.damaged},
          {"elsewhere", findings.elsewhere},
          {"families_not_run", findings.families}};
}

/// What the findings mean for the exit code (rulings 18: 4 is a wrong result).
Result<Exit> judge(const Findings& findings) {
  if (findings.wrong)
    return fail(ErrorClass::Verification, "wrong-result", "a stored schedule computes wrong results here",
                "it is no longer taken; `tile-tune db quarantine` tells more");
  if (!findings.damaged.empty())
    return failure("damaged-record",
                   findings.damaged.size() == 1
                       ? std::string("1 record is damaged and is not used")
                       : fmt::format("{} records are damaged and are not used", findings.damaged.size()),
                   "`tile-tune db export` leaves them out; import what it writes into a new file");
  if (findings.broken)
    return failure("stale-record", "a stored schedule does not work here any more",
                   "it is no longer taken; tune the program again");
  if (findings.unchecked)
    return fail(findings.unchecked->error_class, findings.unchecked->code,
                fmt::format("not every program could be run: {}", findings.unchecked->message),
                findings.unchecked->note);
  return Exit::Success;
}

Result<Exit> verify(const VerifyArguments& arguments, const Session& session) {
  ProgressDisplay display(session.report, session.began);
  TILE_TUNE_TRY(stack, open_databases(session, display));
  Findings findings;
  const StopOnInterrupt interrupt;
  TILE_TUNE_CHECK(check_digests(stack, interrupt.requested(), display.onlooker(), findings));
  if (!findings.damaged.empty()) session.report.warn("damaged-record", damage_text(findings.damaged));
  if (!arguments.files_only && !interrupt.requested()) {
    TILE_TUNE_TRY(target, session.target());
    TILE_TUNE_TRY(programs, programs_of(stack, arguments, target, findings.elsewhere));
    findings.programs = programs.size();
    for (size_t i = 0; i < programs.size() && !interrupt.requested(); ++i) {
      display.begin_task(fmt::format("{} of {}: {} {}", i + 1, programs.size(), program_text(programs[i]),
                                     sizes_text(programs[i].sizes_json)));
      TILE_TUNE_CHECK(check_program(programs[i], stack, target, session, interrupt.requested(), findings));
      if (!interrupt.requested()) ++findings.checked;
    }
  }
  if (interrupt.requested()) findings.stopped_by = interrupt_name();
  TILE_TUNE_CHECK(session.report.json() ? print_json(findings_json(findings)) : print(findings_text(findings)));
  if (interrupt.requested()) return Exit::Interrupted;
  return judge(findings);
}

}  // namespace

void add_db_verify(CLI::App& db, Command& command) {
  auto arguments = std::make_shared<VerifyArguments>();
  auto* verb = db.add_subcommand(
      "verify",
      "Checks every record's digest, and rebuilds, verifies and times every chosen schedule against the default");
  verb->add_option("NAME", arguments->name, "Only programs of this name")->type_name("");
  verb->add_flag("--files-only", arguments->files_only, "Only the files and digests; nothing is built or run");
  verb->callback(
      [&command, arguments] { command = [arguments](Session& session) { return verify(*arguments, session); }; });
}

}  // namespace tile_tune::cli
