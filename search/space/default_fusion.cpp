// Element-wise statements go into what they follow (an epilogue of a reduction's register tile) or what reads them
// (inlined) unless that repeats their work. What remains are reductions and values that several read. They join the
// nest of their last reader, block by block of the loops that all of them share, where the block's intermediate
// results stay in cache: softmax and attention by rows, layers of a network by rows of the batch. Each nest then gets
// the tiles it would have alone, on the block.
#include "search/space/default_fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "codegen/schedule/fusion.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"
#include "search/space/group_rules.h"
#include "search/space/lane_tile.h"
#include "search/space/moves.h"
#include "search/space/own_copies.h"
#include "search/space/placement.h"
#include "search/space/register_tile.h"
#include "search/space/store_moves.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::ComputeAt;
using codegen::Fusion;
using codegen::NestSchedule;
using codegen::Schedule;

double product(const std::vector<int64_t>& extents) {
  double result = 1;
  for (const int64_t extent : extents) result *= static_cast<double>(std::max<int64_t>(extent, 1));
  return result;
}

bool computes(const ir::Expr& expr) {
  if (std::holds_alternative<ir::Call>(expr.node)) return true;
  const auto* cast = std::get_if<ir::Cast>(&expr.node);
  return cast && computes(*cast->argument);
}

struct Planner {
  const std::vector<StageContext>& stages;
  const ir::Program& program;
  Schedule schedule{};
  std::vector<std::vector<int>> shared{};  // by host: output loops that all in its nest share, once some are

  int count() const { return static_cast<int>(stages.size()); }
  double iterations(int s) const { return product(stages[s].loops.output) * product(stages[s].loops.reduction); }
  const codegen::Target& target() const { return *stages[0].target; }

  // How often each element of statement s is read by its only consumer.
  double reuse(int s) const {
    const int consumer = codegen::inline_consumer(program, s);
    return iterations(consumer) / std::max(iterations(s), 1.0);
  }

  // Elements of the operand that the stage's copies of it hold, all together; infinity if it has none.
  double copied_elements(int s, const codegen::Operand& operand) const {
    const NestSchedule& stage = schedule.stages[s].nest();
    const auto* packing = codegen::copy_read_by(stages[s].loops, stage, operand.number);
    if (!packing) return std::numeric_limits<double>::infinity();
    double copies = 1;
    std::vector<int64_t> extents = stages[s].loops.output;
    for (int i = 0; i < packing->depth; ++i) {
      const int level = i / stages[s].outputs(), p = stage.order[level][i % stages[s].outputs()];
      copies *= static_cast<double>(trip_count(stages[s].loops, stage, p, level));
      extents[p] = stage.tiles[p][level];
    }
    extents.insert(extents.end(), stages[s].loops.reduction.begin(), stages[s].loops.reduction.end());
    return copies * stages[s].loops.footprint(program, operand, extents);
  }

  bool repeats_no_work(int s) const {
    return !computes(*program.statements[s].value) || reuse(s) <= costs::kMostRepeated;
  }

  // True if the only consumer, a reduction in a nest that nothing shares, reads the elements through copies, which may
  // as well compute them. (An element-wise consumer may yet lose its copies to become an epilogue.)
  bool is_computed_by_copies(int s) const {
    const int consumer = codegen::inline_consumer(program, s);
    if (stages[consumer].reductions() == 0 || schedule.stages[consumer].compute_at() || !shared[consumer].empty())
      return false;
    bool some = false;
    for (const auto& operand : stages[consumer].loops.operands) {
      if (operand.tensor != program.statements[s].target) continue;
      if (copied_elements(consumer, operand) > costs::kMostRepeated * iterations(s)) return false;
      some = true;
    }
    return some;
  }

  // What copies were to compute whose nest has come to be shared since: its blocks would repeat the work.
  void take_back_from_copies(int s) {
    if (!schedule.stages[s].is_inlined() || repeats_no_work(s) || is_computed_by_copies(s)) return;
    schedule.stages[s] = repair(stages[s], default_stage(stages[s]));
    join(s);
  }

