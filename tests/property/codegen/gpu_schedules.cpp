#include "tests/property/codegen/gpu_schedules.h"

#include <algorithm>
#include <numeric>

#include "codegen/schedule/check.h"
#include "codegen/schedule/loops.h"
#include "tests/property/codegen/gpu_run.h"

namespace tile_tune::test {
namespace {

using codegen::NestSchedule;

std::vector<int64_t> divisors(int64_t number) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= number; ++d)
    if (number % d == 0) result.push_back(d);
  return result;
}

template <typename T>
T one_of(const std::vector<T>& values, std::mt19937& random) {
  return values[std::uniform_int_distribution<size_t>(0, values.size() - 1)(random)];
}

bool by_chance(double share, std::mt19937& random) { return std::uniform_real_distribution<>()(random) < share; }

std::vector<int> in_order(size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The target's contiguous loop last.
std::vector<int> by_memory(const ir::Program& program, const ir::Statement& statement, const codegen::Loops& loops) {
  auto order = in_order(loops.output.size());
  const int contiguous = codegen::contiguous_loop(program, statement, loops);
  if (const auto found = std::find(order.begin(), order.end(), contiguous); found != order.end())
    std::rotate(found, found + 1, order.end());
  return order;
}

NestSchedule plain_nest(const ir::Program& program, const ir::Statement& statement) {
  constexpr int64_t kThreads = 32;
  const auto loops = codegen::loops_of(program, statement);
  NestSchedule nest;
  nest.mapping = codegen::GpuMapping();
  const auto order = by_memory(program, statement, loops);
  nest.order = {order, order};
  nest.tiles.assign(loops.output.size(), {1, 1});
  if (!order.empty()) nest.tiles[order.back()][0] = std::clamp<int64_t>(loops.output[order.back()], 1, kThreads);
  nest.reduction_order = in_order(loops.reduction.size());
  for (const int64_t extent : loops.reduction) nest.reduction_block.push_back(std::max<int64_t>(extent, 1));
  nest.reduction_unroll.assign(loops.reduction.size(), 1);
  return nest;
}

NestSchedule random_nest(const ir::Program& program, const ir::Statement& statement, std::mt19937& random) {
  const auto loops = codegen::loops_of(program, statement);
  NestSchedule nest = plain_nest(program, statement);
  auto& gpu = nest.gpu();
  for (auto& order : nest.order)
    if (by_chance(0.5, random)) std::shuffle(order.begin(), order.end(), random);
  for (size_t p = 0; p < loops.output.size(); ++p) {
    const int64_t extent = std::max<int64_t>(loops.output[p], 1);
    const int64_t threads = one_of<int64_t>({1, 2, 3, 4, 8, 16}, random),
                  tile = one_of<int64_t>({1, 1, 2, 4, 5}, random);
    if (threads * tile <= extent) nest.tiles[p] = {threads * tile, tile};
  }
  gpu.interleaved = by_chance(0.5, random);
  if (!loops.output.empty() && by_chance(0.7, random)) {
    const int loop = one_of(in_order(loops.output.size()), random);
    const int lanes = one_of<int>({2, 4}, random);
    if (nest.tiles[loop][1] % lanes == 0) gpu.vector_loop = loop, gpu.lanes = lanes;
  }
  std::shuffle(nest.reduction_order.begin(), nest.reduction_order.end(), random);
  if (by_chance(0.6, random))
    for (const auto& operand : loops.operands) {
      if (!operand.affine || !by_chance(0.7, random)) continue;
      codegen::Packing packing{operand.number, static_cast<int>(loops.output.size()),
                               in_order(operand.subscripts.size())};
      std::shuffle(packing.order.begin(), packing.order.end(), random);
      nest.packings.push_back(packing);
    }
  for (size_t r = 0; r < loops.reduction.size(); ++r) {
    auto& block = nest.reduction_block[r];
    if (!nest.packings.empty()) block = one_of(divisors(block), random);
    const auto unrolls = divisors(block);
    nest.reduction_unroll[r] = static_cast<int>(std::min<int64_t>(one_of(unrolls, random), 16));
  }
  if (!nest.packings.empty()) gpu.padding = one_of<int>({0, 0, 1, 4}, random);
  if (!nest.packings.empty()) gpu.pipelined = by_chance(0.4, random);
  if (nest.packings.empty() && !loops.reduction.empty() && by_chance(0.5, random)) {
    gpu.interleaved = false;
    gpu.reduction_threads = one_of<int>({2, 8, 32, 128}, random);
    for (auto& unroll : nest.reduction_unroll) unroll = one_of<int>({1, 1, 2, 3}, random);
  }
  return nest;
}

}  // namespace

codegen::Schedule plain_gpu_schedule(const ir::Program& program) {
  codegen::Schedule schedule;
  for (const auto& statement : program.statements) schedule.stages.emplace_back(plain_nest(program, statement));
  return schedule;
}

codegen::Schedule random_gpu_schedule(const ir::Program& program, std::mt19937& random) {
  constexpr int kAttempts = 100;
  static const codegen::Target device = opencl_host();
  codegen::Schedule schedule = plain_gpu_schedule(program);
  for (size_t s = 0; s < schedule.stages.size(); ++s)
    for (int i = 0; i < kAttempts; ++i) {
      codegen::Schedule other = schedule;
      other.stages[s] = random_nest(program, program.statements[s], random);
      if (!codegen::check(program, other) || !codegen::check_for(device, program, other)) continue;
      schedule = other;
      break;
    }
  return schedule;
}

codegen::Schedule changed(codegen::Schedule schedule, int statement,
                          const std::function<void(codegen::NestSchedule&)>& change) {
  change(schedule.stages[static_cast<size_t>(statement)].nest());
  return schedule;
}

}  // namespace tile_tune::test
