// What `bench --json` says; scripts/performance and `bench --since` read it (format 1).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/bench/row.h"
#include "engine/programs/suite_work.h"

namespace tile_tune::engine {

nlohmann::json bench_json(const std::vector<BenchRow>& rows, const std::vector<Unfinished>& failed,
                          const codegen::Target& target, uint64_t seed);

}  // namespace tile_tune::engine
