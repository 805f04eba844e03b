#include "frontend/ir/canonical.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "frontend/ir/gather.h"
#include "frontend/ir/json.h"
#include "frontend/ir/operand_order.h"
#include "frontend/ir/requirement.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

// Part of every hash: goes up when programs that hashed alike no longer would.
constexpr int kHashFormat = 2;

// ---- tensors ----

// Inputs nothing reads are told apart by what they are, so that argument order does not show.
std::vector<int> unread_inputs(const Program& program, const std::vector<int>& new_number) {
  std::vector<int> unread;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Role role = program.tensors[i].role;
    if ((role == Role::Input || role == Role::InOut) && new_number[i] < 0) unread.push_back(static_cast<int>(i));
  }
  const auto key = [&](int number) {
    const Tensor& tensor = program.tensors[number];
    std::vector<int64_t> extents;
    for (const auto& extent : tensor.extents) extents.push_back(extent.constant().value_or(-1));
    const auto position = std::find(program.inputs.begin(), program.inputs.end(), number) - program.inputs.begin();
    return std::tuple(tensor.role, tensor.type, extents.size(), extents, position);
  };
  std::sort(unread.begin(), unread.end(), [&](int a, int b) { return key(a) < key(b); });
  return unread;
}

/// New number of every tensor: inputs by first read, unread inputs, targets in statement order.
std::vector<int> tensor_order(const Program& program) {
  std::vector<int> new_number(program.tensors.size(), -1);
  int next = 0;
  const auto number = [&](int tensor) {
    if (new_number[tensor] < 0) new_number[tensor] = next++;
  };
  const auto number_input = [&](int tensor) {
    const Role role = program.tensors[tensor].role;
    if (role == Role::Input || role == Role::InOut) number(tensor);
  };
  for (const auto& statement : program.statements) {
    for_each_read(*statement.value, [&](const Read& read) { number_input(read.tensor); });
    // After the reads, so that a product's operands have the same numbers whether it accumulates or not.
    if (statement.previous) number_input(*statement.previous);
    if (statement.unwritten) number_input(*statement.unwritten);
  }
  for (const int input : unread_inputs(program, new_number)) number(input);
  for (const auto& statement : program.statements) number(statement.target);
  return new_number;
}

void renumber_tensors(Program& program, const std::vector<int>& new_number) {
  std::vector<Tensor> tensors(program.tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) tensors[new_number[i]] = std::move(program.tensors[i]);
  program.tensors = std::move(tensors);
  for (auto& input : program.inputs) input = new_number[input];
  for (auto& output : program.outputs) output = new_number[output];
  const Rewriter rewriter{[](AffineExpr&) {},
                          [&](Expr& expr) {
                            if (auto* read = std::get_if<Read>(&expr.node)) read->tensor = new_number[read->tensor];
                          }};
  for (auto& statement : program.statements) {
    statement.target = new_number[statement.target];
    if (statement.previous) statement.previous = new_number[*statement.previous];
    if (statement.unwritten) statement.unwritten = new_number[*statement.unwritten];
    rewrite(statement, rewriter);
  }
}

// ---- indices ----

// One use of an index: the place in the walk over the statement, and the coefficient there (larger strides
// first). An index is ordered by all its uses, so the order depends on neither names nor old numbers.
struct Use {
  int64_t place;
  uint64_t stride;  // negated, so that larger strides compare less
  int64_t coefficient;
  int64_t denominator;
  auto operator<=>(const Use&) const = default;
};

class IndexUses {
 public:
  explicit IndexUses(const Statement& statement) : uses_(statement.indices.size()) {
    for (const auto& subscript : statement.subscripts) affine(subscript);
    walk(*statement.value);
    // Compares greater than any use: of two lists that begin alike, the one that goes on comes first.
    for (auto& uses : uses_) uses.push_back({std::numeric_limits<int64_t>::max(), 0, 0, 0});
  }
  const std::vector<Use>& of(int index) const { return uses_[index]; }

 private:
  void affine(const AffineExpr& expr) {
    for (const auto& [index, coefficient] : expr.terms) {
      const uint64_t stride =
          coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
      uses_[index].push_back({place_, ~stride, coefficient, expr.denominator});
    }
    ++place_;
  }

