#include "search/measure/protocol.h"

#include <cmath>
#include <limits>

#include "frontend/ir/json.h"

namespace tile_tune::search {
namespace {

using nlohmann::json;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// JSON has no infinities, and a kernel that returns one has an infinite error.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

// Messages of compilers and kernels may be any bytes.
std::string dump(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace); }

json header(const char* kind) { return {{"version", kProtocolVersion}, {"kind", kind}}; }

json encode_limits(const Limits& limits) {
  return {{"build_seconds", limits.build_seconds},
          {"run_seconds", limits.run_seconds},
          {"memory_bytes", limits.memory_bytes}};
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
          {"hurried", timing.hurried}};
}

Outcome decode_outcome(const json& value) {
  const auto outcome = parse_outcome(value.get<std::string>());
  if (!outcome) throw std::invalid_argument("unknown outcome " + value.dump());
  return *outcome;
}

codegen::AutoScheduler decode_auto_scheduler(const json& value) {
  const auto scheduler = codegen::parse_auto_scheduler(value.get<std::string>());
  if (!scheduler) throw std::invalid_argument("unknown scheduler " + value.dump());
  return *scheduler;
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
  return timing;
}

template <typename T>
T decode_result(Result<T> result) {
  if (!result) throw std::invalid_argument(result.error().message);
  return std::move(*result);
}

Setup decode_setup(const json& message) {
  Setup setup;
  setup.directory = message.at("directory").get<std::string>();
  setup.target = decode_result(codegen::target_from_json(message.at("target")));
  const json& limits = message.at("limits");
  limits.at("build_seconds").get_to(setup.limits.build_seconds);
  limits.at("run_seconds").get_to(setup.limits.run_seconds);
  limits.at("memory_bytes").get_to(setup.limits.memory_bytes);
  return setup;
}

// The tuner found them from the program, and says them to its own workers alone.
json encode_sizes(const codegen::RuntimeSizes& runtime) {
  json sizes = json::array();
  for (const auto& size : runtime.sizes)
    sizes.push_back({{"tensor", size.tensor}, {"dimension", size.dimension}, {"slopes", size.slopes}});
  return {{"sizes", std::move(sizes)}, {"guarded", runtime.guarded}};
}

Build decode_build(const json& message) {
  Build build{message.at("problem"), decode_result(codegen::schedule_from_json(message.at("schedule"))),
              message.at("library"), message.at("seconds")};
  if (!message.contains("sizes")) return build;
  const json& runtime = message.at("sizes");
  for (const auto& size : runtime.at("sizes"))
    build.schedule.runtime.sizes.push_back({size.at("tensor"), size.at("dimension"), size.at("slopes")});
  runtime.at("guarded").get_to(build.schedule.runtime.guarded);
  return build;
}

json encode_problem(const MakeProblem& make) {
  json message = header("make-problem");
  message.update({{"problem", make.problem},
                  {"program", ir::to_json(make.program)},
                  {"seed", make.seed},
                  {"whole_seconds", make.whole_seconds}});
  if (make.written) message["written"] = ir::to_json(*make.written);
  return message;
}

