#include "tests/unit/evolve/landscape.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tile_tune::search {
namespace {

std::string key_of_genome(const Genome& genome) {
  std::string key;
  for (int value : genome) key += static_cast<char>('0' + value);  // genes have few values
  return key;
}

/// Calls `visit` for every combination of gene values, the last gene fastest.
void for_each_genome(const std::vector<int>& sizes, const std::function<void(const Genome&)>& visit) {
  Genome genome(sizes.size(), 0);
  for (;;) {
    visit(genome);
    size_t gene = sizes.size();
    while (gene > 0 && ++genome[gene - 1] == sizes[gene - 1]) genome[--gene] = 0;
    if (gene == 0) return;
  }
}

/// A repeatable value in [0, 1) that looks like noise: what no smooth model explains about a schedule.
double roughness(const Genome& genome) {
  uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (int value : genome) hash = (hash ^ static_cast<uint64_t>(value + 1)) * 1099511628211ull;
  return static_cast<double>((hash ^ (hash >> 29)) % 10007) / 10007;
}

const std::vector<int> kRows{1, 2, 4, 6, 8, 12, 16}, kVectors{1, 2, 3, 4}, kTileI{32, 64, 128, 256},
    kTileJ{64, 128, 256}, kBlockK{32, 128, 256, 512}, kUnroll{1, 2, 4};

/// Nanoseconds; 0 for a fault. Genes: rows, vectors, tile_i, tile_j, block_k, order (3), packing (none, A, B), unroll,
/// parallel depth (0..2).
double matmul_ns(const Genome& g) {
  const double rows = kRows[g[0]], vectors = kVectors[g[1]], tile_i = kTileI[g[2]], tile_j = kTileJ[g[3]];
  const double block_k = kBlockK[g[4]], unroll = kUnroll[g[7]];
  const int order = g[5], packing = g[6], parallel = g[8];
  if (rows * vectors * unroll > 128) return 0;                                  // the compiler gives up
  if (packing == 1 && order == 2 && block_k == 512 && tile_i == 256) return 0;  // scratch too large

  const double registers = rows * vectors + vectors + 1;
  const double loads = rows * vectors / (rows + vectors);  // FMAs a load
  double efficiency = std::min(1.0, loads / 1.5) * std::min(1.0, rows * vectors / 8);
  if (registers > 32) efficiency *= 0.35;
  const double panel_kb = block_k * tile_j * 4 / 1024, block_kb = tile_i * block_k * 4 / 1024;
  if (panel_kb > 64) efficiency *= packing == 2 ? 0.98 : 0.88;
  if (block_kb > 256) efficiency *= order == 1 ? 0.97 : 0.90;
  if (packing == 2) efficiency *= tile_i >= 64 ? 1.06 : 0.90;  // pays for its copy only when used often
  if (packing == 1) efficiency *= tile_j >= 128 ? 1.01 : 0.88;
  if (order == 0 && block_k > 128) efficiency *= 0.93;
  if (order == 2) efficiency *= packing == 0 ? 0.75 : 0.97;
  efficiency *= 0.90 + 0.10 * std::min(1.0, unroll * rows / 14);
  efficiency *= 1 - 8.0 / (block_k + 16);  // visits of the accumulators' home
  const double grains = parallel == 0 ? 1 : (512 / tile_i) * (parallel == 2 ? 512 / tile_j : 1);
  const double cores = std::min(2.0, grains) * (grains > 64 ? 0.85 : 1);
  efficiency *= 0.97 + 0.03 * roughness(g);
  return 2.0 * 512 * 512 * 512 / (128 * cores * efficiency);  // 128 FLOP/ns: one core's peak
}

}  // namespace

codegen::Schedule schedule_of(const Genome& genome) {
  codegen::NestSchedule stage;
  stage.tiles = {{genome.begin(), genome.end()}};
  return {{stage}};
}

