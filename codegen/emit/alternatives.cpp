#include "codegen/emit/alternatives.h"

#include <fmt/format.h>

#include "codegen/emit/cpu_features.h"
#include "codegen/emit/device_text.h"
#include "codegen/emit/sized_entry_text.h"
#include "codegen/emit/c_names.h"
#include "codegen/emit/packed_text.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {

std::vector<Variant> alternatives_of(const Kernel& kernel, const Target& target) {
  auto all = kernel.variants;
  all.push_back({target, kernel.schedule, kernel.provenance, kernel.record, kernel.rung});
  return all;
}

Result<std::vector<Alternative>> described_alternatives(const Kernel& plain, const Target& target) {
  const Kernel& kernel = compiled_form(plain);
  std::vector<Alternative> described;
  for (const auto& one : alternatives_of(kernel, target)) {
    TILE_TUNE_TRY(features, required_cpu_features(one.target));
    Kernel alone = kernel;
    alone.schedule = one.schedule;
    TILE_TUNE_TRY(signature, make_signature(alone));
    TILE_TUNE_TRY(instructions, instruction_set(one.target));
    for (auto& argument : signature.arguments)
      if (argument.packed) argument.packed->digests = {packed_digest(argument, instructions)};
    described.push_back({std::move(features), std::move(signature)});
  }
  return described;
}

std::vector<KernelFunction> functions_of(const Kernel& plain, const Target& target) {
  const Kernel& kernel = compiled_form(plain);
  const std::string symbol = kernel_symbol(kernel.function);
  std::vector<KernelFunction> functions;
  if (kernel.entry)
    for (const auto& member : kernel.entry->members)
      functions.push_back({member.program, member.schedule, target, alternative_symbol(symbol, functions.size())});
  else
    for (const auto& one : alternatives_of(kernel, target))
      functions.push_back({kernel.program, one.schedule, one.target,
                           kernel.variants.empty() ? symbol : alternative_symbol(symbol, functions.size())});
  return functions;
}

namespace {

Result<Signature> entry_signature(const Kernel& kernel) {
  const SizedEntry& entry = *kernel.entry;
  TILE_TUNE_TRY(signature, make_signature(kernel));
  std::vector<std::string> names;
  for (const auto& argument : signature.arguments) {
    if (argument.packed)
      return fail(ErrorClass::Program, "constant-of-many-sizes",
                  fmt::format("{} is packed for one size, which an entry for many sizes cannot take", argument.tensor),
                  "leave out --constant, or build for one size");
    names.push_back(argument.tensor);
  }
  for (const auto& size : entry.program.sizes) names.push_back(size.name);
  auto parameters = parameter_names(names);
  for (size_t i = 0; i < signature.arguments.size(); ++i) signature.arguments[i].parameter = parameters[i];
  parameters.erase(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(signature.arguments.size()));
  auto extents = entry_extents(entry, parameters);
  signature.sizes = {std::move(parameters), entry.program.sizes, entry.table.empty(), std::move(extents)};
  return signature;
}

}  // namespace

Result<Signature> entry_signature(const Kernel& kernel, const Target& target) {
  if (kernel.entry && !kernel.variants.empty())
    return fail(ErrorClass::Program, "several-targets", "an entry for many sizes has kernels for one target",
                "build a library for each target");
  const auto signature_of = [&]() -> Result<Signature> {
    if (kernel.entry) return entry_signature(compiled_form(kernel));
    TILE_TUNE_TRY(described, described_alternatives(kernel, target));
    return with_room_for_all(described);
  };
  TILE_TUNE_TRY(signature, signature_of());
  signature.driver = driver_of(target);
  if (signature.driver != Driver::None) TILE_TUNE_CHECK(check_for_device(signature));
  return signature;
}

std::string entries_text(const std::string& library, const Signature& signature, const Kernel& kernel,
                         const std::vector<std::string>& cpu_features) {
  if (kernel.entry) return sized_entry_text(library, signature, *compiled_form(kernel).entry, cpu_features);
  return wrapper_text(library, signature, cpu_features);
}

}  // namespace tile_tune::codegen
