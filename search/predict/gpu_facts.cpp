#include "search/predict/gpu_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"
#include "search/predict/nest.h"
#include "search/predict/warp_access.h"

namespace tile_tune::predict {
namespace {

namespace gpu_costs = codegen::costs::gpu;
using codegen::Loops;
using codegen::NestSchedule;
using codegen::Operand;

int64_t at_least_one(int64_t extent) { return std::max<int64_t>(extent, 1); }
double real(int64_t number) { return static_cast<double>(number); }

constexpr double kBytesOfDot = 4;

struct Analysis {
  const ir::Program& program;
  int number;
  const Loops& loops;
  const NestSchedule& stage;
  const codegen::DeviceLimits& limits;
  codegen::GpuShape shape;
  codegen::ReductionShares shares = codegen::reduction_shares(loops, stage);
  bool shares_first = codegen::shares_come_first(program, loops, stage);

  const ir::Statement& statement() const { return program.statements[number]; }
  int outputs() const { return static_cast<int>(loops.output.size()); }
  int64_t extent(int loop) const {
    return at_least_one(loop < outputs() ? loops.output[loop] : loops.reduction[loop - outputs()]);
  }
  double warps() const { return std::ceil(real(shape.threads()) / kWarp); }
  bool walks(const Operand& operand, int loop) const { return loops.is_walked(operand, loop); }
  double bytes_of(const Operand& operand) const {
    return static_cast<double>(dtype_size(program.tensors[operand.tensor].type));
  }
  const codegen::Packing* packing_of(const Operand& operand) const {
    const auto found = std::find_if(stage.packings.begin(), stage.packings.end(),
                                    [&](const auto& one) { return one.operand == operand.number; });
    return found == stage.packings.end() ? nullptr : &*found;
  }

  /// Elements of output loop p between what two neighbouring threads hold.
  int64_t thread_step(int p) const { return codegen::piece_along(stage, p); }

  /// A warp's access with `step(loop)` bytes between iterations of a loop.
  template <typename Step>
  WarpAccess access(int64_t bytes, Step step) const {
    WarpAccess access;
    access.bytes = std::min<int64_t>(bytes, 16);
    const auto add_shares = [&] {
      for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend(); ++r)
        if (shares.is_shared(*r))
          access.dimensions.push_back({shares.threads[static_cast<size_t>(*r)], step(outputs() + *r)});
    };
    if (shares_first) add_shares();
    for (auto p = stage.order[1].rbegin(); p != stage.order[1].rend(); ++p)
      if (codegen::threads_of_loop(stage, *p) > 1)
        access.dimensions.push_back({codegen::threads_of_loop(stage, *p), thread_step(*p) * step(*p)});
    if (!shares_first) add_shares();
    return access;
  }

  /// Iterations of the reduction that a thread has, over all of them.
  double share() const {
    double share = 1;
    for (size_t r = 0; r < loops.reduction.size(); ++r) {
      const double all = real(at_least_one(loops.reduction[r]));
      share *= std::ceil(all / real(shares.threads[r])) / all;
    }
    return share;
  }

  /// Iterations of the reduction between two loads of the operand: loops inside all that walk it keep it.
  double loads_of(const Operand& operand) const {
    double times = 1, so_far = 1;
    for (const int r : stage.reduction_order) {
      so_far *= real(extent(outputs() + r));
      if (!operand.affine || walks(operand, outputs() + r)) times = so_far;
    }
    return times;
  }

  /// Elements that a thread loads of it in one step of the reduction.
  double elements_of_step(const Operand& operand) const {
    double walked = 1;
    std::vector<int64_t> tile;
    for (int p = 0; p < outputs(); ++p) {
      tile.push_back(stage.tiles[p].back());
      if (!operand.affine || walks(operand, p)) walked *= real(tile.back());
    }
    tile.resize(static_cast<size_t>(loops.loop_count()), 1);
    return operand.affine ? std::min(walked, loops.footprint(program, operand, tile)) : walked;
  }

