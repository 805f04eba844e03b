// The order of a network's steps by what the database knows of them.
#pragma once

#include <optional>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "frontend/plan/factoring.h"

namespace tile_tune::engine {

/// The workload in the order that is the fastest as far as is known, where nobody asked for one and it has few enough
/// operands to look at all of its orders: of those that cost little the one with the least measured time, if the
/// program's own is measured, too; a program that was tuned as a whole is compared with others as wholes, else steps
/// are added up. Where nothing is known the one of the least cost. nullopt: the one it has.
/// `bound`: the program before it was made canonical.
Result<std::optional<Workload>> in_best_order(const Workload& workload, const ir::Program& bound,
                                              const plan::TrafficCost& cost, const codegen::Target& target,
                                              std::vector<db::Database>& stack);

}  // namespace tile_tune::engine
