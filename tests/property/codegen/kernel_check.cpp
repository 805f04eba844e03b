#include "tests/property/codegen/kernel_check.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cfenv>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/lower/runtime_cache.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/judge/host_kernel.h"
#include "search/judge/host_executor.h"
#include "search/judge/kernel_call.h"
#include "search/judge/kernel_runtime.h"
#include "search/judge/verify.h"

namespace tile_tune::test {
namespace {

template <typename T>
T require(Result<T> result) {
  if (!result) FAIL(render(result.error()));
  return std::move(*result);
}

// One runtime a process: it stays loaded, and its pool is shared by all kernels.
const std::filesystem::path& runtime_library(const codegen::Target& target, const std::filesystem::path& directory) {
  static std::filesystem::path library;
  if (library.empty()) {
    library = directory / "runtime.o";
    if (auto made = codegen::cached_runtime(target, library); !made) FAIL(render(made.error()));
    require(search::Runtime::load(library, target.threads));
  }
  return library;
}

}  // namespace

ir::Program bound_program(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = require(tc::parse(text, "test.tc"));
  return ir::canonicalize(require(ir::bind(parsed.programs.at(0), sizes)));
}

codegen::Target host(int threads) { return require(codegen::resolve_target("host", threads)); }

std::vector<codegen::Target> runnable(const std::vector<std::string>& targets) {
  std::vector<codegen::Target> result;
  for (const auto& text : targets) {
    const auto target = require(codegen::describe_target(text, 1));
    if (const auto runs = codegen::check_runs_here(target)) {
      result.push_back(target);
    } else {
      WARN("skipped: " << runs.error().message);
    }
  }
  return result;
}

std::string disassembly(const ir::Program& program, const codegen::Schedule& schedule, const codegen::Target& target) {
  const auto object = std::filesystem::temp_directory_path() / ("tile-tune-test-" + std::to_string(getpid()) + ".o");
  require(codegen::compile_object(program, schedule, target, "kernel", object));
  std::string listing;
  FILE* pipe = popen(("objdump -d " + object.string()).c_str(), "r");
  REQUIRE(pipe);
  for (char line[512]; std::fgets(line, sizeof line, pipe);) listing += line;
  pclose(pipe);
  std::filesystem::remove(object);
  return listing;
}

KernelCheck::KernelCheck(const ir::Program& program, int threads)
    : KernelCheck(require(search::make_problem(program, 7)), host(threads)) {}

KernelCheck::KernelCheck(const ir::Program& program, codegen::Target target)
    : KernelCheck(require(search::make_problem(program, 7)), std::move(target)) {}

KernelCheck::KernelCheck(const ir::Program& program, reference::Inputs inputs, codegen::Target target)
    : KernelCheck(
          search::Problem{program, inputs,
                          require(reference::evaluate(program, inputs, reference::OutsideIndices::BecomeNearest)),
                          false, ""},
          std::move(target)) {}

KernelCheck::KernelCheck(search::Problem problem, codegen::Target target)
    : problem_(std::move(problem)), target_(std::move(target)) {
  std::string name = (std::filesystem::temp_directory_path() / "tile-tune-test-XXXXXX").string();
  if (!mkdtemp(name.data())) FAIL("cannot make a temporary directory");
  directory_ = name;
  runtime_library(target_, directory_);
}

KernelCheck::~KernelCheck() { std::filesystem::remove_all(directory_); }

Result<std::filesystem::path> KernelCheck::build(const codegen::Schedule& schedule, const ir::Program& base,
                                                 codegen::Compiled& compiled) {
  const auto object = directory_ / ("kernel" + std::to_string(built_++) + ".o");
  TILE_TUNE_TRY(made, codegen::compile_object(base, schedule, target_, search::kKernelFunction, object));
  compiled = made;
  return object;
}

KernelCheck::Result KernelCheck::operator()(const codegen::Schedule& schedule, const ir::Program& base) {
  Result result;
  const auto library = build(schedule, base, result.compiled);
  if (!library) {
    result.error = library.error().message;
    return result;
  }
  result.verdict = judge(require(search::Kernel::load(*library)));
  return result;
}

search::Reply KernelCheck::judge(const search::Kernel& kernel) {
  constexpr double kLongEnough = 60;
  return search::verify(search::HostExecutor(), problem_, kernel, kLongEnough, STDERR_FILENO);
}

std::vector<std::vector<std::byte>> KernelCheck::outputs(const codegen::Schedule& schedule) {
  CAPTURE(codegen::to_json(schedule).dump());
  codegen::Compiled ignored;
  const auto kernel = require(search::Kernel::load(require(build(schedule, program(), ignored))));
  expect_right(judge(kernel));
  search::Buffers buffers(problem_, search::Flush::End);
  buffers.prepare_outputs(std::byte{0});
  search::KernelCall call(problem_.program, kernel, buffers, search::Flush::End);
  CHECK(call() == 0);
  std::vector<std::vector<std::byte>> outputs;
  for (const int output : problem_.program.outputs) outputs.push_back(buffers.output(output).data);
  return outputs;
}

bool KernelCheck::computes_with_unwritten(const codegen::Schedule& schedule) {
  codegen::Compiled ignored;
  const auto kernel = require(search::Kernel::load(require(build(schedule, program(), ignored))));
  search::Buffers buffers(problem_, search::Flush::End);
  buffers.prepare_outputs(std::byte{0});
  search::KernelCall call(problem_.program, kernel, buffers, search::Flush::End);
  tile_tune_set_loop_threads(1);  // each thread has exception flags of its own
  tile_tune_fill_memory(1);
  std::feclearexcept(FE_INVALID);
  CHECK(call() == 0);
  tile_tune_fill_memory(0);
  tile_tune_set_loop_threads(target_.threads);
  return std::fetestexcept(FE_INVALID) != 0;
}

void KernelCheck::expect_right(const codegen::Schedule& schedule, const ir::Program& base) {
  CAPTURE(codegen::to_json(schedule).dump());
  const auto result = (*this)(schedule, base);
  CHECK(result.error == "");
  expect_right(result.verdict);
}

void KernelCheck::expect_right(const search::Reply& verdict) {
  CHECK(verdict.reason == "");
  CHECK(verdict.outcome == search::Outcome::Ok);
}

}  // namespace tile_tune::test
