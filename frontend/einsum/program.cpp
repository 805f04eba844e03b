#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "frontend/einsum/einsum.h"
#include "frontend/einsum/errors.h"
#include "frontend/einsum/limits.h"
#include "frontend/einsum/promote.h"
#include "frontend/einsum/resolve.h"
#include "frontend/plan/network.h"

namespace tile_tune::einsum {
namespace {

using plan::AxisSet;

// An operand or the result of a step.
struct Stored {
  int tensor = -1;
  std::vector<int> dimensions;  // axes, or kRepeats
};

// Writes the statements, one a step.
class Builder {
 public:
  Builder(const Einsum& einsum, const Known& known, const Resolved& resolved)
      : einsum_(einsum), known_(known), resolved_(resolved) {
    program_.name = "einsum";
    program_.free_order = einsum.operands.size() > 2 && !plan::has_groups(einsum.order);
    for (const auto& label : einsum.labels) program_.sizes.push_back(size_name(label));
    for (size_t i = 0; i < einsum.operands.size(); ++i) add_input(i);
  }

  Result<ir::Program> build() {
    TILE_TUNE_TRY(type, result_type());
    result_type_ = type;
    std::vector<Stored> stored;
    for (size_t i = 0; i < einsum_.operands.size(); ++i) stored.push_back({program_.inputs[i], resolved_.operands[i]});
    const auto steps = plan::products(network(), einsum_.order);
    for (const auto& step : steps) {
      if (step.dimensions.size() > kMaxDimensions) return errors::intermediate_too_large(einsum_, kMaxDimensions);
      std::vector<Stored> pieces;
      for (const int number : step.pieces) pieces.push_back(stored[number]);
      stored.push_back(emit(pieces, step.dimensions, &step == &steps.back()));
    }
    return std::move(program_);
  }

 private:
  void add_input(size_t operand) {
    ir::Tensor tensor;
    tensor.name = fmt::format("in{}", operand);
    tensor.type = type_of(operand);
    for (const int axis : resolved_.operands[operand])
      tensor.extents.push_back(axis == kRepeats ? ir::SizeExpr(1) : resolved_.axes[axis].extent);
    program_.inputs.push_back(static_cast<int>(program_.tensors.size()));
    program_.tensors.push_back(std::move(tensor));
  }

  DType type_of(size_t operand) const { return known_.operands.empty() ? DType::F32 : known_.operands[operand].type; }

  /// Inputs are the first tensors, in the operands' order.
  bool is_conjugate(int tensor) const {
    const auto operand = static_cast<size_t>(tensor);
    return operand < known_.conjugate.size() && known_.conjugate[operand] && is_complex(type_of(operand));
  }

  /// Of the result (decision 1): the operands' common type, or what an undeclared sum or product of it is.
  Result<DType> result_type() const {
    DType common = type_of(0);
    for (size_t i = 1; i < einsum_.operands.size(); ++i) common = common_type(common, type_of(i));
    const DType undeclared = is_copy() || is_float(common) ? common : accumulator_type(common);
    if (!known_.result) return undeclared;
    // Into a declared float the steps are computed as floats, so there it is the operands that have to fit.
    const DType least = is_integer(*known_.result) ? undeclared : common;
    if (!holds(*known_.result, least)) return errors::narrowing(einsum_, least, *known_.result);
    return *known_.result;
  }

  /// Nothing is multiplied or summed.
  bool is_copy() const {
    return einsum_.operands.size() == 1 &&
           plan::Piece{0, resolved_.operands[0]}.axes() == AxisSet(resolved_.result.begin(), resolved_.result.end());
  }

  /// Of what steps compute: narrow types only hold operands and the result.
  DType step_type() const { return accumulator_type(result_type_); }

  plan::Network network() const {
    plan::Network network{resolved_.operands, {}, step_type(), resolved_.result};
    network.axes = resolved_.axes.size();
    for (size_t i = 0; i < einsum_.operands.size(); ++i) network.types.push_back(type_of(i));
    const auto is_known = [](const Axis& axis) { return axis.value.has_value(); };
    if (!std::all_of(resolved_.axes.begin(), resolved_.axes.end(), is_known)) return network;
    network.extents.emplace();
    for (const auto& axis : resolved_.axes)
      network.extents->push_back(static_cast<double>(std::max<int64_t>(0, *axis.value)));
    return network;
  }

