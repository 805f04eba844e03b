#include "engine/recheck/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "db/identity.h"
#include "db/stack.h"
#include "engine/programs/memory.h"
#include "engine/recheck/recheck.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

namespace {

constexpr size_t kTellEvery = 100;  // records

/// Every program with trials for this instruction set and number of threads, once.
Result<std::vector<db::ProgramRow>> programs_of(RecheckedStack& stack, const std::string& name,
                                                const codegen::Target& target, size_t& elsewhere) {
  std::map<std::string, db::ProgramRow> here;
  std::set<std::pair<std::string, std::string>> others;  // and their targets
  bool named = name.empty();
  for (auto& database : stack.databases) {
    TILE_TUNE_TRY(rows, database.recorded());
    for (auto& row : rows) {
      if (!name.empty() && row.program.name != name) continue;
      named = true;
      const std::string id = db::workload_id(row.program);
      if (row.target.text() == target.text() && row.target.machine.threads == target.threads) {
        here.try_emplace(id, std::move(row.program));
      } else {
        others.emplace(id, db::target_id(row.target));
      }
    }
  }
  if (!named)
    return failure("no-such-record", fmt::format("nothing in the tuning database is called {}", name),
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
  if (one.stands) return db::staleness(one.record) == 0 ? "holds" : "rechecked";
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
Result<void> check_program(const db::ProgramRow& row, RecheckedStack& stack, const codegen::Target& target,
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

}  // namespace

Result<RecheckedStack> open_for_recheck(const Session& session, const search::Onlooker& onlooker) {
  TILE_TUNE_TRY(paths, session.databases());
  RecheckedStack stack;
  for (const auto& path : paths) {
    onlooker.tell_doing(fmt::format("checking the pages and indexes of {}", path.string()));
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

Result<void> recheck_digests(RecheckedStack& stack, const std::atomic<bool>& stop, const search::Onlooker& onlooker,
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
  }
  return {};
}

Result<void> recheck_schedules(RecheckedStack& stack, const std::string& name, const codegen::Target& target,
                               const Session& session, const std::atomic<bool>& stop, const Begins& begins,
                               Findings& findings) {
  TILE_TUNE_TRY(programs, programs_of(stack, name, target, findings.elsewhere));
  findings.programs = programs.size();
  for (size_t i = 0; i < programs.size() && !stop; ++i) {
    begins(i + 1, programs.size(), programs[i]);
    TILE_TUNE_CHECK(check_program(programs[i], stack, target, session, stop, findings));
    if (!stop) ++findings.checked;
  }
  return {};
}

Result<void> verdict_on(const Findings& findings) {
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
  return {};
}

}  // namespace tile_tune::engine
