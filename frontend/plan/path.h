// How a program's sums of products are computed in steps, as plain data: part of what records are kept under.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"
#include "frontend/plan/network.h"

namespace tile_tune::plan {

/// Of one statement. Pieces are its factors as they stand, results of earlier steps follow; dimensions are numbers of
/// its indices. The last step writes what the statement wrote, and has none.
struct StatementPath {
  int statement = 0;
  std::vector<Product> steps;
};
using Path = std::vector<StatementPath>;  // statements ascending; those left as they are are not in it

/// "0:1*2>1,3;0*3": of statement 0 factors 1 and 2 to a tensor over its indices 1 and 3, then factor 0 and the result.
std::string path_text(const Path& path);
Result<Path> parse_path(std::string_view text);

/// "O = A * (B * C)": what is multiplied with what, for people.
std::string path_words(const ir::Program& program, const Path& path);

/// The program with these statements in steps. What steps leave are temporaries of the accumulator's type. An error
/// (bad-path) unless the result computes what the program does: records from elsewhere may hold any path.
Result<ir::Program> factored(const ir::Program& program, const Path& path);

}  // namespace tile_tune::plan
