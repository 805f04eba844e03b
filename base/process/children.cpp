#include "base/process/children.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <map>
#include <utility>

#include "base/process/fork.h"
#include "base/process/memory_file.h"
#include "base/process/wait.h"

namespace tile_tune::base {
namespace {

using Work = std::function<Result<nlohmann::json>(size_t)>;

struct Child {
  pid_t pid = -1;
  MemoryFile answer, complaints;
};

tl::unexpected<Diagnostic> cannot_start(int error) {
  return failure("cannot-start", fmt::format("cannot start a process of our own: {}", strerror(error)));
}

int answer(const Child& child, const Result<nlohmann::json>& value) {
  const auto json = value ? nlohmann::json{{"value", *value}} : nlohmann::json{{"error", to_json(value.error())}};
  return child.answer.write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) ? 0 : 1;
}

Result<Child> start(const Work& work, size_t number) {
  Child child;
  const int complaints = child.complaints.descriptor();
  if (child.answer.descriptor() < 0 || complaints < 0) return cannot_start(errno);
  // What it prints must not get into this process's own answer.
  const Fork options{.streams = {.out = complaints, .err = complaints}};
  const auto pid = fork_child(options, [&] { return answer(child, work(number)); });
  if (!pid) return cannot_start(pid.error());
  child.pid = *pid;
  return child;
}

Result<nlohmann::json> outcome_of(const Child& child, int status) {
  const auto answer = nlohmann::json::parse(child.answer.text(), nullptr, false);
  if (answer.is_object() && answer.contains("value")) return answer["value"];
  if (answer.is_object() && answer.contains("error")) return tl::unexpected(diagnostic_from_json(answer["error"]));
  const std::string said = child.complaints.text();
  const Ending ending = ending_of(status);
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

Result<std::vector<nlohmann::json>> in_children(size_t count, size_t at_once, const Work& work) {
  std::vector<nlohmann::json> values(count);
  std::map<size_t, Child> running;
  std::map<size_t, Diagnostic> errors;
  for (size_t next = 0;;) {
    if (next < count && errors.empty() && running.size() < at_once) {
      if (auto child = start(work, next))
        running.emplace(next, std::move(*child));
      else
        errors.emplace(next, child.error());
      ++next;
      continue;
    }
    if (running.empty()) break;
    int status = 0;
    const pid_t ended = wait(&status);
    for (auto one = running.begin(); one != running.end(); ++one) {
      if (one->second.pid != ended) continue;
      auto outcome = outcome_of(one->second, status);
      if (outcome)
        values[one->first] = std::move(*outcome);
      else
        errors.emplace(one->first, outcome.error());
      running.erase(one);
      break;
    }
  }
  if (!errors.empty()) return tl::unexpected(errors.begin()->second);
  return values;
}

}  // namespace tile_tune::base
