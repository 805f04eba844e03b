#include "codegen/lower/statements.h"

#include <algorithm>

#include "codegen/lower/apply_gpu.h"

namespace tile_tune::codegen {
namespace {

// What the nest stores is the epilogue's elements; the reduction's own are never in memory. Pieces of a parallel
// reduction are: the epilogue works on what they combine to.
StoredElements stored_by_epilogue(const StoredElements& host, const StoredElements& epilogue) {
  StoredElements stored = epilogue;
  stored.tiled = host.has_own_nest() ? host.tiled : epilogue.result;
  stored.groups = host.groups;
  return stored;
}

// Copies that the nest around the owner's makes.
std::vector<std::optional<Halide::LoopLevel>> places_of_copies(const Fusion& fusion, const NestSchedule& schedule,
                                                               int owner, const Stage& stage,
                                                               const std::map<int, Nest>& nests) {
  std::vector<std::optional<Halide::LoopLevel>> places(stage.packed.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& choice = stage.packed[i].choice;
    if (choice.depth >= 0 || !schedule.compute_at) continue;
    if (const int depth = fusion.copy_depth(owner, choice.operand); depth > 0)
      places[i] = nests.at(schedule.compute_at->statement).at(depth);
  }
  return places;
}

// Where the nest of `owner` is computed; an output of the pipeline stands outside of all.
std::optional<Halide::LoopLevel> place_of(const ir::Program& program, const NestSchedule& stage, int stored,
                                          const std::map<int, Nest>& nests) {
  if (stage.compute_at) return nests.at(stage.compute_at->statement).at(stage.compute_at->depth);
  const auto& written = program.tensors[program.statements[stored].target];
  if (written.role == ir::Role::Output && !is_complex(written.type)) return std::nullopt;
  return Halide::LoopLevel::root();
}

// An epilogue's elements are computed in its host's vector, also where that is longer than its loop.
NestSchedule in_masked_vector_of(const NestSchedule& host, const std::vector<int>& loops_of_host, NestSchedule stage) {
  const auto p = std::find(loops_of_host.begin(), loops_of_host.end(), host.cpu().vector_loop);
  stage.cpu().vector_loop = static_cast<int>(p - loops_of_host.begin());
  stage.cpu().lanes = host.cpu().lanes;
  return stage;
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

bool reads(const ir::Program& program, int tensor) {
  bool found = false;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

// The loop of the nest along which the epilogue's elements are neighbours; -1: there is none.
int contiguous_in_host(const ir::Program& program, const Fusion& fusion, int epilogue, int host) {
  const int loop = contiguous_loop(program, program.statements[epilogue], fusion.loops(epilogue));
  return loop < 0 ? -1 : fusion.epilogue_loops(epilogue, host)->at(static_cast<size_t>(loop));
}

// The output whose parts the nest of these elements, neighbours along loop `contiguous`, can store side by side:
// vectors are of its neighbours, and no other statement takes the elements up.
std::optional<Halide::Func> interleaved_output(const ir::Program& program, const NestSchedule& schedule,
                                               const Stage& stage, int contiguous, int stored,
                                               const StoredElements& elements,
                                               const std::vector<Halide::Func>& outputs) {
  const int target = program.statements[stored].target;
  const auto output = std::find(program.outputs.begin(), program.outputs.end(), target);
  if (output == program.outputs.end() || !is_complex(program.tensors[target].type) || schedule.is_gpu() ||
      schedule.compute_at || elements.has_own_nest() || stage.home || stage.masked_loop || contiguous < 0 ||
      contiguous != schedule.vector_loop() || program.initial_value_of(target))
    return std::nullopt;
  if (std::any_of(program.statements.begin(), program.statements.end(),
                  [&](const ir::Statement& statement) { return takes_up(statement, target); }))
    return std::nullopt;
  return outputs[static_cast<size_t>(output - program.outputs.begin())];
}

// What the statement's expressions read: of a buffer that is only added to, its elements themselves.
TensorFuncs readable_by(const ir::Program& program, const ir::Statement& statement, const TensorFuncs& initial,
                        TensorFuncs values) {
  if (statement.previous && initial.count(*statement.previous) && updates_in_place(program, statement) &&
      !reads(program, *statement.previous))
    values[*statement.previous] = initial.at(*statement.previous);
  return values;
}

}  // namespace

std::vector<Stage> make_stages(const KernelContext& kernel, const Schedule& schedule, const Fusion& fusion,
                               const TensorFuncs& initial, TensorFuncs readable) {
  std::vector<Stage> stages;
  for (int s = 0; s < static_cast<int>(kernel.program.statements.size()); ++s) {
    const auto& statement = kernel.program.statements[s];
    const auto* nest = schedule.stages[s].find_nest();
    const auto* epilogue = schedule.stages[s].epilogue();
    NestSchedule shape = nest ? *nest : plainest(fusion.loops(s));
    std::vector<Halide::Var> vars;
    if (epilogue) {
      const Stage& host = stages[epilogue->of];
      const auto taking = *fusion.epilogue_loops(s, epilogue->of);
      if (host.masked_loop) shape = in_masked_vector_of(schedule.stages[epilogue->of].nest(), taking, std::move(shape));
      for (const int p : taking) vars.push_back(host.vars[p]);
    }
    stages.push_back(make_stage(kernel, s, shape, readable_by(kernel.program, statement, initial, readable), vars));
    readable[statement.target] = stages[s].stored.result;
  }
  return stages;
}

std::vector<Stage> make_plain_stages(const KernelContext& kernel, const TensorFuncs& initial, TensorFuncs readable) {
  std::vector<Stage> stages;
  for (int s = 0; s < static_cast<int>(kernel.program.statements.size()); ++s) {
    const auto& statement = kernel.program.statements[s];
    stages.push_back(make_stage(kernel, s, plainest(loops_of(kernel.program, statement)),
                                readable_by(kernel.program, statement, initial, readable)));
    readable[statement.target] = stages[s].stored.result;
  }
  return stages;
}

TensorFuncs written_by(const ir::Program& program, const std::vector<Stage>& stages) {
  TensorFuncs written;
  for (size_t s = 0; s < stages.size(); ++s) written[program.statements[s].target] = stages[s].stored.result;
  return written;
}

std::map<int, ScheduledNest> schedule_nests(const ir::Program& program, const Schedule& schedule, const Fusion& fusion,
                                            const std::vector<Stage>& stages, const std::vector<Halide::Func>& outputs,
                                            const Target& target) {
  std::map<int, Nest> nests;
  std::map<int, ScheduledNest> scheduled;
  // The loops inside which a stage is computed are those of a later one.
  for (int s = static_cast<int>(stages.size()) - 1; s >= 0; --s) {
    if (stages[s].assigned) {
      Halide::Func assigned = *stages[s].assigned;
      assigned.compute_root();
      if (target.device == Device::Gpu) map_elements(assigned);
    }
    const int owner = fusion.owner_of(s);
    if (owner < 0 || fusion.stored_by(owner) != s) continue;
    const NestSchedule& nest = schedule.stages[owner].nest();
    const Stage& stage = stages[owner];
    NestPlacement placement{fusion.extents(owner).value(), place_of(program, nest, s, nests),
                            places_of_copies(fusion, nest, owner, stage, nests),
                            s == owner ? stage.stored : stored_by_epilogue(stage.stored, stages[s].stored)};
    const int across = s == owner ? stage.contiguous : contiguous_in_host(program, fusion, s, owner);
    if (const auto output = interleaved_output(program, nest, stage, across, s, placement.stored, outputs)) {
      placement.stored.result = placement.stored.tiled = *output;
      placement.part = output->args().front();
      placement.where.reset();
    }
    nests.emplace(owner, apply(nest, program.statements[owner], stage, placement, target));
    scheduled.emplace(owner, ScheduledNest{nest, stage, std::move(placement)});
  }
  return scheduled;
}

std::set<std::string> interleaved_by(const std::map<int, ScheduledNest>& nests) {
  std::set<std::string> names;
  for (const auto& [owner, nest] : nests)
    if (nest.placement.part) names.insert(nest.placement.stored.result.name());
  return names;
}

}  // namespace tile_tune::codegen
