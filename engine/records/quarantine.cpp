#include "engine/records/quarantine.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_text.h"
#include "codegen/schedule/schedule.h"
#include "db/connection.h"
#include "frontend/ir/json.h"

namespace tile_tune::engine {

namespace {

namespace fs = std::filesystem;

constexpr size_t kShownDigits = 12;

/// Text of a record in words that somebody will paste into a shell: one line of letters, digits and plain signs.
std::string harmless(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += std::isalnum(static_cast<unsigned char>(c)) || std::strchr(" -_.,:()[]@/+", c) ? c : '?';
  return result;
}

/// The same session's seed gives the same inputs; the default schedule is the first trial, the given one the second.
std::string reproduction(const db::FaultRow& fault) {
  const auto& [program, target, tool, seed, stored] = fault;
  const codegen::Target& machine = target.machine;
  return fmt::format(
      "# {} on {}, {} thread(s)\n# {}: {}\n# seen by tile-tune {}, Halide {}, LLVM {}\n"
      "tile-tune tune program.json --schedule schedule.json --trials 2 --seed {} --target '{}' --threads {} "
      "--db reproduction.db\n",
      harmless(program.name), harmless(machine.cpu_model.empty() ? target.text() : machine.cpu_model), machine.threads,
      harmless(stored.trial.outcome), harmless(stored.trial.reason), harmless(tool.tile_tune), harmless(tool.halide),
      harmless(tool.llvm), seed, harmless(target.text()), machine.threads);
}

}  // namespace

std::string reproducer_name(const std::string& trial_id) { return trial_id.substr(0, kShownDigits); }

Result<void> write_reproducer(const db::FaultRow& fault, const fs::path& parent) {
  const auto program = ir::program_from_json(nlohmann::json::parse(fault.program.canonical_json, nullptr, false));
  if (!program) return tl::unexpected(program.error());
  const auto schedule =
      codegen::schedule_from_json(nlohmann::json::parse(fault.trial.trial.schedule_json, nullptr, false));
  if (!schedule) return tl::unexpected(schedule.error());
  const fs::path folder = parent / reproducer_name(fault.trial.id);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure("cannot-write", fmt::format("cannot make {}: {}", folder.string(), error.message()));
  TILE_TUNE_CHECK(base::write_text(folder / "program.json", base::json_text(ir::to_json(*program), 2) + "\n"));
  TILE_TUNE_CHECK(base::write_text(folder / "schedule.json", base::json_text(codegen::to_json(*schedule), 2) + "\n"));
  return base::write_text(folder / "reproduce.txt", reproduction(fault));
}

bool is_worth_a_reproducer(const search::Measurement& measurement) {
  return measurement.outcome == search::Outcome::Crash || measurement.outcome == search::Outcome::Wrong ||
         (measurement.outcome == search::Outcome::CompileError &&
          measurement.reason.starts_with(search::kCompilerDied));
}

fs::path quarantine_folder(const fs::path& database) { return db::resolved(database).string() + "-quarantine"; }

}  // namespace tile_tune::engine
