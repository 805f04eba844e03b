#include "frontend/ir/operand_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

// Choices tried where tensors or indices remain alike; nearly always they are truly symmetric, and the first would do.
constexpr int kMaxTexts = 16;
// Refinements of all colours: beyond them the order that is there stands.
constexpr int kMaxRefinements = 200;

// ---- hashes ----

// Equal on every platform; collisions only leave an order as it was. Constants: splitmix64.
uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t z = (seed ^ value) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename... Values>
uint64_t hash_of(Values... values) {
  uint64_t hash = 0;
  ((hash = mix(hash, static_cast<uint64_t>(values))), ...);
  return hash;
}

uint64_t hash_of_all(uint64_t seed, std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  for (const uint64_t value : values) seed = mix(seed, value);
  return seed;
}

// What a hash looks at: the structure; the values of literals and sizes, too; extents, ranges and shifts, too.
constexpr int kStructure = 0, kNumbers = 1, kSizes = 2;
using Hashes = std::array<uint64_t, 3>;

int64_t number(const SizeExpr& size) { return size.constant().value_or(0); }

// A size that is bound counts like the literal it will be.
uint64_t value_of(const Expr& expr) {
  const auto* literal = std::get_if<Literal>(&expr.node);
  const bool real = is_float(expr.type) || is_complex(expr.type);
  if (literal && std::holds_alternative<bool>(literal->value)) return std::get<bool>(literal->value);
  if (literal && std::holds_alternative<double>(literal->value))
    return std::bit_cast<uint64_t>(std::get<double>(literal->value));
  const int64_t integer = literal ? std::get<int64_t>(literal->value) : number(std::get<SizeValue>(expr.node).size);
  if (!real) return static_cast<uint64_t>(integer);
  const auto value = static_cast<double>(integer);
  return std::bit_cast<uint64_t>(expr.type == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value);
}

// ---- commutative operations ----

bool commutes(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::Eq:
    case Op::Ne:
    case Op::And:
    case Op::Or:
      return true;
    default:
      return false;
  }
}

// How many of the operands, the first ones, may stand in any order: of a fused multiply-add the factors.
size_t commuting(Op op, size_t operands) { return commutes(op) ? operands : op == Op::Fma ? 2 : 0; }

template <typename T, typename... Less>
void sort_commuting(Op op, std::vector<T>& operands, Less... less) {
  const auto end = operands.begin() + static_cast<std::ptrdiff_t>(commuting(op, operands.size()));
  std::stable_sort(operands.begin(), end, less...);
}

// Sums and products of floats round differently in another grouping.
bool associates(Op op, DType type) {
  if (op == Op::Add || op == Op::Mul) return is_integer(type) || type == DType::Bool;
  return commutes(op) && op != Op::Eq && op != Op::Ne;
}

void append_operands(const ExprPtr& expr, Op op, DType type, std::vector<ExprPtr>& operands) {
  const auto* call = std::get_if<Call>(&expr->node);
  if (!call || call->op != op || expr->type != type) {
    operands.push_back(expr);
    return;
  }
  for (const auto& argument : call->arguments) append_operands(argument, op, type, operands);
}

/// The factors of a float sum's term as one call. Their product is rounded another way in another grouping, by no more
/// than what the sum may err by anyway (reference/tolerance.h), unlike the terms of a sum, which may cancel.
Program with_open_products(const Program& program) {
  Program result = program;
  for (auto& statement : result.statements) {
    const auto* product = std::get_if<Call>(&statement.value->node);
    if (statement.op != Aggregation::Sum || statement.value->type != statement.accumulator) continue;
    if (!product || product->op != Op::Mul) continue;
    Call open{Op::Mul, {}};
    append_operands(statement.value, Op::Mul, statement.accumulator, open.arguments);
    statement.value = make_expr(statement.accumulator, std::move(open));
  }
  return result;
}

/// Arguments of a call; all of a chain of one associative operation.
std::vector<ExprPtr> operands_of(const Call& call, DType type) {
  if (!commutes(call.op) || !associates(call.op, type)) return call.arguments;
  std::vector<ExprPtr> operands;
  for (const auto& argument : call.arguments) append_operands(argument, call.op, type, operands);
  return operands;
}

// Halves, so that no chain becomes deeper than it was.
ExprPtr tree_of(Op op, DType type, const std::vector<ExprPtr>& operands, size_t begin, size_t end) {
  if (end - begin == 1) return operands[begin];
  const size_t middle = begin + (end - begin + 1) / 2;
  return make_expr(type,
                   Call{op, {tree_of(op, type, operands, begin, middle), tree_of(op, type, operands, middle, end)}});
}

// ---- colours ----

