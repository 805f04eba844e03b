#include "codegen/lower/halide_backend.h"

#include <unistd.h>

#include "codegen/lower/compile.h"
#include "codegen/lower/runtime_cache.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

constexpr int64_t kExtent = 8;

// o(i) = a(i)
ir::Program smallest_program() {
  ir::Program program;
  program.name = "warm_up";
  program.tensors = {{"a", DType::F32, {kExtent}, ir::Role::Input}, {"o", DType::F32, {kExtent}, ir::Role::Output}};
  program.inputs = {0};
  program.outputs = {1};
  ir::Statement statement;
  statement.target = 1;
  statement.subscripts = {ir::AffineExpr::index(0)};
  statement.indices = {{"i", 0, kExtent, ""}};
  statement.value = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0)}});
  program.statements = {statement};
  return ir::canonicalize(program);
}

Result<void> warm_up(const Target& target, const std::filesystem::path& directory) {
  NestSchedule stage;
  stage.tiles = {{kExtent}};
  stage.order = {{0}};
  // Workers of a session warm up side by side in one directory.
  const auto object = directory / ("warm-up-" + std::to_string(getpid()) + ".o");
  auto compiled = compile_object(smallest_program(), {{stage}}, host_part(target), "warm_up", object);
  std::error_code ignored;
  std::filesystem::remove(object, ignored);
  if (!compiled) return tl::unexpected(compiled.error());
  return {};
}

Result<Compiled> compile_by_name(const ir::Program& program, const std::string& autoscheduler, const Target& target,
                                 const std::string& function, const std::filesystem::path& object) {
  const auto scheduler = parse_auto_scheduler(autoscheduler);
  if (!scheduler) return failure("unknown-autoscheduler", "Halide has no automatic scheduler " + autoscheduler);
  return compile_autoscheduled(program, *scheduler, target, function, object);
}

}  // namespace

Backend halide_backend() {
  const auto runtime = [](const Target& target, const std::filesystem::path& object) {
    return cached_runtime(host_part(target), object);  // of devices' kernels, what runs on the host
  };
  std::map<Device, std::vector<std::string>> autoschedulers;
  for (const auto scheduler : kAutoSchedulers) autoschedulers[device_of(scheduler)].emplace_back(name_of(scheduler));
  return {.compile = compile_object,
          .autoschedulers = std::move(autoschedulers),
          .compile_autoscheduled = compile_by_name,
          .runtime = runtime,
          .warm_up = warm_up};
}

}  // namespace tile_tune::codegen
