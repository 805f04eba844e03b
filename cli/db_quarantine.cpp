// tile-tune db quarantine: schedules that failed, and all that is needed to see them fail again.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/db_verbs.h"
#include "cli/db_rows.h"
#include "cli/option_checks.h"
#include "cli/table.h"
#include "db/database.h"
#include "engine/records/quarantine.h"
#include "engine/records/workload.h"

namespace tile_tune::cli {

namespace {

struct QuarantineArguments {
  std::string name, output;
};

nlohmann::json fault_json(const db::FaultRow& fault) {
  return {{"trial", fault.trial.id},
          {"name", fault.program.name},
          {"sizes", engine::json_of_text(fault.program.sizes_json)},
          {"outcome", fault.trial.trial.outcome},
          {"reason", fault.trial.trial.reason},
          {"schedule_id", fault.trial.trial.schedule_id},
          {"target", target_json(fault.target)},
          {"tool", {{"tile_tune", fault.tool.tile_tune}, {"halide", fault.tool.halide}, {"llvm", fault.tool.llvm}}}};
}

Result<void> show(const std::vector<db::FaultRow>& faults, const Session& session) {
  if (session.output.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const auto& fault : faults) json.push_back(fault_json(fault));
    return print_json(json);
  }
  if (faults.empty()) return print("no schedule has failed\n");
  std::vector<std::vector<std::string>> rows;
  for (const auto& fault : faults)
    rows.push_back({engine::reproducer_name(fault.trial.id), fault.program.name,
                    engine::sizes_text(fault.program.sizes_json), fault.trial.trial.outcome, fault.trial.trial.reason});
  return print(format_table({{"trial"}, {"program"}, {"sizes"}, {"outcome"}, {""}}, rows));
}

Result<Exit> quarantine(const QuarantineArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
  TILE_TUNE_CHECK(database.check_pages());
  TILE_TUNE_TRY(faults, database.faults(arguments.name));
  TILE_TUNE_CHECK(show(faults, session));
  if (arguments.output.empty()) return Exit::Success;
  for (const auto& fault : faults) {
    const auto written = engine::write_reproducer(fault, arguments.output);
    if (written) continue;
    if (written.error().code == "cannot-write") return tl::unexpected(written.error());
    session.report.warn("bad-record",
                        fmt::format("{}: {}", engine::reproducer_name(fault.trial.id), written.error().message));
  }
  return Exit::Success;
}

}  // namespace

void add_db_quarantine(Verb& db, Command& command) {
  auto arguments = std::make_shared<QuarantineArguments>();
  Verb verb = db.add_verb("quarantine",
                          "Schedules that failed and are not tried again; with -o a folder each that reproduces it");
  verb.add_option("NAME", arguments->name, "Only of programs of this name").type_name("");
  refuse_empty(verb.add_option("-o,--output", arguments->output, "Where to write the folders").type_name("DIR"));
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return quarantine(*arguments, session); }; });
}

}  // namespace tile_tune::cli
