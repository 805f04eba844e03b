#include "tests/integration/devices/judge.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "codegen/lower/halide_backend.h"
#include "codegen/target/host.h"
#include "search/judge/executor_for.h"
#include "search/judge/host_kernel.h"
#include "search/judge/verify.h"
#include "search/workers/child.h"
#include "search/workers/device_query.h"

namespace tile_tune::test {

using namespace tile_tune::search;

namespace {

constexpr int kNobody = -1;
constexpr uint64_t kSeed = 7;

ir::Program no_program() { return {}; }

}  // namespace

bool has_device() {
  const Reply reply = *run_in_child({.limits_addresses = false}, kNobody, [](int) {
    const auto answer = answer_device_query("opencl", 0);
    return answer.contains("error") ? Reply::fault(Outcome::RunError, answer["error"]) : Reply{};
  });
  if (reply.outcome == Outcome::Ok) return true;
  std::cout << "skipped: " << reply.reason << '\n';
  return false;
}

DeviceJudge::DeviceJudge()
    : folder(base::TemporaryDirectory::create(std::filesystem::temp_directory_path(), "tile-tune-test-").value()),
      runtime(folder.path() / "runtime.o"),
      target(codegen::describe_target("host-opencl", 2).value()) {
  if (const auto made = codegen::halide_backend().runtime(target, runtime); !made)
    throw std::runtime_error(made.error().message);
  target.found.number = 0;
}

Reply DeviceJudge::in_child(const std::function<Reply(const Executor&, int)>& work) const {
  keep_driver_cache(target, folder.path());
  return run_in_child(limits_of_calls({}, target, no_program(), kCallsInVerify), kNobody,
                      [&](int reply_fd) {
                        const auto loaded = Runtime::load(runtime, 1);
                        if (!loaded) return Reply::fault(Outcome::RunError, loaded.error().message);
                        return work(*executor_for(target), reply_fd);
                      })
      .value();
}

Reply DeviceJudge::verified(const ir::Program& program, const std::filesystem::path& object, double seconds) const {
  const auto problem = make_problem(program, kSeed);
  if (!problem) return Reply::fault(Outcome::RunError, problem.error().message);
  return in_child([&](const Executor& executor, int reply_fd) {
    const auto kernel = executor.load(object);
    if (!kernel) return Reply::fault(Outcome::CompileError, kernel.error().message);
    return verify(executor, *problem, **kernel, seconds, reply_fd);
  });
}

}  // namespace tile_tune::test
