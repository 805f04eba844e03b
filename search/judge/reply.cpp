#include "search/judge/reply.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "search/judge/worker_message.h"

namespace tile_tune::search {
namespace {

using nlohmann::json;

// JSON has no infinities, and a kernel that returns one has an infinite error.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

json encode_timing(const Timing& timing) {
  return {{"outcome", outcome_name(timing.outcome)},
          {"reason", timing.reason},
          {"samples_ns", timing.samples_ns},
          {"log_ratios", timing.log_ratios},
          {"flop_fractions", timing.flop_fractions},
          {"bandwidth_fractions", timing.bandwidth_fractions},
          {"switched", timing.switched},
          {"left_out", timing.left_out},
          {"note", timing.note},
          {"hurried", timing.hurried},
          {"launch_ns", timing.launch_ns}};
}

Outcome decode_outcome(const json& value) {
  const auto outcome = parse_outcome(value.get<std::string>());
  if (!outcome) throw std::invalid_argument("unknown outcome " + value.dump());
  return *outcome;
}

Timing decode_timing(const json& value) {
  Timing timing;
  timing.outcome = decode_outcome(value.at("outcome"));
  value.at("reason").get_to(timing.reason);
  value.at("samples_ns").get_to(timing.samples_ns);
  value.at("log_ratios").get_to(timing.log_ratios);
  value.at("flop_fractions").get_to(timing.flop_fractions);
  value.at("bandwidth_fractions").get_to(timing.bandwidth_fractions);
  value.at("switched").get_to(timing.switched);
  value.at("left_out").get_to(timing.left_out);
  value.at("note").get_to(timing.note);
  value.at("hurried").get_to(timing.hurried);
  value.at("launch_ns").get_to(timing.launch_ns);
  return timing;
}

json encode_error(const Diagnostic& error) {
  return {{"class", static_cast<int>(error.error_class)},
          {"code", error.code},
          {"message", error.message},
          {"note", error.note}};
}

Diagnostic decode_error(const json& error) {
  return {static_cast<ErrorClass>(error.at("class").get<int>()), error.at("code"), error.at("message"), std::nullopt,
          error.at("note")};
}

}  // namespace

std::string encode(const Reply& reply) {
  json message = message_of("reply");
  message["outcome"] = outcome_name(reply.outcome);
  message["reason"] = reply.reason;
  message["code_hash"] = reply.code_hash;
  message["compile_ms"] = reply.compile_ms;
  message["verify_error"] = number(reply.verify_error);
  message["timings"] = json::array();
  for (const auto& timing : reply.timings) message["timings"].push_back(encode_timing(timing));
  message["note"] = reply.note;
  message["sampled"] = reply.sampled;
  if (reply.error) message["error"] = encode_error(*reply.error);
  return line_of(message);
}

Result<Reply> decode_reply(const std::string& line) try {
  const json message = parse_message(line);
  Reply reply;
  reply.outcome = decode_outcome(message.at("outcome"));
  message.at("reason").get_to(reply.reason);
  message.at("code_hash").get_to(reply.code_hash);
  message.at("compile_ms").get_to(reply.compile_ms);
  reply.verify_error = number(message.at("verify_error"));
  for (const auto& timing : message.at("timings")) reply.timings.push_back(decode_timing(timing));
  message.at("note").get_to(reply.note);
  message.at("sampled").get_to(reply.sampled);
  if (message.contains("error")) reply.error = decode_error(message.at("error"));
  return reply;
} catch (const std::exception& error) {
  return failure("malformed-message", std::string("a worker sent a malformed message: ") + error.what());
}

}  // namespace tile_tune::search
