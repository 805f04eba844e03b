// What the search for orders knows of a network.
#pragma once

#include <optional>
#include <vector>

#include "frontend/plan/order.h"

namespace tile_tune::plan {

/// Axes of the same operands, all needed outside or none, are one label: no order tells them apart. Labels are sorted
/// by extent.
struct Leaves {
  std::vector<std::vector<int>> operands;  // labels, ascending
  std::vector<int> needed;
  std::vector<double> extents;  // by label
};

Leaves leaves_of(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents);

}  // namespace tile_tune::plan