  void walk(const Expr& expr) {
    if (const auto* value = std::get_if<IndexValue>(&expr.node)) {
      uses_[value->index].push_back({place_++, 0, 1, 1});
    } else if (const auto* read = std::get_if<Read>(&expr.node)) {
      for (const auto& subscript : read->subscripts) {
        if (const auto* plain = std::get_if<AffineExpr>(&subscript))
          affine(*plain);
        else
          walk(*std::get<ExprPtr>(subscript));
      }
    } else if (const auto* call = std::get_if<Call>(&expr.node)) {
      for (const auto& argument : call->arguments) walk(*argument);
    } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
      walk(*cast->argument);
    }
  }

  std::vector<std::vector<Use>> uses_;
  int64_t place_ = 0;
};

// A constraint seen from one of its indices: its own coefficient, then all (order class, coefficient) pairs.
// Indices that the walk cannot tell apart share a class.
using ConstraintView = std::tuple<int64_t, int64_t, std::vector<std::pair<int, int64_t>>>;

std::vector<ConstraintView> constraint_views(const Statement& statement, int index, const std::vector<int>& classes) {
  std::vector<ConstraintView> views;
  for (const auto& constraint : statement.constraints) {
    const int64_t own = constraint.expr.coefficient(index);
    if (own == 0) continue;
    std::vector<std::pair<int, int64_t>> terms;
    for (const auto& [other, coefficient] : constraint.expr.terms) terms.emplace_back(classes[other], coefficient);
    std::sort(terms.begin(), terms.end());
    views.emplace_back(own, constraint.expr.denominator, std::move(terms));
  }
  std::sort(views.begin(), views.end());
  return views;
}

/// New number of every index: by uses on the left, then in the value; those that remain tied by their
/// constraints, then by their ranges.
std::vector<int> index_order(const Statement& statement) {
  const int count = static_cast<int>(statement.indices.size());
  const IndexUses uses(statement);
  std::vector<int> order(count), classes(count), new_number(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return uses.of(a) < uses.of(b); });
  for (int i = 1; i < count; ++i)
    classes[order[i]] = classes[order[i - 1]] + (uses.of(order[i]) != uses.of(order[i - 1]) ? 1 : 0);
  const auto key = [&](int index) {
    const auto& [name, lo, hi, reason] = statement.indices[index];
    return std::tuple(classes[index], constraint_views(statement, index, classes), lo.constant().value_or(0),
                      hi.constant().value_or(0));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  for (int i = 0; i < count; ++i) new_number[order[i]] = i;
  return new_number;
}

// Constraints are a set. Sizes come last: family hashes must not see an order that depends on them.
void sort_constraints(Statement& statement) {
  const auto key = [](const Constraint& constraint) {
    return std::tuple(constraint.expr.terms, constraint.expr.denominator,
                      constraint.expr.constant.constant().value_or(0), constraint.bound.constant().value_or(0));
  };
  std::stable_sort(statement.constraints.begin(), statement.constraints.end(),
                   [&](const Constraint& a, const Constraint& b) { return key(a) < key(b); });
}

// ---- values ----

