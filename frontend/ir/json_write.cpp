#include <cmath>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/ir/json_names.h"

namespace tile_tune::ir {
namespace {

using nlohmann::json;

// Declared ahead for write_list.
json write(const SizeExpr& size);
json write(const AffineExpr& expr);
json write(const Subscript& subscript);
json write(const ExprPtr& expr);
json write(const Stride& stride);
json write(const Tensor& tensor);
json write(const Index& index);
json write(const Constraint& constraint);
json write(const Statement& statement);

template <typename T>
json write_list(const std::vector<T>& items) {
  json list = json::array();
  for (const auto& item : items) list.push_back(write(item));
  return list;
}

json write(const SizeExpr::Atom& atom) {
  using Kind = SizeExpr::Atom::Kind;
  switch (atom.kind) {
    case Kind::Name:
      return {{"name", atom.name}};
    case Kind::FloorDiv:
      return {{"floor_div", write_list(atom.operands)}};
    case Kind::Min:
      return {{"min", write_list(atom.operands)}};
    case Kind::Max:
      return {{"max", write_list(atom.operands)}};
    case Kind::Product:
      return {{"mul", write_list(atom.operands)}};
  }
  return nullptr;
}

json write(const SizeExpr& size) {
  if (const auto number = size.constant()) return *number;
  json sum = json::array();
  for (const auto& [coefficient, atom] : size.terms()) {
    if (coefficient == 1)
      sum.push_back(write(*atom));
    else
      sum.push_back({{"mul", json::array({coefficient, write(*atom)})}});
  }
  if (size.offset() != 0) sum.push_back(size.offset());
  if (sum.size() == 1) return sum.front();
  return {{"add", std::move(sum)}};
}

json write(const AffineExpr& expr) {
  json terms = json::array();
  for (const auto& [index, coefficient] : expr.terms) terms.push_back(json::array({index, coefficient}));
  json result{{"terms", std::move(terms)}, {"constant", write(expr.constant)}};
  if (expr.denominator != 1) result["denominator"] = expr.denominator;
  return result;
}

json write(const Subscript& subscript) {
  return std::visit([](const auto& form) { return write(form); }, subscript);
}

json write(const Literal& literal, DType type) {
  if (const auto* truth = std::get_if<bool>(&literal.value)) return *truth;
  if (const auto* integer = std::get_if<int64_t>(&literal.value)) {
    if (type == DType::U64) return static_cast<uint64_t>(*integer);
    return *integer;
  }
  const double value = std::get<double>(literal.value);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

json write(const ExprPtr& expr) {
  json result{{"type", dtype_name(expr->type)}};
  if (const auto* literal = std::get_if<Literal>(&expr->node)) {
    result["literal"] = write(*literal, expr->type);
  } else if (const auto* index = std::get_if<IndexValue>(&expr->node)) {
    result["index"] = index->index;
  } else if (const auto* size = std::get_if<SizeValue>(&expr->node)) {
    result["size"] = write(size->size);
  } else if (const auto* read = std::get_if<Read>(&expr->node)) {
    result["read"] = read->tensor;
    result["subscripts"] = write_list(read->subscripts);
  } else if (const auto* call = std::get_if<Call>(&expr->node)) {
    result["call"] = op_name(call->op);
    result["arguments"] = write_list(call->arguments);
  } else {
    result["cast"] = write(std::get<Cast>(expr->node).argument);
  }
  return result;
}

json write(const Stride& stride) {
  if (const auto* number = std::get_if<int64_t>(&stride)) return *number;
  const auto* size = std::get_if<SizeExpr>(&stride);
  return size ? write(*size) : json("any");
}

json write(const Storage& storage) {
  if (storage.is_compact()) return storage.is_row() ? "row" : "col";
  json result{{"strides", write_list(storage.strides())}};
  if (storage.has_own_order()) result["order"] = storage.order(storage.strides().size());
  return result;
}

json write(const Tensor& tensor) {
  json result{{"name", tensor.name},
              {"type", dtype_name(tensor.type)},
              {"extents", write_list(tensor.extents)},
              {"role", kRoleNames[static_cast<size_t>(tensor.role)].second},
              {"layout", write(tensor.storage)}};
  if (tensor.constant) result["constant"] = true;
  return result;
}

json write(const Index& index) {
  return {{"name", index.name}, {"lo", write(index.lo)}, {"hi", write(index.hi)}, {"reason", index.reason}};
}

json write(const Constraint& constraint) {
  return {{"expr", write(constraint.expr)}, {"bound", write(constraint.bound)}};
}

json write(const Place& place) {
  json result{{"file", place.file},
              {"line", place.line},
              {"column", place.column},
              {"length", place.length},
              {"source_line", place.source_line}};
  if (place.skipped != 0) result["skipped"] = place.skipped;
  return result;
}

json write(const Statement& statement) {
  json result{{"target", statement.target},
              {"subscripts", write_list(statement.subscripts)},
              {"indices", write_list(statement.indices)},
              {"constraints", write_list(statement.constraints)},
              {"op", aggregation_name(statement.op)},
              {"accumulator", dtype_name(statement.accumulator)},
              {"value", write(statement.value)}};
  if (statement.previous) result["previous"] = *statement.previous;
  if (statement.unwritten) result["unwritten"] = *statement.unwritten;
  if (statement.place) result["place"] = write(*statement.place);
  return result;
}

}  // namespace

json to_json(const Program& program) {
  json result{{"kind", "program"},
              {"format", kProgramFormat},
              {"name", program.name},
              {"sizes", program.sizes},
              {"tensors", write_list(program.tensors)},
              {"inputs", program.inputs},
              {"outputs", program.outputs},
              {"statements", write_list(program.statements)}};
  if (program.cold) result["cold"] = true;
  if (program.free_order) result["free_order"] = true;
  return result;
}

}  // namespace tile_tune::ir
