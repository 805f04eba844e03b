#include "search/workers/object_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "codegen/backend/error_functions.h"
#include "codegen/target/host.h"
#include "search/judge/device_executor.h"
#include "search/judge/host_kernel.h"
#include "search/judge/problem.h"
#include "search/judge/verify.h"
#include "search/workers/child.h"
#include "search/workers/c_compiler.h"

namespace tile_tune::search {
namespace {

constexpr uint64_t kSeed = 1;  // which inputs are looked at matters to nobody, but two builds should say the same
constexpr int kNobody = -1;    // whose end would make the answer useless

constexpr const char* kRuntimeText = R"(#include <stdint.h>
#include <stdlib.h>
typedef int (*task_function)(void*, int, uint8_t*);
typedef int (*loop_function)(void*, task_function, int, int, uint8_t*);
typedef void (*error_function)(void*, const char*);
static loop_function parallel_loop;
static error_function on_error;
loop_function halide_set_custom_do_par_for(loop_function given) {
  loop_function before = parallel_loop;
  parallel_loop = given;
  return before;
}
error_function halide_set_error_handler(error_function given) {
  error_function before = on_error;
  on_error = given;
  return before;
}
void* halide_malloc(void* context, size_t bytes) {
  return bytes > SIZE_MAX - 256 ? NULL : aligned_alloc(128, (bytes + 255) / 128 * 128);
}
void halide_free(void* context, void* memory) { free(memory); }
int halide_do_par_for(void* context, task_function task, int min, int size, uint8_t* closure) {
  return parallel_loop(context, task, min, size, closure);
}
static int report(void* context, const char* what, int code) {
  on_error(context, what);
  return code;
}
)";

std::string runtime_text() {
  const auto error = [](const char* name, int code) {
    return fmt::format("int halide_error_{0}(void* context) {{ return report(context, \"{0}\", {1}); }}\n", name, code);
  };
  std::string text = kRuntimeText + error("out_of_memory", halide_error_code_out_of_memory);
  for (const char* name : codegen::kErrorFunctions) text += error(name, halide_error_code_internal_error);
  return text;
}

Result<void> judge(const Reply& reply, const ir::Program& program) {
  if (reply.outcome == Outcome::Ok) return {};
  if (reply.outcome == Outcome::Wrong)
    return fail(ErrorClass::Verification, "wrong-result",
                fmt::format("the kernel of {} is wrong: {}", program.name, reply.reason));
  return failure(outcome_name(reply.outcome), fmt::format("the kernel of {} failed: {}", program.name, reply.reason));
}

}  // namespace

Result<std::filesystem::path> build_runtime(const std::filesystem::path& directory) {
  const std::filesystem::path source = directory / "runtime.c", library = directory / "runtime.so";
  TILE_TUNE_CHECK(base::write_text(source, runtime_text()));
  TILE_TUNE_CHECK(compile_shared(source, library));
  return library;
}

Result<void> check_object(const ir::Program& program, const codegen::Target& target, const KernelObject& kernel,
                          const ir::Program* written) {
  TILE_TUNE_TRY(problem, make_problem(program, kSeed, written));
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