// 2 and 2.0 as a float, or 0.1 and 0.1f as an f32, are one literal.
void normalise_literal(Expr& expr) {
  auto* literal = std::get_if<Literal>(&expr.node);
  if (!literal || (!is_float(expr.type) && !is_complex(expr.type))) return;
  const auto* integer = std::get_if<int64_t>(&literal->value);
  const double value = integer ? static_cast<double>(*integer) : std::get<double>(literal->value);
  literal->value = expr.type == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void normalise_values(Statement& statement) {
  rewrite(statement, {[](AffineExpr&) {}, normalise_literal});
}

// ---- programs ----

Program numbered(Program program) {
  for (auto& statement : program.statements) {
    renumber_indices(statement, index_order(statement));
    sort_constraints(statement);
  }
  renumber_tensors(program, tensor_order(program));
  return program;
}

/// A numbered program without its spelling and use: names, argument order, layouts, what is constant or cold, places.
Program anonymous(Program result) {
  result.name.clear();
  result.sizes.clear();
  result.cold = result.free_order = false;
  std::vector<std::string> names(result.tensors.size());
  for (const int output : result.outputs) {
    // An in/out value and its output are tied by their name: it stays, as the output's number.
    names[output] = std::to_string(output);
    if (const auto initial = result.initial_value_of(output)) names[*initial] = names[output];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    result.tensors[i].name = names[i];
    result.tensors[i].storage = Storage::row();
    result.tensors[i].constant = false;
  }
  std::sort(result.inputs.begin(), result.inputs.end());
  std::sort(result.outputs.begin(), result.outputs.end());
  for (auto& statement : result.statements) {
    statement.place.reset();
    for (auto& index : statement.indices) index = {"", index.lo, index.hi, ""};
  }
  return result;
}

// A bound size is a literal like any other.
Program with_literal_sizes(Program program) {
  const Rewriter rewriter{[](AffineExpr&) {},
                          [](Expr& expr) {
                            const auto* size = std::get_if<SizeValue>(&expr.node);
                            if (!size || !size->size.constant()) return;
                            expr.node = Literal{*size->size.constant()};
                            normalise_literal(expr);
                          }};
  for (auto& statement : program.statements) rewrite(statement, rewriter);
  return program;
}

std::string content_text(Program canonical) {
  return to_json(with_literal_sizes(anonymous(std::move(canonical)))).dump();
}

Program ordered(const Program& program) {
  return numbered(order_operands(program, [](const Program& choice) { return content_text(numbered(choice)); }));
}

// Statements that have no gather form stay; bind() does not let them pass.
bool gather_statements(Program& program, bool plain) {
  if (!program.is_bound()) return false;
  bool any = false;
  for (auto& statement : program.statements) {
    if (is_plain(statement) != plain) continue;
    auto gathered = gather_form(program, statement);
    if (gathered) statement = std::move(*gathered);
    any = true;
  }
  return any;
}

// ---- hashes ----

/// Replaces every number that stems from a size by 0. Shifts of subscripts go, too: in a bound program
/// N - 1 and 511 look alike. Coefficients, denominators and literals stay.
void erase_sizes(Program& program) {
  for (auto& tensor : program.tensors) std::fill(tensor.extents.begin(), tensor.extents.end(), 0);
  for (auto& statement : program.statements) {
    for (auto& index : statement.indices) index.lo = index.hi = 0;
    for (auto& constraint : statement.constraints) constraint.bound = 0;
    rewrite(statement, {[](AffineExpr& expr) { expr.constant = 0; },
                        [](Expr& expr) {
                          if (auto* value = std::get_if<SizeValue>(&expr.node)) value->size = 0;
                        }});
  }
}

}  // namespace

Program canonicalize(const Program& program) {
  Program result = program;
  for (auto& statement : result.statements) normalise_values(statement);
  gather_statements(result, true);  // drops constraints that say nothing
  result = ordered(result);
  // The change of variables depends on the order of the indices, and makes new ones.
  if (gather_statements(result, false)) result = ordered(result);
  return result;
}

std::string content_hash(const Program& program) {
  return base::sha256_hex(fmt::format("tile-tune content {}\n{}", kHashFormat, content_text(canonicalize(program))));
}

std::string family_hash(const Program& program) {
  Program without_requirements = program;
  for (auto& statement : without_requirements.statements) statement.constraints = constraints_on_indices(statement);
  Program family = anonymous(canonicalize(without_requirements));
  erase_sizes(family);
  return base::sha256_hex(fmt::format("tile-tune family {}\n{}", kHashFormat, to_json(family).dump()));
}

std::string layout_text(const Program& canonical) {
  const std::string cold = canonical.cold ? ", cold" : "";
  std::string letters;
  for (const auto& tensor : canonical.tensors) {
    if (tensor.role == Role::Temporary) continue;
    const char letter = tensor.storage.is_row() ? 'r' : tensor.storage.is_col() ? 'c' : 's';
    letters += tensor.constant ? static_cast<char>(std::toupper(letter)) : letter;
    if (!tensor.storage.is_compact()) letters += fmt::format("[{}]", to_text(tensor.storage));
  }
  if (letters.find_first_not_of('r') == std::string::npos) return "row" + cold;
  return (letters.find_first_not_of('c') == std::string::npos ? "col" : letters) + cold;
}

}  // namespace tile_tune::ir
