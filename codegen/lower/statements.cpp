#include "codegen/lower/statements.h"

#include <algorithm>

#include "codegen/schedule/fusion.h"

namespace tile_tune::codegen {
namespace {

// An epilogue's element is computed in the loops of its reduction, so it is defined by their Vars.
std::vector<Halide::Var> vars_of_epilogue(const Fusion& fusion, int epilogue, int host, const Stage& of_host) {
  std::vector<Halide::Var> vars;
  const auto taking = fusion.epilogue_loops(epilogue, host);
  for (const int p : *taking) vars.push_back(of_host.vars[p]);
  return vars;
}

// What the nest stores is the epilogue's elements; the reduction's own are never in memory. Pieces of a parallel
// reduction are: the epilogue works on what they combine to.
void store_epilogue(Stage& host, const Stage& epilogue) {
  const bool in_nest = host.tiled.name() == host.result.name();
  host.result = epilogue.result;
  host.result_vars = epilogue.result_vars;
  host.result_extents = epilogue.result_extents;
  if (in_nest) host.tiled = host.result;
}

// Copies that the nest around the owner's makes.
void place_copies(const Fusion& fusion, const NestSchedule& schedule, int owner, Stage& stage,
                  const std::map<int, Nest>& nests) {
  for (auto& packed : stage.packed) {
    if (packed.choice.depth >= 0 || !schedule.compute_at) continue;
    if (const int depth = fusion.copy_depth(owner, packed.choice.operand); depth > 0)
      packed.outside = nests.at(schedule.compute_at->statement).at(depth);
  }
}

// Where the nest of `owner` is computed; an output of the pipeline stands outside of all.
std::optional<Halide::LoopLevel> place_of(const ir::Program& program, const NestSchedule& stage, int stored,
                                          const std::map<int, Nest>& nests) {
  if (stage.compute_at) return nests.at(stage.compute_at->statement).at(stage.compute_at->depth);
  const auto& written = program.tensors[program.statements[stored].target];
  if (written.role == ir::Role::Output && !is_complex(written.type)) return std::nullopt;
  return Halide::LoopLevel::root();
}

// No choice that shapes Funcs: one accumulator, over the whole reduction.
NestSchedule plainest(const Loops& loops) {
  NestSchedule stage;
  stage.tiles.assign(loops.output.size(), {1});
  for (size_t r = 0; r < loops.reduction.size(); ++r) stage.reduction_order.push_back(static_cast<int>(r));
  stage.reduction_block = loops.reduction;
  stage.reduction_unroll.assign(loops.reduction.size(), 1);
  return stage;
}

// What the statement's expressions read: of a buffer that is only added to, its elements themselves.
TensorFuncs readable(const ir::Program& program, const ir::Statement& statement, const TensorFuncs& initial,
                     TensorFuncs values) {
  if (statement.previous && initial.count(*statement.previous) && updates_in_place(program, statement) &&
      !reads(program, *statement.previous))
    values[*statement.previous] = initial.at(*statement.previous);
  return values;
}

}  // namespace

std::vector<Halide::Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Halide::Expr>& subscripts) {
  std::vector<Halide::Expr> arguments = subscripts;
  if (tensor.layout == ir::Layout::Row) std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

std::string parameter_name(int tensor) { return "tensor" + std::to_string(tensor); }

bool reads(const ir::Program& program, int tensor) {
  bool found = false;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

LeftToPasses lower_statements(const ir::Program& program, const Schedule& schedule, const Target& target,
                              const std::vector<PackedForm>& forms, const RuntimeProgram* runtime,
                              const TensorFuncs& initial, TensorFuncs& values) {
  const Fusion fusion(program, schedule);
  std::vector<Stage> stages;
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    const int number = static_cast<int>(s);
    const auto* nest = schedule.stages[s].find_nest();
    const auto* epilogue = schedule.stages[s].epilogue();
    stages.push_back(make_stage(
        program, number, nest ? *nest : plainest(fusion.loops(number)), readable(program, statement, initial, values),
        forms, runtime,
        epilogue ? vars_of_epilogue(fusion, number, epilogue->of, stages[epilogue->of]) : std::vector<Halide::Var>(),
        target.is_deterministic()));
    values[statement.target] = stages[s].result;
    if (epilogue) store_epilogue(stages[epilogue->of], stages[s]);
  }
  // The loops inside which a stage is computed are those of a later one.
  std::map<int, Nest> nests;
  std::vector<ScheduledStage> scheduled;
  for (int s = static_cast<int>(stages.size()) - 1; s >= 0; --s) {
    if (stages[s].assigned.defined()) stages[s].assigned.compute_root();
    const int owner = fusion.owner_of(s);
    if (owner < 0 || fusion.stored_by(owner) != s) continue;
    stages[owner].extents = fusion.extents(owner).value();
    const NestSchedule& nest = schedule.stages[owner].nest();
    const auto where = place_of(program, nest, s, nests);
    place_copies(fusion, nest, owner, stages[owner], nests);
    nests[owner] = apply(nest, program.statements[owner], stages[owner], target, where);
    scheduled.push_back({nest, stages[owner]});
  }
  LeftToPasses left;
  for (const auto make : kCodePasses)
    if (auto pass = make(program, scheduled)) left.passes.push_back(std::move(*pass));
  for (const auto& [statement, other, pieces] : schedule.in_turn)
    left.in_turn.push_back(nests_in_turn(stages[statement], stages[fusion.owner_of(other)], pieces));
  return left;
}

void lower_unscheduled(const ir::Program& program, const TensorFuncs& initial, TensorFuncs& values) {
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    const auto stage = make_stage(program, static_cast<int>(s), plainest(loops_of(program, statement)),
                                  readable(program, statement, initial, values), {});
    values[statement.target] = stage.result;
  }
}

}  // namespace tile_tune::codegen
