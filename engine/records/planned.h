// Programs with their sums of products in steps (frontend/plan): what is tuned, built and run.
#pragma once

#include <optional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"
#include "frontend/plan/factoring.h"

namespace tile_tune::engine {

/// What steps cost: FLOP and, unless sums must have one order whatever the machine, what they leave in memory.
plan::TrafficCost cost_of_steps(bool is_deterministic);

/// make_workload() with the sums of products in steps where that costs less, and those of a network in the order that
/// is the best as far as the session's databases know (network_order.h).
Workload planned_workload(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                          const Session& session);
/// The program whose canonical form that has, for display: `bound` but for a network in another order than it came in.
ir::Program planned_order(const ir::Program& bound, const Session& session);
/// What each of its statements takes as it is tuned alone (network_steps.h), in ns, for display.
std::vector<std::optional<double>> tuned_times(const ir::Program& bound, const Session& session);
/// The same with these steps, whatever they cost; as written where they do not fit.
Workload workload_in_steps(Workload written, const plan::Path& path);

/// The same for display; nullopt where all is as written.
std::optional<Workload> workload_in_steps(const LoadedProgram& loaded, const ir::Program& bound,
                                          const Session& session);

/// "O = (A * B) * C, 13.8 MFLOP (315 MFLOP as written)"; empty where all is as written.
std::string steps_text(const Workload& workload);
/// {"order", "flops_as_written"}; null where all is as written.
nlohmann::json steps_json(const Workload& workload);
/// What `check` says of sums whose FLOP could fall further (plan::unfactored()): "O: the term is a sum of products
/// (9.60 GFLOP, in steps 64.0 MFLOP)". `steps`: of workload_in_steps() of the same program.
std::vector<std::string> unfactored_texts(const ir::Program& bound, const std::optional<Workload>& steps);
/// [{"tensor", "reason", "flops", "possible_flops"}]
nlohmann::json unfactored_json(const ir::Program& bound, const std::optional<Workload>& steps);
/// steps_text() as a notice.
void tell_of_steps(const Workload& workload, const Reporter& report);

/// The form to take: as written, where that was tuned for the target and came out faster.
Result<Workload> faster_form(const Workload& workload, const codegen::Target& target, std::vector<db::Database>& stack);

}  // namespace tile_tune::engine
