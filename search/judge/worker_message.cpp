#include "search/judge/worker_message.h"

#include <stdexcept>
#include <nlohmann/json.hpp>

namespace tile_tune::search {

using nlohmann::json;

json message_of(const char* kind) { return {{"version", kProtocolVersion}, {"kind", kind}}; }

// Messages of compilers and kernels may be any bytes.
std::string line_of(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace); }

json parse_message(const std::string& line) {
  json message = json::parse(line);
  const int version = message.at("version");
  if (version != kProtocolVersion)
    throw std::invalid_argument("protocol version " + std::to_string(version) + ", this one speaks " +
                                std::to_string(kProtocolVersion));
  return message;
}

}  // namespace tile_tune::search
