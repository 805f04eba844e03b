#include "frontend/tc/errors.h"

#include <fmt/format.h>
#include <algorithm>

#include "frontend/diagnostic/utf8.h"

namespace tile_tune::tc::errors {
namespace {

Failed error(Place place, std::string code, std::string message, std::string note = "") {
  return tl::unexpected(
      Diagnostic{ErrorClass::Program, std::move(code), std::move(message), std::move(place), std::move(note)});
}

std::string found(const Token& token) {
  if (token.kind == Token::Kind::End) return "the end of the text";
  return fmt::format("'{}'", token.text.substr(0, 40));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "'a'", "'a' and 'b'", "'a', 'b' and 'c'"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

}  // namespace

Failed unsupported_character(Place place, std::string_view rest) {
  const auto code = first_code_point(rest);
  std::string text;
  if (!code) {
    text = fmt::format("the byte 0x{:02X}, which is not UTF-8 text,", static_cast<unsigned char>(rest[0]));
  } else if (code->value > ' ' && code->value < 0x7F) {
    text = fmt::format("the character '{}'", static_cast<char>(code->value));
  } else {
    text = fmt::format("the character U+{:04X}", code->value);
  }
  return error(std::move(place), "unsupported-character", fmt::format("{} has no meaning here", text),
               "only plain ASCII operators, names and numbers are allowed outside comments, which start with #");
}

Failed bad_number(Place place, std::string_view text) {
  return error(std::move(place), "bad-number", fmt::format("'{}' is not a number", text.substr(0, 40)),
               "numbers are written like 12, 0x1f, 3.5, .5 or 1e-5, without suffixes");
}

Failed leading_zero(Place place, std::string_view text) {
  const auto digits = text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
  return error(std::move(place), "bad-number",
               fmt::format("the whole number '{}' starts with 0, which C would read as octal", text.substr(0, 40)),
               fmt::format("write {}", digits.substr(0, 40)));
}

Failed number_too_large(Place place, std::string_view text) {
  return error(std::move(place), "number-too-large",
               fmt::format("'{}' is outside the range of 64-bit numbers", text.substr(0, 40)));
}

Failed unexpected_token(Place place, std::string_view wanted, const Token& token) {
  return error(std::move(place), "syntax-error", fmt::format("expected {} but found {}", wanted, found(token)));
}

Failed keyword_as_name(Place place, std::string_view name) {
  return error(std::move(place), "syntax-error",
               fmt::format("'{}' is a word of the language and cannot be a name here", name));
}

Failed missing_type(Place place, const Token& token) {
  return error(std::move(place), "syntax-error", fmt::format("expected a type but found {}", found(token)),
               "parameters are declared like 'float(M,N) A'");
}

Failed computed_left_subscript(Place place) {
  return error(std::move(place), "computed-left-subscript", "a subscript on the left must be a plain index variable",
               "let the index count the elements of the result, and compute on the right");
}

Failed closed_interval(Place place) {
  return error(std::move(place), "syntax-error", "expected '[' but found ']'",
               "ranges are half-open: '[0, 2[' holds 0 and 1");
}

Failed unterminated_def(Place place, std::string_view name) {
  return error(std::move(place), "unterminated-def", fmt::format("def '{}' has no closing '}}'", name),
               "add '}' after its last statement");
}

Failed no_def(Place place) {
  return error(std::move(place), "no-def", "the text holds no def",
               "a program starts like 'def mv(float(R,C) A, float(C) B) -> (o) {'");
}

Failed too_nested(Place place, int limit) {
  return error(std::move(place), "too-deep", fmt::format("the expression is nested more than {} levels deep", limit),
               "split it into several statements");
}

Failed too_deep(Place place, int limit) {
  return error(std::move(place), "too-deep",
               fmt::format("the expression has more than {} operators, each taking the result of another", limit),
               "split it into several statements");
}

Failed too_complicated(Place place) {
  return error(std::move(place), "too-complicated", "the expression becomes too large when lets and sizes are inserted",
               "split it into several statements");
}

Failed undefined_name(Place place, std::string_view name) {
  return error(std::move(place), "undefined-name",
               fmt::format("'{}' is not a size, a tensor, a let or an index variable here", name));
}

Failed read_before_written(Place place, std::string_view name) {
  return error(std::move(place), "read-before-written",
               fmt::format("'{}' is read before a statement gives it a value", name),
               "an output starts from the caller's values if its type is declared and its first statement is +=, *=, "
               "min= or max=");
}

Failed let_used_early(Place place, std::string_view name) {
  return error(std::move(place), "undefined-name", fmt::format("'{}' is used before the clause that defines it", name),
               fmt::format("move '{} = ...' before this clause", name));
}

Failed redefinition(Place place, std::string_view name, std::string_view what) {
  return error(std::move(place), "redefinition", fmt::format("'{}' is already {}", name, what), "choose another name");
}

Failed repeated_left_subscript(Place place, std::string_view name) {
  return error(std::move(place), "redefinition", fmt::format("'{}' is already a subscript on the left", name),
               "every subscript on the left is an index variable of its own");
}

Failed builtin_redefined(Place place, std::string_view name) {
  return error(std::move(place), "builtin-redefined",
               fmt::format("'{}' is a built-in function and cannot name anything else", name), "choose another name");
}

Failed duplicate_def(Place place, std::string_view name) {
  return error(std::move(place), "duplicate-def", fmt::format("there already is a def named '{}'", name));
}

Failed duplicate_parameter(Place place, std::string_view name) {
  return error(std::move(place), "duplicate-parameter", fmt::format("there already is a parameter named '{}'", name));
}

Failed duplicate_output(Place place, std::string_view name) {
  return error(std::move(place), "duplicate-output",
               fmt::format("there already is a parameter or output named '{}'", name));
}

Failed write_to_input(Place place, std::string_view name) {
  return error(std::move(place), "write-to-input", fmt::format("'{}' is an input and cannot be written", name),
               "write to an output instead; an output updated with += starts from the caller's values");
}

Failed output_never_written(Place place, std::string_view name) {
  return error(std::move(place), "output-never-written", fmt::format("no statement writes the output '{}'", name));
}

Failed no_output(Place place, std::string_view name) {
  return error(std::move(place), "no-output", fmt::format("def '{}' has no outputs", name));
}

Failed no_initial_value(Place place, std::string_view name, std::string_view op) {
  return error(std::move(place), "no-initial-value",
               fmt::format("'{}' is no output and has no value yet that '{}' could update", name, op),
               fmt::format("write '{}!' to start from the operator's identity", op));
}

Failed too_many_indices(Place place, size_t limit) {
  return error(std::move(place), "too-many-indices",
               fmt::format("a statement may have {} index variables at most", limit));
}

Failed too_many_dimensions(Place place, size_t limit) {
  return error(std::move(place), "too-many-dimensions", fmt::format("a tensor may have {} dimensions at most", limit));
}

Failed wrong_subscript_count(Place place, std::string_view tensor, size_t expected, size_t found) {
  return error(std::move(place), "wrong-subscript-count",
               fmt::format("'{}' has {} but is used with {}", tensor, counted(expected, "dimension"),
                           counted(found, "subscript")));
}

Failed wrong_argument_count(Place place, std::string_view function, size_t expected, size_t found) {
  return error(std::move(place), "wrong-argument-count",
               fmt::format("'{}' takes {} but is called with {}", function, counted(expected, "argument"), found));
}

Failed tensor_as_scalar(Place place, std::string_view name, size_t rank) {
  return error(std::move(place), "tensor-as-scalar",
               fmt::format("'{}' is a tensor of {}, and a single value is wanted", name, counted(rank, "dimension")),
               fmt::format("subscript it: '{}({})'", name, rank == 1 ? "i" : "i,..."));
}

Failed scalar_as_tensor(Place place, std::string_view name) {
  return error(std::move(place), "scalar-as-tensor",
               fmt::format("'{}' is a single number and cannot be subscripted", name));
}

Failed not_an_integer(Place place, std::string_view what, DType type) {
  return error(std::move(place), "non-integer",
               fmt::format("{} must be an integer, but this is {}", what, scalar_name(type)),
               "convert it, for example with int32(...)");
}

Failed not_a_condition(Place place, DType type) {
  return error(std::move(place), "non-boolean",
               fmt::format("a condition must be bool, but this is {}", scalar_name(type)),
               "compare it with something, for example '... != 0'");
}

Failed needs_numbers(Place place) {
  return error(std::move(place), "type-mismatch", "this operation is not defined for bool operands",
               "convert one, for example with int32(...)");
}

Failed modulo_of_floats(Place place) {
  return error(std::move(place), "type-mismatch", "'%' is defined for integers only", "use fmod for floats");
}

Failed literal_out_of_range(Place place, std::string_view text, DType type) {
  return error(std::move(place), "literal-out-of-range",
               fmt::format("'{}' does not fit {}, the type of what it meets", text.substr(0, 40), scalar_name(type)),
               "convert the other operand to a type that holds both");
}

Failed narrowing(Place place, DType from, std::string_view tensor, DType to) {
  return error(
      std::move(place), "narrowing",
      fmt::format("the value is {}, which '{}' of type {} cannot hold", scalar_name(from), tensor, scalar_name(to)),
      fmt::format("convert it with {}(...)", scalar_name(to)));
}

Failed dimension_mismatch(Place place, std::string_view tensor, size_t dimension, const ir::SizeExpr& declared,
                          const ir::Index& index) {
  return error(std::move(place), "dimension-mismatch",
               fmt::format("dimension {} of '{}' is declared as {}, but '{}' has the range [{}, {})", dimension, tensor,
                           declared.str(), index.name, index.lo.str(), index.hi.str()),
               fmt::format("the range comes from: {}", index.reason));
}

Failed tensor_in_range_end(Place place, std::string_view name) {
  return error(std::move(place), "tensor-in-range",
               fmt::format("the end of a range cannot depend on the tensor '{}'", name),
               "ranges may use numbers, sizes and integer inputs without dimensions");
}

Failed index_in_range_end(Place place, std::string_view name) {
  return error(std::move(place), "index-in-range",
               fmt::format("the end of a range cannot depend on the index variable '{}'", name),
               "ranges may use numbers, sizes and integer inputs without dimensions");
}

Failed not_a_range_end(Place place) {
  return error(std::move(place), "unsupported-range",
               "the end of a range must be made of sizes and whole numbers with + - * / % min max");
}

Failed division_by_zero(Place place) { return error(std::move(place), "division-by-zero", "this divides by zero"); }

Failed arithmetic_overflow(Place place) {
  return error(std::move(place), "number-too-large", "the numbers here do not fit 64 bits when combined");
}

Failed assign_reduces(Place place, std::string_view index) {
  return error(std::move(place), "assign-reduces",
               fmt::format("'=' cannot combine the values for the different '{}', which is not on the left", index),
               "use +=!, *=!, min=! or max=!, or add the index on the left");
}

Failed no_range(Place place, std::string_view index, bool on_the_left, const std::optional<ir::SizeExpr>& guarded) {
  const auto message =
      fmt::format("{} '{}' has no range: {}", on_the_left ? "the left subscript" : "the index variable", index,
                  on_the_left ? "nothing on the right bounds it" : "no read bounds it");
  if (!guarded)
    return error(std::move(place), "no-range", message, fmt::format("add one, for example 'where {} in 0:10'", index));
  return error(std::move(place), "no-range", message,
               fmt::format("a read in a branch bounds no index that its condition mentions: add a range, for example "
                           "'where {} in 0:{}'",
                           index, guarded->str()));
}

Failed ambiguous_range(Place place, const std::vector<std::string>& indices) {
  return error(
      std::move(place), "ambiguous-range",
      fmt::format("the range{} of {} cannot be inferred: reads bound {} only together", indices.size() == 1 ? "" : "s",
                  listed(indices), indices.size() == 1 ? "it and others" : "them"),
      fmt::format("fix one, for example 'where {} in 0:10'", indices[0]));
}

Failed too_many_limits(Place place, std::string_view index) {
  return error(std::move(place), "too-complicated",
               fmt::format("too many different reads bound the range of '{}'", index),
               fmt::format("fix it with 'where {} in ...'", index));
}

Failed empty_range(Place place, const ir::Index& index) {
  return error(std::move(place), "empty-range",
               fmt::format("the range [{}, {}) of '{}' is empty", index.lo.str(), index.hi.str(), index.name),
               fmt::format("the range comes from: {}", index.reason));
}

Failed nonzero_minimum(Place place, const ir::Index& index, std::string_view rebased) {
  return error(std::move(place), "nonzero-minimum",
               fmt::format("the range [{}, {}) of the output subscript '{}' does not start at 0", index.lo.str(),
                           index.hi.str(), index.name),
               fmt::format("count from 0: '{}'", rebased));
}

Failed out_of_bounds(Place place, std::string_view subscript, const ir::SizeExpr& min, const ir::SizeExpr& max,
                     std::string_view dimension, const ir::SizeExpr& extent, bool undecided) {
  const auto values =
      min == max ? fmt::format("the value {}", min.str()) : fmt::format("the values {} to {}", min.str(), max.str());
  return error(std::move(place), "out-of-bounds",
               fmt::format("the subscript '{}' takes {}, outside 0 to {}", subscript, values, (extent - 1).str()),
               fmt::format("{}, has the extent {}{}", dimension, extent.str(),
                           undecided ? "; its condition protects no read: only comparisons of sums and multiples of "
                                       "indices and sizes do, not data, products of indices or '%'"
                                     : ""));
}

Diagnostic unused_input(Place place, std::string_view name) {
  return {ErrorClass::Program, "unused-input", fmt::format("the input '{}' is never read", name),
          std::move(place),    "leave it out", Severity::Warning};
}

Diagnostic repeating_index(Place place, std::string_view name) {
  return {ErrorClass::Program,
          "unused-index",
          fmt::format("nothing that is computed uses the index '{}': every term is taken once for each of its values",
                      name),
          std::move(place),
          "leave its range out, or read something with it",
          Severity::Warning};
}

Diagnostic idle_index(Place place, std::string_view name) {
  return {ErrorClass::Program,
          "unused-index",
          fmt::format("the index '{}' stands in 'exists' only and bounds no other index: it is neither computed nor "
                      "summed over",
                      name),
          std::move(place),
          "to sum over it, read something with it on the right; to only fill a dimension, write 0",
          Severity::Warning};
}

}  // namespace tile_tune::tc::errors
