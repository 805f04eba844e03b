#include "frontend/plan/path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "frontend/ir/describe.h"
#include "frontend/ir/requirement.h"
#include "frontend/ir/rewrite.h"
#include "frontend/plan/factors.h"

namespace tile_tune::plan {
namespace {

tl::unexpected<Diagnostic> bad_path(std::string_view why) {
  return failure("bad-path", fmt::format("a path of contractions does not fit its program: {}", why));
}

// ---- text ----

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at != std::string_view::npos;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

Result<std::vector<int>> parse_numbers(std::string_view text, char separator) {
  std::vector<int> numbers;
  for (const auto part : split(text, separator)) {
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0)
      return bad_path(fmt::format("'{}' is no number", part.substr(0, 20)));
    numbers.push_back(number);
  }
  return numbers;
}

Result<Product> parse_step(std::string_view text) {
  const size_t arrow = text.find('>');
  TILE_TUNE_TRY(pieces, parse_numbers(text.substr(0, arrow), '*'));
  if (arrow == std::string_view::npos || arrow + 1 == text.size()) return Product{std::move(pieces), {}};
  TILE_TUNE_TRY(dimensions, parse_numbers(text.substr(arrow + 1), ','));
  return Product{std::move(pieces), std::move(dimensions)};
}

// ---- statements ----

AxisSet index_set(const ir::Expr& expr) {
  const auto indices = ir::indices_of(expr);
  return {indices.begin(), indices.end()};
}

/// Without the indices that nothing in it uses, `held` ones aside.
void drop_unused_indices(ir::Statement& statement, const AxisSet& held) {
  AxisSet used = index_set(*statement.value);
  used.insert(held.begin(), held.end());
  const auto use = [&](const ir::AffineExpr& expr) {
    for (const auto& [index, coefficient] : expr.terms) used.insert(index);
  };
  for (const auto& subscript : statement.subscripts) use(subscript);
  for (const auto& constraint : statement.constraints) use(constraint.expr);
  std::vector<int> new_number(statement.indices.size(), -1);
  std::vector<ir::Index> indices;
  for (const int index : used) {
    new_number[index] = static_cast<int>(indices.size());
    indices.push_back(statement.indices[index]);
  }
  const ir::Rewriter rewriter{[&](ir::AffineExpr& expr) {
                                for (auto& term : expr.terms) term.first = new_number[term.first];
                              },
                              [&](ir::Expr& expr) {
                                if (auto* value = std::get_if<ir::IndexValue>(&expr.node))
                                  value->index = new_number[value->index];
                              }};
  ir::rewrite(statement, rewriter);
  statement.indices = std::move(indices);
}

/// Puts one statement of a program into steps.
class Steps {
 public:
  Steps(ir::Program& program, ir::Statement statement, Factors factors)
      : program_(program), statement_(std::move(statement)), factors_(std::move(factors)) {
    for (const auto& factor : factors_.factors) {
      pieces_.push_back({factor.value, index_set(*factor.value), false});
      for (const int index : pieces_.back().indices) ++uses_[index];
    }
    for (const int index : factors_.held) ++uses_[index];
  }

