#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "frontend/einsum/axis_ranks.h"
#include "frontend/einsum/einsum.h"
#include "frontend/einsum/errors.h"
#include "frontend/einsum/limits.h"
#include "frontend/einsum/plan.h"
#include "frontend/einsum/promote.h"
#include "frontend/einsum/resolve.h"

namespace tile_tune::einsum {
namespace {

// A tensor still to be contracted: an operand or the result of a step.
struct Piece {
  int tensor = -1;
  std::vector<int> dimensions;  // axes, or kRepeats

  AxisSet axes() const {
    AxisSet result(dimensions.begin(), dimensions.end());
    result.erase(kRepeats);
    return result;
  }
};

// Writes the statements, one a step. uses_[axis] is how many pieces that wait, the result among them, have the axis.
class Builder {
 public:
  Builder(const Einsum& einsum, const Known& known, const Resolved& resolved)
      : einsum_(einsum), known_(known), resolved_(resolved), uses_(resolved.axes.size()) {
    program_.name = "einsum";
    for (const auto& label : einsum.labels) program_.sizes.push_back(size_name(label));
    for (size_t i = 0; i < einsum.operands.size(); ++i) add_input(i);
    for (const int axis : AxisSet(resolved.result.begin(), resolved.result.end())) ++uses_[axis];
    const auto is_known = [](const Axis& axis) { return axis.value.has_value(); };
    if (std::all_of(resolved.axes.begin(), resolved.axes.end(), is_known)) {
      extents_.emplace();
      for (const auto& axis : resolved.axes)
        extents_->push_back(static_cast<double>(std::max<int64_t>(0, *axis.value)));
      std::vector<DType> types;
      for (size_t i = 0; i < einsum.operands.size(); ++i) types.push_back(type_of(i));
      ranks_ = axis_ranks(resolved, types);
    }
  }

  Result<ir::Program> build() {
    TILE_TUNE_TRY(type, result_type());
    result_type_ = type;
    auto pieces = pieces_of(einsum_.order);
    if (!pieces) return tl::unexpected(std::move(pieces.error()));
    if (pieces->size() == 1)
      emit({pieces->front()}, resolved_.result, true);
    else
      TILE_TUNE_CHECK(contract_all(std::move(*pieces), true));
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
    for (const int axis : Piece{0, resolved_.operands[operand]}.axes()) ++uses_[axis];
  }

  DType type_of(size_t operand) const { return known_.operands.empty() ? DType::F32 : known_.operands[operand].type; }

  /// Of the result (rulings 2): the operands' common type, or what an undeclared sum or product of it is.
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
           Piece{0, resolved_.operands[0]}.axes() == AxisSet(resolved_.result.begin(), resolved_.result.end());
  }

  /// Of what steps compute: narrow types only hold operands and the result.
  DType step_type() const { return accumulator_type(result_type_); }

  AxisSet needed(const AxisSet& axes) const {
    AxisSet result;
    for (const int axis : axes)
      if (uses_[axis] > 0) result.insert(axis);
    return result;
  }

