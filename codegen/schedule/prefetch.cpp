#include "codegen/schedule/prefetch.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/target/target.h"

namespace tile_tune::codegen {
namespace {

double share_ahead(const ir::Program&, const Loops& loops, const NestSchedule& stage) {
  double share = 0;
  for (size_t i = 0; i < stage.prefetches.size(); ++i) share += 1.0 / static_cast<double>(loops.operands.size());
  return share;
}

double most_ahead(const ir::Program& program, const Loops& loops, const NestSchedule& stage) {
  int64_t most = 0;
  for (const auto& one : stage.prefetches)
    most = std::max(most, std::abs(bytes_ahead(program, loops, stage, one).value()));
  return static_cast<double>(most);
}

}  // namespace

std::optional<int64_t> bytes_ahead(const ir::Program& program, const Loops& loops, const NestSchedule& stage,
                                   const Prefetch& prefetch) {
  const auto& [number, loop, distance] = prefetch;
  if (number < 0 || number >= static_cast<int>(loops.operands.size()) || loop < 0 || loop >= loops.loop_count() ||
      distance < 1 || distance > kMostAhead || stage.scan || stage.cpu().vector_loop < 0)
    return std::nullopt;
  const Operand& operand = loops.operands[number];
  const auto& tensor = program.tensors[operand.tensor];
  if (!operand.affine || copy_read_by(loops, stage, number) || tensor.role != ir::Role::Input ||
      is_complex(tensor.type) || loops.stride(program, operand, stage.cpu().vector_loop) != 1)
    return std::nullopt;
  const int64_t bytes = loops.stride(program, operand, loop) * distance * static_cast<int64_t>(dtype_size(tensor.type));
  return std::abs(bytes) < kLineBytes ? std::nullopt : std::optional(bytes);
}

std::string prefetch_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage) {
  for (auto one = stage.prefetches.begin(); one != stage.prefetches.end(); ++one) {
    if (std::any_of(stage.prefetches.begin(), one, [&](const auto& other) { return other.operand == one->operand; }))
      return "it asks twice for an operand ahead of its use";
    if (!bytes_ahead(program, loops, stage, *one)) return "it asks ahead for what cannot be asked for";
  }
  return "";
}

std::vector<Figure> prefetch_figures() { return {{"ahead", share_ahead, false}, {"ahead_bytes", most_ahead, true}}; }

}  // namespace tile_tune::codegen
