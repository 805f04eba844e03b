// tile-tune db recheck: does all that is stored still hold, by the bytes of the file and by what kernels do here?
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_rows.h"
#include "cli/db_verbs.h"
#include "cli/interrupt.h"
#include "cli/progress_display.h"
#include "cli/table.h"
#include "engine/recheck/stored.h"
#include "engine/sized/listed_entries.h"
#include "engine/records/damage.h"
#include "engine/records/workload.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::cli {

namespace {

struct RecheckArguments {
  std::string name;
  bool files_only = false;
};

/// What is said beside the findings.
struct Told {
  std::string stopped_by;  // "Ctrl-C"; empty: nobody did
  size_t entries = 0;      // tunings of ranges of sizes, of which nothing is run
};

/// How far it came: what was not looked at may be damaged, or wrong.
std::string stopped_text(const engine::Findings& findings, const Told& told) {
  std::string text =
      fmt::format("stopped by {} after {}", told.stopped_by, base::format_number(findings.records, "record"));
  if (findings.programs > 0)
    text += fmt::format(" and {} of {}", findings.checked, base::format_number(findings.programs, "program"));
  return text + "; the others were not looked at\n";
}

std::string findings_text(const engine::Findings& findings, const Told& told) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& line : findings.lines)
    cells.push_back({line.program.name, engine::sizes_text(line.program.sizes_json), line.rung, line.verdict,
                     speed_text(line.measurement.ratio, line.measurement.ratio_lo, line.measurement.ratio_hi),
                     line.reason});
  std::string text;
  if (!cells.empty()) text = format_table({{"program"}, {"sizes"}, {"was"}, {"is"}, {"over default"}, {""}}, cells);
  if (findings.elsewhere > 0)
    text += base::format_number(findings.elsewhere, "tuning for another target or number of threads is",
                                "tunings for other targets or numbers of threads are") +
            " stored and not run\n";
  if (told.entries > 0)
    text += base::format_number(told.entries, "tuning of ranges of sizes is stored, whose kernels were not run\n",
                                "tunings of ranges of sizes are stored, whose kernels were not run\n");
  if (!told.stopped_by.empty()) text += stopped_text(findings, told);
  return text + base::format_number(findings.damaged.size(), "damaged record") + "\n";
}

nlohmann::json findings_json(const engine::Findings& findings, const Told& told) {
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& line : findings.lines)
    lines.push_back({{"name", line.program.name},
                     {"sizes", engine::json_of_text(line.program.sizes_json)},
                     {"content_hash", line.program.content_hash},
                     {"layout", line.program.layout},
                     {"rung", line.rung},
                     {"verdict", line.verdict},
                     {"reason", line.reason},
                     {"ratio", line.measurement.ratio},
                     {"ratio_interval", {line.measurement.ratio_lo, line.measurement.ratio_hi}}});
  nlohmann::json stopped;
  if (!told.stopped_by.empty()) stopped = told.stopped_by;
  return {{"schedules", lines},
          {"stopped_by", stopped},
          {"records_read", findings.records},
          {"programs", findings.programs},
          {"programs_checked", findings.checked},
          {"damaged", findings.damaged},
          {"elsewhere", findings.elsewhere},
          {"families_not_run", told.entries}};
}

Result<Exit> recheck(const RecheckArguments& arguments, const Session& session) {
  const StopOnInterrupt interrupt;
  ProgressDisplay display(session, session.began);
  const auto onlooker = display.onlooker();
  TILE_TUNE_TRY(stack, engine::open_for_recheck(session, onlooker));
  engine::Findings findings;
  Told told;
  TILE_TUNE_CHECK(engine::recheck_digests(stack, interrupt.requested(), onlooker, findings));
  for (auto& database : stack.databases) {
    TILE_TUNE_TRY(entries, engine::listed_entries(database));
    told.entries += entries.size();
  }
  if (!findings.damaged.empty()) session.report.warn("damaged-record", engine::damage_text(findings.damaged));
  if (!arguments.files_only && !interrupt.requested()) {
    TILE_TUNE_TRY(target, session.target());
    const auto begins = [&](size_t place, size_t count, const db::ProgramRow& program) {
      display.begin_task(
          fmt::format("{} of {}: {} {}", place, count, program_text(program), engine::sizes_text(program.sizes_json)));
    };
    TILE_TUNE_CHECK(
        engine::recheck_schedules(stack, arguments.name, target, session, interrupt.requested(), begins, findings));
  }
  if (interrupt.requested()) told.stopped_by = interrupt_name();
  TILE_TUNE_CHECK(session.output.json ? print_json(findings_json(findings, told))
                                      : print(findings_text(findings, told)));
  if (interrupt.requested()) return Exit::Interrupted;
  TILE_TUNE_CHECK(engine::verdict_on(findings));
  return Exit::Success;
}

}  // namespace

void add_db_recheck(Verb& db, Command& command) {
  auto arguments = std::make_shared<RecheckArguments>();
  Verb verb = db.add_verb(
      "recheck",
      "Checks every record's digest, and rebuilds, verifies and times every chosen schedule against the default");
  verb.also_called("verify");
  verb.add_option("NAME", arguments->name, "Only programs of this name").type_name("");
  verb.add_flag("--files-only", arguments->files_only, "Only the files and digests; nothing is built or run");
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return recheck(*arguments, session); }; });
}

}  // namespace tile_tune::cli
