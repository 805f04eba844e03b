// tile-tune db quarantine: schedules that failed, and all that is needed to see them fail again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/db_verbs.h"
#include "cli/option_checks.h"
#include "cli/records.h"
#include "cli/table.h"
#include "db/database.h"
#include "frontend/ir/json.h"

namespace tile_tune::cli {

namespace {

namespace fs = std::filesystem;

struct QuarantineArguments {
  std::string name, output;
};

constexpr size_t kShownDigits = 12;

/// Names in a bundle come from digests alone: nothing else of a record is used as a path.
std::string bundle_name(const db::FaultRow& fault) { return fault.trial.id.substr(0, kShownDigits); }

/// Text of a record in words that somebody will paste into a shell: one line of letters, digits and plain signs.
std::string harmless(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += std::isalnum(static_cast<unsigned char>(c)) || std::strchr(" -_.,:()[]@/+", c) ? c : '?';
  return result;
}

std::string reproduction(const db::FaultRow& fault) {
  const auto& [program, target, tool, seed, stored] = fault;
  return fmt::format(
      "# {} on {}, {} thread(s)\n# {}: {}\n# seen by tile-tune {}, Halide {}, LLVM {}; seed {} of the session\n"
      "tile-tune build program.json --schedule schedule.json --target '{}' --threads {} -o out\n",
      harmless(program.name), harmless(target.cpu_model.empty() ? target.halide : target.cpu_model), target.threads,
      harmless(stored.trial.outcome), harmless(stored.trial.reason), harmless(tool.tile_tune), harmless(tool.halide),
      harmless(tool.llvm), seed, harmless(target.halide), target.threads);
}

Result<void> write(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  if (stream.flush()) return {};
  return failure("cannot-write", fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

/// Program and schedule are what this version makes of the record, not the record's text.
Result<void> write_bundle(const db::FaultRow& fault, const fs::path& folder) {
  const auto program = ir::program_from_json(nlohmann::json::parse(fault.program.canonical_json, nullptr, false));
  if (!program) return tl::unexpected(program.error());
  const auto schedule =
      codegen::schedule_from_json(nlohmann::json::parse(fault.trial.trial.schedule_json, nullptr, false));
  if (!schedule) return tl::unexpected(schedule.error());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure("cannot-write", fmt::format("cannot make {}: {}", folder.string(), error.message()));
  TILE_TUNE_CHECK(write(folder / "program.json", json_text(ir::to_json(*program), 2) + "\n"));
  TILE_TUNE_CHECK(write(folder / "schedule.json", json_text(codegen::to_json(*schedule), 2) + "\n"));
  return write(folder / "reproduce.txt", reproduction(fault));
}

nlohmann::json fault_json(const db::FaultRow& fault) {
  return {{"trial", fault.trial.id},
          {"name", fault.program.name},
          {"sizes", json_of_text(fault.program.sizes_json)},
          {"outcome", fault.trial.trial.outcome},
          {"reason", fault.trial.trial.reason},
          {"schedule_id", fault.trial.trial.schedule_id},
          {"target",
           {{"halide", fault.target.halide}, {"cpu_model", fault.target.cpu_model}, {"threads", fault.target.threads}}},
          {"tool", {{"tile_tune", fault.tool.tile_tune}, {"halide", fault.tool.halide}, {"llvm", fault.tool.llvm}}}};
}

Result<void> show(const std::vector<db::FaultRow>& faults, const Reporter& report) {
  if (report.json()) {
    nlohmann::json json = nlohmann::json::array();
    for (const auto& fault : faults) json.push_back(fault_json(fault));
    return print_json(json);
  }
  if (faults.empty()) return print("no schedule has failed\n");
  std::vector<std::vector<std::string>> rows;
  for (const auto& fault : faults)
    rows.push_back({bundle_name(fault), fault.program.name, sizes_text(fault.program.sizes_json),
                    fault.trial.trial.outcome, fault.trial.trial.reason});
  return print(format_table({{"trial"}, {"program"}, {"sizes"}, {"outcome"}, {""}}, rows));
}

Result<Exit> quarantine(const QuarantineArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
  TILE_TUNE_CHECK(database.check_pages());
  TILE_TUNE_TRY(faults, database.faults(arguments.name));
  TILE_TUNE_CHECK(show(faults, session.report));
  if (arguments.output.empty()) return Exit::Success;
  for (const auto& fault : faults) {
    const auto written = write_bundle(fault, fs::path(arguments.output) / bundle_name(fault));
    if (written) continue;
    if (written.error().code == "cannot-write") return tl::unexpected(written.error());
    session.report.warn("bad-record", fmt::format("{}: {}", bundle_name(fault), written.error().message));
  }
  return Exit::Success;
}

}  // namespace

void add_db_quarantine(CLI::App& db, Command& command) {
  auto arguments = std::make_shared<QuarantineArguments>();
  auto* verb = db.add_subcommand(
      "quarantine", "Schedules that failed and are not tried again; with -o a folder each that reproduces it");
  verb->add_option("NAME", arguments->name, "Only of programs of this name")->type_name("");
  refuse_empty(verb->add_option("-o,--output", arguments->output, "Where to write the folders")->type_name("DIR"));
  verb->callback(
      [&command, arguments] { command = [arguments](Session& session) { return quarantine(*arguments, session); }; });
}

}  // namespace tile_tune::cli
