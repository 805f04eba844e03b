// Writing a TensorOutput: aggregations, combinations and the types they give.
#include <fmt/format.h>

#include <ostream>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"

namespace tile_tune::edsl {

using detail::Access;
using detail::Contraction;
using ir::Aggregation;

namespace {

/// An undeclared sum or product of 8- or 16-bit integers is int32 (decision 1).
DType result_type(Aggregation op, const Combination& value) {
  DType type = value.operands().front()->tensor->type;
  for (const auto& operand : value.operands()) type = promote(type, operand->tensor->type);
  const bool accumulates = op == Aggregation::Sum || op == Aggregation::Product;
  return accumulates && is_integer(type) ? accumulator_type(type) : type;
}

void write(const Access& target, Aggregation op, const Combination& value) {
  const auto& where = target.where;
  auto* contraction = std::get_if<Contraction>(&target.tensor->kind);
  if (!contraction)
    raise("not-an-output", fmt::format("{} cannot be written", name_of(*target.tensor)), where,
          "only a TensorOutput can be the target of a contraction");
  if (contraction->op)
    raise("second-contraction", fmt::format("{} is written by a second contraction", name_of(*target.tensor)), where,
          "a TensorOutput takes one; write each into a TensorOutput of its own and combine these");
  for (const auto& operand : value.operands()) read(*operand->tensor, operand->where);
  const DType type = result_type(op, value);
  const bool ordered = op == Aggregation::Max || op == Aggregation::Min;
  if (ordered && is_complex(type)) raise("complex-order", "complex numbers have no order", where);
  target.tensor->type = type;
  contraction->op = op;
  contraction->target = target.subscripts;
  contraction->where = where;
  contraction->operands = value.operands();
  contraction->is_sum = value.is_sum();
  if (contraction->unwritten) contraction->unwritten = default_for(*target.tensor, contraction->unwritten, where);
}

}  // namespace

Combination::Combination(const Combination& a, const Combination& b, bool is_sum)
    : operands_(a.operands_), is_sum_(is_sum) {
  operands_.insert(operands_.end(), b.operands_.begin(), b.operands_.end());
}

// A contraction: what the target points to is written, not the target.
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
void IndexedTensor::operator=(const IndexedTensor& value) const { assign(value); }
void IndexedTensor::sum(const Combination& value) const { write(*access_, Aggregation::Sum, value); }
void IndexedTensor::product(const Combination& value) const { write(*access_, Aggregation::Product, value); }
void IndexedTensor::max(const Combination& value) const { write(*access_, Aggregation::Max, value); }
void IndexedTensor::min(const Combination& value) const { write(*access_, Aggregation::Min, value); }
void IndexedTensor::assign(const Combination& value) const { write(*access_, Aggregation::Assign, value); }

std::ostream& operator<<(std::ostream& stream, const IndexedTensor& indexed) {
  return stream << detail::to_text(*indexed.access_);
}

}  // namespace tile_tune::edsl