  void place_element_wise() {
    for (int s = 0; s < count(); ++s) {
      if (stages[s].can_inline && (repeats_no_work(s) || is_computed_by_copies(s))) {
        schedule.stages[s] = codegen::Inlined();
      }
    }
    const Fusion fusion(program, schedule);
    for (int s = 0; s < count(); ++s) {
      if (stages[s].reductions() > 0 || schedule.stages[s].is_inlined()) continue;
      int best = -1;
      for (int host = 0; host < s; ++host)
        if (fusion.stored_by(host) == host && fusion.epilogue_loops(s, host) &&
            (best < 0 || iterations(host) > iterations(best)))
          best = host;
      if (best < 0) continue;
      schedule.stages[s] = codegen::Epilogue{best};
    }
  }

  // The nest in which all readers of what `owner` stores are, so that it may join them; -1 if there is none.
  int host_for(const Fusion& fusion, int owner) const {
    const int tensor = program.statements[fusion.stored_by(owner)].target;
    int host = -1;
    for (int reader = 0; reader < count(); ++reader) {
      const int reading = fusion.owner_of(reader);
      const auto& accesses = fusion.accesses(reader);
      if (reading < 0 ||
          std::none_of(accesses.begin(), accesses.end(), [&](const auto& access) { return access.tensor == tensor; }))
        continue;
      const auto* at = schedule.stages[reading].compute_at();
      const int nest = at ? at->statement : reading;
      if (host >= 0 && nest != host) return -1;
      host = nest;
    }
    return host >= 0 && fusion.may_join(owner, host) ? host : -1;
  }

  // What is computed inside the host's nest is so inside its `depth` outermost loops.
  static void move_guests(Schedule& schedule, int host, int depth) {
    for (auto& stage : schedule.stages)
      if (auto* nest = stage.find_nest(); nest && nest->compute_at && nest->compute_at->statement == host)
        nest->compute_at->depth = depth;
  }

  // The host's nest cut into single iterations of `loops`, with all that has joined it inside.
  Schedule cut_along(int host, const std::vector<int>& loops) const {
    Schedule cut = schedule;
    NestSchedule& stage = cut.stages[host].nest();
    std::vector<int> order = loops;
    for (int p = 0; p < stages[host].outputs(); ++p)
      if (std::find(loops.begin(), loops.end(), p) == loops.end()) order.push_back(p);
    stage.order = {order};
    for (int p = 0; p < stages[host].outputs(); ++p)
      stage.tiles[p] = {std::max<int64_t>(stages[host].loops.output[p], 1)};
    for (const int p : loops) stage.tiles[p] = {1};
    stage.cpu().parallel = 0;
    stage.reduction_block = stages[host].loops.reduction;
    move_guests(cut, host, static_cast<int>(loops.size()));
    return cut;
  }

  // Extents of `owner` when the host's nest is cut so; nullopt where that is impossible or repeats work.
  std::optional<std::vector<int64_t>> extents_along(int owner, int host, const std::vector<int>& loops) const {
    const Schedule cut = cut_along(host, loops);
    const auto extents = Fusion(program, cut).extents(owner, {host, static_cast<int>(loops.size())});
    if (!extents) return std::nullopt;
    double blocks = 1;
    for (const int p : loops) blocks *= static_cast<double>(stages[host].loops.output[p]);
    if (product(*extents) * blocks > costs::kMostRepeated * product(stages[owner].loops.output)) return std::nullopt;
    return extents;
  }

  // What every block of statement s reads again: nothing is gained if that comes from beyond the second cache, but
  // where the joined results, of so many bytes, would go to memory and back, in more time than blocks that fill half of
  // that cache with them read it again. (Attention of 32 heads of 512 x 64, whose keys, 128 KB, and a row are a little
  // more than half of 256 KB: 36 ms apart, 13 so; AVX2 on two Zen 4 cores, 2026-11-28.)
  bool operands_stay_in_cache(int s, const std::vector<int64_t>& extents, double results) const {
    const auto& loops = stages[s].loops;
    std::vector<int64_t> tile = extents;
    tile.insert(tile.end(), loops.reduction.begin(), loops.reduction.end());
    double bytes = 0;
    for (const auto& operand : loops.operands) bytes += stages[s].bytes(operand, tile);
    const auto l2 = static_cast<double>(target().l2_bytes);
    if (bytes <= l2 / 2) return true;
    return results > static_cast<double>(target().l3_bytes) &&
           bytes / costs::bytes_a_cycle(target(), bytes) < l2 / costs::bytes_a_cycle(target(), results);
  }

