// Stored kernels for many sizes under other names and another order of the sizes: einsum calls them i and j, and -s may
// name any of them first. What is stored is found by what the program computes, as for one size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/sized/sized_workload.h"

namespace tile_tune::engine {

/// What tells a size from others, whatever it is called: the content hash of the program with this size at its smallest
/// value and the others at their largest. Extents grow evenly with sizes, so that programs which agree at these points
/// and at the largest sizes of all agree everywhere.
Result<std::vector<std::string>> size_roles(const SizedWorkload& workload);

/// The options of a stored session, which need not be well-formed, with the sizes as the workload names and orders
/// them; nullopt if they are of other ranges or sizes. Options without "roles", which earlier versions stored, go by
/// names.
Result<std::optional<nlohmann::json>> spelled_as(nlohmann::json stored, const SizedWorkload& workload);

}  // namespace tile_tune::engine