  Result<std::vector<Piece>> pieces_of(const Group& group) {
    if (group.operand >= 0) return std::vector{Piece{group.operand, resolved_.operands[group.operand]}};
    std::vector<Piece> pieces;
    for (const auto& member : group.members) {
      TILE_TUNE_TRY(parts, pieces_of(member));
      if (parts.size() == 1) {
        pieces.push_back(std::move(parts.front()));
        continue;
      }
      TILE_TUNE_TRY(piece, contract_all(std::move(parts), false));
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  double volume(const Piece& piece) const {
    double product = 1;
    for (const int axis : piece.axes()) product *= (*extents_)[static_cast<size_t>(axis)];
    return product;
  }

  /// The innermost axes of the largest pieces: sums over them read memory in order.
  AxisSet innermost_of_largest(const std::vector<Piece>& pieces) const {
    double largest = 0;
    for (const auto& piece : pieces) largest = std::max(largest, volume(piece));
    AxisSet result;
    for (const auto& piece : pieces)
      if (volume(piece) == largest && !piece.dimensions.empty()) result.insert(piece.dimensions.back());
    return result;
  }

  /// By what a piece is sorted, whatever was written first, since among equal orders the first is taken: what has the
  /// result's last axis comes last, so that it is innermost in what steps leave; what has none of the result's axes
  /// comes before it. What is summed along memory comes first, then what is summed across.
  std::vector<int> sort_key(const Piece& piece, const AxisSet& contiguous) const {
    const auto has = [&](int axis) {
      return std::find(piece.dimensions.begin(), piece.dimensions.end(), axis) != piece.dimensions.end();
    };
    const auto& result = resolved_.result;
    const bool any = std::any_of(result.begin(), result.end(), has);
    const bool sums_along_memory = std::any_of(contiguous.begin(), contiguous.end(), has);
    std::vector<int> key{any ? (has(result.back()) ? 2 : 0) : 1, sums_along_memory ? 0 : 1};
    for (const int axis : piece.dimensions) key.push_back(axis == kRepeats ? -1 : ranks_[axis]);
    key.push_back(static_cast<int>(program_.tensors[piece.tensor].type));
    return key;
  }

  /// Two or more pieces to one, in the planned order; `last` makes it the program's result.
  Result<Piece> contract_all(std::vector<Piece> pieces, bool last) {
    // One computation has one plan, however it is spelled. A single step to the result is the same either way.
    if (extents_ && pieces.size() <= kMaxExhaustive && !(last && pieces.size() == 2)) {
      const AxisSet contiguous = innermost_of_largest(pieces);
      std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
        return sort_key(a, contiguous) < sort_key(b, contiguous);
      });
    }
    std::vector<AxisSet> axes;
    AxisSet all;
    for (const auto& piece : pieces) {
      axes.push_back(piece.axes());
      all.insert(axes.back().begin(), axes.back().end());
      for (const int axis : axes.back()) --uses_[axis];
    }
    const AxisSet outside = needed(all);
    for (const auto& set : axes)
      for (const int axis : set) ++uses_[axis];
    const Order order = plan(axes, outside, extents_);
    for (size_t i = 0; i < order.size(); ++i) {
      const auto [left, right] = order[i];
      TILE_TUNE_TRY(result, contract_pair(pieces[left], pieces[right], last && i + 1 == order.size()));
      pieces.push_back(std::move(result));
    }
    return std::move(pieces.back());
  }

  Result<Piece> contract_pair(Piece left, Piece right, bool last) {
    AxisSet both = left.axes();
    for (const int axis : left.axes()) --uses_[axis];
    for (const int axis : right.axes()) {
      --uses_[axis];
      both.insert(axis);
    }
    const Step step = contract(left.axes(), right.axes(), needed(both));
    if (!step.sum_left.empty()) left = sum_over(left, step.sum_left);
    if (!step.sum_right.empty()) right = sum_over(right, step.sum_right);
    auto result = last ? resolved_.result : kept_axes(left, right, step.result);
    if (result.size() > kMaxDimensions) return errors::intermediate_too_large(einsum_, kMaxDimensions);
    for (const int axis : step.result) ++uses_[axis];
    return emit({left, right}, std::move(result), last);
  }