  /// Iterations of the innermost reduction loop that one instruction takes.
  double of_dot() const { return stage.dot_product ? kBytesOfDot : 1; }
  /// ... of which the operand's elements are in one register, if they lie side by side.
  template <typename Step>
  double in_register(Step step, int64_t bytes) const {
    return stage.dot_product && step(outputs() + stage.reduction_order.back()) == bytes ? kBytesOfDot : 1;
  }

  /// Iterations of each loop in one block of the grid, over the whole reduction.
  std::vector<int64_t> block_tile() const {
    std::vector<int64_t> tile;
    for (int p = 0; p < outputs(); ++p) tile.push_back(std::min(stage.tiles[p].front(), extent(p)));
    for (int r = 0; r < static_cast<int>(loops.reduction.size()); ++r) tile.push_back(extent(outputs() + r));
    return tile;
  }

  /// The same of so many blocks that run at a time: those along the fastest loops of the grid.
  std::vector<int64_t> tile_of(double blocks) const {
    std::vector<int64_t> tile = block_tile();
    for (auto p = stage.order[0].rbegin(); p != stage.order[0].rend() && blocks > 1; ++p) {
      const double along = std::ceil(real(extent(*p)) / real(tile[*p]));
      const double taken = std::min(along, std::ceil(blocks));
      tile[*p] = std::min<int64_t>(extent(*p), tile[*p] * static_cast<int64_t>(taken));
      blocks /= taken;
    }
    return tile;
  }

