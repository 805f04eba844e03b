#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "frontend/diagnostic/utf8.h"
#include "frontend/einsum/errors.h"
#include "frontend/einsum/lexer.h"
#include "frontend/einsum/limits.h"

namespace tile_tune::einsum {
namespace {

using Kind = Token::Kind;

// Reads tokens one by one; parentheses that are still open are a stack, so that no nesting is too deep.
class Parser {
 public:
  explicit Parser(std::string_view text) { einsum_.text = std::string(text); }

  Result<Einsum> parse(const std::vector<Token>& tokens) {
    size_t next = 0;
    for (; tokens[next].kind != Kind::Arrow; ++next) {
      if (tokens[next].kind == Kind::End) return no_arrow(tokens);
      TILE_TUNE_CHECK(operand_token(tokens[next]));
    }
    TILE_TUNE_CHECK(end_item(tokens[next].span));
    if (!open_.empty()) return errors::unbalanced_parenthesis(text(), open_.back().span, true);
    einsum_.order = collapse(std::move(root_));
    term_ = {};
    term_.span = {tokens[next].span.end, tokens[next].span.end};
    for (++next; tokens[next].kind != Kind::End; ++next) TILE_TUNE_CHECK(result_token(tokens[next]));
    einsum_.result = std::move(term_);
    TILE_TUNE_CHECK(check_result());
    return std::move(einsum_);
  }

 private:
  struct Open {
    Group group;
    Span span;
  };

  std::string_view text() const { return einsum_.text; }
  Group& current() { return open_.empty() ? root_ : open_.back().group; }

  // A group of one is that one: what is left nests no deeper than there are operands.
  static Group collapse(Group group) {
    if (group.members.size() != 1) return group;
    Group only = std::move(group.members.front());
    return only;
  }

  Result<void> operand_token(const Token& token) {
    switch (token.kind) {
      case Kind::Comma:
        TILE_TUNE_CHECK(end_item(token.span));
        after_group_ = false;
        return {};
      case Kind::Open:
        if (after_group_ || !is_empty(term_)) return errors::missing_comma(text(), token.span);
        open_.push_back({{}, token.span});
        return {};
      case Kind::Close: {
        TILE_TUNE_CHECK(end_item(token.span));
        if (open_.empty()) return errors::unbalanced_parenthesis(text(), token.span, false);
        Group closed = collapse(std::move(open_.back().group));
        open_.pop_back();
        current().members.push_back(std::move(closed));
        after_group_ = true;
        return {};
      }
      default:
        if (after_group_) return errors::missing_comma(text(), token.span);
        return add_to_term(token);
    }
  }

  Result<void> result_token(const Token& token) {
    switch (token.kind) {
      case Kind::Arrow:
        return errors::two_arrows(text(), token.span);
      case Kind::Comma:
        return errors::several_results(text(), token.span);
      case Kind::Open:
      case Kind::Close:
        return errors::parenthesis_in_result(text(), token.span);
      default:
        return add_to_term(token);
    }
  }

  Result<void> add_to_term(const Token& token) {
    if (is_empty(term_)) term_.span.begin = token.span.begin;
    term_.span.end = token.span.end;
    if (token.kind == Kind::Ellipsis) {
      if (term_.ellipsis) return errors::repeated_ellipsis(text(), token.span);
      term_.ellipsis = term_.labels.size();
      return {};
    }
    if (term_.labels.size() == kMaxDimensions) return errors::too_many_dimensions(text(), token.span, kMaxDimensions);
    const auto [place, inserted] = numbers_.emplace(token.text, static_cast<int>(einsum_.labels.size()));
    if (inserted) einsum_.labels.push_back(token.text);
    term_.labels.push_back(place->second);
    term_.spans.push_back(token.span);
    return {};
  }

  // At a comma, a closing parenthesis or the arrow: what stands before it is an operand, unless it is a group.
  Result<void> end_item(Span here) {
    if (after_group_) return {};
    if (is_empty(term_)) term_.span = {here.begin, here.begin};
    if (einsum_.operands.size() == kMaxOperands) return errors::too_many_operands(text(), term_.span, kMaxOperands);
    Group operand;
    operand.operand = static_cast<int>(einsum_.operands.size());
    current().members.push_back(std::move(operand));
    einsum_.operands.push_back(std::move(term_));
    term_ = {};
    return {};
  }

