#include "frontend/tc/parser.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "frontend/tc/errors.h"
#include "frontend/tc/number_literal.h"

namespace tile_tune::tc {
namespace {

using ir::Op;

struct BinaryOperator {
  std::string_view symbol;
  Op op;
  int precedence;  // higher binds tighter
};
constexpr std::array<BinaryOperator, 13> kBinaryOperators{{
    {"||", Op::Or, 1},
    {"&&", Op::And, 2},
    {"==", Op::Eq, 3},
    {"!=", Op::Ne, 3},
    {"<", Op::Lt, 3},
    {"<=", Op::Le, 3},
    {">", Op::Gt, 3},
    {">=", Op::Ge, 3},
    {"+", Op::Add, 4},
    {"-", Op::Sub, 4},
    {"*", Op::Mul, 5},
    {"/", Op::Div, 5},
    {"%", Op::Mod, 5},
}};

struct Assignment {
  std::string_view symbol;
  ir::Aggregation op;
  bool initialises;
};
constexpr std::array<Assignment, 9> kAssignments{{
    {"=", ir::Aggregation::Assign, true},
    {"+=", ir::Aggregation::Sum, false},
    {"*=", ir::Aggregation::Product, false},
    {"min=", ir::Aggregation::Min, false},
    {"max=", ir::Aggregation::Max, false},
    {"+=!", ir::Aggregation::Sum, true},
    {"*=!", ir::Aggregation::Product, true},
    {"min=!", ir::Aggregation::Min, true},
    {"max=!", ir::Aggregation::Max, true},
}};

template <typename Table>
const typename Table::value_type* find_symbol(const Table& table, const Token& token) {
  if (token.kind != Token::Kind::Symbol) return nullptr;
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.symbol == token.text; });
  return found == table.end() ? nullptr : &*found;
}

// Recursive descent; each function consumes the rule named in the comment above it.
class Parser {
 public:
  Parser(const Source& source, const std::vector<Token>& tokens) : source_(source), tokens_(tokens) {}

  // [def], then the end or the next one
  Result<std::optional<ast::Def>> part() {
    if (peek().kind == Token::Kind::End) return std::nullopt;
    TILE_TUNE_TRY(parsed, def());
    if (peek().kind != Token::Kind::End && !peek().is("def")) return unexpected_token("'def'");
    return parsed;
  }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool accept(std::string_view spelling) {
    if (!peek().is(spelling)) return false;
    take();
    return true;
  }
  Place here() const { return source_.place(peek().span); }
  tl::unexpected<Diagnostic> unexpected_token(std::string_view wanted) const {
    return errors::unexpected_token(here(), wanted, peek());
  }
  Result<void> expect(std::string_view spelling) {
    if (accept(spelling)) return {};
    return unexpected_token(fmt::format("'{}'", spelling));
  }
  Result<ast::Name> name(std::string_view wanted) {
    if (peek().kind == Token::Kind::Keyword) return errors::keyword_as_name(here(), peek().text);
    if (peek().kind != Token::Kind::Identifier) return unexpected_token(wanted);
    const auto& token = take();
    return ast::Name{token.text, token.span};
  }

  // [ item { "," item } ] ")"
  template <typename Item>
  Result<void> list(Item item) {
    if (accept(")")) return {};
    do {
      TILE_TUNE_CHECK(item());
    } while (accept(","));
    if (accept(")")) return {};
    return unexpected_token("',' or ')'");
  }

  // def = "def" id "(" [param {"," param}] ")" "->" "(" [out {"," out}] ")" "{" { stmt } "}"
  Result<ast::Def> def() {
    ast::Def result;
    const Span begin = peek().span;
    if (!accept("def")) return unexpected_token("'def'");
    TILE_TUNE_TRY(def_name, name("a name for the def"));
    result.name = def_name;
    TILE_TUNE_CHECK(expect("("));
    TILE_TUNE_CHECK(list([&] { return declaration(result.inputs, true); }));
    TILE_TUNE_CHECK(expect("->"));
    TILE_TUNE_CHECK(expect("("));
    TILE_TUNE_CHECK(list([&] { return declaration(result.outputs, false); }));
    TILE_TUNE_CHECK(expect("{"));
    while (!accept("}")) {
      if (peek().kind == Token::Kind::End || peek().is("def"))
        return errors::unterminated_def(source_.place(result.name.span), result.name.text);
      TILE_TUNE_TRY(parsed, statement());
      result.body.push_back(std::move(parsed));
    }
    result.span = join(begin, tokens_[at_ - 1].span);
    return result;
  }