  double operand_bytes(const Operand& operand, const std::vector<int64_t>& tile) const {
    if (operand.affine) return line_bytes(program, loops, operand, tile, nullptr);
    double gathered = kSector;  // each element a sector of its own
    for (const int64_t iterations : tile) gathered *= real(iterations);
    return gathered;
  }
};

double product(const std::vector<int64_t>& extents) {
  double result = 1;
  for (const int64_t extent : extents) result *= real(at_least_one(extent));
  return result;
}

void amount(const Analysis& of, GpuFacts& facts) {
  facts.output = product(of.loops.output);
  facts.reduction = product(of.loops.reduction);
  facts.pieces = of.stage.parallel_reduction ? of.stage.parallel_reduction->pieces : 1;
  facts.points = facts.output * facts.reduction * facts.pieces;
  facts.element_bytes = static_cast<double>(dtype_size(of.statement().accumulator));
  facts.constraints = real(static_cast<int64_t>(of.statement().constraints.size()));
}

void blocks(const Analysis& of, GpuFacts& facts) {
  const auto& limits = of.limits;
  facts.threads = real(of.shape.threads());
  facts.idle_lanes = of.warps() * kWarp / facts.threads;
  facts.blocks = real(of.shape.blocks());
  for (int p = 0; p < of.outputs(); ++p) {
    const double block = real(of.stage.tiles[p].front()), extent = real(of.extent(p));
    facts.wasted *= std::ceil(extent / block) * block / extent;
  }
  facts.registers = of.shape.registers;
  facts.shared_bytes = real(of.shape.shared_bytes);
  facts.resident = std::max(codegen::resident_blocks(limits, of.shape.needs()), 1);
  facts.occupancy = facts.resident * of.warps() / (real(limits.threads) / limits.warp);
  const double at_a_time = facts.resident * limits.multiprocessors;
  facts.waves = std::ceil(facts.blocks / at_a_time);
  facts.tail = facts.waves * at_a_time / facts.blocks;
  facts.busy = std::min(1.0, facts.blocks / limits.multiprocessors);
}

/// What the threads of one block do, added up over its reduction.
struct Work {
  double fma = 0, loads = 0, addresses = 0, copying = 0, stores = 0, passes_through_body = 0;  // of a thread
  double bank_passes = 0, bank_passes_at_best = 0;                                             // of a warp
  double sectors = 0, cache_cycles = 0;                                                        // of a warp
  double used = 0, asked = 0;                                                                  // bytes of a warp
};

/// Of the first cache.
double cache_cycles(const WarpAccess& access) {
  double threads = 1;
  for (const auto& dimension : access.dimensions)
    if (dimension.step != 0) threads = std::min<double>(threads * real(dimension.threads), kWarp);
  return std::max<double>(lines(access), threads * real(access.bytes) / gpu_costs::kFirstCacheBytes);
}

/// Staged by all threads of the block, a block of the reduction at a time.
void copy_to_shared(const Analysis& of, const Operand& operand, const codegen::Packing& packing, double trips,
                    Work& work) {
  const auto staged = codegen::staged_copy(of.program, of.number, of.loops, of.stage, packing);
  const auto& tensor = of.program.tensors[operand.tensor];
  const double each = std::ceil(real(staged.elements) / real(of.shape.threads())) * trips;
  const auto inner = static_cast<size_t>(ir::memory_order(tensor).front());
  std::vector<int64_t> tile;
  for (const auto& tiles : of.stage.tiles) tile.push_back(tiles.front());
  tile.insert(tile.end(), of.stage.reduction_block.begin(), of.stage.reduction_block.end());
  const double row = real(std::min(of.loops.span(std::get<ir::AffineExpr>(operand.subscripts[inner]), tile),
                                   at_least_one(ir::extent(tensor, inner)))) *
                     of.bytes_of(operand);
  // A warp copies 32 neighbours, or several shorter rows.
  const double use = row / (std::ceil(row / kSector) * kSector);
  const double sectors = kWarp * of.bytes_of(operand) / use / kSector;
  const codegen::CopyTurns copy = codegen::copy_turns(of.program, of.loops, of.stage, packing);
  const bool is_row = staged.steps[inner] == 1;  // of what is stored, as well as of what is loaded
  const double of_turn = gpu_costs::kPerAddress + 1 + (is_row ? 1 : copy.lanes) +
                         (copy.turns > codegen::kMostUnrolledCopies ? gpu_costs::kPerTurnOfLoop : 0);
  work.copying += real(copy.turns) * of_turn * trips;
  work.sectors += each * sectors;
  work.cache_cycles += each * std::max(kWarp * of.bytes_of(operand) / std::min(row, gpu_costs::kFirstCacheBytes), 1.0);
  work.used += each * kWarp * of.bytes_of(operand);
  work.asked += each * sectors * kSector;
  const int64_t across = staged.steps[inner] * staged.element_bytes;
  const int64_t together = std::clamp<int64_t>(static_cast<int64_t>(row / of.bytes_of(operand)), 1, kWarp);
  const int64_t next_row = staged.steps.size() < 2 ? 0 : staged.steps[inner == 0 ? 1 : 0] * staged.element_bytes;
  work.bank_passes += each * bank_passes({{{together, across}, {kWarp / together, next_row}}, staged.element_bytes});
  work.bank_passes_at_best += each * std::max(1.0, real(staged.element_bytes) / kBank);
}

void read_shared(const Analysis& of, const Operand& operand, const codegen::Packing& packing, Work& work) {
  const auto staged = codegen::staged_copy(of.program, of.number, of.loops, of.stage, packing);
  const auto step = [&](int loop) {
    const int index = loop < of.outputs() ? of.loops.output_index[loop] : of.loops.reduction_index[loop - of.outputs()];
    int64_t distance = 0;
    for (size_t d = 0; d < operand.subscripts.size(); ++d)
      distance += std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index) * staged.steps[d];
    return distance * staged.element_bytes;
  };
  // The compiler loads up to 16 bytes at once where a thread's elements are neighbours.
  int64_t together = 1;
  for (int p = 0; p < of.outputs(); ++p) {
    if (std::abs(step(p)) != staged.element_bytes) continue;
    const int64_t run = codegen::piece_along(of.stage, p);
    while (together * 2 * staged.element_bytes <= 16 && run % (together * 2) == 0) together *= 2;
  }
  const double loads =
      of.elements_of_step(operand) / real(together) * of.loads_of(operand) / of.in_register(step, staged.element_bytes);
  const WarpAccess access = of.access(together * staged.element_bytes, step);
  work.loads += loads;
  work.bank_passes += loads * bank_passes(access);
  work.bank_passes_at_best += loads * std::max(1.0, real(access.bytes) / kBank);
}

