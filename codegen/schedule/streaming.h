// What a nest may store past the caches (CpuMapping::streaming, schedule.h).
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule/figure.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// What is stored at once (codegen/emit/runtime/stream.c).
constexpr int64_t kStreamedBytes = 16;

/// Only CPUs of x86-64 have such stores here.
bool has_streaming(const Target& target);

/// What is wrong with it, in one sentence; empty if nothing is: vectors of results alone are stored so.
std::string streaming_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage);

/// Whether results leave the caches out.
std::vector<Figure> streaming_figures();

}  // namespace tile_tune::codegen
