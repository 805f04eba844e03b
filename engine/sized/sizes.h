// Sizes with many values: -s N=1..512 and -s N=64,128,200 of tune and build, and which of them are looked at.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/sized_entry.h"

namespace tile_tune::engine {

/// Takes the sizes with many values out of `assignments`, at most codegen::kMostSizes. Errors: bad-size of class
/// Program.
Result<std::vector<codegen::EntrySize>> take_entry_sizes(std::vector<std::string>& assignments);

/// Where schedules are searched, one value for each size, the largest first: all that are listed; of a range its ends
/// and what cuts it into steps of equal ratio, about `count` points in all.
std::vector<std::vector<int64_t>> points_to_search(const std::vector<codegen::EntrySize>& sizes, size_t count);

/// Where kernels are timed: the points of search and about `count` others, so ordered that the first few lie far apart.
/// Half of those of one size are the smallest ones, up to kSmall of them, at which kernels for many sizes lose most;
/// the others are spread evenly in ratio, every other one odd.
std::vector<std::vector<int64_t>> points_to_time(const std::vector<codegen::EntrySize>& sizes,
                                                 const std::vector<std::vector<int64_t>>& searched, size_t count);
inline constexpr size_t kSmall = 16;  // floats in a vector register of AVX-512

/// Whether any of them is a range, not a list.
bool has_range(const std::vector<codegen::EntrySize>& sizes);

/// "N=1..512"
std::string entry_sizes_text(const std::vector<codegen::EntrySize>& sizes);
/// "N=16 M=3"
std::string point_text(const std::vector<codegen::EntrySize>& sizes, const std::vector<int64_t>& point);

}  // namespace tile_tune::engine
