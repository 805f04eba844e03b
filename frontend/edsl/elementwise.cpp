// Elementwise operators and functions: shapes broadcast, types promoted (decisions 1, 2 and 6).
#include <fmt/format.h>

#include <algorithm>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/literal.h"
#include "frontend/ir/operation_type.h"

namespace tile_tune::edsl {

using detail::Elementwise;
using detail::Node;
using detail::NodePtr;
using detail::Scalar;
using ir::Op;

namespace {

enum class Gives { Operands, Float, Bool };

const Scalar* untyped(const NodePtr& node) {
  const auto* scalar = std::get_if<Scalar>(&node->kind);
  return scalar && !std::holds_alternative<bool>(scalar->value.value) ? scalar : nullptr;
}

std::vector<NodePtr> nodes_of(const std::vector<Tensor>& tensors, const Where& where) {
  std::vector<NodePtr> nodes;
  for (const auto& tensor : tensors) {
    nodes.push_back(tensor.node(where));
    read(*nodes.back(), where);
  }
  return nodes;
}

std::vector<int64_t> common_shape(const std::vector<NodePtr>& nodes, const Where& where) {
  auto shape = nodes.front()->shape;
  for (const auto& node : nodes) {
    const auto wider = detail::broadcast(shape, node->shape);
    if (!wider)
      raise("shape-mismatch",
            fmt::format("the shapes {} and {} do not fit together", detail::shape_text(shape),
                        detail::shape_text(node->shape)),
            where, "counted from the right, sizes must be equal or 1");
    shape = *wider;
  }
  return shape;
}

/// Numbers without a type take that of what they meet; a real number that meets integers makes them f32.
DType common_type(const std::vector<NodePtr>& nodes) {
  std::optional<DType> typed;
  bool has_real = false, has_number = false;
  for (const auto& node : nodes) {
    if (const auto* scalar = untyped(node)) {
      has_number = true;
      has_real = has_real || std::holds_alternative<double>(scalar->value.value);
    } else {
      typed = typed ? promote(*typed, node->type) : node->type;
    }
  }
  if (!typed) {
    DType type = DType::I32;
    for (const auto& node : nodes) type = promote(type, detail::own_type(*untyped(node)));
    return type;
  }
  if (is_float(*typed) || is_complex(*typed)) return *typed;
  if (has_real) return DType::F32;
  return *typed == DType::Bool && has_number ? DType::I32 : *typed;
}

void check_numbers(const std::vector<NodePtr>& nodes, DType type, const Where& where) {
  for (const auto& node : nodes) {
    const auto* scalar = untyped(node);
    if (!scalar || is_complex(type) || literal_as(scalar->value, ir::operation_type(type))) continue;
    const std::string number = std::visit([](auto value) { return fmt::format("{}", value); }, scalar->value.value);
    raise("literal-out-of-range", fmt::format("{} has no value {}", dtype_name(type), number), where,
          "cast the tensor to a wider type first");
  }
}

Tensor apply(Op op, Gives gives, const std::vector<Tensor>& operands, const Where& where) {
  auto nodes = nodes_of(operands, where);
  DType type = common_type(nodes);
  if (gives == Gives::Float && !is_float(type) && !is_complex(type)) type = DType::F32;
  if (type == DType::Bool) {
    const auto logic = ir::on_bools(op);
    if (!logic)
      raise("needs-numbers", fmt::format("bool has no '{}'", ir::op_text(op)), where, "cast to a number type first");
    op = *logic;
  }
  if (is_complex(type) && !ir::works_on_complex(op))
    raise("complex-function", fmt::format("complex numbers have no '{}'", ir::op_text(op)), where);
  check_numbers(nodes, type, where);
  const DType made = gives == Gives::Bool ? DType::Bool : type;
  auto shape = common_shape(nodes, where);
  return Tensor(std::make_shared<Node>(made, std::move(shape), where, Elementwise{op, type, std::move(nodes)}));
}

Tensor apply(Op op, const TensorArg& a, const TensorArg& b, Gives gives = Gives::Operands) {
  return apply(op, gives, {a.tensor, b.tensor}, a.where);
}

}  // namespace

Tensor operator+(const TensorArg& a, const TensorArg& b) { return apply(Op::Add, a, b); }
Tensor operator-(const TensorArg& a, const TensorArg& b) { return apply(Op::Sub, a, b); }
Tensor operator*(const TensorArg& a, const TensorArg& b) { return apply(Op::Mul, a, b); }
Tensor operator/(const TensorArg& a, const TensorArg& b) { return apply(Op::Div, a, b); }
Tensor operator-(const TensorArg& a) { return apply(Op::Neg, Gives::Operands, {a.tensor}, a.where); }
Tensor operator==(const TensorArg& a, const TensorArg& b) { return apply(Op::Eq, a, b, Gives::Bool); }
Tensor operator!=(const TensorArg& a, const TensorArg& b) { return apply(Op::Ne, a, b, Gives::Bool); }
Tensor operator<(const TensorArg& a, const TensorArg& b) { return apply(Op::Lt, a, b, Gives::Bool); }
Tensor operator<=(const TensorArg& a, const TensorArg& b) { return apply(Op::Le, a, b, Gives::Bool); }
Tensor operator>(const TensorArg& a, const TensorArg& b) { return apply(Op::Gt, a, b, Gives::Bool); }
Tensor operator>=(const TensorArg& a, const TensorArg& b) { return apply(Op::Ge, a, b, Gives::Bool); }

Tensor exp(const Tensor& x, const Where& where) { return apply(Op::Exp, Gives::Float, {x}, where); }
Tensor log(const Tensor& x, const Where& where) { return apply(Op::Log, Gives::Float, {x}, where); }
Tensor sin(const Tensor& x, const Where& where) { return apply(Op::Sin, Gives::Float, {x}, where); }
Tensor cos(const Tensor& x, const Where& where) { return apply(Op::Cos, Gives::Float, {x}, where); }
Tensor tan(const Tensor& x, const Where& where) { return apply(Op::Tan, Gives::Float, {x}, where); }
Tensor tanh(const Tensor& x, const Where& where) { return apply(Op::Tanh, Gives::Float, {x}, where); }
Tensor sqrt(const Tensor& x, const Where& where) { return apply(Op::Sqrt, Gives::Float, {x}, where); }
Tensor abs(const Tensor& x, const Where& where) { return apply(Op::Abs, Gives::Operands, {x}, where); }
Tensor floor(const Tensor& x, const Where& where) { return apply(Op::Floor, Gives::Float, {x}, where); }
Tensor ceil(const Tensor& x, const Where& where) { return apply(Op::Ceil, Gives::Float, {x}, where); }
Tensor sigmoid(const Tensor& x, const Where& where) { return apply(Op::Sigmoid, Gives::Float, {x}, where); }
Tensor relu(const Tensor& x, const Where& where) { return apply(Op::Relu, Gives::Operands, {x}, where); }
Tensor pow(const Tensor& x, const Tensor& y, const Where& where) { return apply(Op::Pow, Gives::Float, {x, y}, where); }
Tensor min(const Tensor& x, const Tensor& y, const Where& where) {
  return apply(Op::Min, Gives::Operands, {x, y}, where);
}
Tensor max(const Tensor& x, const Tensor& y, const Where& where) {
  return apply(Op::Max, Gives::Operands, {x, y}, where);
}

Tensor select(const Tensor& condition, const Tensor& if_true, const Tensor& if_false, const Where& where) {
  auto nodes = nodes_of({condition, if_true, if_false}, where);
  if (nodes[0]->type != DType::Bool)
    raise("not-a-condition", fmt::format("select needs a condition of bool, not {}", dtype_name(nodes[0]->type)), where,
          "compare: select(C != 0, T, F)");
  const std::vector<NodePtr> branches{nodes[1], nodes[2]};
  const DType type = common_type(branches);
  check_numbers(branches, type, where);
  auto shape = common_shape(nodes, where);
  return Tensor(std::make_shared<Node>(type, std::move(shape), where, Elementwise{Op::Select, type, std::move(nodes)}));
}

Tensor cast(const Tensor& x, DType type, const Where& where) {
  const auto nodes = nodes_of({x}, where);
  return Tensor(std::make_shared<Node>(type, nodes[0]->shape, where, detail::Convert{nodes[0]}));
}

}  // namespace tile_tune::edsl
