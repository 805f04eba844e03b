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
          {"database", request.database}};
}

KernelRequest request_from_json(const json& from) {
  return {from.at("program"),      from.at("sizes"),         from.at("target"),
          from.at("threads"),      from.at("deterministic"), from.at("default_schedule"),
          from.at("tune_seconds"), from.at("database")};
}

std::string to_bytes(const KernelAnswer& answer) {
  json messages = json::array();
  for (const auto& message : answer.messages)
    messages.push_back(
        {{"notice", message.severity == Message::Severity::Notice}, {"code", message.code}, {"text", message.text}});
  json head{{"messages", messages}};
  if (!answer.image) head["error"] = tile_tune::to_json(answer.image.error());
  return base::json_text(head) + "\n" + (answer.image ? to_bytes(*answer.image) : "");
}

KernelAnswer answer_from_bytes(const std::string& bytes) {
  const size_t end = bytes.find('\n');
  const json head = json::parse(bytes.substr(0, end), nullptr, false);
  KernelAnswer answer{{}, failure("kernel-failed", "the process that compiles kernels ended without one")};
  if (end == bytes.npos || !head.is_object()) return answer;
  if (const auto messages = head.find("messages"); messages != head.end() && messages->is_array())
    for (const auto& one : *messages)
      answer.messages.push_back({one.value("notice", false) ? Message::Severity::Notice : Message::Severity::Warning,
                                 one.value("code", ""), one.value("text", ""), "", 0});
  if (head.contains("error"))
    answer.image = tl::unexpected(base::diagnostic_from_json(head["error"]));
  else
    answer.image = image_from_bytes(std::string_view(bytes).substr(end + 1));
  return answer;
}

}  // namespace tile_tune::engine
