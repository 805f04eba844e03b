#include "codegen/schedule/prefetch.h"

#include <algorithm>
#include <cstdlib>

namespace tile_tune::codegen {

std::optional<int64_t> bytes_ahead(const ir::Program& program, const Loops& loops, const StageSchedule& stage,
                                   const Prefetch& prefetch) {
  const auto& [number, loop, distance] = prefetch;
  if (number < 0 || number >= static_cast<int>(loops.operands.size()) || loop < 0 || loop >= loops.loop_count() ||
      distance < 1 || distance > kMostAhead || stage.scan || stage.vector_loop < 0)
    return std::nullopt;
  const Operand& operand = loops.operands[number];
  const auto& tensor = program.tensors[operand.tensor];
  const bool packed = std::any_of(stage.packings.begin(), stage.packings.end(),
                                  [&](const Packing& packing) { return packing.operand == number; });
  if (!operand.affine || packed || tensor.role != ir::Role::Input || is_complex(tensor.type) ||
      loops.stride(program, operand, stage.vector_loop) != 1)
    return std::nullopt;
  const int64_t bytes = loops.stride(program, operand, loop) * distance * static_cast<int64_t>(dtype_size(tensor.type));
  return std::abs(bytes) < kLine ? std::nullopt : std::optional(bytes);
}

}  // namespace tile_tune::codegen
