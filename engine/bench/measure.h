// Measures one workload as `bench` does: the default, the stored and a given schedule beside libraries and automatic
// schedulers, with constants packed beforehand where there are any.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "engine/bench/row.h"
#include "engine/programs/loaded_program.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

/// Those of these names, all without any, in the order of search::kBaselines; "none" is none.
Result<std::vector<search::Baseline>> baselines_named(const std::vector<std::string>& names);

struct Bench {
  search::Contest& contest;
  const std::vector<search::Baseline>& against;
  const std::vector<std::string>& autoschedulers;  // of codegen::Backend
  const codegen::Target& target;
  const Session& session;
  std::vector<db::Database>& databases;
  const std::string& schedule;  // a file with one more, or empty
};
Result<BenchRow> measure(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                         const Bench& bench);

}  // namespace tile_tune::engine