  /// In the order in which the result of a step is best written and read. What alone has a kept axis innermost comes
  /// last, so that it stays there, unless the other one is small: that is cheap to rearrange for vectors along its own
  /// axes, and those of the larger one stay as they lie. Of two alike the right one comes first, since the left one has
  /// what is summed along memory. An axis innermost in both stays innermost.
  std::vector<int> kept_axes(const Piece& left, const Piece& right, const AxisSet& kept) const {
    const auto innermost = [](const Piece& piece) {
      return piece.dimensions.empty() ? kRepeats : piece.dimensions.back();
    };
    constexpr double kSmall = 4;  // times smaller
    const double of_left = extents_ ? volume(left) : 1, of_right = extents_ ? volume(right) : 1;
    const bool left_kept = kept.contains(innermost(left)), right_kept = kept.contains(innermost(right));
    const bool alike = std::max(of_left, of_right) < kSmall * std::min(of_left, of_right);
    const bool right_first = alike && left_kept != right_kept ? left_kept : extents_ && of_right >= of_left;
    std::vector<int> result;
    for (const Piece* piece : {right_first ? &right : &left, right_first ? &left : &right})
      for (const int axis : piece->dimensions)
        if (kept.contains(axis) && std::find(result.begin(), result.end(), axis) == result.end())
          result.push_back(axis);
    if (innermost(left) == innermost(right))
      std::stable_partition(result.begin(), result.end(), [&](int axis) { return axis != innermost(left); });
    return result;
  }

  Piece sum_over(const Piece& piece, const AxisSet& summed) {
    std::vector<int> kept;
    for (const int axis : piece.dimensions)
      if (axis != kRepeats && !summed.contains(axis) && std::find(kept.begin(), kept.end(), axis) == kept.end())
        kept.push_back(axis);
    return emit({piece}, std::move(kept), false);
  }

  /// The statement that multiplies the pieces and sums what `result` does not have.
  Piece emit(const std::vector<Piece>& pieces, std::vector<int> result, bool last) {
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
    const bool sums = statement.indices.size() > outputs;

    for (const int axis : result) statement.subscripts.push_back(ir::AffineExpr::index(numbers[axis]));
    statement.op = sums ? ir::Aggregation::Sum : ir::Aggregation::Assign;
    const DType type = last ? result_type_ : step_type();
    statement.accumulator = sums && is_float(type) ? accumulator_type(type) : type;
    const bool copies = last && is_copy();
    statement.value = read(pieces[0], numbers, copies);
    if (pieces.size() == 2)
      statement.value = ir::make_expr(step_type(), ir::Call{step_type() == DType::Bool ? ir::Op::And : ir::Op::Mul,
                                                            {statement.value, read(pieces[1], numbers, false)}});
    statement.target = add_result(result, type, last);
    const Piece piece{statement.target, std::move(result)};
    program_.statements.push_back(std::move(statement));
    return piece;
  }

  int add_result(const std::vector<int>& dimensions, DType type, bool last) {
    const int number = static_cast<int>(program_.tensors.size());
    ir::Tensor tensor;
    tensor.name = last ? "out" : fmt::format("partial{}", program_.statements.size());
    tensor.type = type;
    for (const int axis : dimensions) tensor.extents.push_back(resolved_.axes[axis].extent);
    tensor.role = last ? ir::Role::Output : ir::Role::Temporary;
    program_.tensors.push_back(std::move(tensor));
    if (last) program_.outputs.push_back(number);
    return number;
  }

  ir::ExprPtr read(const Piece& piece, const std::vector<int>& numbers, bool as_stored) const {
    ir::Read node{piece.tensor, {}};
    for (const int axis : piece.dimensions)
      node.subscripts.emplace_back(axis == kRepeats ? ir::AffineExpr{} : ir::AffineExpr::index(numbers[axis]));
    const DType stored = program_.tensors[piece.tensor].type;
    auto expr = ir::make_expr(stored, std::move(node));
    if (as_stored || stored == step_type()) return expr;
    return ir::make_expr(step_type(), ir::Cast{std::move(expr)});
  }

  /// A label's size and index have one name.
  std::string index_name(int axis) const {
    const auto label = static_cast<size_t>(axis);
    return label < einsum_.labels.size() ? size_name(einsum_.labels[label]) : resolved_.axes[label].name;
  }

  /// What an index runs over, in words: "in0(i,j), dimension 1".
  std::string bound_by(const std::vector<Piece>& pieces, int axis) const {
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
  std::vector<int> uses_;
  std::optional<std::vector<double>> extents_;  // by axis, if all are known
  std::vector<int> ranks_;                      // of the axes, if their extents are known
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
