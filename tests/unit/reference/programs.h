// Builds IR programs by hand, in a line or two each.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "frontend/ir/program.h"
#include "frontend/reference/reference.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using ir::AffineExpr;
using ir::Aggregation;
using ir::ExprPtr;
using ir::Op;
using ir::Role;
using ir::Statement;
using ir::Subscript;

/// coefficient * index + ... + constant, over denominator.
inline AffineExpr affine(std::vector<std::pair<int, int64_t>> terms, int64_t constant = 0, int64_t denominator = 1) {
  return {std::move(terms), constant, denominator};
}
inline AffineExpr at(int index) { return AffineExpr::index(index); }

inline ExprPtr call(DType type, Op op, std::vector<ExprPtr> arguments) {
  return ir::make_expr(type, ir::Call{op, std::move(arguments)});
}
inline ExprPtr call(Op op, std::vector<ExprPtr> arguments) {
  const DType type = arguments.back()->type;
  return call(type, op, std::move(arguments));
}
inline ExprPtr number(double value, DType type = DType::F32) { return ir::make_expr(type, ir::Literal{value}); }
inline ExprPtr integer(int64_t value, DType type = DType::I32) { return ir::make_expr(type, ir::Literal{value}); }
inline ExprPtr index_value(int index, DType type = DType::I32) { return ir::make_expr(type, ir::IndexValue{index}); }
inline ExprPtr cast(DType type, ExprPtr argument) { return ir::make_expr(type, ir::Cast{std::move(argument)}); }

class Builder {
 public:
  Builder() { program_.name = "test"; }

  int tensor(Role role, DType type, std::vector<int64_t> shape, std::string name = "") {
    const int number = static_cast<int>(program_.tensors.size());
    if (name.empty()) name = "t" + std::to_string(number);
    program_.tensors.push_back({std::move(name), type, {shape.begin(), shape.end()}, role, ir::Storage::row()});
    if (role == Role::Input) program_.inputs.push_back(number);
    if (role == Role::Output) program_.outputs.push_back(number);
    return number;
  }
  int input(DType type, std::vector<int64_t> shape) { return tensor(Role::Input, type, std::move(shape)); }
  int output(DType type, std::vector<int64_t> shape) { return tensor(Role::Output, type, std::move(shape)); }

  ExprPtr read(int tensor, std::vector<Subscript> subscripts) const {
    return ir::make_expr(program_.tensors[tensor].type, ir::Read{tensor, std::move(subscripts)});
  }

  /// `ranges` of the indices by number. The accumulator is the one of the target's type.
  Statement& add(int target, std::vector<AffineExpr> subscripts, std::vector<std::pair<int64_t, int64_t>> ranges,
                 Aggregation op, ExprPtr value) {
    Statement statement;
    statement.target = target;
    statement.subscripts = std::move(subscripts);
    for (const auto& [lo, hi] : ranges) statement.indices.push_back({"i", lo, hi, ""});
    statement.op = op;
    statement.accumulator = accumulator_type(program_.tensors[target].type);
    statement.value = std::move(value);
    program_.statements.push_back(std::move(statement));
    return program_.statements.back();
  }

  const ir::Program& program() const { return program_; }

 private:
  ir::Program program_;
};

template <typename T>
tensor::Array array(DType type, std::vector<int64_t> shape, std::vector<T> values) {
  auto result = tensor::Array::zeros(type, std::move(shape));
  REQUIRE(result.data.size() == values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}
inline tensor::Array f32(std::vector<int64_t> shape, std::vector<float> values) {
  return array<float>(DType::F32, std::move(shape), std::move(values));
}
inline tensor::Array i32(std::vector<int64_t> shape, std::vector<int32_t> values) {
  return array<int32_t>(DType::I32, std::move(shape), std::move(values));
}

/// The only output of a program, in full.
inline Expected evaluate_one(const ir::Program& program, const Inputs& inputs) {
  const auto result = evaluate(program, inputs);
  if (!result) FAIL(result.error().message);
  REQUIRE(result->size() == 1);
  return result->front();
}

/// O(i,j) = sum_k A(i,k) * B(k,j), tensors A, B, O numbered 0, 1, 2. As front ends do, the product is formed in the
/// accumulator's type.
inline ir::Program matmul(int64_t m, int64_t n, int64_t k, DType type = DType::F32) {
  Builder b;
  const int a = b.input(type, {m, k}), w = b.input(type, {k, n}), o = b.output(type, {m, n});
  const auto operand = [&](int tensor, std::vector<Subscript> subscripts) {
    const ExprPtr read = b.read(tensor, std::move(subscripts));
    return accumulator_type(type) == type ? read : cast(accumulator_type(type), read);
  };
  b.add(o, {at(0), at(1)}, {{0, m}, {0, n}, {0, k}}, Aggregation::Sum,
        call(Op::Mul, {operand(a, {at(0), at(2)}), operand(w, {at(2), at(1)})}));
  return b.program();
}

}  // namespace tile_tune::reference