  Result<void> check_result() const {
    const Term& result = einsum_.result;
    std::vector<bool> known(einsum_.labels.size());
    for (const auto& operand : einsum_.operands)
      for (const int label : operand.labels) known[label] = true;
    for (size_t i = 0; i < result.labels.size(); ++i)
      if (!known[result.labels[i]])
        return errors::unknown_result_label(text(), result.spans[i], einsum_.labels[result.labels[i]]);
    const auto with_ellipsis = std::find_if(einsum_.operands.begin(), einsum_.operands.end(),
                                            [](const Term& term) { return term.ellipsis.has_value(); });
    const bool found = with_ellipsis != einsum_.operands.end();
    if (result.ellipsis && !found) return errors::unknown_result_ellipsis(text(), result.span);
    if (!result.ellipsis && found)
      return errors::missing_result_ellipsis(text(), result.span,
                                             static_cast<size_t>(with_ellipsis - einsum_.operands.begin()));
    return {};
  }

  static bool is_empty(const Term& term) { return term.labels.empty() && !term.ellipsis; }

  errors::Failed no_arrow(const std::vector<Token>& tokens) const {
    constexpr std::string_view kArrows[] = {"→", "⟶", "⇒"};
    for (const auto& token : tokens)
      if (std::find(std::begin(kArrows), std::end(kArrows), token.text) != std::end(kArrows))
        return errors::other_arrow(text(), token.span, token.text);
    return errors::no_arrow(text(), tokens.back().span, implicit_output());
  }

  // Numpy's implicit output: `...` and the labels that occur once, sorted.
  std::string implicit_output() const {
    std::map<std::string, int> count;
    bool ellipsis = false;
    const auto add = [&](const Term& term) {
      ellipsis = ellipsis || term.ellipsis;
      for (const int label : term.labels) ++count[einsum_.labels[label]];
    };
    for (const auto& operand : einsum_.operands) add(operand);
    add(term_);
    std::string output = einsum_.text + "->" + (ellipsis ? "..." : "");
    for (const auto& [label, times] : count)
      if (times == 1) output += label;
    return output;
  }

  Einsum einsum_;
  std::map<std::string, int> numbers_;  // of labels
  Term term_;
  bool after_group_ = false;
  Group root_;
  std::vector<Open> open_;
};

}  // namespace

Result<Einsum> parse(std::string_view text) {
  TILE_TUNE_TRY(tokens, tokens_of(text));
  return Parser(text).parse(tokens);
}

Result<Einsum> parse(const std::vector<std::vector<int64_t>>& operands, const std::vector<int64_t>& result) {
  std::string text;
  std::vector<Token> tokens;
  const auto add = [&](Kind kind, std::string_view what) {
    const int begin = static_cast<int>(text.size());
    text += what;
    tokens.push_back({kind, std::string(what), {begin, static_cast<int>(text.size())}});
  };
  const auto add_term = [&](const std::vector<int64_t>& labels) -> Result<void> {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i > 0) text += ' ';
      if (labels[i] < 0 && labels[i] != kEllipsis) return errors::bad_label(labels[i]);
      const bool ellipsis = labels[i] == kEllipsis;
      add(ellipsis ? Kind::Ellipsis : Kind::Label, ellipsis ? "..." : std::to_string(labels[i]));
    }
    return {};
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) add(Kind::Comma, ",");
    TILE_TUNE_CHECK(add_term(operands[i]));
  }
  add(Kind::Arrow, "->");
  TILE_TUNE_CHECK(add_term(result));
  add(Kind::End, "");
  return Parser(text).parse(tokens);
}

std::string size_name(std::string_view label) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (label.size() == 1 && is_letter(label[0])) return std::string(label);
  if (std::all_of(label.begin(), label.end(), is_digit)) return fmt::format("label_{}", label);
  const auto character = first_code_point(label);
  return fmt::format("label_u{:x}", character ? character->value : 0);
}

}  // namespace tile_tune::einsum