  // param = type id        out = [type] id
  Result<void> declaration(std::vector<ast::Declaration>& declarations, bool needs_type) {
    ast::Declaration result;
    if (const auto scalar = scalar_type(peek().text); scalar && peek().kind == Token::Kind::Keyword) {
      TILE_TUNE_TRY(parsed, type(*scalar));
      result.type = std::move(parsed);
    } else if (needs_type) {
      return errors::missing_type(here(), peek());
    }
    TILE_TUNE_TRY(declared, name("a name"));
    result.name = declared;
    declarations.push_back(std::move(result));
    return {};
  }

  // type = scalar [ "(" dim {"," dim} ")" ]        dim = integer | id
  Result<ast::Type> type(DType scalar) {
    ast::Type result{scalar, {}};
    take();
    if (!accept("(")) return result;
    if (peek().is(")")) return unexpected_token("a dimension: a size name or a whole number");
    TILE_TUNE_CHECK(list([&]() -> Result<void> {
      const auto& token = peek();
      if (token.kind == Token::Kind::Number) {
        TILE_TUNE_TRY(number, parse_number(source_, take()));
        if (!std::holds_alternative<int64_t>(number))
          return errors::unexpected_token(source_.place(token.span), "a whole number as dimension", token);
        result.dims.push_back({std::get<int64_t>(number), token.span});
        return {};
      }
      TILE_TUNE_TRY(size, name("a dimension: a size name or a whole number"));
      result.dims.push_back({size, size.span});
      return {};
    }));
    return result;
  }

  // stmt = id [ "(" [id {"," id}] ")" ] op expr [ "where" clause {"," clause} ] [";"]
  Result<ast::Statement> statement() {
    ast::Statement result;
    TILE_TUNE_TRY(target, name("a statement or '}'"));
    result.target = target;
    if (accept("(")) {
      result.has_parentheses = true;
      TILE_TUNE_CHECK(list([&]() -> Result<void> {
        const bool is_plain = peek(1).is(",") || peek(1).is(")");
        if (peek().kind == Token::Kind::Number || (peek().kind == Token::Kind::Identifier && !is_plain))
          return errors::computed_left_subscript(here());
        TILE_TUNE_TRY(subscript, name("an index variable"));
        result.subscripts.push_back(subscript);
        return {};
      }));
    }
    const auto* assignment = find_symbol(kAssignments, peek());
    if (!assignment) return unexpected_token("an assignment such as '=' or '+=!'");
    result.op = assignment->op;
    result.initialises = assignment->initialises;
    result.op_text = take().text;
    TILE_TUNE_TRY(value, expression());
    result.value = std::move(value);
    if (accept("where")) {
      do {
        TILE_TUNE_CHECK(clause(result.where));
      } while (accept(","));
    }
    result.span = join(target.span, tokens_[at_ - 1].span);
    accept(";");
    return result;
  }

  // clause = id "in" expr ":" expr | id "=" "[" expr "," expr "[" | id "=" expr | "exists" expr
  Result<void> clause(std::vector<ast::Clause>& clauses) {
    if (accept("exists")) {
      TILE_TUNE_TRY(value, expression());
      clauses.emplace_back(ast::ExistsClause{std::move(value)});
      return {};
    }
    TILE_TUNE_TRY(subject, name("a where clause"));
    const bool is_in = accept("in");
    if (!is_in && !accept("=")) return unexpected_token("'in' or '='");
    if (!is_in && !accept("[")) {
      TILE_TUNE_TRY(value, expression());
      clauses.emplace_back(ast::LetClause{subject, std::move(value)});
      return {};
    }
    TILE_TUNE_TRY(lo, expression());
    TILE_TUNE_CHECK(expect(is_in ? ":" : ","));
    TILE_TUNE_TRY(hi, expression());
    if (!is_in && peek().is("]")) return errors::closed_interval(here());
    if (!is_in) TILE_TUNE_CHECK(expect("["));
    clauses.emplace_back(ast::RangeClause{subject, std::move(lo), std::move(hi)});
    return {};
  }

  Result<ast::ExprPtr> make(Span span, ast::Apply node) { return finish(span, node.arguments, std::move(node)); }
  Result<ast::ExprPtr> make(Span span, ast::Operation node) { return finish(span, node.arguments, std::move(node)); }

  template <typename Node>
  Result<ast::ExprPtr> finish(Span span, const std::vector<ast::ExprPtr>& arguments, Node&& node) {
    int depth = 0;
    for (const auto& argument : arguments) depth = std::max(depth, argument->depth);
    if (depth >= ast::kMaxDepth) return errors::too_deep(source_.place(span), ast::kMaxDepth);
    return std::make_unique<const ast::Expr>(ast::Expr{span, std::move(node), depth + 1});
  }

