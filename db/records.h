// What the database stores, as plain data. Programs, targets and schedules are JSON text here: the database
// knows nothing of search or code generation (architecture: db uses frontend/ir only).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile_tune::db {

struct ProgramRow {
  std::string content_hash, family_hash;  // ir/canonical.h
  std::string name, frontend, source;     // "tc", the text as the user wrote it
  std::string canonical_json;             // ir/json.h of the canonical, bound program
  std::string sizes_json;                 // {"M": 512, ...}
  std::string dtypes, layout;             // "f32,f32->f32", "row" or per tensor "rrc"
  double flops = 0, bytes = 0;
};

struct TargetRow {
  std::string halide, cpu_model, features_json;  // features_json: the whole Target as JSON
  int threads = 1;
};

struct ToolRow { std::string tile_tune, halide, llvm; int schedule_version = 1, protocol_version = 1; };

struct SessionRow {
  std::string id;          // random, 32 hex digits
  uint64_t seed = 0;
  std::string strategy, options_json, budget_json;
  std::string state;       // "running", "done", "aborted"
};

struct TrialRow {
  int sequence = 0, generation = 0;
  std::string origin;
  std::vector<std::string> parents;  // schedule ids
  std::string schedule_id, schedule_json;
  std::string outcome, reason, code_hash;
  double compile_ms = 0, verify_error = 0;
  std::vector<double> samples_ns;
  double median_ns = 0, ratio = 0, ratio_lo = 0, ratio_hi = 0;
  double peak_fraction = 0, peak_fraction_lo = 0, peak_fraction_hi = 0;
  bool disturbed = false;
};

}  // namespace tile_tune::db
