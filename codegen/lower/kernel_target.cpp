#include "codegen/lower/kernel_target.h"

#include <algorithm>

#include "codegen/lower/halide_target.h"
#include "codegen/lower/known_poles.h"

namespace tile_tune::codegen {

Halide::Target kernel_target(const ir::Program& program, const std::vector<PackedForm>& forms, const Target& target,
                             bool has_runtime_sizes) {
  Halide::Target halide = halide_target(target);
  halide.set_feature(Halide::Target::NoRuntime);
  halide.set_feature(Halide::Target::NoBoundsQuery);
  // The context and stream of a device are the caller's.
  if (target.device == Device::Gpu) halide.set_feature(Halide::Target::UserContext);
  if (has_known_pole(program)) halide.set_feature(Halide::Target::StrictFloat);
  for (const auto& form : forms)
    if (form.bytes() > INT32_MAX) halide.set_feature(Halide::Target::LargeBuffers);
  for (const auto& tensor : program.tensors) {
    // Halide counts elements, also those that lie in one place.
    const int64_t count = std::max(ir::reach(tensor).count, ir::element_count(tensor));
    if (has_runtime_sizes || tensor.storage.has_strides_from_buffer() ||
        count * static_cast<int64_t>(dtype_size(tensor.type)) > INT32_MAX)
      halide.set_feature(Halide::Target::LargeBuffers);
  }
  return halide;
}

}  // namespace tile_tune::codegen
