// Indices that are known at run time only (gathers), and programs that look whether these stay inside their tensors.
//
// A kernel never reads outside a tensor: it takes the nearest element. Whether an index was outside is what statements
// of their own find, one for each index, over all that the statement with the gather visits: they read what the index
// is made of, not the tensor, and end in one number.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/ir/path_condition.h"
#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// A subscript of a read that must be inside its tensor wherever its statement uses it.
struct IndexCheck {
  int statement = -1;
  int tensor = -1;  // that is read
  size_t dimension = 0;
  ExprPtr index;
  Path path;  // of the read: the index is used where all of it is taken; parts of the program, which outlives it
};

/// Of a bound program in gather form (gather.h), in program order, those around other indices first. Indices that are
/// known to stay inside, or that no assignment uses, are left out; the same index of one statement counts once.
std::vector<IndexCheck> index_checks(const Program& program);

/// "idx(b,l) of T"
std::string to_text(const Program& program, const IndexCheck& check);

/// A statement over what the check's statement visits, without the indices that make no difference, which combines in
/// scalar `target` what `value` makes of the index where it is used, an unsigned integer.
Statement statement_for(const Program& program, const IndexCheck& check, int target,
                        const std::function<ExprPtr(const ExprPtr& index)>& value);

/// The program with a scalar output more for each of index_checks(), in their order: not 0 if the index is outside.
/// The program itself if it has none. Tensors and statements keep their numbers.
Program with_index_checks(const Program& program);

}  // namespace tile_tune::ir
