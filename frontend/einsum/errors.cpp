#include "frontend/einsum/errors.h"

#include <fmt/format.h>

namespace tile_tune::einsum::errors {
namespace {

constexpr std::string_view kPrefix = "einsum:";
// A longer text is generated: an excerpt of it helps nobody.
constexpr size_t kMaxExcerpt = 400;

Failed at(std::string_view text, Span span, ErrorClass error_class, std::string code, std::string message,
          std::string note = "") {
  auto failed = fail(error_class, std::move(code), std::move(message), std::move(note));
  Place place{"einsum", 1, static_cast<int>(kPrefix.size()) + span.begin + 1, std::max(1, span.end - span.begin), ""};
  if (text.size() <= kMaxExcerpt) {
    place.source_line = std::string(kPrefix) + std::string(text);
    for (char& c : place.source_line)
      if (c == '\n' || c == '\r' || c == '\t' || c == '\v' || c == '\f') c = ' ';
  }
  failed.value().place = std::move(place);
  return failed;
}

Failed wrong(std::string_view text, Span span, std::string code, std::string message, std::string note = "") {
  return at(text, span, ErrorClass::Program, std::move(code), std::move(message), std::move(note));
}

Failed unfit(const Einsum& einsum, Span span, std::string code, std::string message, std::string note = "") {
  return at(einsum.text, span, ErrorClass::Mismatch, std::move(code), std::move(message), std::move(note));
}

}  // namespace

Failed not_utf8(std::string_view text, Span span) {
  return wrong(text, span, "bad-utf8", "this byte is no UTF-8 text");
}

Failed misplaced_character(std::string_view text, Span span, char character) {
  if (character == '.')
    return wrong(text, span, "misplaced-character", "'.' stands for nothing", "an ellipsis is three dots: '...'");
  return wrong(text, span, "misplaced-character", fmt::format("'{}' stands for nothing", character),
               "the arrow before the output is '->'");
}

Failed no_arrow(std::string_view text, Span span, std::string_view implicit) {
  if (implicit == "->")
    return wrong(text, span, "no-arrow", "the subscripts are missing", "a matrix product is 'ij,jk->ik'");
  return wrong(text, span, "no-arrow", "the output is missing",
               implicit.size() <= kMaxExcerpt ? fmt::format("write it after '->', for example '{}'", implicit)
                                              : "write its labels after '->'");
}

Failed other_arrow(std::string_view text, Span span, std::string_view arrow) {
  return wrong(text, span, "no-arrow", fmt::format("'{}' is a label, not the arrow before the output", arrow),
               "write '->' in its place");
}

Failed two_arrows(std::string_view text, Span span) {
  return wrong(text, span, "two-arrows", "there is a second '->'", "exactly one stands between operands and output");
}

Failed unbalanced_parenthesis(std::string_view text, Span span, bool opens) {
  return wrong(text, span, "unbalanced-parenthesis", opens ? "this '(' is never closed" : "this ')' closes nothing");
}

Failed parenthesis_in_result(std::string_view text, Span span) {
  return wrong(text, span, "parenthesis-in-output", "the output has no parentheses",
               "they fix the order of the operands before '->'");
}

Failed several_results(std::string_view text, Span span) {
  return wrong(text, span, "several-outputs", "there is only one output", "write an einsum for each");
}

Failed missing_comma(std::string_view text, Span span) {
  return wrong(text, span, "missing-comma", "a comma is missing beside the parenthesis",
               "parentheses hold whole operands: '(ij,jk),kl->il'");
}

Failed repeated_ellipsis(std::string_view text, Span span) {
  return wrong(text, span, "repeated-ellipsis", "'...' stands twice in one term");
}

Failed unknown_result_label(std::string_view text, Span span, std::string_view label) {
  return wrong(text, span, "unknown-output-label", fmt::format("no operand has the label '{}' of the output", label));
}

Failed unknown_result_ellipsis(std::string_view text, Span span) {
  return wrong(text, span, "unknown-output-label", "no operand has the '...' of the output");
}

Failed missing_result_ellipsis(std::string_view text, Span span, size_t operand) {
  return wrong(text, span, "missing-output-ellipsis", fmt::format("in{} has '...', but the output has not", operand),
               "write '...' in the output as well; axes to be summed need labels");
}

Failed bad_label(int64_t label) {
  return fail(ErrorClass::Program, "bad-label", fmt::format("{} is no label", label), "labels are 0, 1, 2, ...");
}

Failed too_many_operands(std::string_view text, Span span, size_t limit) {
  return wrong(text, span, "too-many-operands", fmt::format("there are more than {} operands", limit));
}

Failed too_many_dimensions(std::string_view text, Span span, size_t limit) {
  return wrong(text, span, "too-many-dimensions", fmt::format("a tensor has at most {} dimensions", limit));
}

Failed operand_count(const Einsum& einsum, size_t given) {
  const Span operands{einsum.operands.front().span.begin, einsum.operands.back().span.end};
  return unfit(einsum, operands, "operand-count",
               fmt::format("the subscripts are of {} operands, not {}", einsum.operands.size(), given));
}

Failed rank_mismatch(const Einsum& einsum, size_t operand, size_t rank) {
  const Term& term = einsum.operands[operand];
  return unfit(einsum, term.span, "rank-mismatch",
               fmt::format("in{} has {} dimensions, but its subscripts name {}{}", operand, rank,
                           term.ellipsis ? "at least " : "", term.labels.size()));
}

Failed negative_extent(const Einsum& einsum, size_t operand, size_t dimension, int64_t extent) {
  return unfit(einsum, einsum.operands[operand].span, "negative-size",
               fmt::format("dimension {} of in{} is {}", dimension, operand, extent));
}

Failed extent_conflict(const Einsum& einsum, Span span, std::string_view label, int64_t first,
                       std::string_view first_from, int64_t second, std::string_view second_from) {
  return unfit(einsum, span, "size-conflict",
               fmt::format("label '{}' is {} by {} but {} by {}", label, first, first_from, second, second_from),
               first == 1 || second == 1 ? "only the axes of '...' repeat what has extent 1; labels never do" : "");
}

Failed broadcast_conflict(const Einsum& einsum, Span span, int64_t first, std::string_view first_from, int64_t second,
                          std::string_view second_from) {
  return unfit(einsum, span, "size-conflict",
               fmt::format("an axis of '...' is {} by {} but {} by {}", first, first_from, second, second_from),
               "its extents must agree or be 1");
}

Failed missing_shape(const Einsum& einsum, size_t operand) {
  return unfit(einsum, einsum.operands[operand].span, "missing-shape",
               fmt::format("'...' needs the shape of in{}", operand),
               fmt::format("give it with --shape in{}=N,N,...", operand));
}

Failed intermediate_too_large(const Einsum& einsum, size_t limit) {
  return unfit(einsum, {einsum.operands.front().span.begin, einsum.operands.back().span.end}, "too-many-dimensions",
               fmt::format("an intermediate result has more than {} dimensions", limit),
               "fix another order with parentheses");
}

Failed narrowing(const Einsum& einsum, DType from, DType to) {
  return wrong(einsum.text, einsum.result.span, "narrowing",
               fmt::format("the output's type {} does not hold the result's {}", dtype_name(to), dtype_name(from)),
               fmt::format("make the output {} or wider", dtype_name(from)));
}

}  // namespace tile_tune::einsum::errors