  Result<std::vector<ir::Statement>> emit(const std::vector<Product>& steps) {
    std::vector<ir::Statement> statements;
    for (const auto& step : steps) {
      const bool last = &step == &steps.back();
      TILE_TUNE_CHECK(take(step, last));
      ir::Statement statement = statement_;
      TILE_TUNE_TRY(value, quotient(step.pieces));
      statement.value = std::move(value);
      if (!last) leave(step.dimensions, statement);
      drop_unused_indices(statement, last ? factors_.held : AxisSet{});
      statements.push_back(std::move(statement));
    }
    if (!std::all_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.is_taken; }))
      return bad_path("a factor is left out");
    return statements;
  }

 private:
  struct Piece {
    ir::ExprPtr value;
    AxisSet indices;
    bool is_taken;
  };

  /// Checks that the step multiplies what is there, and sums only what nothing else has.
  Result<void> take(const Product& step, bool last) {
    AxisSet inside;
    for (const int number : step.pieces) {
      if (number >= static_cast<int>(pieces_.size()) || pieces_[number].is_taken)
        return bad_path("a piece is not there");
      if (!last && number < static_cast<int>(factors_.factors.size()) && !factors_.factors[number].is_plain)
        return bad_path("a factor is multiplied where it must not be");
      pieces_[number].is_taken = true;
      for (const int index : pieces_[number].indices) --uses_[index];
      inside.insert(pieces_[number].indices.begin(), pieces_[number].indices.end());
    }
    if (last) return {};
    const AxisSet kept(step.dimensions.begin(), step.dimensions.end());
    if (kept.size() != step.dimensions.size() || !std::includes(inside.begin(), inside.end(), kept.begin(), kept.end()))
      return bad_path("a step leaves what it does not have");
    for (const int index : inside)
      if (!kept.contains(index) && uses_[index] > 0) return bad_path("a step sums what is used later");
    return {};
  }

  bool divides(int piece) const {
    return piece < static_cast<int>(factors_.factors.size()) && factors_.factors[piece].divides;
  }

  Result<ir::ExprPtr> quotient(std::vector<int> pieces) const {
    const auto divisors =
        std::stable_partition(pieces.begin(), pieces.end(), [&](int piece) { return !divides(piece); });
    if (divisors == pieces.begin()) return bad_path("a step divides nothing");
    auto value = product(pieces.data(), pieces.data() + (divisors - pieces.begin()));
    for (auto piece = divisors; piece != pieces.end(); ++piece)
      value = ir::make_expr(statement_.accumulator, ir::Call{ir::Op::Div, {value, product(&*piece, &*piece + 1)}});
    return value;
  }

  /// In halves, so that no product is deeper than the one as written.
  ir::ExprPtr product(const int* begin, const int* end) const {
    const DType type = statement_.accumulator;
    if (end - begin == 1) {
      const auto& value = pieces_[*begin].value;
      return value->type == type ? value : ir::make_expr(type, ir::Cast{value});
    }
    const int* middle = begin + (end - begin + 1) / 2;
    const ir::Op op = type == DType::Bool ? ir::Op::And : ir::Op::Mul;
    return ir::make_expr(type, ir::Call{op, {product(begin, middle), product(middle, end)}});
  }

  /// Makes the statement one that writes a temporary over these indices.
  void leave(const std::vector<int>& dimensions, ir::Statement& statement) {
    ir::Tensor tensor{unused_name(), statement_.accumulator, {}, ir::Role::Temporary};
    ir::Read read{static_cast<int>(program_.tensors.size()), {}};
    statement.subscripts.clear();
    for (const int index : dimensions) {
      // Of a range that begins later the elements before it are not written and not read.
      tensor.extents.push_back(statement_.indices[index].hi);
      statement.subscripts.push_back(ir::AffineExpr::index(index));
      read.subscripts.emplace_back(ir::AffineExpr::index(index));
    }
    statement.target = read.tensor;
    statement.constraints.clear();
    statement.previous = statement.unwritten = std::nullopt;
    const AxisSet kept(dimensions.begin(), dimensions.end());
    if (index_set(*statement.value) == kept) statement.op = ir::Aggregation::Assign;
    program_.tensors.push_back(std::move(tensor));
    pieces_.push_back({ir::make_expr(statement_.accumulator, std::move(read)), kept, false});
    for (const int index : kept) ++uses_[index];
  }

  std::string unused_name() const {
    const auto& target = program_.tensors[static_cast<size_t>(statement_.target)].name;
    for (size_t number = 1;; ++number) {
      auto name = fmt::format("{}_part{}", target, number);
      if (std::none_of(program_.tensors.begin(), program_.tensors.end(),
                       [&](const auto& tensor) { return tensor.name == name; }))
        return name;
    }
  }

  ir::Program& program_;
  ir::Statement statement_;
  Factors factors_;
  std::vector<Piece> pieces_;
  std::map<int, int> uses_;  // how many pieces, and what is held, have an index
};

