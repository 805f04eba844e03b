#include "frontend/ir/form.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/canonical.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

bool mentions(const AffineExpr& expr, int index) { return expr.coefficient(index) != 0; }

bool is_plainly(const AffineExpr& expr, int index) {
  return expr.terms == std::vector<std::pair<int, int64_t>>{{index, 1}} && expr.denominator == 1 &&
         expr.constant.constant() == 0;
}

/// The one dimension that is the index and nothing else, while no other mentions it; -1: there is none.
int dimension_of(const std::vector<AffineExpr>& subscripts, int index) {
  int found = -1;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    if (!mentions(subscripts[d], index)) continue;
    if (found >= 0 || !is_plainly(subscripts[d], index)) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

std::optional<std::vector<AffineExpr>> affine_subscripts(const Read& read) {
  std::vector<AffineExpr> result;
  for (const auto& subscript : read.subscripts) {
    const auto* affine = std::get_if<AffineExpr>(&subscript);
    if (affine == nullptr) return std::nullopt;
    result.push_back(*affine);
  }
  return result;
}

bool is_affine(const Program& program) {
  bool affine = true;
  for (const auto& statement : program.statements)
    for_each_read(*statement.value, [&](const Read& read) { affine &= affine_subscripts(read).has_value(); });
  return affine;
}

bool uses_value_of(const Statement& statement, int index) {
  bool found = false;
  rewrite(*statement.value, {[](AffineExpr&) {},
                             [&](Expr& expr) {
                               const auto* value = std::get_if<IndexValue>(&expr.node);
                               found |= value != nullptr && value->index == index;
                             }});
  return found;
}

/// Tensor -> the dimension that goes with a batch index; empty: it is no batch index.
using Dimensions = std::map<int, int>;

Dimensions batch_dimensions(const Program& program, int index) {
  const Statement& statement = program.statements.front();
  Dimensions dimensions{{statement.target, dimension_of(statement.subscripts, index)}};
  bool is_batch = dimensions.at(statement.target) >= 0 && !uses_value_of(statement, index);
  for (const auto& constraint : statement.constraints) is_batch &= !mentions(constraint.expr, index);
  for (const auto& same : {statement.previous, statement.unwritten})
    if (same) dimensions[*same] = dimensions.at(statement.target);
  for_each_read(*statement.value, [&](const Read& read) {
    const auto subscripts = affine_subscripts(read);
    const int dimension = subscripts ? dimension_of(*subscripts, index) : -1;
    is_batch &= dimension >= 0 && dimensions.try_emplace(read.tensor, dimension).first->second == dimension;
  });
  return is_batch ? dimensions : Dimensions();
}

DType plain_type(DType type) { return type == DType::Bool || is_complex(type) ? type : DType::F32; }

void erase_types(Program& program) {
  for (auto& tensor : program.tensors) tensor.type = plain_type(tensor.type);
  const auto erase = [](Expr& expr) {
    if (const auto* cast = std::get_if<Cast>(&expr.node)) {
      const ExprPtr argument = cast->argument;
      if (plain_type(expr.type) == plain_type(argument->type)) expr = Expr(*argument);
    }
    expr.type = plain_type(expr.type);
  };
  for (auto& statement : program.statements) {
    statement.accumulator = plain_type(statement.accumulator);
    rewrite(statement, {[](AffineExpr&) {}, erase});
  }
}

template <typename T>
void erase_at(std::vector<T>& values, const std::set<int>& places) {
  for (auto place = places.rbegin(); place != places.rend(); ++place) values.erase(values.begin() + *place);
}

void erase_batches(Program& program, const std::vector<int>& batches) {
  std::map<int, std::set<int>> dimensions;
  for (const int index : batches)
    for (const auto& [tensor, dimension] : batch_dimensions(program, index)) dimensions[tensor].insert(dimension);
  Statement& statement = program.statements.front();
  erase_at(statement.subscripts, dimensions[statement.target]);
  rewrite(statement, {[](AffineExpr&) {},
                      [&](Expr& expr) {
                        if (auto* read = std::get_if<Read>(&expr.node))
                          erase_at(read->subscripts, dimensions[read->tensor]);
                      }});
  for (const auto& [tensor, places] : dimensions)
    erase_at(program.tensors[static_cast<size_t>(tensor)].extents, places);
  // Nothing mentions them any more: to the end, and off.
  const auto is_batch = [&](int index) { return std::find(batches.begin(), batches.end(), index) != batches.end(); };
  const int count = static_cast<int>(statement.indices.size());
  std::vector<int> number(statement.indices.size());
  int next = 0;
  for (const bool batch : {false, true})
    for (int i = 0; i < count; ++i)
      if (is_batch(i) == batch) number[static_cast<size_t>(i)] = next++;
  renumber_indices(statement, number);
  statement.indices.resize(statement.indices.size() - batches.size());
}

}  // namespace

std::vector<int> batch_indices(const Program& canonical) {
  if (canonical.statements.size() != 1 || canonical.statements[0].reduction_indices().empty()) return {};
  std::vector<int> batches;
  int outputs = 0;
  for (int i = 0; i < static_cast<int>(canonical.statements[0].indices.size()); ++i) {
    if (canonical.statements[0].is_reduction(i)) continue;
    ++outputs;
    if (!batch_dimensions(canonical, i).empty()) batches.push_back(i);
  }
  if (static_cast<int>(batches.size()) == outputs) batches.clear();
  return batches;
}

Program form_of(const Program& canonical) {
  if (!is_affine(canonical)) return canonical;
  Program form = canonical;
  if (const auto batches = batch_indices(form); !batches.empty()) erase_batches(form, batches);
  erase_types(form);
  return canonicalize(form);
}

}  // namespace tile_tune::ir
