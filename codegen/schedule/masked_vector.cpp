#include "codegen/schedule/masked_vector.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

// Results that nothing was in before, beside each other along output loop p.
bool stores_neighbours(const ir::Program& program, const ir::Statement& statement, const Loops& loops, int p) {
  return loops.direct && !statement.previous && !statement.unwritten && contiguous_loop(program, statement, loops) == p;
}

}  // namespace

bool has_masked_vector(const Loops& loops, const NestSchedule& stage) {
  if (stage.is_gpu()) return false;
  const int p = stage.cpu().vector_loop;
  return p >= 0 && p < static_cast<int>(loops.output.size()) && loops.output[p] < stage.cpu().lanes;
}

std::string masked_vector_fault(const ir::Program& program, int number, const Loops& loops, const NestSchedule& stage) {
  if (!has_masked_vector(loops, stage)) return "";
  const auto& statement = program.statements[number];
  const int p = stage.cpu().vector_loop;
  const int64_t lanes = stage.cpu().lanes;
  const bool fills_more_than_half = 2 * loops.output[p] > lanes;
  const bool is_own_tile = stage.tiles.size() == loops.output.size() && stage.order.size() == 1 &&
                           stage.tiles[p] == std::vector<int64_t>{lanes};
  const bool is_plain_sum = !stage.compute_at && !stage.scan && !stage.dot_product &&
                            stage.reduction_block.size() == loops.reduction.size() && !is_blocked(loops, stage) &&
                            !is_complex(statement.accumulator);
  return fills_more_than_half && is_own_tile && is_plain_sum && stores_neighbours(program, statement, loops, p)
             ? ""
             : "its vectors are longer than their loop";
}

bool may_store_masked_vector(const ir::Program& program, const Schedule& schedule, const Fusion& fusion, int owner) {
  if (has_guests(schedule, owner)) return false;
  const int stored = fusion.stored_by(owner);
  if (stored == owner) return true;
  const auto taking = fusion.epilogue_loops(stored, owner);
  if (!taking) return false;
  const auto q = std::find(taking->begin(), taking->end(), schedule.stages[owner].nest().cpu().vector_loop);
  return q != taking->end() && stores_neighbours(program, program.statements[stored], fusion.loops(stored),
                                                 static_cast<int>(q - taking->begin()));
}

Loops as_long_as_vector(Loops loops, const NestSchedule& stage) {
  if (has_masked_vector(loops, stage)) loops.output[stage.cpu().vector_loop] = stage.cpu().lanes;
  return loops;
}

NestSchedule without_masked_vector(const Loops& loops, NestSchedule stage) {
  while (has_masked_vector(loops, stage)) {
    CpuMapping& cpu = stage.cpu();
    cpu.lanes /= 2;
    for (auto& tile : stage.tiles[cpu.vector_loop]) tile = cpu.lanes;
    if (cpu.lanes == 1) cpu.vector_loop = -1;
  }
  return stage;
}

}  // namespace tile_tune::codegen
