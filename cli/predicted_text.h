// What `tune --no-measure` says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/tuning/prediction.h"

namespace tile_tune::cli {

/// `files`: of the package that was written.
std::string predicted_text(const engine::Workload& workload, const codegen::Target& target,
                           const engine::PredictedBest& predicted, const std::vector<std::string>& files);
nlohmann::json predicted_json(const engine::Workload& workload, const codegen::Target& target,
                              const engine::PredictedBest& predicted, const std::vector<std::string>& files);

}  // namespace tile_tune::cli
