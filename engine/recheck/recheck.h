// Stored schedules of a program against its default schedule, here and now: rebuilt, verified, timed in pairs, and what
// comes out stored as a session of its own (db::kRecheckStrategy).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"
#include "search/judge/trial.h"

namespace tile_tune::engine {

/// Which inputs are looked at matters to nobody, but two runs should say the same.
inline constexpr uint64_t kRecheckSeed = 1;

/// That the outcome of a recheck holds for this once: the database cannot be written.
void warn_of_unstored(const Diagnostic& why, const Reporter& report);

/// What came of one stored schedule.
struct Rechecked {
  db::BestRow record;
  search::Measurement measurement;
  bool stands = false;      // it is what run and build take from now on
  bool is_default = false;  // the default schedule, or the same code: as fast as itself
};

/// Stored schedules of a program that were chosen for this instruction set and number of threads, three at most: the
/// one that run and build take, then what else was ever chosen, in this database or, of merged ones, by others.
Result<std::vector<db::BestRow>> rivals_of(std::vector<db::Database>& stack, const db::ProgramRow& program,
                                           const codegen::Target& target);

/// `records` are the stored schedules of `program` (canonical and bound), the one that stands first. Unless `database`
/// is null, the outcome is stored: what failed or is slower than the default is no longer taken by this tool on this
/// target, what stands is taken as rechecked. Empty: stopped. Errors: default-failed of class Verification, no-finals.
Result<std::vector<Rechecked>> recheck(const ir::Program& program, const std::vector<db::BestRow>& records,
                                       const codegen::Target& target, db::Database* database, const Session& session,
                                       const std::atomic<bool>& stop);

}  // namespace tile_tune::engine
