#include "search/measure/object_check.h"

#include <fmt/format.h>

#include "codegen/lower/compile.h"
#include "search/measure/child.h"
#include "search/measure/kernel.h"
#include "search/measure/linker.h"
#include "search/measure/problem.h"
#include "search/measure/verify.h"

namespace tile_tune::search {
namespace {

constexpr uint64_t kSeed = 1;  // which inputs are looked at matters to nobody, but two builds should say the same
constexpr int kNobody = -1;    // whose end would make the answer useless

/// Whether a kernel's first argument is a pointer that it hands to the functions of the runtime.
bool takes_context(const codegen::Target& target) { return target.halide.find("user_context") != std::string::npos; }

Result<void> judge(const Reply& reply, const ir::Program& program) {
  if (reply.outcome == Outcome::Ok) return {};
  if (reply.outcome == Outcome::Wrong)
    return fail(ErrorClass::Verification, "wrong-result",
                fmt::format("the kernel of {} is wrong: {}", program.name, reply.reason));
  return failure(outcome_name(reply.outcome), fmt::format("the kernel of {} failed: {}", program.name, reply.reason));
}

}  // namespace

Result<std::filesystem::path> build_runtime(const codegen::Target& target, const std::filesystem::path& directory) {
  const std::filesystem::path object = directory / "runtime.o", library = directory / "runtime.so";
  TILE_TUNE_CHECK(codegen::compile_runtime(target, object));
  TILE_TUNE_CHECK(link_shared(object, library));
  return library;
}

Result<void> check_object(const ir::Program& program, const codegen::Target& target, const KernelObject& kernel) {
  const std::filesystem::path library = kernel.object.string() + ".so";
  TILE_TUNE_CHECK(link_shared(kernel.object, library));
  TILE_TUNE_TRY(problem, make_problem(program, kSeed));
  const Limits limits;
  const auto child = limits_of_calls(limits, target.threads, program, kCallsInVerify);
  const auto reply = run_in_child(child, kNobody, [&](int reply_fd) {
    const auto runtime = Runtime::load(kernel.runtime, target.threads);
    if (!runtime) return Reply::fault(Outcome::RunError, runtime.error().message);
    const auto loaded = Kernel::load(library, kernel.function, takes_context(target));
    if (!loaded) return Reply::fault(Outcome::RunError, loaded.error().message);
    return verify(problem, *loaded, limits.run_seconds, reply_fd);
  });
  return judge(*reply, program);
}

}  // namespace tile_tune::search
