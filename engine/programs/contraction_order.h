// Orders of contractions, as callers, the planner and the einsum front end have them.
#pragma once

#include <tile_tune/expected.h>

#include <string>
#include <utility>
#include <vector>

#include "frontend/plan/network.h"

namespace tile_tune::engine {

/// From places in what is left, results last (opt_einsum), to numbers: operands, then results of steps. Error:
/// bad-path.
tensor::Expected<plan::Order> order_of_path(const std::vector<std::pair<int, int>>& path, size_t operands);

/// As parentheses.
plan::Group group_of(const plan::Order& order, size_t operands);
/// As pairs; of more than two in one pair of parentheses from the left.
plan::Order order_of(const plan::Group& group, size_t operands);

/// "0,1;2,3"
std::string order_text(const plan::Order& order);

}  // namespace tile_tune::engine
