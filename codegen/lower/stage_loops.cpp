#include "codegen/lower/stage_loops.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/schedule/gpu_nest.h"
#include "codegen/schedule/masked_vector.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

// Loops over runtime sizes. Their statements write plain indices (check_runtime_sizes).
void find_runtime_loops(const RuntimeProgram& runtime, int statement, StageLoops& stage) {
  const auto& named = runtime.named();
  const auto& of = named.statements[static_cast<size_t>(statement)];
  for (int p = 0; p < stage.outputs(); ++p) {
    const auto& extent = named.tensors[of.target].extents[static_cast<size_t>(p)];
    if (!extent.constant()) stage.runtime_extents[p] = runtime.number(extent);
  }
  for (int r = 0; r < stage.reductions(); ++r)
    stage.runtime_reductions[r] = !of.indices[stage.loops.reduction_index[r]].hi.constant();
  stage.all_guarded = runtime.guarded();
}

// The loop that walks the blocks of a constant whose last one is there in part.
std::optional<int> guarded_loop(const std::vector<PackedForm>& forms, int statement, const NestSchedule& schedule) {
  std::optional<int> guarded;
  for (const auto& choice : schedule.packings)
    for (const auto& form : forms)
      if (form.statement == statement && form.packing.operand == choice.operand && form.blocks && form.blocks->guarded)
        guarded = form.blocks->loop;
  return guarded;
}

}  // namespace

bool StageLoops::has_runtime_loop() const {
  return std::any_of(runtime_extents.begin(), runtime_extents.end(), [](const auto& e) { return e.defined(); }) ||
         std::find(runtime_reductions.begin(), runtime_reductions.end(), true) != runtime_reductions.end();
}

bool StageLoops::follows_masked_loop(int operand, size_t dimension) const {
  if (!masked_loop) return false;
  const auto* subscript = std::get_if<ir::AffineExpr>(&loops.operands[operand].subscripts[dimension]);
  return subscript && subscript->coefficient(loops.output_index[*masked_loop]) != 0;
}

std::vector<Halide::Var> StageLoops::in_buffer_order() const {
  std::vector<Halide::Var> result;
  for (const int p : buffer_order) result.push_back(vars[p]);
  return result;
}

std::string stage_name(int statement) { return fmt::format("stage{}", statement); }

StageLoops make_stage_loops(const KernelContext& kernel, int number, const NestSchedule& schedule,
                            const std::vector<Halide::Var>& vars) {
  const auto& statement = kernel.program.statements[number];
  const std::string name = stage_name(number);
  StageLoops stage;
  stage.loops = loops_of(kernel.program, statement);
  stage.runtime_extents.resize(static_cast<size_t>(stage.outputs()));
  stage.runtime_reductions.assign(static_cast<size_t>(stage.reductions()), false);
  if (kernel.runtime) find_runtime_loops(*kernel.runtime, number, stage);
  const Loops of_piece = one_piece(stage.loops, schedule);
  stage.reduction_extents = of_piece.reduction;
  stage.home = has_home(kernel.program, statement, of_piece, schedule);
  stage.contiguous = contiguous_loop(kernel.program, statement, stage.loops);
  stage.deterministic = kernel.deterministic;
  if (schedule.parallel_reduction) stage.piece = Halide::Var(name + "_piece");
  stage.vars = vars;
  if (vars.empty())
    for (int p = 0; p < stage.outputs(); ++p) stage.vars.push_back(Halide::Var(fmt::format("{}_v{}", name, p)));
  // Where they are not the target's dimensions, they take turns as these would.
  const auto& target = kernel.program.tensors[statement.target];
  stage.buffer_order = target.storage.order(static_cast<size_t>(stage.outputs()));
  if (schedule.dot_product) stage.dot = dot_product(statement, stage.loops, schedule);
  if (schedule.dot_tiles) stage.matrix_tiles = matrix_tiles(statement, stage.loops, schedule);
  if (stage.dot && !stage.dot->in_lanes) {
    auto& extent = stage.reduction_extents[stage.dot->loop];
    extent = (extent + stage.dot->width - 1) / stage.dot->width * stage.dot->width;
  }
  const auto overruns_on_gpu = [&](int p) {
    const bool is_last = has_last_tile(stage.loops, schedule, p), stages = !schedule.packings.empty();
    return (is_last && (stages || stage.reductions() > 0)) || (stages && !writes_all_of(statement, stage.loops, p));
  };
  if (has_masked_vector(stage.loops, schedule) && !stage.runtime_extents[schedule.cpu().vector_loop].defined())
    stage.masked_loop = schedule.cpu().vector_loop;
  for (int p = 0; p < stage.outputs(); ++p)
    stage.overrun.push_back(schedule.is_gpu()
                                ? overruns_on_gpu(p)
                                : stage.masked_loop == p || (stage.all_guarded && stage.runtime_extents[p].defined()));
  stage.guarded = guarded_loop(kernel.forms, number, schedule);
  return stage;
}

}  // namespace tile_tune::codegen
