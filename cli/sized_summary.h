// What `tune` says at the end of a search at many sizes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/sized/tuning.h"

namespace tile_tune::cli {

std::string summary_text(const engine::SizedWorkload& workload, const engine::SizedTuned& tuned, size_t width = 0);
nlohmann::json summary_json(const engine::SizedWorkload& workload, const engine::SizedTuned& tuned);

}  // namespace tile_tune::cli