/// Ranks of tensors and of each statement's indices; lower ones come first, equal ones are alike.
struct Colours {
  std::vector<int> tensors;
  std::vector<std::vector<int>> indices;  // by statement
};

/// What an expression is sorted by: the subscripts of the first read in it, then hashes of all of it.
struct Signature {
  std::vector<int64_t> lead;
  Hashes hashes{};
  auto operator<=>(const Signature&) const = default;
};

// Greater than any colour: of two subscripts that begin alike the longer comes first.
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// Signatures of a statement's expressions under colours.
class Signatures {
 public:
  Signatures(size_t statement, const Colours& colours)
      : indices_(colours.indices[statement]), tensors_(colours.tensors) {}

  const Signature& of(const ExprPtr& expr) {
    if (const auto found = known_.find(expr.get()); found != known_.end()) return found->second;
    auto signature = std::visit([&](const auto& node) { return make(*expr, node); }, expr->node);
    for (auto& hash : signature.hashes) hash = hash_of(hash, expr->node.index(), expr->type);
    return known_[expr.get()] = std::move(signature);
  }

  std::vector<std::pair<int, int64_t>> terms(const AffineExpr& expr) const {
    std::vector<std::pair<int, int64_t>> result;
    for (const auto& [index, coefficient] : expr.terms) result.emplace_back(indices_[index], coefficient);
    std::sort(result.begin(), result.end());
    return result;
  }

  Hashes of(const AffineExpr& expr) const {
    uint64_t hash = hash_of(expr.denominator);
    for (const auto& [colour, coefficient] : terms(expr)) hash = hash_of(hash, colour, coefficient);
    return {hash, hash, hash_of(hash, number(expr.constant))};
  }

 private:
  static void add(Signature& to, const Hashes& hashes) {
    for (size_t i = 0; i < hashes.size(); ++i) to.hashes[i] = hash_of(to.hashes[i], hashes[i]);
  }

  Signature make(const Expr& expr, const Literal&) { return make_number(expr); }
  Signature make(const Expr& expr, const SizeValue&) { return make_number(expr); }
  static Signature make_number(const Expr& expr) { return {{kEnd}, {0, value_of(expr), value_of(expr)}}; }
  Signature make(const Expr&, const IndexValue& value) {
    const auto hash = hash_of(indices_[value.index]);
    return {{kEnd}, {hash, hash, hash}};
  }

  Signature make(const Expr&, const Read& read) {
    Signature result;
    for (const auto& subscript : read.subscripts) {
      if (const auto* affine = std::get_if<AffineExpr>(&subscript)) {
        for (const auto& [colour, coefficient] : terms(*affine)) {
          result.lead.push_back(colour);
          result.lead.push_back(coefficient);
        }
        add(result, of(*affine));
      } else {
        add(result, of(std::get<ExprPtr>(subscript)).hashes);
      }
      result.lead.push_back(kEnd);
    }
    result.lead.push_back(kEnd);
    result.lead.push_back(tensors_[read.tensor]);
    const auto colour = hash_of(tensors_[read.tensor]);
    add(result, {colour, colour, colour});
    return result;
  }

  Signature make(const Expr& expr, const Call& call) {
    const auto operands = operands_of(call, expr.type);
    std::vector<Signature> signatures;
    for (const auto& operand : operands) signatures.push_back(of(operand));
    sort_commuting(call.op, signatures);
    Signature result{signatures.front().lead, {}};
    const auto op = hash_of(call.op);
    add(result, {op, op, op});
    for (size_t level = 0; level < 3; ++level) {
      std::vector<uint64_t> hashes;
      for (const auto& signature : signatures) hashes.push_back(signature.hashes[level]);
      sort_commuting(call.op, hashes);
      for (const auto hash : hashes) result.hashes[level] = hash_of(result.hashes[level], hash);
    }
    return result;
  }

  Signature make(const Expr&, const Cast& cast) {
    Signature result = of(cast.argument);
    add(result, {1, 1, 1});
    return result;
  }

  const std::vector<int>& indices_;
  const std::vector<int>& tensors_;
  std::unordered_map<const Expr*, Signature> known_;
};

/// Uses of every tensor and index, as hashes.
struct Uses {
  std::vector<std::vector<uint64_t>> tensors;
  std::vector<std::vector<std::vector<uint64_t>>> indices;
};

class UseCollector {
 public:
  UseCollector(const Program& program, const Colours& colours, int level)
      : program_(program), colours_(colours), level_(level) {
    uses_.tensors.resize(program.tensors.size());
    for (size_t t = 0; t < program.tensors.size(); ++t)
      if (level == kSizes)
        for (const auto& extent : program.tensors[t].extents) uses_.tensors[t].push_back(hash_of(number(extent)));
    for (size_t s = 0; s < program.statements.size(); ++s) collect(s);
  }
  Uses take() && { return std::move(uses_); }

