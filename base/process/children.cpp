#include "base/process/children.h"

#include <fmt/format.h>
#include <string.h>

#include <cerrno>
#include <map>
#include <thread>
#include <utility>
#include <nlohmann/json.hpp>

#include "base/process/fork.h"
#include "base/process/memory_file.h"
#include "base/process/wait.h"

namespace tile_tune::base {
namespace {

using Work = std::function<Result<nlohmann::json>(size_t)>;

struct Child {
  MemoryFile answer, complaints;
  Waiter waiter{-1};
};

tl::unexpected<Diagnostic> cannot_start(int error) {
  return failure("cannot-start", fmt::format("cannot start a process of our own: {}", strerror(error)));
}

int answer(const Child& child, const Result<nlohmann::json>& value) {
  const auto json = value ? nlohmann::json{{"value", *value}} : nlohmann::json{{"error", to_json(value.error())}};
  return child.answer.write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) ? 0 : 1;
}

Result<Child> start(const Work& work, size_t number, std::chrono::milliseconds grace) {
  Child child;
  const int complaints = child.complaints.descriptor();
  if (child.answer.descriptor() < 0 || complaints < 0) return cannot_start(errno);
  // What it prints must not get into this process's own answer.
  const Fork options{.streams = {.out = complaints, .err = complaints}};
  const auto pid = fork_child(options, [&] { return answer(child, work(number)); });
  if (!pid) return cannot_start(pid.error());
  child.waiter = Waiter(*pid, false, grace);
  return child;
}

Result<nlohmann::json> outcome_of(const Child& child, const Ending& ending) {
  const auto answer = nlohmann::json::parse(child.answer.text(), nullptr, false);
  if (answer.is_object() && answer.contains("value")) return answer["value"];
  if (answer.is_object() && answer.contains("error")) return tl::unexpected(diagnostic_from_json(answer["error"]));
  if (ending.was_stopped) return failure("compiler-died", "somebody had stopped the process that compiles");
  const std::string said = child.complaints.text();
  const std::string how =
      ending.signal ? fmt::format("signal {}", ending.signal) : fmt::format("exit status {}", ending.exit_code);
  return failure("compiler-died", fmt::format("the compiler ended with {}{}{}", how, said.empty() ? "" : ": ",
                                              said.substr(0, said.find('\n'))));
}

}  // namespace

Diagnostic diagnostic_from_json(const nlohmann::json& json) {
  return {static_cast<ErrorClass>(json.value("exit_code", static_cast<int>(ErrorClass::Failure))),
          json.value("code", "internal"), json.value("message", ""), std::nullopt, json.value("note", "")};
}

Result<std::vector<nlohmann::json>> in_children(size_t count, size_t at_once, const Work& work,
                                                std::chrono::milliseconds grace) {
  std::vector<nlohmann::json> values(count);
  std::map<size_t, Child> running;
  std::map<size_t, Diagnostic> errors;
  for (size_t next = 0;;) {
    if (next < count && errors.empty() && running.size() < at_once) {
      if (auto child = start(work, next, grace))
        running.emplace(next, std::move(*child));
      else
        errors.emplace(next, child.error());
      ++next;
      continue;
    }
    if (running.empty()) break;
    bool all_run = true;
    for (auto one = running.begin(); one != running.end();) {
      const auto ending = one->second.waiter.look();
      if (ending && !*ending) {
        ++one;
        continue;
      }
      all_run = false;
      auto outcome = outcome_of(one->second, ending ? **ending : Ending{});
      if (outcome)
        values[one->first] = std::move(*outcome);
      else
        errors.emplace(one->first, outcome.error());
      one = running.erase(one);
    }
    if (all_run) std::this_thread::sleep_for(kBetweenLooks);
  }
  if (!errors.empty()) return tl::unexpected(errors.begin()->second);
  return values;
}

}  // namespace tile_tune::base