  // Puts `owner` inside its readers' nest if they share a loop.
  void join(int owner) {
    const Fusion fusion(program, schedule);
    const int host = host_for(fusion, owner);
    if (host < 0 || product(stages[owner].loops.output) <= 1) return;
    std::vector<int> candidates = shared[host];
    if (candidates.empty())
      for (const int p : schedule.stages[host].nest().order[0])
        if (stages[host].loops.output[p] > 1) candidates.push_back(p);
    std::vector<int> common;
    for (const int p : candidates)
      if (extents_along(owner, host, {p})) common.push_back(p);
    if (common.empty()) return;
    const auto extents = extents_along(owner, host, common);
    const double results = bytes_of_results(owner);
    if (!extents || !operands_stay_in_cache(owner, *extents, results)) return;
    std::vector<int64_t> of_host = stages[host].loops.output;
    for (const int p : common) of_host[p] = 1;
    const bool is_settled = common == shared[host];  // by what has joined before
    if (!is_settled && !operands_stay_in_cache(host, of_host, results)) return;
    shared[host] = common;
    schedule.stages[owner].nest().compute_at = ComputeAt{host, 1};
    move_guests(schedule, host, static_cast<int>(common.size()));
  }

  double element_bytes(int tensor) const { return static_cast<double>(dtype_size(program.tensors[tensor].type)); }

  double bytes_of_results(int s) const {
    return product(stages[s].loops.output) * element_bytes(program.statements[s].target);
  }

  // Bytes of all results kept for one block of the host's nest.
  double bytes_kept(const Schedule& blocked, int host) const {
    const Fusion fusion(program, blocked);
    double bytes = 0;
    for (int s = 0; s < count(); ++s)
      if (const auto* at = blocked.stages[s].compute_at(); at && at->statement == host)
        if (const auto extents = fusion.extents(s))
          bytes += product(*extents) * element_bytes(program.statements[s].target);
    return bytes;
  }

  static bool runs_in_nest(const Schedule& blocked, int s, int host) {
    const auto* at = blocked.stages[s].compute_at();
    return s == host || (at && at->statement == host);
  }

  // Iterations of each output loop of what runs in the host's nest in one block of that.
  std::vector<int64_t> extents_in_block(const Fusion& fusion, const Schedule& blocked, int s, int host) const {
    std::vector<int64_t> extents = stages[s].loops.output;
    if (s == host)
      for (size_t p = 0; p < extents.size(); ++p)
        extents[p] = std::min(extents[p], blocked.stages[s].nest().tiles[p][0]);
    else if (const auto needed = fusion.extents(s))
      extents = *needed;
    return extents;
  }

  // Bytes of the inputs that one block reads, and of the elements that it stores.
  double bytes_passing(const Schedule& blocked, int host) const {
    const Fusion fusion(program, blocked);
    std::map<int, double> by_tensor;
    for (int s = 0; s < count(); ++s) {
      if (!runs_in_nest(blocked, s, host)) continue;
      std::vector<int64_t> extents = extents_in_block(fusion, blocked, s, host);
      if (s == host) by_tensor[program.statements[fusion.stored_by(s)].target] = product(extents);
      extents.insert(extents.end(), stages[s].loops.reduction.begin(), stages[s].loops.reduction.end());
      for (const auto& operand : stages[s].loops.operands)
        if (program.tensors[operand.tensor].role == ir::Role::Input && operand.affine)
          by_tensor[operand.tensor] =
              std::max(by_tensor[operand.tensor], stages[s].loops.footprint(program, operand, extents));
    }
    double bytes = 0;
    for (const auto& [tensor, elements] : by_tensor) bytes += elements * element_bytes(tensor);
    return bytes;
  }

