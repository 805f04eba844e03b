// What two databases know of the same programs, and which is the faster where that was found out (`db diff`).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/open_database.h"

namespace tile_tune::engine {

/// Two schedules timed in turns in one run: only such times compare.
struct HeadToHead {
  std::filesystem::path database;
  db::TrialRow a, b;
  std::string session;
};

/// A program on a target of which at least one of the databases knows a best schedule.
struct ComparedProgram {
  db::ProgramRow program;
  db::TargetRow target;
  std::optional<db::BestRow> a, b;
  std::optional<HeadToHead> race;

  bool same_schedule() const { return a && b && a->schedule_id == b->schedule_id; }
};

/// "a", "b" or "neither"; nothing where nobody knows.
std::string faster(const ComparedProgram& line);

/// By name and size.
Result<std::vector<ComparedProgram>> compare(OpenDatabase& a, OpenDatabase& b);

}  // namespace tile_tune::engine
