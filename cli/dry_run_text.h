// What `tune --dry-run` says: how large the search is, what it begins with, and how long it will take.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/tuning/dry_run.h"

namespace tile_tune::cli {

std::string dry_run_text(const engine::DryRun& plan, const engine::Workload& workload, size_t width = 0);
nlohmann::json dry_run_json(const engine::DryRun& plan, const engine::Workload& workload);

}  // namespace tile_tune::cli
