#include "codegen/emit/children.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "codegen/emit/capture.h"

namespace tile_tune::codegen {
namespace {

using Work = std::function<Result<nlohmann::json>(size_t)>;

struct Child {
  pid_t pid = -1;
  Capture answer, complaints;
};

[[noreturn]] void be_child(const Child& child, pid_t parent, const Work& work, size_t number) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(child.complaints.descriptor(), STDERR_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // the parent's own answer goes to what it has there
  try {
    const auto value = work(number);
    const auto answer = value ? nlohmann::json{{"value", *value}} : nlohmann::json{{"error", to_json(value.error())}};
    _exit(child.answer.write(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) ? 0 : 1);
  } catch (const std::exception& error) {
    child.complaints.write(error.what());
    _exit(1);
  }
}

tl::unexpected<Diagnostic> cannot_start() {
  return failure("cannot-start", fmt::format("cannot start a process of our own: {}", strerror(errno)));
}

Result<Child> start(const Work& work, size_t number) {
  Child child;
  if (child.answer.descriptor() < 0 || child.complaints.descriptor() < 0) return cannot_start();
  const pid_t parent = getpid();
  child.pid = fork();
  if (child.pid < 0) return cannot_start();
  if (child.pid == 0) be_child(child, parent, work, number);
  return child;
}

Result<nlohmann::json> outcome_of(const Child& child, int status) {
  const auto answer = nlohmann::json::parse(child.answer.text(), nullptr, false);
  if (answer.is_object() && answer.contains("value")) return answer["value"];
  if (answer.is_object() && answer.contains("error")) return tl::unexpected(diagnostic_from_json(answer["error"]));
  const std::string said = child.complaints.text();
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                              : fmt::format("exit status {}", WEXITSTATUS(status));
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

}  // namespace tile_tune::codegen
