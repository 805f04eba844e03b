// Trials in T4, the results format that the tools of the autotuning community share (Kernel Tuner, KTT, the
// autotuning_methodology package). Schemas: https://github.com/odgaard/TuningSchema (results-schema.json,
// version 1.0.0), and src/autotuning_methodology/schemas/T4.json of
// https://github.com/AutoTuningAssociation/autotuning_methodology, which adds "metadata". A document of ours is valid
// under both. T1, their description of a tuning problem, knows kernels in OpenCL, CUDA and Vulkan only; T4 does not
// need it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/records/open_database.h"

namespace tile_tune::engine {

/// All trials of one program on one target by one version of the tool, sessions in order of time. `name` as `db show`
/// takes it; several that fit are an error that lists them, as is none. Times are in milliseconds. A configuration is
/// the schedule, its decisions named by their place in its JSON form ("/stages/0/tiles/0/1").
Result<nlohmann::ordered_json> t4_json(std::vector<OpenDatabase>& databases, const std::string& name);

}  // namespace tile_tune::engine
