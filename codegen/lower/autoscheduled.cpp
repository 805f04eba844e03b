#include "codegen/lower/autoscheduled.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "codegen/lower/callers_alignment.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/kernel_target.h"
#include "codegen/lower/known_shapes.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/padded_inputs.h"
#include "codegen/lower/reversed.h"
#include "codegen/lower/statements.h"
#include "codegen/target/device_limits.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

struct Facts {
  AutoScheduler scheduler;
  const char *name, *plugin;
  Device device;
};
constexpr Facts kFacts[] = {
    {AutoScheduler::Mullapudi2016, "Mullapudi2016", "libautoschedule_mullapudi2016.so", Device::Cpu},
    {AutoScheduler::Adams2019, "Adams2019", "libautoschedule_adams2019.so", Device::Cpu},
    {AutoScheduler::Anderson2021, "Anderson2021", "libautoschedule_anderson2021.so", Device::Gpu},
};

const Facts& facts_of(AutoScheduler scheduler) {
  return *std::find_if(std::begin(kFacts), std::end(kFacts),
                       [&](const Facts& facts) { return facts.scheduler == scheduler; });
}

/// What of a machine a scheduler goes by: cores, or the multiprocessors of a device.
int parallelism(const Target& target) {
  return target.device == Device::Gpu ? device_limits(target).multiprocessors : target.threads;
}

fs::path directory_of_halide() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&Halide::load_plugin), &info);
  return info.dli_fname ? fs::path(info.dli_fname).parent_path() : fs::path();
}

// Schedules every Func of the pipeline, whose inputs and outputs carry estimates of their extents.
void schedule_automatically(Halide::Pipeline& pipeline, AutoScheduler scheduler, const Halide::Target& halide,
                            const Target& target) {
  const fs::path plugin = directory_of_halide() / facts_of(scheduler).plugin;
  std::error_code ignored;
  if (!fs::exists(plugin, ignored))
    throw Halide::CompileError(fmt::format("{} is not installed beside Halide", facts_of(scheduler).plugin));
  Halide::load_plugin(plugin.string());
  Halide::AutoschedulerParams parameters(name_of(scheduler), {{"parallelism", std::to_string(parallelism(target))}});
  if (scheduler == AutoScheduler::Mullapudi2016)
    parameters.extra["last_level_cache_size"] = std::to_string(target.l3_bytes);
  pipeline.apply_autoscheduler(halide, parameters);
}

// The list of passes, with nothing scheduled.
Lowered lower_unscheduled(const ir::Program& program, const Halide::Target& halide) {
  const Inputs inputs = make_inputs(program, {});
  const auto stages = make_plain_stages({program, {}}, inputs.elements, inputs.readable);
  auto outputs = make_outputs(program, written_by(program, stages));
  describe_buffers(program, inputs, outputs, {}, nullptr, {});
  for (auto [parameter, tensor] : inputs.parameters) parameter.set_estimates(bounds_in_memory(program.tensors[tensor]));
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i].set_estimates(bounds_in_memory(program.tensors[program.outputs[i]]));
  Lowered lowered{Halide::Pipeline(outputs), inputs.parameters};
  lowered.pipeline.add_custom_lowering_pass(new CallersAlignment(names_of(outputs)));
  lowered.pipeline.add_custom_lowering_pass(new functions::RareCases(halide));
  if (const auto buffer = reversed_buffer(program, inputs, outputs))
    lowered.pipeline.add_custom_lowering_pass(new Reversed(*buffer));
  return lowered;
}

}  // namespace

const char* name_of(AutoScheduler scheduler) { return facts_of(scheduler).name; }

Device device_of(AutoScheduler scheduler) { return facts_of(scheduler).device; }

std::optional<AutoScheduler> parse_auto_scheduler(std::string_view name) {
  for (const auto scheduler : kAutoSchedulers)
    if (name == name_of(scheduler)) return scheduler;
  return std::nullopt;
}

Halide::Module autoscheduled_module(const ir::Program& program, AutoScheduler scheduler, const Target& target,
                                    const std::string& function) {
  Lowered lowered = lower_unscheduled(with_padded_inputs(program), halide_target(target));
  const Halide::Target halide = kernel_target(program, {}, target);
  schedule_automatically(lowered.pipeline, scheduler, halide, target);
  if (have_known_shapes(program)) lowered.pipeline.add_custom_lowering_pass(new KnownShapes(false));
  return lowered.pipeline.compile_to_module(lowered.arguments(), function, halide);
}

}  // namespace tile_tune::codegen
