// A search space whose times are all known: genes with few values each, a time for each member, faults among them.
// Schedules carry the gene values as the tiles of their only stage; they mean nothing to anything but these tests.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/evolve/space_moves.h"

namespace tile_tune::search {

using Genome = std::vector<int>;  // an index into each gene's values

codegen::Schedule schedule_of(const Genome& genome);
Genome genome_of(const codegen::Schedule& schedule);
std::string key_of(const codegen::Schedule& schedule);

struct Landscape {
  std::string name;
  std::vector<int> sizes;                                // number of values of each gene
  std::vector<Genome> members = {};                      // the legal combinations
  std::unordered_map<std::string, double> time_ns = {};  // by key; 0: the member fails
  Genome default_member;

  double time(const codegen::Schedule& schedule) const { return time_ns.at(key_of(schedule)); }
  double best_ns() const;
  double default_ns() const { return time_ns.at(key_of(schedule_of(default_member))); }
};

/// Shaped like a 512^3 matrix product on a machine with 32 vector registers: register tile, cache tiles, loop order,
/// packing, unrolling and parallel depth interact; too large bodies do not compile, some corners crash.
Landscape synthetic_matmul();
/// The same, made once.
const Landscape& matmul();

/// As recorded: {"name", "genes": [{"name", "values": [...]}], "default": [index of each gene], "points": [[index of
/// each gene, ..., nanoseconds or null for a fault]]}. Combinations without a point are not legal.
Landscape landscape_from_json(const nlohmann::json& json);

/// Moves as a space makes them: mutate changes one or two genes, half of the time by one step; crossover takes each
/// gene from either parent; both stay among the members.
Moves moves_of(const Landscape& landscape);

}  // namespace tile_tune::search