void read_memory(const Analysis& of, const Operand& operand, Work& work) {
  const auto bytes = static_cast<int64_t>(of.bytes_of(operand));
  const auto& mapping = of.stage.gpu();
  const auto step = [&](int loop) { return of.loops.stride(of.program, operand, loop) * bytes; };
  const bool vectors = operand.affine && mapping.vector_loop >= 0 && step(mapping.vector_loop) == bytes;
  const double loads = of.elements_of_step(operand) * of.loads_of(operand) / (vectors ? mapping.lanes : 1) *
                       of.share() / of.in_register(step, bytes);
  const WarpAccess access = of.access(bytes * (vectors ? mapping.lanes : 1), step);
  const int of_a_load = operand.affine ? sectors(access) : kWarp;
  double different = 1;  // elements that the warp reads: threads that read the same one use it together
  for (const auto& [threads, distance] : access.dimensions)
    if (distance != 0) different = std::min<double>(different * real(threads), kWarp);
  if (!operand.affine) different = kWarp;
  work.loads += loads;
  work.addresses += loads;
  work.sectors += loads * of_a_load;
  work.cache_cycles += loads * (operand.affine ? cache_cycles(access) : kWarp);
  // A step along the reduction finds what is left of its sectors in the first cache.
  double neighbours = 1;
  for (int loop = 0; loop < of.loops.loop_count(); ++loop)
    if (std::abs(step(loop)) == bytes && (loop >= of.outputs() || !vectors))
      neighbours *= real(loop < of.outputs() ? of.stage.tiles[loop].back() : of.extent(loop));
  work.used +=
      loads * std::min(different * real(access.bytes) * (operand.affine ? neighbours : 1), real(of_a_load) * kSector);
  work.asked += loads * of_a_load * kSector;
}

double store_results(const Analysis& of, Work& work) {
  const auto& mapping = of.stage.gpu();
  const auto bytes = static_cast<int64_t>(dtype_size(of.program.tensors[of.statement().target].type));
  const auto step = [&](int loop) {
    return loop < of.outputs() ? codegen::output_stride(of.program, of.statement(), of.loops, loop) * bytes : 0;
  };
  const bool vectors = mapping.vector_loop >= 0 && step(mapping.vector_loop) == bytes;
  const double stores = real(codegen::thread_elements(of.stage)) / (vectors ? mapping.lanes : 1);
  const WarpAccess access = of.access(bytes * (vectors ? mapping.lanes : 1), step);
  const int of_a_store = sectors(access);
  work.stores += stores;
  work.sectors += stores * of_a_store;
  work.cache_cycles += stores * cache_cycles(access);
  const double threads = std::min<double>(real(of.shape.threads()), kWarp);
  return std::min(1.0, threads * real(access.bytes) / (of_a_store * kSector));
}

Work work_of_block(const Analysis& of, GpuFacts& facts) {
  Work work;
  const auto& stage = of.stage;
  double unroll = 1, trips = 1;
  for (size_t r = 0; r < of.loops.reduction.size(); ++r) {
    unroll *= stage.reduction_unroll[r];
    trips *= real(at_least_one(of.loops.reduction[r]) / at_least_one(stage.reduction_block[r]));
  }
  facts.sums = real(codegen::thread_elements(stage));
  facts.unrolled = facts.sums * unroll;
  facts.reduction_trips = of.loops.reduction.empty() ? 0 : trips;
  work.fma = facts.sums * facts.reduction * of.share() / of.of_dot();
  work.passes_through_body = facts.reduction / unroll * of.share();
  for (const auto& operand : of.loops.operands) {
    if (const auto* packing = of.packing_of(operand)) {
      copy_to_shared(of, operand, *packing, trips, work);
      read_shared(of, operand, *packing, work);
      facts.copied += real(codegen::staged_copy(of.program, of.number, of.loops, stage, *packing).elements) * trips;
      ++facts.staged;
    } else {
      read_memory(of, operand, work);
    }
  }
  facts.store_use = store_results(of, work);
  return work;
}