  bool has_contraction(int host) const {
    const auto reuses = [&](int s) {
      const auto& loops = stages[s].loops;
      double elements = product(loops.output);
      std::vector<int64_t> all = loops.output;
      all.insert(all.end(), loops.reduction.begin(), loops.reduction.end());
      for (const auto& operand : loops.operands) elements += loops.footprint(program, operand, all);
      return iterations(s) > 4 * elements;
    };
    for (int s = 0; s < count(); ++s)
      if (runs_in_nest(schedule, s, host) && reuses(s)) return true;
    return false;
  }

  // The host's own schedule with a level around it that cuts the shared loops into blocks, the innermost of them into
  // blocks of `size`.
  Schedule in_blocks(int host, const NestSchedule& alone, int64_t size) const {
    Schedule result = schedule;
    NestSchedule& stage = (result.stages[host] = alone).nest();
    const auto& loops = shared[host];
    stage.cpu().parallel = 0;
    std::vector<int> order = loops;
    for (const int p : alone.order[0])
      if (std::find(loops.begin(), loops.end(), p) == loops.end()) order.push_back(p);
    stage.order.insert(stage.order.begin(), order);
    for (int p = 0; p < stages[host].outputs(); ++p) {
      const int64_t inner = stage.tiles[p][0], extent = std::max<int64_t>(stages[host].loops.output[p], 1);
      const bool is_shared = std::find(loops.begin(), loops.end(), p) != loops.end();
      const int64_t wanted = !is_shared ? around_all(inner, extent) : p == loops.back() ? size : inner;
      stage.tiles[p].insert(stage.tiles[p].begin(), std::max<int64_t>(wanted / inner, 1) * inner);
    }
    for (auto& packing : stage.packings)
      if (packing.depth > 0) packing.depth += stages[host].outputs();
    return result;
  }

  double blocks(const Schedule& blocked, int host) const {
    double result = 1;
    for (const int p : shared[host])
      result *= static_cast<double>(trip_count(stages[host].loops, blocked.stages[host].nest(), p, 0));
    return result;
  }

  // Of a nest that is one block: what would be computed inside it is so before it, with threads of its own. (A network
  // for 5 rows computed its first layer again for each of 6 tiles of the second one: 17 us, 4.8 so; Zen 4.)
  void part(int host) {
    for (int s = 0; s < count(); ++s)
      if (schedule.stages[s].find_nest() && runs_in_nest(schedule, s, host))
        schedule.stages[s] = repair(stages[s], default_stage(stages[s]));
    shared[host].clear();
  }

  /// In vector operations; nullopt where nothing is used twice.
  static std::optional<double> cost_of_tile(const StageContext& context) {
    const auto tiles = register_tiles_by_width(context);
    if (tiles.empty()) return std::nullopt;
    const auto in_lanes = best_lane_tile(context);
    return in_lanes ? std::min(in_lanes->tile.cost, tiles.front().cost) : tiles.front().cost;
  }

  // Contractions that blocks leave no vectors or no rows, of results that stay near in any case. (73 x 196 x 2 by
  // 11 x 196, by blocks of one of the 11, took three times as long as all of it before what reads it: 35 and 12 us;
  // two Zen 4 cores, 2026-11-27.)
  bool is_better_apart(int host) const {
    constexpr double kClearly = 1.5;  // chosen: the model of a tile knows nothing of what lies in the first cache
    const Fusion fusion(program, schedule);
    double in_blocks = 0, apart = 0, bytes = 0;
    for (int s = 0; s < count(); ++s) {
      if (!schedule.stages[s].find_nest() || !runs_in_nest(schedule, s, host)) continue;
      if (s != host) bytes += bytes_of_results(s);
      if (stages[s].reductions() == 0) continue;
      StageContext part = stages[s];
      part.loops.output = extents_in_block(fusion, schedule, s, host);
      const auto cost = cost_of_tile(stages[s]), cost_of_part = cost_of_tile(part);
      if (!cost) continue;
      apart += *cost;
      in_blocks += cost_of_part ? blocks(schedule, host) * *cost_of_part
                                : iterations(s) / std::max(target().lanes(stages[s].type), 1);
    }
    return bytes <= static_cast<double>(target().l2_bytes) / 2 && in_blocks > kClearly * apart;
  }

