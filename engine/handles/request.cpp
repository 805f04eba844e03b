#include "engine/handles/request.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/process/children.h"

namespace tile_tune::engine {

using nlohmann::json;

json to_json(const KernelRequest& request) {
  return {{"program", request.program},
          {"sizes", request.sizes},
          {"target", request.target},
          {"threads", request.threads},
          {"deterministic", request.deterministic},
          {"default_schedule", request.default_schedule},
          {"tune_seconds", request.tune_seconds},
          {"low_priority", request.low_priority},
          {"database", request.database}};
}

KernelRequest request_from_json(const json& from) {
  return {from.at("program"),      from.at("sizes"),         from.at("target"),
          from.at("threads"),      from.at("deterministic"), from.at("default_schedule"),
          from.at("tune_seconds"), from.at("low_priority"),  from.at("database")};
}

std::string answer_text(const Result<KernelImage>& image) {
  if (image) return "{}\n" + to_bytes(*image);
  return base::json_text({{"error", tile_tune::to_json(image.error())}}) + "\n";
}

Result<KernelImage> image_from_answer(const std::string& answer) {
  const size_t end = answer.find('\n');
  const json head = json::parse(answer.substr(0, end), nullptr, false);
  if (end == answer.npos || !head.is_object())
    return failure("kernel-failed", "the process that compiles kernels ended without one");
  if (head.contains("error")) return tl::unexpected(base::diagnostic_from_json(head["error"]));
  return image_from_bytes(std::string_view(answer).substr(end + 1));
}

}  // namespace tile_tune::engine
