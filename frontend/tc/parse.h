// Tensor Comprehensions text to IR (docs/tc.md).
//
// One Program per def: names resolved, types promoted with explicit casts, lets inlined, ranges inferred.
// - Sizes stay symbolic. A size that only declared types of outputs name is no size of the program: inference
//   gives its value. An integer input without dimensions that bounds a range is an input and a size of that name.
// - Every statement writes a version of its own. The last version of an output has the Output's role and the
//   name; other versions are Temporaries named like O_1. `op!` over a part of a tensor that has a value is two
//   statements: the reduction into a temporary, and its copy over the old value.
// - An output whose first statement is a plain `op` starts from an InOut tensor of its name.
// - Expressions are at most 1,200 deep (a sum of n terms is n deep), with 200 parentheses or calls inside each other;
//   tensors have at most 32 dimensions and statements at most 64 indices; time and memory are linear in the text, so
//   that no input of any kind crashes or hangs the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"

namespace tile_tune::tc {

struct Parsed {
  std::vector<ir::Program> programs;  // in the file's order
  std::vector<std::string> texts;     // of each one's def alone
  std::vector<Diagnostic> warnings;   // inputs that no statement reads
};

/// `file` is only used in messages. The first error ends it; class Program, with its place. A text without any
/// def is an error.
Result<Parsed> parse(std::string_view text, std::string file);

/// A def, whatever is wrong with others of its text.
struct ParsedDef {
  std::string name;  // empty where the text has none
  std::string text;
  Result<ir::Program> program;       // errors of one of several defs say whose they are
  std::vector<Diagnostic> warnings;  // inputs that no statement reads
};

/// Every def by itself; at least one.
std::vector<ParsedDef> parse_defs(std::string_view text, std::string file);

}  // namespace tile_tune::tc