  // `work`: cluster_work().
  bool cluster_is_worth_threads(int host, double work) const {
    double cycles = 0;
    for (int s = 0; s < count(); ++s) {
      const auto* nest = schedule.stages[s].find_nest();
      if (nest && runs_in_nest(schedule, s, host)) cycles += least_cycles(stages[s], nest->cpu().lanes);
    }
    return target().threads > 1 && (work >= costs::kSerialWork || cycles >= costs::kSerialSharedCycles);
  }

  double cluster_work(int host) const {
    double work = iterations(host);
    for (int s = 0; s < count(); ++s)
      if (const auto* at = schedule.stages[s].compute_at(); at && at->statement == host) work += iterations(s);
    return work;
  }

  // Columns, where there is nothing else to share out: fewer whole lines of them than a register tile has, if that
  // leaves too few blocks. (A norm of each of 144 columns of 1024 rows: 27 us by three blocks of 48, whose threads
  // fetch each other's lines in every row, 10 by nine of 16; two Zen 4 cores with AVX-512, 2026-11-28.)
  void narrow(int host, NestSchedule& alone, int wanted) const {
    const int p = shared[host].back();
    if (shared[host].size() != 1 || alone.vector_loop() != p || alone.tiles[p].size() != 1) return;
    const auto bytes = static_cast<int64_t>(dtype_size(stages[host].type));
    const int64_t least = std::max<int64_t>(alone.lanes(), codegen::kLineBytes / bytes);
    int64_t& width = alone.tiles[p][0];
    while (width % least == 0 && width > least && blocks(in_blocks(host, alone, width), host) < wanted) width -= least;
  }

  // Rows that are no whole number of tiles run in two parts each (around_all()): of a block of several rows the first
  // parts would come before the second ones, which memory is not read well so. (Norms of 7872 rows of 581: 1170 to 1280
  // us by four, 690 to 850 one by one. What caches hold is faster by blocks: 173 us, 182 one by one, 7.2 and 8.6; two
  // Zen 4 cores with AVX-512, 2026-11-28.)
  bool is_cut_in_memory(int host, const NestSchedule& alone) const {
    const int p = alone.vector_loop();
    const auto& loops = shared[host];
    if (p < 0 || p >= stages[host].outputs() || std::find(loops.begin(), loops.end(), p) != loops.end()) return false;
    const int64_t extent = stages[host].loops.output[p], tile = alone.tiles[p][0];
    return extent % tile != 0 && extent > 2 * tile &&
           bytes_of_results(host) > static_cast<double>(target().l3_bytes) / 4;
  }

  // As large a block as leaves pieces for all threads and fits the cache that suits: results of contractions are
  // worked on while operands stream from the second cache; others wait in the first one, together with what comes and
  // goes. Softmax of 4096 x 1024 takes 0.99 ms row by row, 1.24 in blocks of 3 rows (two Zen 4 cores).
  void block(int host) {
    NestSchedule alone = schedule.stages[host].nest();
    const int innermost = shared[host].back();
    const int64_t extent = stages[host].loops.output[innermost];
    const bool contracts = has_contraction(host);
    const double cache = static_cast<double>(contracts ? target().l2_bytes : target().l1_bytes) / 2;
    const double work = cluster_work(host);
    const bool threaded = cluster_is_worth_threads(host, work);
    const int pieces_wanted = (contracts && work < costs::kOneBlockWork ? 1 : kPiecesPerThread) * target().threads;
    const auto bytes = [&](const Schedule& blocked) {
      return bytes_kept(blocked, host) + (contracts ? 0 : bytes_passing(blocked, host));
    };
    if (!contracts && threaded) narrow(host, alone, pieces_wanted);
    const int64_t step = alone.tiles[innermost][0];
    std::vector<int64_t> sizes{step}, multiples = tile_multiples(step, extent);
    // One block each: 128 rows in tiles of 13 are two blocks of 65, and were five of 26.
    multiples.push_back((extent + step * target().threads - 1) / (step * target().threads));
    std::sort(multiples.begin(), multiples.end());
    if (!contracts && is_cut_in_memory(host, alone)) multiples = {1};
    for (const int64_t multiple : multiples) {
      const Schedule candidate = in_blocks(host, alone, multiple * step);
      if (bytes(candidate) > cache) break;
      if (threaded && blocks(candidate, host) < pieces_wanted && multiple > 1) break;
      sizes.push_back(multiple * step);
    }
    // Rows that the thread with the most blocks computes; the last block is moved back to end at the border.
    const auto computed = [&](int64_t size) {
      const double turns = std::ceil(blocks(in_blocks(host, alone, size), host) / (threaded ? target().threads : 1));
      return turns * static_cast<double>(size);
    };
    double least = computed(step);
    for (const int64_t size : sizes) least = std::min(least, computed(size));
    while (computed(sizes.back()) > costs::kMostRepeatedForSize * least) sizes.pop_back();
    Schedule best = in_blocks(host, alone, sizes.back());
    NestSchedule& stage = best.stages[host].nest();
    double pieces = 1;
    while (threaded && stage.cpu().parallel < static_cast<int>(shared[host].size()) && pieces < pieces_wanted)
      pieces *= static_cast<double>(trip_count(stages[host].loops, stage, stage.order[0][stage.cpu().parallel++], 0));
    schedule = std::move(best);
  }

