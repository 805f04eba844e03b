#include "search/workers/object_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/target/host.h"
#include "search/judge/executor_for.h"
#include "search/judge/host_kernel.h"
#include "search/judge/verify.h"
#include "search/workers/child.h"

namespace tile_tune::search {
namespace {

constexpr uint64_t kSeed = 1;  // which inputs are looked at matters to nobody, but two builds should say the same
constexpr int kNobody = -1;    // whose end would make the answer useless

Result<void> judge(const Reply& reply, const ir::Program& program) {
  if (reply.outcome == Outcome::Ok) return {};
  if (reply.outcome == Outcome::Wrong)
    return fail(ErrorClass::Verification, "wrong-result",
                fmt::format("the kernel of {} is wrong: {}", program.name, reply.reason));
  return failure(outcome_name(reply.outcome), fmt::format("the kernel of {} failed: {}", program.name, reply.reason));
}

}  // namespace

Result<void> check_object(const ir::Program& program, const codegen::Target& target, const KernelObject& kernel,
                          const ir::Program* written, double whole_seconds) {
  TILE_TUNE_TRY(problem, make_problem(program, kSeed, written, whole_seconds));
  const Limits limits;
  // A package for a larger machine is judged with the threads that run here.
  codegen::Target here = target;
  here.threads = std::min(target.threads, static_cast<int>(codegen::available_cores().size()));
  keep_driver_cache(here, kernel.runtime.parent_path());
  const auto child = limits_of_calls(limits, here, program, kCallsInVerify);
  const auto reply = run_in_child(child, kNobody, [&](int reply_fd) {
    const auto runtime = Runtime::load(kernel.runtime, here.threads);
    if (!runtime) return Reply::fault(Outcome::RunError, runtime.error().message);
    const auto executor = executor_for(target, kernel.function);
    const auto loaded = executor->load(kernel.object);
    if (!loaded) return Reply::fault(Outcome::RunError, loaded.error().message);
    return verify(*executor, problem, **loaded, call_seconds(limits, here), reply_fd);
  });
  return judge(*reply, program);
}

}  // namespace tile_tune::search
