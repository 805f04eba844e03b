// Every diagnostic of the einsum front end: its code, its sentence and how to mend it, in one place.
#pragma once

#include "frontend/einsum/einsum.h"

namespace tile_tune::einsum::errors {

using Failed = tl::unexpected<Diagnostic>;

// Of the text alone.
Failed not_utf8(std::string_view text, Span span);
Failed misplaced_character(std::string_view text, Span span, char character);
/// `implicit`: the subscripts with the output that numpy would take.
Failed no_arrow(std::string_view text, Span span, std::string_view implicit);
Failed other_arrow(std::string_view text, Span span, std::string_view arrow);
Failed two_arrows(std::string_view text, Span span);
Failed unbalanced_parenthesis(std::string_view text, Span span, bool opens);
Failed parenthesis_in_result(std::string_view text, Span span);
Failed several_results(std::string_view text, Span span);
Failed missing_comma(std::string_view text, Span span);
Failed repeated_ellipsis(std::string_view text, Span span);
Failed unknown_result_label(std::string_view text, Span span, std::string_view label);
Failed unknown_result_ellipsis(std::string_view text, Span span);
Failed missing_result_ellipsis(std::string_view text, Span span, size_t operand);
Failed bad_label(int64_t label);
Failed too_many_operands(std::string_view text, Span span, size_t limit);
Failed too_many_dimensions(std::string_view text, Span span, size_t limit);

// With operands.
Failed operand_count(const Einsum& einsum, size_t given);
Failed rank_mismatch(const Einsum& einsum, size_t operand, size_t rank);
Failed negative_extent(const Einsum& einsum, size_t operand, size_t dimension, int64_t extent);
/// The extents of one label, and what gives each: "dimension 0 of in1" or "-s".
Failed extent_conflict(const Einsum& einsum, Span span, std::string_view label, int64_t first,
                       std::string_view first_from, int64_t second, std::string_view second_from);
Failed broadcast_conflict(const Einsum& einsum, Span span, int64_t first, std::string_view first_from, int64_t second,
                          std::string_view second_from);
Failed missing_shape(const Einsum& einsum, size_t operand);
Failed intermediate_too_large(const Einsum& einsum, size_t limit);
Failed narrowing(const Einsum& einsum, DType from, DType to);

}  // namespace tile_tune::einsum::errors
