#include "tests/property/codegen/kernel_check.h"

#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/measure/kernel.h"
#include "search/measure/linker.h"
#include "search/measure/verify.h"

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
    library = directory / "runtime.so";
    if (auto made = codegen::compile_runtime(target, directory / "runtime.a"); !made) FAIL(render(made.error()));
    if (auto linked = search::link_shared(directory / "runtime.a", library); !linked) FAIL(render(linked.error()));
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

KernelCheck::KernelCheck(const ir::Program& program, int threads)
    : KernelCheck(require(search::make_problem(program, 7)), threads) {}

KernelCheck::KernelCheck(const ir::Program& program, reference::Inputs inputs)
    : KernelCheck(search::Problem{program, inputs, require(reference::evaluate(program, inputs)), false, ""}, 2) {}

KernelCheck::KernelCheck(search::Problem problem, int threads) : problem_(std::move(problem)), target_(host(threads)) {
  std::string name = (std::filesystem::temp_directory_path() / "tile-tune-test-XXXXXX").string();
  if (!mkdtemp(name.data())) FAIL("cannot make a temporary directory");
  directory_ = name;
  runtime_library(target_, directory_);
}

KernelCheck::~KernelCheck() { std::filesystem::remove_all(directory_); }

KernelCheck::Result KernelCheck::operator()(const codegen::Schedule& schedule, const ir::Program& base) {
  const auto object = directory_ / ("kernel" + std::to_string(built_) + ".o");
  const auto library = directory_ / ("kernel" + std::to_string(built_++) + ".so");
  Result result;
  const auto compiled = codegen::compile_object(base, schedule, target_, search::kKernelFunction, object);
  if (!compiled) {
    result.error = compiled.error().message;
    return result;
  }
  result.compiled = *compiled;
  if (const auto linked = search::link_shared(object, library); !linked) {
    result.error = linked.error().message;
    return result;
  }
  const auto kernel = require(search::Kernel::load(library));
  constexpr double kLongEnough = 60;
  result.verdict = search::verify(problem_, kernel, kLongEnough, STDERR_FILENO);
  return result;
}

void KernelCheck::expect_right(const codegen::Schedule& schedule, const ir::Program& base) {
  CAPTURE(codegen::to_json(schedule).dump());
  const auto result = (*this)(schedule, base);
  CHECK(result.error == "");
  CHECK(result.verdict.reason == "");
  CHECK(result.verdict.outcome == search::Outcome::Ok);
}

}  // namespace tile_tune::test