/// Which terms a statement adds, unless all: " where 0 <= i + k < 10".
std::string guard_words(const ir::Statement& statement) {
  std::vector<std::string> words;
  for (const auto& [expr, bound] : ir::constraints_on_indices(statement))
    words.push_back(fmt::format("0 <= {} < {}", ir::to_text(statement, expr), bound.str()));
  return words.empty() ? "" : fmt::format(" where {}", fmt::join(words, " && "));
}

std::string piece_words(const ir::Program& program, const ir::Statement& statement, const Factors& factors,
                        const std::vector<Product>& steps, int number, bool inside) {
  const int count = static_cast<int>(factors.factors.size());
  if (number < count) {
    const auto& factor = factors.factors[number];
    const auto* read = std::get_if<ir::Read>(&factor.value->node);
    if (read && factor.is_plain) return program.tensors[static_cast<size_t>(read->tensor)].name;
    const auto text = ir::to_text(program, statement, *factor.value);
    return std::holds_alternative<ir::Call>(factor.value->node) ? fmt::format("({})", text) : text;
  }
  std::vector<std::string> words, divisors;
  for (const int piece : steps[static_cast<size_t>(number - count)].pieces) {
    auto& side = piece < count && factors.factors[piece].divides ? divisors : words;
    side.push_back(piece_words(program, statement, factors, steps, piece, true));
  }
  words.front() = fmt::format("{}", fmt::join(words, " * "));
  words.resize(1);
  words.insert(words.end(), divisors.begin(), divisors.end());
  const auto text = fmt::format("{}", fmt::join(words, " / "));
  return inside ? fmt::format("({})", text) : text;
}

}  // namespace

std::string path_text(const Path& path) {
  std::vector<std::string> statements;
  for (const auto& [statement, steps] : path) {
    std::vector<std::string> texts;
    for (const auto& step : steps)
      texts.push_back(fmt::format("{}{}{}", fmt::join(step.pieces, "*"), &step == &steps.back() ? "" : ">",
                                  fmt::join(step.dimensions, ",")));
    statements.push_back(fmt::format("{}:{}", statement, fmt::join(texts, ";")));
  }
  return fmt::format("{}", fmt::join(statements, "|"));
}

Result<Path> parse_path(std::string_view text) {
  Path path;
  for (const auto part : split(text, '|')) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return bad_path("there is no ':'");
    TILE_TUNE_TRY(number, parse_numbers(part.substr(0, colon), ','));
    StatementPath one{number.front(), {}};
    for (const auto step : split(part.substr(colon + 1), ';')) {
      TILE_TUNE_TRY(parsed, parse_step(step));
      one.steps.push_back(std::move(parsed));
    }
    path.push_back(std::move(one));
  }
  return path;
}

std::string path_words(const ir::Program& program, const Path& path) {
  std::vector<std::string> sentences;
  for (const auto& [number, steps] : path) {
    const auto& statement = program.statements[static_cast<size_t>(number)];
    const auto factors = factors_of(program, statement);
    const int last = static_cast<int>(factors->factors.size() + steps.size()) - 1;
    sentences.push_back(fmt::format("{} = {}{}", program.tensors[static_cast<size_t>(statement.target)].name,
                                    piece_words(program, statement, *factors, steps, last, false),
                                    guard_words(statement)));
  }
  return fmt::format("{}", fmt::join(sentences, ", "));
}

Result<ir::Program> factored(const ir::Program& program, const Path& path) {
  ir::Program result = program;
  result.statements.clear();
  auto next = path.begin();
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    if (next == path.end() || next->statement != static_cast<int>(s)) {
      result.statements.push_back(statement);
      continue;
    }
    auto factors = factors_of(program, statement);
    if (!factors || next->steps.size() < 2) return bad_path("there is no product to put into steps");
    TILE_TUNE_TRY(statements, Steps(result, statement, std::move(*factors)).emit(next->steps));
    std::move(statements.begin(), statements.end(), std::back_inserter(result.statements));
    ++next;
  }
  if (next != path.end()) return bad_path("there is no such statement");
  return result;
}

}  // namespace tile_tune::plan
