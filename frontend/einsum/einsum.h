// Einsum notation to IR (decisions 1, 2, 4 and 7).
//
// In two steps, because types, shapes and sizes are no part of the notation: parse() reads the subscripts,
// make_program() adds what is known of the operands. Operands are named in0, in1, ..., the result out, the program
// einsum. Sizes stay symbolic, named after their labels; the axes that `...` stands for take their extents from the
// operands' shapes.
// - A network of three or more operands becomes a statement for each pairwise step, in the order that parentheses fix
//   and plan.h chooses otherwise. A label is summed in the step after which nothing needs it, or before, where an
//   operand alone has it and the step would repeat that sum.
// - At most 1,000 operands, 32 dimensions a tensor; time is linear in the text but for the choice of the order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"
#include "frontend/plan/network.h"

namespace tile_tune::einsum {

/// Characters [begin, end) of Einsum::text, not bytes.
struct Span {
  int begin = 0, end = 0;
};

/// The subscripts of one operand or of the result.
struct Term {
  std::vector<int> labels;         // numbers in Einsum::labels
  std::vector<Span> spans;         // of each label
  std::optional<size_t> ellipsis;  // `...` stands before labels[*ellipsis], or at the end
  Span span;
};

using plan::Group;

struct Einsum {
  std::string text;                 // for messages
  std::vector<std::string> labels;  // distinct, in order of appearance, as spelled
  std::vector<Term> operands;
  Term result;
  Group order;
};

/// Syntax and what can be said without shapes. The first error ends it; class Program, placed in "einsum:TEXT".
Result<Einsum> parse(std::string_view text);

/// The same from labels that are integers (at least 0), one list an operand; kEllipsis stands for `...`.
inline constexpr int64_t kEllipsis = -1;
Result<Einsum> parse(const std::vector<std::vector<int64_t>>& operands, const std::vector<int64_t>& result);

/// What is known of an operand.
struct Operand {
  DType type = DType::F32;
  std::optional<std::vector<int64_t>> shape;
};

struct Known {
  std::vector<Operand> operands;     // one each, or none: all f32 and of unknown shape
  std::optional<DType> result;       // else what the operands promote to (promote.h)
  ir::Sizes sizes;                   // by size name; names that are no label's are passed over
  bool adds = false;                 // the result is in/out: it begins with the caller's values
  std::vector<bool> conjugate = {};  // by operand, of those that are complex; empty: none is
};

struct Made {
  ir::Program program;
  ir::Sizes sizes;  // of the program, as far as shapes and sizes tell them: what ir::bind() wants
};

/// Errors, class Mismatch, placed: operand count or rank, extents that disagree, a missing shape of an operand with
/// `...`; class Program: a result type that does not hold the operands'.
Result<Made> make_program(const Einsum& einsum, const Known& known = {});

/// The size that a label names: the label itself where it is an identifier, else label_3 or (in Unicode's number)
/// label_u3b1.
std::string size_name(std::string_view label);

}  // namespace tile_tune::einsum
