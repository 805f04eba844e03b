// What `bench --json` says; scripts/performance and `bench --since` read it (format 1).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/bench/row.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// One of a suite that could not be.
struct Unmeasured {
  std::string name;
  Diagnostic why;
};

nlohmann::json bench_json(const std::vector<BenchRow>& rows, const std::vector<Unmeasured>& failed,
                          const codegen::Target& target, uint64_t seed);

}  // namespace tile_tune::engine
