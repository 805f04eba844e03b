#include "engine/run/schedule_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/process/children.h"
#include "base/units.h"
#include "codegen/lower/compile.h"
#include "codegen/lower/hot_loop.h"
#include "codegen/schedule/outline.h"
#include "frontend/ir/describe.h"
#include "search/workers/session_directory.h"

namespace tile_tune::engine {

namespace {

/// "matmul (M=512 ...), AMD EPYC, 2 threads: the default schedule" as the first line of a comment.
std::vector<std::string> remarks(const Workload& workload, const codegen::Target& target, const std::string& rung) {
  std::vector<std::string> lines;
  for (const auto& statement : workload.program.statements) lines.push_back(ir::to_text(workload.program, statement));
  lines.push_back(fmt::format("{}, {} schedule, for {} and {}", described(workload), rung, target.text(),
                              threads_text(target.threads)));
  lines.push_back("");
  lines.push_back(
      "C++17 for Halide 21: c++ -std=c++17 -c FILE.cpp -I HALIDE/include. Dimension 0 of a buffer is its fastest.");
  return lines;
}

/// Compilers may abort: this one is a child's.
Result<codegen::HotLoop> hot_loop_in_child(const ir::Program& program, const codegen::Schedule& schedule,
                                           const codegen::Target& target) {
  TILE_TUNE_TRY(scratch, search::SessionDirectory::create());
  const auto compile = [&](size_t) -> Result<nlohmann::json> {
    TILE_TUNE_TRY(assembly, codegen::kernel_assembly(program, schedule, target, scratch.path()));
    return nlohmann::json(assembly);
  };
  TILE_TUNE_TRY(assembly, base::in_children(1, 1, compile));
  return codegen::hot_loop(assembly.front().get<std::string>());
}

Result<std::string> device_code_in_child(const ir::Program& program, const codegen::Schedule& schedule,
                                         const codegen::Target& target) {
  const auto compile = [&](size_t) -> Result<nlohmann::json> {
    TILE_TUNE_TRY(code, codegen::device_code(program, schedule, target));
    return nlohmann::json(code);
  };
  TILE_TUNE_TRY(code, base::in_children(1, 1, compile));
  return code.front().get<std::string>();
}

std::string hot_loop_text(const codegen::HotLoop& loop) {
  const std::string what =
      loop.is_loop ? "the innermost loop with most arithmetic" : "no loop is left: the whole kernel";
  return fmt::format("# {}: {}, {} of them arithmetic\n{}", what,
                     base::format_number(static_cast<size_t>(loop.instructions), "instruction"), loop.arithmetic,
                     loop.text);
}

}  // namespace

Result<std::string> schedule_text(const std::string& what, const Workload& workload, const ScheduleChoice& choice,
                                  const codegen::Target& target) {
  if (what == "loops") return codegen::outline(workload.program, choice.schedule);
  if (what == "schedule")
    return codegen::halide_source(workload.program, choice.schedule, target, remarks(workload, target, choice.rung));
  const bool for_gpu = target.device == codegen::Device::Gpu;
  if ((what == "ptx") != for_gpu)
    return fail(ErrorClass::Program, "command-line",
                fmt::format("--what {} is for {}", what, for_gpu ? "CPUs: ptx is what a GPU's driver takes" : "GPUs"));
  if (what == "ptx") return device_code_in_child(workload.program, choice.schedule, target);
  TILE_TUNE_TRY(loop, hot_loop_in_child(workload.program, choice.schedule, target));
  return hot_loop_text(loop);
}

}  // namespace tile_tune::engine