  /// The statement that multiplies the pieces and sums what `result` does not have.
  Stored emit(const std::vector<Stored>& pieces, std::vector<int> result, bool last) {
    ir::Statement statement;
    std::vector<int> numbers(resolved_.axes.size(), -1);  // of the axes' indices
    const auto add_index = [&](int axis) {
      if (axis == kRepeats || numbers[axis] >= 0) return;
      numbers[axis] = static_cast<int>(statement.indices.size());
      statement.indices.push_back({index_name(axis), 0, resolved_.axes[axis].extent, bound_by(pieces, axis)});
    };
    for (const int axis : result) add_index(axis);
    const size_t outputs = statement.indices.size();
    for (const auto& piece : pieces)
      for (const int axis : piece.dimensions) add_index(axis);
    const bool adds = last && known_.adds;
    const bool sums = adds || statement.indices.size() > outputs;

    for (const int axis : result) statement.subscripts.push_back(ir::AffineExpr::index(numbers[axis]));
    statement.op = sums ? ir::Aggregation::Sum : ir::Aggregation::Assign;
    const DType type = last ? result_type_ : step_type();
    statement.accumulator = sums && is_float(type) ? accumulator_type(type) : type;
    const bool copies = last && is_copy();
    statement.value = read(pieces[0], numbers, copies);
    if (pieces.size() == 2)
      statement.value = ir::make_expr(step_type(), ir::Call{step_type() == DType::Bool ? ir::Op::And : ir::Op::Mul,
                                                            {statement.value, read(pieces[1], numbers, false)}});
    if (adds) statement.previous = add_tensor("out", result, type, ir::Role::InOut);
    statement.target = add_result(result, type, last);
    const Stored piece{statement.target, std::move(result)};
    program_.statements.push_back(std::move(statement));
    return piece;
  }

  int add_tensor(std::string name, const std::vector<int>& dimensions, DType type, ir::Role role) {
    const int number = static_cast<int>(program_.tensors.size());
    ir::Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    for (const int axis : dimensions) tensor.extents.push_back(resolved_.axes[axis].extent);
    tensor.role = role;
    program_.tensors.push_back(std::move(tensor));
    return number;
  }

  int add_result(const std::vector<int>& dimensions, DType type, bool last) {
    if (!last)
      return add_tensor(fmt::format("partial{}", program_.statements.size()), dimensions, type, ir::Role::Temporary);
    program_.outputs.push_back(add_tensor("out", dimensions, type, ir::Role::Output));
    return program_.outputs.back();
  }

  ir::ExprPtr read(const Stored& piece, const std::vector<int>& numbers, bool as_stored) const {
    ir::Read node{piece.tensor, {}};
    for (const int axis : piece.dimensions)
      node.subscripts.emplace_back(axis == kRepeats ? ir::AffineExpr{} : ir::AffineExpr::index(numbers[axis]));
    const DType stored = program_.tensors[piece.tensor].type;
    auto expr = ir::make_expr(stored, std::move(node));
    if (!as_stored && stored != step_type()) expr = ir::make_expr(step_type(), ir::Cast{std::move(expr)});
    if (!is_conjugate(piece.tensor)) return expr;
    const DType type = expr->type;
    return ir::make_expr(type, ir::Call{ir::Op::Conj, {std::move(expr)}});
  }

  /// A label's size and index have one name.
  std::string index_name(int axis) const {
    const auto label = static_cast<size_t>(axis);
    return label < einsum_.labels.size() ? size_name(einsum_.labels[label]) : resolved_.axes[label].name;
  }

  /// What an index runs over, in words: "in0(i,j), dimension 1".
  std::string bound_by(const std::vector<Stored>& pieces, int axis) const {
    for (const auto& piece : pieces) {
      const auto found = std::find(piece.dimensions.begin(), piece.dimensions.end(), axis);
      if (found == piece.dimensions.end()) continue;
      std::vector<std::string> names;
      for (const int one : piece.dimensions) names.push_back(one == kRepeats ? "0" : index_name(one));
      return fmt::format("{}({}), dimension {}", program_.tensors[piece.tensor].name, fmt::join(names, ","),
                         found - piece.dimensions.begin());
    }
    return "";
  }

  const Einsum& einsum_;
  const Known& known_;
  const Resolved& resolved_;
  DType result_type_ = DType::F32;
  ir::Program program_;
};

}  // namespace

Result<Made> make_program(const Einsum& einsum, const Known& known) {
  TILE_TUNE_TRY(resolved, resolve(einsum, known));
  if (resolved.result.size() > kMaxDimensions)
    return errors::too_many_dimensions(einsum.text, einsum.result.span, kMaxDimensions);
  TILE_TUNE_TRY(program, Builder(einsum, known, resolved).build());
  return Made{std::move(program), std::move(resolved.sizes)};
}

}  // namespace tile_tune::einsum