  // True of weights, and of a head's keys in attention: an input of which several blocks of a thread in turn read the
  // same elements.
  bool is_same_for_several_blocks(const Fusion& fusion, int owner, const ComputeAt& at, int number) const {
    const auto& operand = stages[owner].loops.operands[number];
    if (program.tensors[operand.tensor].role != ir::Role::Input) return false;
    const NestSchedule& host = schedule.stages[at.statement].nest();
    int64_t together = 1, in_turn = 1;
    for (int i = fusion.copy_depth(owner, number); i < at.depth; ++i)
      (i < host.cpu().parallel ? together : in_turn) *=
          trip_count(stages[at.statement].loops, host, host.order[0][i], 0);
    return in_turn > 1 || together > target().threads;
  }

  // The owners inside a nest get their own tiles on the host's blocks, last ones first.
  void tile_inside(int host) {
    schedule.stages[host] = repair(stages[host], schedule.stages[host].nest());
    const NestSchedule& stage = schedule.stages[host].nest();
    const Fusion fusion(program, schedule);
    const auto cuts = [&](int p) { return trip_count(stages[host].loops, stage, p, 0) > 1; };
    const int depth = static_cast<int>(std::count_if(shared[host].begin(), shared[host].end(), cuts));
    for (int s = count() - 1; s >= 0; --s) {
      const int owner = fusion.owner_of(s);
      if (owner < 0 || fusion.stored_by(owner) != s || !schedule.stages[owner].compute_at() ||
          schedule.stages[owner].compute_at()->statement != host)
        continue;
      const ComputeAt at{host, std::max(depth, 1)};
      schedule.stages[owner].nest().compute_at = at;
      StageContext context = stages[owner];
      if (const auto extents = fusion.extents(owner)) context.loops.output = *extents;
      codegen::Target one_thread = target();
      one_thread.threads = 1;
      context.target = &one_thread;
      NestSchedule own = default_stage(context);
      own.compute_at = at;
      for (auto& packing : own.packings)
        if (is_same_for_several_blocks(fusion, owner, at, packing.operand)) packing.depth = -1;
      schedule.stages[owner] = own;
    }
  }

  // The last statement first.
  SharedBlock block_of(int host) const {
    const Fusion fusion(program, schedule);
    SharedBlock block{{}, has_contraction(host)};
    for (int s = count() - 1; s >= 0; --s)
      if (runs_in_nest(schedule, s, host)) block.parts.push_back({s, extents_in_block(fusion, schedule, s, host)});
    return block;
  }
};

bool is_read_by_the_caller_alone(const ir::Program& program, int statement) {
  const int target = program.statements[statement].target;
  bool alone = program.tensors[target].role == ir::Role::Output;
  for (const auto& other : program.statements)
    ir::for_each_read(*other.value, [&](const ir::Read& read) { alone &= read.tensor != target; });
  return alone;
}