  template <typename... Argument>
  Result<ast::ExprPtr> operation(Op op, Span span, Argument... argument) {
    ast::Operation node{op, {}};
    (node.arguments.push_back(std::move(argument)), ...);
    return make(span, std::move(node));
  }

  // Every recursion goes through here, so that no text exhausts the stack.
  template <typename Rule>
  Result<ast::ExprPtr> nested(Rule rule) {
    if (nesting_ >= ast::kMaxNesting) return errors::too_nested(here(), ast::kMaxNesting);
    ++nesting_;
    auto result = rule();
    --nesting_;
    return result;
  }

  // expr = or_expr [ "?" expr ":" expr ]
  Result<ast::ExprPtr> expression() {
    return nested([&]() -> Result<ast::ExprPtr> {
      TILE_TUNE_TRY(condition, binary(1));
      if (!accept("?")) return condition;
      TILE_TUNE_TRY(if_true, expression());
      TILE_TUNE_CHECK(expect(":"));
      TILE_TUNE_TRY(if_false, expression());
      const auto span = join(condition->span, if_false->span);
      return operation(Op::Select, span, std::move(condition), std::move(if_true), std::move(if_false));
    });
  }

  // Operators of at least this precedence, all left-associative.
  Result<ast::ExprPtr> binary(int precedence) {
    bool left_in_parentheses = peek().is("(");
    TILE_TUNE_TRY(first, unary());
    auto left = std::move(first);
    while (const auto* found = find_symbol(kBinaryOperators, peek())) {
      if (found->precedence < precedence) break;
      take();
      const bool right_in_parentheses = peek().is("(");
      TILE_TUNE_TRY(right, binary(found->precedence + 1));
      const auto span = join(left->span, right->span);
      ast::Operation node{found->op, {}, std::exchange(left_in_parentheses, false), right_in_parentheses};
      node.arguments.push_back(std::move(left));
      node.arguments.push_back(std::move(right));
      TILE_TUNE_TRY(combined, make(span, std::move(node)));
      left = std::move(combined);
    }
    return left;
  }

  // unary = ("-" | "!") unary | base
  Result<ast::ExprPtr> unary() {
    const auto start = peek().span;
    const bool minus = peek().is("-");
    if (!minus && !peek().is("!")) return base();
    take();
    return nested([&]() -> Result<ast::ExprPtr> {
      TILE_TUNE_TRY(argument, unary());
      const auto span = join(start, argument->span);
      return operation(minus ? Op::Neg : Op::Not, span, std::move(argument));
    });
  }

  // base = number | "(" expr ")" | scalar "(" expr ")" | id [ "(" [expr {"," expr}] ")" ]
  Result<ast::ExprPtr> base() {
    const auto token = peek();
    if (accept("(")) {
      TILE_TUNE_TRY(inner, expression());
      TILE_TUNE_CHECK(expect(")"));
      return inner;
    }
    if (token.kind == Token::Kind::Number) {
      TILE_TUNE_TRY(value, parse_number(source_, take()));
      return std::make_unique<const ast::Expr>(ast::Expr{token.span, ast::Number{token.text, value}, 1});
    }
    if (const auto scalar = scalar_type(token.text)) return cast(*scalar);
    if (token.kind != Token::Kind::Identifier) return unexpected_token("an expression");
    take();
    if (!accept("(")) return std::make_unique<const ast::Expr>(ast::Expr{token.span, ast::Identifier{token.text}, 1});
    ast::Apply node{{token.text, token.span}, {}};
    TILE_TUNE_CHECK(list([&]() -> Result<void> {
      TILE_TUNE_TRY(argument, expression());
      node.arguments.push_back(std::move(argument));
      return {};
    }));
    return make(join(token.span, tokens_[at_ - 1].span), std::move(node));
  }

  Result<ast::ExprPtr> cast(DType type) {
    const auto start = take().span;
    TILE_TUNE_CHECK(expect("("));
    TILE_TUNE_TRY(argument, expression());
    TILE_TUNE_CHECK(expect(")"));
    const int depth = argument->depth + 1;
    const auto span = join(start, tokens_[at_ - 1].span);
    if (depth > ast::kMaxDepth) return errors::too_deep(source_.place(span), ast::kMaxDepth);
    return std::make_unique<const ast::Expr>(ast::Expr{span, ast::Cast{type, std::move(argument)}, depth});
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

Result<std::optional<ast::Def>> parse_syntax(const Source& source, const std::vector<Token>& tokens) {
  return Parser(source, tokens).part();
}

}  // namespace tile_tune::tc
