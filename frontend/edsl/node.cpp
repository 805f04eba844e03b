#include "frontend/edsl/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "frontend/edsl/errors.h"
#include "frontend/ir/literal.h"

namespace tile_tune::edsl::detail {

std::vector<NodePtr> operands_of(const Node& node) {
  std::vector<NodePtr> operands;
  if (const auto* elementwise = std::get_if<Elementwise>(&node.kind)) operands = elementwise->arguments;
  if (const auto* convert = std::get_if<Convert>(&node.kind)) operands = {convert->argument};
  if (const auto* contraction = std::get_if<Contraction>(&node.kind)) {
    for (const auto& access : contraction->operands) operands.push_back(access->tensor);
    if (contraction->unwritten) operands.push_back(contraction->unwritten);
  }
  return operands;
}

// One after the other instead of one inside the other: a chain of a million additions must not exhaust the stack.
Node::~Node() {
  const auto take = [](Node& node, std::vector<NodePtr>& owned) {
    for (auto& operand : operands_of(node)) owned.push_back(std::move(operand));
    node.kind = Scalar{};
  };
  std::vector<NodePtr> owned;
  take(*this, owned);
  while (!owned.empty()) {
    const NodePtr last = std::move(owned.back());
    owned.pop_back();
    if (last.use_count() == 1) take(*last, owned);
  }
}

std::string name_of(const Node& node) {
  if (const auto* input = std::get_if<Input>(&node.kind)) return input->name;
  if (std::holds_alternative<Scalar>(node.kind)) return "a number";
  const bool is_output = std::holds_alternative<Contraction>(node.kind);
  return fmt::format("the {} of line {}", is_output ? "TensorOutput" : "tensor", node.where.line());
}

void read(const Node& node, const Where& where) {
  const auto* contraction = std::get_if<Contraction>(&node.kind);
  if (!contraction) return;
  if (!contraction->op)
    raise("never-written", fmt::format("{} is read, but no contraction has written it", name_of(node)), where);
  const_cast<Contraction*>(contraction)->is_read = true;
}

std::optional<std::vector<int64_t>> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  std::vector<int64_t> shape = a;
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t& extent = shape[a.size() - b.size() + d];
    if (extent == b[d] || b[d] == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = b[d];
  }
  return shape;
}

NodePtr default_for(const Node& output, const NodePtr& values, const Where& where) {
  const bool has_type = std::get<Contraction>(output.kind).op.has_value();
  if (!has_type || (values->type == output.type && values->shape == output.shape)) return values;
  const auto* scalar = std::get_if<Scalar>(&values->kind);
  const bool is_number = scalar && !std::holds_alternative<bool>(scalar->value.value);
  const bool fits = is_number ? literal_as(scalar->value, output.type) || is_complex(output.type)
                              : promote(output.type, values->type) == output.type;
  if (!fits)
    raise("narrowing",
          fmt::format("a default of {} does not fit {} of {}", dtype_name(values->type), name_of(output),
                      dtype_name(output.type)),
          where, "cast it");
  return std::make_shared<Node>(output.type, output.shape, where, Convert{values});
}

DType own_type(const Scalar& scalar) {
  if (std::holds_alternative<bool>(scalar.value.value)) return DType::Bool;
  const auto* integer = std::get_if<int64_t>(&scalar.value.value);
  if (!integer) return DType::F32;
  using Limits = std::numeric_limits<int32_t>;
  return *integer >= Limits::min() && *integer <= Limits::max() ? DType::I32 : DType::I64;
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

std::string to_text(const Access& access) {
  std::vector<std::string> subscripts;
  for (const auto& subscript : access.subscripts) subscripts.push_back(to_text(subscript));
  return fmt::format("{}({})", name_of(*access.tensor), fmt::join(subscripts, ", "));
}

}  // namespace tile_tune::edsl::detail