/// The whole program's schedule, given each statement's own nest.
Schedule plan(const std::vector<StageContext>& stages, const std::vector<NestSchedule>& nests) {
  Planner planner{stages, *stages[0].program};
  planner.shared.resize(stages.size());
  for (size_t s = 0; s < stages.size(); ++s) planner.schedule.stages.push_back(repair(stages[s], nests[s]));
  planner.place_element_wise();
  // On a GPU statements share a kernel by inlining and epilogues alone.
  if (stages[0].target->device == codegen::Device::Gpu) return repair(stages, std::move(planner.schedule)).schedule;
  for (int s = planner.count() - 1; s >= 0; --s) {
    const Fusion fusion(*stages[0].program, planner.schedule);
    const int owner = fusion.owner_of(s);
    if (owner >= 0 && fusion.stored_by(owner) == s) planner.join(owner);
  }
  for (int s = planner.count() - 1; s >= 0; --s) planner.take_back_from_copies(s);
  for (int host = 0; host < planner.count(); ++host) {
    if (planner.shared[host].empty()) continue;
    planner.block(host);
    if (planner.blocks(planner.schedule, host) <= 1) {
      planner.part(host);
      continue;
    }
    planner.tile_inside(host);
    if (planner.is_better_apart(host)) {
      planner.part(host);
      continue;
    }
    const SharedBlock block = planner.block_of(host);
    for (const GroupRules& rules : group_rules())
      if (rules.plan) rules.plan(stages, block, planner.schedule);
  }
  for (int s = 0; s < planner.count(); ++s) {
    auto* nest = planner.schedule.stages[s].find_nest();
    if (!nest || nest->compute_at || nest->scan || !planner.shared[s].empty()) continue;
    if (!nest->dot_tiles) run_reduction_in_parallel(stages[s], *nest);
    if (codegen::has_guests(planner.schedule, s)) continue;
    copy_for_each_thread(stages[s], *nest);
    group_iterations(stages[s], *nest);
  }
  const Fusion fusion(*stages[0].program, planner.schedule);
  for (int s = 0; s < planner.count(); ++s) {
    const int owner = fusion.owner_of(s);
    if (owner < 0 || fusion.stored_by(owner) != s || !is_read_by_the_caller_alone(*stages[0].program, s)) continue;
    // What is said of the nest's own elements has to be true of those of an epilogue.
    const auto &own = stages[0].program->tensors[stages[0].program->statements[owner].target],
               &stored = stages[0].program->tensors[stages[0].program->statements[s].target];
    if (own.type != stored.type || ir::strides(own) != ir::strides(stored)) continue;
    auto& nest = planner.schedule.stages[owner].nest();
    nest.cpu().streaming = streams_by_default(stages[owner], nest);
  }
  return repair(stages, std::move(planner.schedule)).schedule;
}

}  // namespace

Schedule default_schedule(const std::vector<StageContext>& stages) {
  if (stages.empty()) return {};
  std::vector<NestSchedule> nests;
  for (const auto& context : stages) nests.push_back(default_stage(context));
  return plan(stages, nests);
}

std::vector<Schedule> default_alternatives(const std::vector<StageContext>& stages) {
  if (stages.empty()) return {};
  std::vector<std::vector<NestSchedule>> choices;
  std::vector<NestSchedule> nests;
  size_t most = 0;
  for (const auto& context : stages) {
    nests.push_back(choices.emplace_back(default_stages(context)).front());
    most = std::max(most, choices.back().size());
  }
  std::vector<Schedule> schedules{plan(stages, nests)};  // the default
  // The second choice of each statement before anyone's third.
  for (size_t i = 1; i < most; ++i)
    for (size_t s = 0; s < stages.size(); ++s) {
      if (i >= choices[s].size()) continue;
      auto changed = nests;
      changed[s] = choices[s][i];
      Schedule schedule = plan(stages, changed);
      if (std::find(schedules.begin(), schedules.end(), schedule) == schedules.end())
        schedules.push_back(std::move(schedule));
    }
  schedules.erase(schedules.begin());
  return schedules;
}

}  // namespace tile_tune::search
