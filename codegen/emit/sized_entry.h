// One entry for many sizes of a program: which of several kernels computes which size.
//
// Members are kernels for one size, or for all sizes that their schedule serves (schedule/runtime_sizes.h); the last
// one serves every size, unless no schedule of the program does: then sizes that are not listed are refused. A call
// looks for a member of exactly its sizes, else takes the one that a table names: sizes fall into cells, bits_for() of
// them to each doubling of a size, and a cell names one member for all sizes in it.
//
// Of an entry from a file or a database only sizes, schedules and the table are taken: how the numbers of the program
// follow from the sizes is found from the program, and whether a member serves what the table sends to it is checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codegen/schedule/runtime_sizes.h"

namespace tile_tune::codegen {

/// A size that the entry takes: those listed, or all from first to last. With a list any size up to `last` is computed
/// too, where the program has a kernel for every size.
struct EntrySize {
  std::string name;
  int64_t first = 1, last = 1;
  std::vector<int64_t> listed = {};  // ascending; empty: a range
  bool operator==(const EntrySize&) const = default;
};

/// A program with sizes that the caller gives, and numbers for the others.
struct SizedProgram {
  ir::Program symbolic;  // with layouts
  ir::Sizes fixed;
  std::vector<EntrySize> sizes;  // 1 to kMostSizes
  bool checks_indices = false;   // it is with_index_checks() of what the others describe (ir/index_checks.h)

  /// Canonical and bound at `values`, one for each size.
  Result<ir::Program> at(const std::vector<int64_t>& values) const;
  /// The largest value of each size that was asked for.
  std::vector<int64_t> top() const;
};

struct EntryMember {
  std::vector<int64_t> at;     // the sizes it is made at
  bool only = true;            // it is for these alone; else for all that its schedule serves
  ir::Program program;         // canonical, bound there
  Schedule schedule;           // with runtime sizes unless `only`
  nlohmann::json record = {};  // where its place is known from
};

struct SizedEntry {
  SizedProgram program;
  std::vector<RuntimeSize> runtime;  // how its numbers follow from each size
  std::vector<EntryMember> members;  // at most kMostMembers; the last one serves all sizes
  std::vector<uint8_t> table;        // member by cell, cells of the last size next to each other; empty: none does
};

/// More need a table too large for a library. A kernel that takes all sizes by itself needs none.
inline constexpr size_t kMostSizes = 3;
/// Numbers in the table are bytes.
inline constexpr size_t kMostMembers = 255;

/// Cells of a size: each of 1, 2, 3, ... up to where doublings are cut in 2^bits, all sizes from 2^20 on in the last.
size_t cell_of(int64_t size, int bits);
size_t cell_count(int bits);
/// The smallest size of a cell.
int64_t first_of_cell(size_t cell, int bits);
/// So that the table of `sizes` sizes stays below 10 KB.
int bits_for(size_t sizes);

/// The smallest and the largest sizes of each cell that the entry may be called with; nullopt for a cell without any.
/// `cell` is a place in the table.
struct CellSizes {
  std::vector<int64_t> first, last;
};
std::optional<CellSizes> sizes_of_cell(const std::vector<EntrySize>& sizes, size_t cell);

/// How the program's numbers follow from its sizes, tried at both ends of each size and at many between; class Program
/// (no-size-range) where one kernel cannot compute several of them, in words that say why.
Result<std::vector<RuntimeSize>> runtime_sizes_of(const SizedProgram& program);

/// A member of `schedule`, which is for the program at `values`; class Program if the schedule cannot be made to serve
/// several sizes. `guarded`: it serves all, however small.
Result<EntryMember> member_for_many(const SizedEntry& entry, const std::vector<int64_t>& values,
                                    const Schedule& schedule, bool guarded);
/// True if the member computes every size of the cell.
bool serves_cell(const SizedEntry& entry, const EntryMember& member, size_t cell);

/// Sizes at which the member is looked at before it is shipped: both ends of what the table sends to it, some between.
std::vector<std::vector<int64_t>> sizes_to_check(const SizedEntry& entry, size_t member);

/// {"sizes": [{"name", "first", "last", "listed"}], "members": [{"at", "only", "guarded", "schedule", "schedule_id",
/// "record"}], "table"}: all but the program.
nlohmann::json to_json(const SizedEntry& entry);
/// Checks all of it against the program: class Program (bad-family). `program.sizes` are those of the JSON.
Result<SizedEntry> entry_from_json(const nlohmann::json& json, ir::Program symbolic, ir::Sizes fixed);

}  // namespace tile_tune::codegen
