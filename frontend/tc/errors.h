// Every diagnostic of the TC front end: its code, its sentence and how to mend it, in one place.
#pragma once

#include "frontend/ir/program.h"
#include "frontend/tc/lexer.h"

namespace tile_tune::tc::errors {

using Failed = tl::unexpected<Diagnostic>;

// Text and syntax.
/// `rest`: the text from the character on.
Failed unsupported_character(Place place, std::string_view rest);
Failed bad_number(Place place, std::string_view text);
Failed leading_zero(Place place, std::string_view text);
Failed number_too_large(Place place, std::string_view text);
Failed unexpected_token(Place place, std::string_view wanted, const Token& found);
Failed keyword_as_name(Place place, std::string_view name);
Failed missing_type(Place place, const Token& found);
Failed computed_left_subscript(Place place);
Failed closed_interval(Place place);
Failed unterminated_def(Place place, std::string_view name);
Failed no_def(Place place);
Failed too_nested(Place place, int limit);
/// A chain of operators is as deep as it is long.
Failed too_deep(Place place, int limit);
Failed too_complicated(Place place);

// Names.
Failed undefined_name(Place place, std::string_view name);
Failed read_before_written(Place place, std::string_view name);
Failed let_used_early(Place place, std::string_view name);
/// `what` the name already stands for: "a size", "a parameter", ...
Failed redefinition(Place place, std::string_view name, std::string_view what);
Failed repeated_left_subscript(Place place, std::string_view name);
Failed builtin_redefined(Place place, std::string_view name);
Failed duplicate_def(Place place, std::string_view name);
Failed duplicate_parameter(Place place, std::string_view name);
Failed duplicate_output(Place place, std::string_view name);
Failed write_to_input(Place place, std::string_view name);
Failed output_never_written(Place place, std::string_view name);
Failed no_output(Place place, std::string_view name);
Failed no_initial_value(Place place, std::string_view name, std::string_view op);
Failed too_many_indices(Place place, size_t limit);
Failed too_many_dimensions(Place place, size_t limit);

// Shapes and types.
Failed wrong_subscript_count(Place place, std::string_view tensor, size_t expected, size_t found);
Failed wrong_argument_count(Place place, std::string_view function, size_t expected, size_t found);
Failed tensor_as_scalar(Place place, std::string_view name, size_t rank);
Failed scalar_as_tensor(Place place, std::string_view name);
/// `what` must be an integer: "a subscript", "the end of a range".
Failed not_an_integer(Place place, std::string_view what, DType found);
Failed not_a_condition(Place place, DType found);
Failed needs_numbers(Place place);
Failed modulo_of_floats(Place place);
Failed literal_out_of_range(Place place, std::string_view text, DType type);
Failed narrowing(Place place, DType from, std::string_view tensor, DType to);
Failed dimension_mismatch(Place place, std::string_view tensor, size_t dimension, const ir::SizeExpr& declared,
                          const ir::Index& index);

// Ranges.
Failed tensor_in_range_end(Place place, std::string_view name);
Failed index_in_range_end(Place place, std::string_view name);
Failed not_a_range_end(Place place);
Failed division_by_zero(Place place);
Failed arithmetic_overflow(Place place);
Failed assign_reduces(Place place, std::string_view index);
/// Nothing bounds the index.
/// `guarded`: where it subscripts a guarded read, the extent of that dimension.
Failed no_range(Place place, std::string_view index, bool on_the_left, const std::optional<ir::SizeExpr>& guarded);
/// Reads bound these indices, but only together.
Failed ambiguous_range(Place place, const std::vector<std::string>& indices);
Failed too_many_limits(Place place, std::string_view index);
Failed empty_range(Place place, const ir::Index& index);
/// `rebased`: the statement written so that the range starts at 0.
Failed nonzero_minimum(Place place, const ir::Index& index, std::string_view rebased);
/// The subscript's values are min to max.
/// `undecided`: the read is below a condition that guards nothing.
Failed out_of_bounds(Place place, std::string_view subscript, const ir::SizeExpr& min, const ir::SizeExpr& max,
                     std::string_view dimension, const ir::SizeExpr& extent, bool undecided);

// Warnings.
Diagnostic unused_input(Place place, std::string_view name);
/// An index that nothing but its range names.
Diagnostic repeating_index(Place place, std::string_view name);
/// An index of `exists` clauses that bounds no other.
Diagnostic idle_index(Place place, std::string_view name);

}  // namespace tile_tune::tc::errors
