#include "db/target_columns.h"

#include <sstream>

namespace tile_tune::db {

std::string names_of(const codegen::Features& features) {
  std::string names;
  for (const auto feature : features.list()) names.append(names.empty() ? "" : " ").append(codegen::name(feature));
  return names;
}

std::optional<codegen::Features> features_from(const std::string& names) {
  codegen::Features features;
  std::istringstream stream(names);
  for (std::string name; stream >> name;) {
    const auto feature = codegen::feature_named(name);
    if (!feature) return std::nullopt;
    features.add(*feature);
  }
  return features;
}

CodeColumns code_columns(const TargetRow& target) {
  if (target.former_text) return {};
  const codegen::Target& machine = target.machine;
  return {.architecture = machine.platform.instruction_set(),
          .os = std::string(codegen::name(machine.platform.system)),
          .features = names_of(machine.features),
          .scalable_bits = machine.scalable_bits,
          .device = std::string(codegen::name(machine.device)),
          .deterministic = machine.deterministic,
          .tuned_for = std::string(codegen::name(machine.tuned_for))};
}

std::optional<codegen::Target> target_from(const CodeColumns& columns, codegen::Target figures) {
  const auto platform = codegen::platform_named(columns.architecture, columns.os);
  const auto features = features_from(columns.features);
  const auto device = codegen::device_named(columns.device);
  const auto processor = codegen::processor_named(columns.tuned_for);
  if (!platform || !features || !device || !processor) return std::nullopt;
  figures.platform = *platform;
  figures.features = *features;
  figures.device = *device;
  figures.deterministic = columns.deterministic != 0;
  figures.tuned_for = *processor;
  figures.scalable_bits = columns.scalable_bits;
  return figures;
}

}  // namespace tile_tune::db