void memory(const Analysis& of, const Work& work, GpuFacts& facts) {
  const auto block = of.block_tile();
  const auto wave = of.tile_of(std::min(facts.blocks, facts.resident * of.limits.multiprocessors));
  std::vector<int64_t> whole;
  for (int loop = 0; loop < of.loops.loop_count(); ++loop) whole.push_back(of.extent(loop));
  const double waves =
      std::max(1.0, facts.output / std::max(product({wave.begin(), wave.begin() + of.outputs()}), 1.0));
  double from_l2 = 0, from_memory = 0, least = 0;
  for (const auto& operand : of.loops.operands) {
    const double all = of.operand_bytes(operand, whole) * facts.pieces;
    from_l2 += std::max(of.operand_bytes(operand, block) * facts.blocks, all);
    const double anew = of.operand_bytes(operand, wave) * waves * facts.pieces;
    from_memory += all <= real(of.limits.l2_bytes) / 2 ? all : std::max(all, anew);
    least += all;
  }
  const double results = output_bytes(of.program, of.statement(), of.loops, whole,
                                      static_cast<int64_t>(dtype_size(of.program.tensors[of.statement().target].type)));
  const double stored = results / std::max(facts.store_use, 1.0 / kWarp);
  facts.sectors = work.sectors * of.warps() * facts.blocks * kSector / facts.points;
  facts.from_l2 = (from_l2 + stored) / facts.points;
  facts.from_memory = (from_memory + results) / facts.points;
  facts.intensity = facts.points / (least + results);
  facts.sector_use = work.asked > 0 ? std::min(1.0, work.used / work.asked) : 1;
}

void cycles(const Analysis& of, const Work& work, GpuFacts& facts) {
  const double warps = of.warps();
  const auto& limits = of.limits;
  const int fma_lanes = of.statement().accumulator == DType::F64 ? limits.fma_lanes_f64 : limits.fma_lanes;
  const double instructions = work.fma + work.loads + gpu_costs::kPerAddress * work.addresses + work.copying +
                              work.stores + gpu_costs::kPerPass * work.passes_through_body + gpu_costs::kPerThread;
  facts.fma_share = work.fma / instructions;
  facts.fma_cycles = warps * work.fma * kWarp / fma_lanes;
  facts.issue_cycles = warps * instructions / limits.partitions;
  facts.load_cycles = warps * (work.bank_passes + work.cache_cycles);
  facts.conflicts = work.bank_passes_at_best > 0 ? std::max(1.0, work.bank_passes / work.bank_passes_at_best) : 1;
  facts.warp_cycles = instructions * std::max(1.0, gpu_costs::kFmaLatency / facts.unrolled);
  const double trips = facts.reduction_trips;
  if (facts.staged > 0) {
    const double each = facts.warp_cycles / std::max(trips, 1.0);
    const double wait = of.stage.gpu().pipelined ? std::max(gpu_costs::kMemoryLatency - each, 0.0) + gpu_costs::kBarrier
                                                 : gpu_costs::kMemoryLatency + 2 * gpu_costs::kBarrier;
    facts.waiting_cycles = gpu_costs::kMemoryLatency + std::max(trips, 1.0) * wait;
  } else {
    facts.waiting_cycles = gpu_costs::kMemoryLatency + work.passes_through_body * gpu_costs::kCacheLatency;
  }
  // A tree over the sums; a step's loads are under way together.
  int64_t before = of.stage.gpu().reduction_threads;
  for (const int64_t left : codegen::reduction_steps(before)) {
    facts.waiting_cycles += 2 * gpu_costs::kBarrier + facts.sums * real(before / left);
    before = left;
  }
}

}  // namespace

