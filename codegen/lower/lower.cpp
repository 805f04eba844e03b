#include "codegen/lower/lower.h"

#include "codegen/lower/apply_gpu.h"
#include "codegen/lower/arguments.h"
#include "codegen/lower/bfloat16_as_bits.h"
#include "codegen/lower/border_loads.h"
#include "codegen/lower/by_lanes.h"
#include "codegen/lower/callers_alignment.h"
#include "codegen/lower/code_passes.h"
#include "codegen/lower/excluded_terms.h"
#include "codegen/lower/float_ramps.h"
#include "codegen/lower/folds.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/in_turn.h"
#include "codegen/lower/inside_borders.h"
#include "codegen/lower/joined_indices.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/partial_stores.h"
#include "codegen/lower/reversed.h"
#include "codegen/lower/shared_factors.h"
#include "codegen/lower/shrink_registers.h"
#include "codegen/lower/statements.h"
#include "codegen/lower/transposes.h"
#include "codegen/lower/tuple_stores.h"

namespace tile_tune::codegen {
namespace {

// The program over the sizes that the kernel reads off its buffers; none where all are numbers.
std::optional<RuntimeProgram> over_runtime_sizes(const ir::Program& program, const RuntimeSizes& runtime,
                                                 const Inputs& inputs) {
  if (runtime.sizes.empty()) return std::nullopt;
  std::vector<Halide::Expr> sizes;
  for (const auto& size : runtime.sizes) sizes.push_back(size_in(inputs, program, size));
  return RuntimeProgram(program, runtime, std::move(sizes));
}

std::vector<NestsInTurn> all_nests_in_turn(const KernelContext& kernel, const Schedule& schedule,
                                           const std::map<int, ScheduledNest>& nests) {
  std::vector<NestsInTurn> result;
  for (const auto& [statement, other, pieces] : schedule.in_turn)
    result.push_back(nests_in_turn(nests.at(statement), nests.at(other),
                                   pieces_of(kernel, kernel.program.statements[statement], pieces)));
  return result;
}

}  // namespace

Lowered lower(const ir::Program& program, const Schedule& schedule, const Target& target,
              const std::vector<PackedForm>& forms) {
  // Inputs: a buffer each, of constants that are packed beforehand the packed one. Initial values that expressions read
  // are copied before anything is written, since the output's buffer may be the very same.
  const Inputs inputs = make_inputs(program, forms);
  for (Halide::Func copy : inputs.copies) {
    copy.compute_root();
    if (target.device == Device::Gpu) map_elements(copy);
  }

  // Sizes known when the kernel is called, and the numbers of the program that follow from them.
  const std::optional<RuntimeProgram> runtime = over_runtime_sizes(program, schedule.runtime, inputs);
  const KernelContext kernel{program, forms, runtime ? &*runtime : nullptr, target.deterministic};

  // Statements as Funcs: their terms, the copies these read, the reduction in the schedule's shape, and what makes the
  // target's elements of that.
  const Fusion fusion(program, schedule);
  const std::vector<Stage> stages = make_stages(kernel, schedule, fusion, inputs.elements, inputs.readable);

  // Outputs: elements as they lie in memory, the parts of complex ones side by side.
  std::vector<Halide::Func> outputs = make_outputs(program, written_by(program, stages));

  // Nests: who stores whose elements and where it is computed, with directives for all Funcs, from the last nest to the
  // first, since a nest may lie in the loops of a later one.
  const std::map<int, ScheduledNest> nests = schedule_nests(program, schedule, fusion, stages, outputs, target);
  schedule_interleaving(program, outputs, interleaved_by(nests), !runtime, target);

  // Extents and strides of all buffers: what callers are held to, and what addresses are computed with.
  describe_buffers(program, inputs, outputs, forms, kernel.runtime, schedule.runtime);

  // Vectors of a GPU are loaded whole or not at all: what device memory is allocated with, callers keep to as well.
  if (target.device == Device::Gpu) align_buffers(inputs, outputs);

  // Passes over the lowered code, in the order in which they run.
  Lowered lowered{Halide::Pipeline(outputs), inputs.parameters};
  const auto add = [&](auto* pass) { lowered.pipeline.add_custom_lowering_pass(pass); };  // which takes it
  const bool on_gpu = target.device == Device::Gpu;
  // Two numbers side by side.
  add(new FloatRamps());
  // Addresses of fused loops.
  if (!on_gpu) add(new JoinedIndices());
  // The sums of a GPU's thread.
  if (on_gpu) add(new ShrinkRegisters());
  // Loads from outputs, whose buffers may begin anywhere.
  if (!on_gpu) add(new CallersAlignment(names_of(outputs)));
  // Both parts of complex elements computed before the first is stored.
  add(new TupleStores());
  add(new TupleStoresCheck());
  // Products that several rows share, computed once, and sums of vector lanes, several of them folded at a time.
  if (!on_gpu) {
    add(new SharedFactors());
    add(new FoldsTogether());
    // Results of a register tile that lie across it.
    add(new Transposes(target.vector_bytes));
    // Vectors inside the borders, and terms outside them.
    add(new InsideBorders());
    add(new ExcludedTerms());
    // Vectors that hang over the borders.
    add(new BorderLoads(target));
    add(new PartialStores(target));
  }
  if (on_gpu) add(new NothingAtomic());
  if (target.features.has(Feature::OpenCl)) {
    add(new OddVectors());
    add(new SumsByLanes());
  }
  if (on_gpu) add(new ByLanes());
  // Rare cases of functions, branched around.
  add(new functions::RareCases(halide_target(target)));
  if (on_gpu) add(new Bfloat16AsBits());
  if (target.features.has(Feature::OpenCl)) add(new ExactNumbers());
  // Decisions without a directive.
  for (const auto make : kCodePasses)
    if (auto pass = make(program, nests)) {
      lowered.remarks.emplace_back(pass->remark);
      add(pass->pass.release());
    }
  // Nests whose loops run in turn: behind the passes that go by the Funcs around a loop.
  if (!schedule.in_turn.empty()) add(new LoopsInTurn(all_nests_in_turn(kernel, schedule, nests)));
  // Vectors of tensors with negative strides.
  if (const auto buffer = reversed_buffer(program, inputs, outputs)) add(new Reversed(*buffer));
  return lowered;
}

std::vector<Halide::Argument> Lowered::arguments() const {
  std::vector<Halide::Argument> arguments;
  for (const auto& [parameter, tensor] : inputs) arguments.push_back(parameter);
  return arguments;
}

std::set<std::string> names_of(const std::vector<Halide::Func>& funcs) {
  std::set<std::string> names;
  for (const auto& func : funcs) names.insert(func.name());
  return names;
}

}  // namespace tile_tune::codegen
