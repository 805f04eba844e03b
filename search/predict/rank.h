// Which of several schedules is the fastest, before any of them was tried.
#pragma once

#include <vector>

#include "search/predict/features.h"
#include "search/predict/model.h"

namespace tile_tune::predict {

/// Indices of the candidates, valid schedules of the features' program, the fastest first: as a model of `samples`
/// (trials of programs like it) predicts, leaning on the rough times of estimate.h the more, the fewer samples there
/// are. Of equal ones the earlier first. Deterministic.
Result<std::vector<size_t>> rank_untried(const Features& features, const std::vector<codegen::Schedule>& candidates,
                                         const std::vector<Sample>& samples);

}  // namespace tile_tune::predict