MakeProblem decode_problem(const json& message) {
  MakeProblem make{message.at("problem"), decode_result(ir::program_from_json(message.at("program"))),
                   message.at("seed"), std::nullopt, message.at("whole_seconds")};
  if (message.contains("written")) make.written = decode_result(ir::program_from_json(message.at("written")));
  return make;
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

template <typename T>  // Verify, Run
T decode_one_kernel(const json& message) {
  return {message.at("problem"), message.at("runtime"), message.at("library")};
}

Request decode(const json& message) {
  const auto kind = message.at("kind").get<std::string>();
  if (kind == "setup") return decode_setup(message);
  if (kind == "make-problem") return decode_problem(message);
  if (kind == "build-runtime") return BuildRuntime{message.at("library")};
  if (kind == "build") return decode_build(message);
  if (kind == "build-autoscheduled")
    return BuildAutoscheduled{message.at("problem"), decode_auto_scheduler(message.at("scheduler")),
                              message.at("library")};
  if (kind == "verify") return decode_one_kernel<Verify>(message);
  if (kind == "run") return decode_one_kernel<Run>(message);
  if (kind == "race")
    return Race{message.at("problem"), message.at("runtime"), message.at("libraries"),
                message.at("exempt"),  message.at("seed"),    message.at("seconds_per_kernel"),
                message.at("at_most")};
  if (kind == "finals")
    return Finals{message.at("problem"), message.at("runtime"), message.at("libraries"),
                  message.at("seed"),    message.at("rounds"),  message.at("seconds"),
                  message.at("at_most")};
  if (kind == "side-by-side")
    return SideBySide{message.at("problem"), message.at("runtime"), message.at("libraries"), message.at("exempt"),
                      message.at("seed"),    message.at("rounds"),  message.at("seconds"),   message.at("slow_factor")};
  if (kind == "quit") return Quit{};
  throw std::invalid_argument("unknown kind of message '" + kind + "'");
}

json parse_checked(const std::string& line) {
  json message = json::parse(line);
  const int version = message.at("version");
  if (version != kProtocolVersion)
    throw std::invalid_argument("protocol version " + std::to_string(version) + ", this one speaks " +
                                std::to_string(kProtocolVersion));
  return message;
}

}  // namespace

std::string encode(const Request& request) {
  return dump(std::visit(
      Overloaded{
          [](const Setup& setup) {
            json message = header("setup");
            message["directory"] = setup.directory.string();
            message["target"] = codegen::to_json(setup.target);
            message["limits"] = encode_limits(setup.limits);
            return message;
          },
          [](const MakeProblem& make) { return encode_problem(make); },
          [](const BuildRuntime& runtime) {
            json message = header("build-runtime");
            message["library"] = runtime.library;
            return message;
          },
          [](const Build& build) {
            json message = header("build");
            message["problem"] = build.problem;
            message["schedule"] = codegen::to_json(build.schedule);
            message["library"] = build.library;
            message["seconds"] = build.seconds;
            if (!build.schedule.runtime.sizes.empty()) message["sizes"] = encode_sizes(build.schedule.runtime);
            return message;
          },
          [](const BuildAutoscheduled& build) {
            json message = header("build-autoscheduled");
            message.update({{"problem", build.problem},
                            {"scheduler", codegen::name_of(build.scheduler)},
                            {"library", build.library}});
            return message;
          },
          [](const Verify& verify) {
            json message = header("verify");
            message.update({{"problem", verify.problem}, {"runtime", verify.runtime}, {"library", verify.library}});
            return message;
          },
          [](const Run& run) {
            json message = header("run");
            message.update({{"problem", run.problem}, {"runtime", run.runtime}, {"library", run.library}});
            return message;
          },
          [](const Race& race) {
            json message = header("race");
            message.update({{"problem", race.problem},
                            {"runtime", race.runtime},
                            {"libraries", race.libraries},
                            {"exempt", race.exempt},
                            {"seed", race.seed},
                            {"seconds_per_kernel", race.seconds_per_kernel},
                            {"at_most", race.at_most}});
            return message;
          },
          [](const Finals& finals) {
            json message = header("finals");
            message.update({{"problem", finals.problem},
                            {"runtime", finals.runtime},
                            {"libraries", finals.libraries},
                            {"seed", finals.seed},
                            {"rounds", finals.rounds},
                            {"seconds", finals.seconds},
                            {"at_most", finals.at_most}});
            return message;
          },
          [](const SideBySide& one) {
            json message = header("side-by-side");
            message.update({{"problem", one.problem},
                            {"runtime", one.runtime},
                            {"libraries", one.libraries},
                            {"exempt", one.exempt},
                            {"seed", one.seed},
                            {"rounds", one.rounds},
                            {"seconds", one.seconds},
                            {"slow_factor", one.slow_factor}});
            return message;
          },
          [](const Quit&) { return header("quit"); }},
      request));
}

std::string encode(const Reply& reply) {
  json message = header("reply");
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
  return dump(message);
}

Result<Request> decode_request(const std::string& line) try {
  return decode(parse_checked(line));
} catch (const std::exception& error) {
  return failure("malformed-message", std::string("a worker was sent a malformed message: ") + error.what());
}

Result<Reply> decode_reply(const std::string& line) try {
  const json message = parse_checked(line);
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