const std::array<GpuFactInfo, 34> kGpuFacts{{
    {"points", &GpuFacts::points, true},
    {"output", &GpuFacts::output, true},
    {"reduction", &GpuFacts::reduction, true},
    {"element_bytes", &GpuFacts::element_bytes, false},
    {"intensity", &GpuFacts::intensity, true},
    {"constraints", &GpuFacts::constraints, false},
    {"threads", &GpuFacts::threads, true},
    {"idle_lanes", &GpuFacts::idle_lanes, false},
    {"blocks", &GpuFacts::blocks, true},
    {"wasted", &GpuFacts::wasted, false},
    {"registers", &GpuFacts::registers, true},
    {"shared_bytes", &GpuFacts::shared_bytes, true},
    {"resident", &GpuFacts::resident, true},
    {"occupancy", &GpuFacts::occupancy, false},
    {"waves", &GpuFacts::waves, true},
    {"tail", &GpuFacts::tail, true},
    {"busy", &GpuFacts::busy, false},
    {"sums", &GpuFacts::sums, true},
    {"unrolled", &GpuFacts::unrolled, true},
    {"lanes", &GpuFacts::lanes, false},
    {"interleaved", &GpuFacts::interleaved, false},
    {"reduction_threads", &GpuFacts::reduction_threads, true},
    {"pieces", &GpuFacts::pieces, true},
    {"fma_share", &GpuFacts::fma_share, false},
    {"staged", &GpuFacts::staged, false},
    {"reduction_trips", &GpuFacts::reduction_trips, true},
    {"pipelined", &GpuFacts::pipelined, false},
    {"copied", &GpuFacts::copied, true},
    {"conflicts", &GpuFacts::conflicts, true},
    {"sectors", &GpuFacts::sectors, true},
    {"sector_use", &GpuFacts::sector_use, false},
    {"store_use", &GpuFacts::store_use, false},
    {"from_l2", &GpuFacts::from_l2, true},
    {"from_memory", &GpuFacts::from_memory, true},
}};

GpuFacts gpu_facts(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage,
                   const codegen::DeviceLimits& limits) {
  const Analysis of{program, statement, loops, stage, limits, codegen::gpu_shape(program, statement, loops, stage)};
  GpuFacts facts;
  amount(of, facts);
  blocks(of, facts);
  facts.lanes = stage.gpu().lanes;
  facts.interleaved = stage.gpu().interleaved;
  facts.pipelined = stage.gpu().pipelined;
  facts.reduction_threads = stage.gpu().reduction_threads;
  const Work work = work_of_block(of, facts);
  memory(of, work, facts);
  cycles(of, work, facts);
  facts.copied = facts.copied * facts.blocks / facts.points;
  return facts;
}

double gpu_cycles(const GpuFacts& facts, const codegen::DeviceLimits& limits) {
  const auto overlapped = [](std::initializer_list<double> parts) {
    const double slowest = std::max(parts);
    return slowest + gpu_costs::kNotHidden * (std::accumulate(parts.begin(), parts.end(), 0.0) - slowest);
  };
  const double alone = facts.warp_cycles + facts.waiting_cycles;
  const double warps = std::ceil(facts.threads / limits.warp), partitions = limits.partitions;
  const double at_a_time = facts.resident * limits.multiprocessors, whole = std::floor(facts.blocks / at_a_time);
  const auto wave = [&](double resident) {
    // A warp stays on its partition: where all start at once, five of them take as long as eight, of which every
    // partition has two. Later a block starts where another one made room.
    const double all = resident * warps;
    const double uneven = whole > 0 ? 1 : std::ceil(all / partitions) * partitions / all;
    const double together = overlapped({facts.issue_cycles * uneven, facts.fma_cycles * uneven, facts.load_cycles});
    return std::max(resident * together, alone);
  };
  const double rest = facts.blocks - whole * at_a_time;
  double cycles = whole * wave(facts.resident);
  if (rest > 0) cycles += wave(std::ceil(rest / limits.multiprocessors));
  cycles = overlapped({cycles, facts.points * facts.from_l2 / (gpu_costs::kSecondCacheBytes * limits.multiprocessors),
                       facts.points * facts.from_memory / limits.bytes_per_cycle});
  if (facts.pieces > 1)  // the partial results go through memory, in a kernel more
    cycles += gpu_costs::kLaunch + facts.output * facts.pieces * 2 * facts.element_bytes / limits.bytes_per_cycle;
  return cycles + gpu_costs::kLaunch;
}

}  // namespace tile_tune::predict