Genome genome_of(const codegen::Schedule& schedule) {
  const auto& values = schedule.stages.at(0).nest().tiles.at(0);
  return {values.begin(), values.end()};
}

std::string key_of(const codegen::Schedule& schedule) { return key_of_genome(genome_of(schedule)); }

double Landscape::best_ns() const {
  double best = INFINITY;
  for (const auto& [key, time] : time_ns)
    if (time > 0) best = std::min(best, time);
  return best;
}

Landscape synthetic_matmul() {
  Landscape landscape{.name = "synthetic matmul", .sizes = {7, 4, 4, 3, 4, 3, 3, 3, 3}, .default_member = {}};
  for_each_genome(landscape.sizes, [&](const Genome& genome) {
    if (kTileJ[genome[3]] < 16 * kVectors[genome[1]] * kUnroll[genome[7]]) return;  // does not fit its cache tile
    landscape.members.push_back(genome);
    landscape.time_ns[key_of_genome(genome)] = matmul_ns(genome);
  });
  landscape.default_member = {2, 0, 1, 0, 1, 0, 0, 0, 1};  // 4 rows of a vector: safe and mediocre
  return landscape;
}

const Landscape& matmul() {
  static const Landscape landscape = synthetic_matmul();
  return landscape;
}

Landscape landscape_from_json(const nlohmann::json& json) {
  Landscape landscape{.name = json.at("name"), .sizes = {}, .default_member = json.at("default").get<Genome>()};
  for (const auto& gene : json.at("genes")) landscape.sizes.push_back(static_cast<int>(gene.at("values").size()));
  for (const auto& point : json.at("points")) {
    Genome genome;
    for (size_t i = 0; i < landscape.sizes.size(); ++i) genome.push_back(point.at(i).get<int>());
    const auto& time = point.at(landscape.sizes.size());
    landscape.time_ns[key_of_genome(genome)] = time.is_null() ? 0 : time.get<double>();
    landscape.members.push_back(std::move(genome));
  }
  return landscape;
}

Moves moves_of(const Landscape& landscape) {
  const auto member = [&landscape](const Genome& genome) { return landscape.time_ns.count(key_of_genome(genome)) > 0; };
  const auto mutate = [&landscape, member](const codegen::Schedule& parent, Rng& rng) {
    const Genome from = genome_of(parent);
    if (landscape.members.size() == 1) return parent;
    for (int tries = 0; tries < 1000; ++tries) {
      Genome genome = from;
      const int changes = rng.chance(0.7) ? 1 : 2;
      for (int i = 0; i < changes; ++i) {
        const size_t gene = rng.below(genome.size());
        const int size = landscape.sizes[gene], step = rng.chance(0.5) ? 1 : -1;
        const bool small = rng.chance(0.5);
        genome[gene] = small ? std::clamp(genome[gene] + step, 0, size - 1) : static_cast<int>(rng.below(size));
      }
      if (genome != from && member(genome)) return schedule_of(genome);
    }
    return schedule_of(rng.pick(landscape.members));
  };
  const auto crossover = [mutate, member](const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) {
    const Genome from_a = genome_of(a), from_b = genome_of(b);
    Genome genome = from_a;
    for (size_t i = 0; i < genome.size(); ++i)
      if (rng.chance(0.5)) genome[i] = from_b[i];
    return member(genome) ? schedule_of(genome) : mutate(a, rng);
  };
  return {.default_schedule = [&landscape] { return schedule_of(landscape.default_member); },
          .alternatives = {},
          .sample = [&landscape](Rng& rng) { return schedule_of(rng.pick(landscape.members)); },
          .mutate = mutate,
          .crossover = crossover,
          .key = key_of,
          .row =
              [](const codegen::Schedule& schedule) {
                const Genome genome = genome_of(schedule);
                return std::vector<float>(genome.begin(), genome.end());
              },
          .estimate = {},
          .hopeless = {}};
}

}  // namespace tile_tune::search