 private:
  void collect(size_t s) {
    const Statement& statement = program_.statements[s];
    Signatures signatures(s, colours_);
    uses_.indices.emplace_back(statement.indices.size());
    for (size_t i = 0; i < statement.indices.size(); ++i)
      if (level_ == kSizes) use_index(i, hash_of(number(statement.indices[i].lo), number(statement.indices[i].hi)));
    for (size_t d = 0; d < statement.subscripts.size(); ++d) use_all(signatures, statement.subscripts[d], hash_of(d));
    for (const auto& [expr, bound] : statement.constraints)
      use_all(signatures, expr, hash_of(1, level_ == kSizes ? number(bound) : 0));
    if (statement.previous) uses_.tensors[*statement.previous].push_back(hash_of(s, 2));
    if (statement.unwritten) uses_.tensors[*statement.unwritten].push_back(hash_of(s, 3));
    walk(signatures, statement.value, hash_of(s, 4));
  }

  void use_index(size_t index, uint64_t use) { uses_.indices.back()[index].push_back(use); }

  void use_all(const Signatures& signatures, const AffineExpr& expr, uint64_t context) {
    for (const auto& [index, coefficient] : expr.terms)
      use_index(index, hash_of(context, signatures.of(expr)[level_], coefficient));
  }

  // `context` is what stands around the expression.
  void walk(Signatures& signatures, const ExprPtr& expr, uint64_t context) {
    context = hash_of(context, signatures.of(expr).hashes[level_]);
    if (const auto* value = std::get_if<IndexValue>(&expr->node)) {
      use_index(value->index, context);
    } else if (const auto* read = std::get_if<Read>(&expr->node)) {
      uses_.tensors[read->tensor].push_back(context);
      for (size_t d = 0; d < read->subscripts.size(); ++d) {
        if (const auto* affine = std::get_if<AffineExpr>(&read->subscripts[d]))
          use_all(signatures, *affine, hash_of(context, d));
        else
          walk(signatures, std::get<ExprPtr>(read->subscripts[d]), hash_of(context, d));
      }
    } else if (const auto* call = std::get_if<Call>(&expr->node)) {
      // The context holds all operands already: where the order counts, an operand's place is all that is missing.
      const auto operands = operands_of(*call, expr->type);
      for (size_t i = 0; i < operands.size(); ++i)
        walk(signatures, operands[i], i < commuting(call->op, operands.size()) ? context : hash_of(context, i));
    } else if (const auto* cast = std::get_if<Cast>(&expr->node)) {
      walk(signatures, cast->argument, context);
    }
  }

  const Program& program_;
  const Colours& colours_;
  const int level_;
  Uses uses_;
};

/// Replaces keys by their ranks; returns how many different ones there are.
template <typename Key>
size_t rank(const std::vector<Key>& keys, std::vector<int>& ranks) {
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  ranks.clear();
  for (const auto& key : keys)
    ranks.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
  return sorted.size();
}

Colours first_colours(const Program& program) {
  std::vector<std::tuple<int, Role, DType, size_t>> kinds;
  for (const auto& tensor : program.tensors) kinds.emplace_back(0, tensor.role, tensor.type, tensor.extents.size());
  for (size_t s = 0; s < program.statements.size(); ++s)
    std::get<0>(kinds[program.statements[s].target]) = static_cast<int>(s) + 1;
  Colours colours;
  rank(kinds, colours.tensors);
  for (const auto& statement : program.statements) {
    // By place on the left, larger strides first; reductions after all of them.
    std::vector<std::vector<std::tuple<int64_t, uint64_t, int64_t>>> places(statement.indices.size());
    for (size_t d = 0; d < statement.subscripts.size(); ++d)
      for (const auto& [index, coefficient] : statement.subscripts[d].terms)
        places[index].emplace_back(
            d, ~(coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient)),
            coefficient);
    for (auto& place : places) place.emplace_back(kEnd, 0, 0);
    rank(places, colours.indices.emplace_back());
  }
  return colours;
}

/// Tells apart what is used differently, until nothing more is. Colours keep their order.
void refine(const Program& program, Colours& colours, int& refinements) {
  for (const int level : {kStructure, kNumbers, kSizes}) {
    for (size_t before = 0, after = 1; before != after && refinements < kMaxRefinements; ++refinements) {
      before = after;
      after = 0;
      auto uses = UseCollector(program, colours, level).take();
      const auto split = [&](std::vector<int>& ranks, std::vector<std::vector<uint64_t>>& used) {
        std::vector<std::pair<int, uint64_t>> keys;
        for (size_t i = 0; i < ranks.size(); ++i)
          keys.emplace_back(ranks[i], hash_of_all(used[i].size(), std::move(used[i])));
        after += rank(keys, ranks);
      };
      split(colours.tensors, uses.tensors);
      for (size_t s = 0; s < colours.indices.size(); ++s) split(colours.indices[s], uses.indices[s]);
    }
  }
}

