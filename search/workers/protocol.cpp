#include "search/workers/protocol.h"

#include <stdexcept>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "search/judge/worker_message.h"

namespace tile_tune::search {
namespace {

using nlohmann::json;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

json encode_limits(const Limits& limits) {
  return {{"build_seconds", limits.build_seconds},
          {"run_seconds", limits.run_seconds},
          {"memory_bytes", limits.memory_bytes}};
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
  setup.target.found = codegen::found_device_from_json(message.at("found_device"));
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
  json message = message_of("make-problem");
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

Request decode(const json& message) {
  const auto kind = message.at("kind").get<std::string>();
  if (kind == "setup") return decode_setup(message);
  if (kind == "make-problem") return decode_problem(message);
  if (kind == "build-runtime") return BuildRuntime{message.at("library")};
  if (kind == "build") return decode_build(message);
  if (kind == "build-autoscheduled")
    return BuildAutoscheduled{message.at("problem"), message.at("scheduler"), message.at("library")};
  if (kind == "verify")
    return Verify{message.at("problem"), message.at("runtime"), message.at("library"), message.at("hopeless_ns")};
  if (kind == "run") return Run{message.at("problem"), message.at("runtime"), message.at("library")};
  if (kind == "race")
    return Race{message.at("problem"), message.at("runtime"), message.at("libraries"),
                message.at("exempt"),  message.at("seed"),    message.at("seconds_per_kernel"),
                message.at("at_most")};
  if (kind == "finals")
    return Finals{message.at("problem"), message.at("runtime"), message.at("libraries"), message.at("seed"),
                  message.at("rounds"),  message.at("seconds"), message.at("at_most")};
  if (kind == "side-by-side")
    return SideBySide{message.at("problem"), message.at("runtime"), message.at("libraries"), message.at("exempt"),
                      message.at("seed"),    message.at("rounds"),  message.at("seconds"),   message.at("slow_factor")};
  if (kind == "quit") return Quit{};
  throw std::invalid_argument("unknown kind of message '" + kind + "'");
}

}  // namespace

std::string encode(const Request& request) {
  return line_of(std::visit(
      Overloaded{
          [](const Setup& setup) {
            json message = message_of("setup");
            message["directory"] = setup.directory.string();
            message["target"] = codegen::to_json(setup.target);
            message["found_device"] = codegen::to_json(setup.target.found);
            message["limits"] = encode_limits(setup.limits);
            return message;
          },
          [](const MakeProblem& make) { return encode_problem(make); },
          [](const BuildRuntime& runtime) {
            json message = message_of("build-runtime");
            message["library"] = runtime.library;
            return message;
          },
          [](const Build& build) {
            json message = message_of("build");
            message["problem"] = build.problem;
            message["schedule"] = codegen::to_json(build.schedule);
            message["library"] = build.library;
            message["seconds"] = build.seconds;
            if (!build.schedule.runtime.sizes.empty()) message["sizes"] = encode_sizes(build.schedule.runtime);
            return message;
          },
          [](const BuildAutoscheduled& build) {
            json message = message_of("build-autoscheduled");
            message.update({{"problem", build.problem}, {"scheduler", build.scheduler}, {"library", build.library}});
            return message;
          },
          [](const Verify& verify) {
            json message = message_of("verify");
            message.update({{"problem", verify.problem},
                            {"runtime", verify.runtime},
                            {"library", verify.library},
                            {"hopeless_ns", verify.hopeless_ns}});
            return message;
          },
          [](const Run& run) {
            json message = message_of("run");
            message.update({{"problem", run.problem}, {"runtime", run.runtime}, {"library", run.library}});
            return message;
          },
          [](const Race& race) {
            json message = message_of("race");
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
            json message = message_of("finals");
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
            json message = message_of("side-by-side");
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
          [](const Quit&) { return message_of("quit"); }},
      request));
}

Result<Request> decode_request(const std::string& line) try {
  return decode(parse_message(line));
} catch (const std::exception& error) {
  return failure("malformed-message", std::string("a worker was sent a malformed message: ") + error.what());
}

}  // namespace tile_tune::search
