// What the process that calls kernels asks of the one that compiles them: `tile-tune worker --kernel`.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/handles/image.h"

namespace tile_tune::engine {

struct KernelRequest {
  std::string program;  // JSON (ir/json.h), with layouts; bound, unless a kernel for many sizes is asked for
  /// Of a kernel for many sizes (docs/libraries.md) the sizes that are at hand; it then takes arrays in C order of any
  /// others, of one element or more.
  std::map<std::string, int64_t> sizes = {};
  std::string target = "host";
  int threads = 1;
  bool deterministic = false;
  bool default_schedule = false;  // whatever is stored
  double tune_seconds = 0;
  bool low_priority = false;
  std::string database;  // empty: the user's
};

nlohmann::json to_json(const KernelRequest& request);
/// A missing field or one of another type throws nlohmann::json::exception.
KernelRequest request_from_json(const nlohmann::json& json);

/// What a process answers.
std::string answer_text(const Result<KernelImage>& image);
/// Of a process that said nothing of the kind an error: kernel-failed.
Result<KernelImage> image_from_answer(const std::string& answer);

}  // namespace tile_tune::engine