// ---- the search ----

ExprPtr ordered(const ExprPtr& expr, Signatures& signatures);

Subscript ordered(const Subscript& subscript, Signatures& signatures) {
  const auto* nested = std::get_if<ExprPtr>(&subscript);
  return nested ? Subscript{ordered(*nested, signatures)} : subscript;
}

ExprPtr ordered(const ExprPtr& original, Signatures& signatures) {
  Expr expr = *original;
  if (auto* read = std::get_if<Read>(&expr.node)) {
    for (auto& subscript : read->subscripts) subscript = ordered(subscript, signatures);
  } else if (auto* cast = std::get_if<Cast>(&expr.node)) {
    cast->argument = ordered(cast->argument, signatures);
  } else if (auto* call = std::get_if<Call>(&expr.node)) {
    auto operands = operands_of(*call, expr.type);
    sort_commuting(call->op, operands,
                   [&](const ExprPtr& a, const ExprPtr& b) { return signatures.of(a) < signatures.of(b); });
    for (auto& operand : operands) operand = ordered(operand, signatures);
    if (operands.size() > 2 && commutes(call->op)) return tree_of(call->op, expr.type, operands, 0, operands.size());
    call->arguments = std::move(operands);
  }
  return std::make_shared<const Expr>(std::move(expr));
}

Program ordered(const Program& program, const Colours& colours) {
  Program result = program;
  for (size_t s = 0; s < result.statements.size(); ++s) {
    Statement& statement = result.statements[s];
    Signatures signatures(s, colours);
    statement.value = ordered(program.statements[s].value, signatures);
    std::vector<int> order(statement.indices.size()), new_number(order.size());
    std::iota(order.begin(), order.end(), 0);
    const auto& ranks = colours.indices[s];
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ranks[a] < ranks[b]; });
    for (size_t i = 0; i < order.size(); ++i) new_number[order[i]] = static_cast<int>(i);
    renumber_indices(statement, new_number);
  }
  return result;
}

class Search {
 public:
  Search(Program program, const std::function<std::string(const Program&)>& text)
      : program_(std::move(program)), text_(text) {}

  Program best() && {
    Colours colours = first_colours(program_);
    search(std::move(colours));
    return std::move(*best_);
  }

 private:
  // The colours of tensors, then of each statement's indices.
  static std::vector<std::vector<int>*> parts(Colours& colours) {
    std::vector<std::vector<int>*> result{&colours.tensors};
    for (auto& indices : colours.indices) result.push_back(&indices);
    return result;
  }

  /// Members of the first colour that several share, and the part they are in.
  static std::vector<size_t> alike(Colours& colours, size_t& part) {
    const auto all = parts(colours);
    for (part = 0; part < all.size(); ++part) {
      const auto& ranks = *all[part];
      for (size_t i = 0; i < ranks.size(); ++i) {
        std::vector<size_t> members;
        for (size_t j = 0; j < ranks.size(); ++j)
          if (ranks[j] == ranks[i]) members.push_back(j);
        if (members.size() > 1) return members;
      }
    }
    return {};
  }

  void search(Colours colours) {
    refine(program_, colours, refinements_);
    size_t part = 0;
    const auto members = alike(colours, part);
    if (members.empty() || refinements_ >= kMaxRefinements) return consider(colours);
    for (size_t m = 0; m < members.size(); ++m) {
      if (best_ && (texts_ >= kMaxTexts || refinements_ >= kMaxRefinements)) return;
      Colours chosen = colours;
      auto& ranks = *parts(chosen)[part];  // doubled to make room between them
      for (auto& rank : ranks) rank *= 2;
      --ranks[members[m]];
      search(std::move(chosen));
    }
  }

  void consider(const Colours& colours) {
    Program candidate = ordered(program_, colours);
    if (++texts_ == 1) {
      best_ = std::move(candidate);
      return;
    }
    if (texts_ == 2) best_text_ = text_(*best_);
    auto text = text_(candidate);
    if (text >= best_text_) return;
    best_ = std::move(candidate);
    best_text_ = std::move(text);
  }

  const Program program_;
  const std::function<std::string(const Program&)>& text_;
  std::optional<Program> best_;
  std::string best_text_;
  int texts_ = 0, refinements_ = 0;
};

}  // namespace

Program order_operands(const Program& program, const std::function<std::string(const Program&)>& text) {
  return Search(with_open_products(program), text).best();
}

}  // namespace tile_tune::ir
