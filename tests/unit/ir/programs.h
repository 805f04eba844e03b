// Small programs that several tests of the IR share, built by hand as a front end would.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir::test {

inline SizeExpr size(const char* name) { return SizeExpr::name(name); }
inline AffineExpr at(int index) { return AffineExpr::index(index); }
inline AffineExpr affine(std::vector<std::pair<int, int64_t>> terms, SizeExpr constant = 0, int64_t denominator = 1) {
  return {std::move(terms), std::move(constant), denominator};
}
inline ExprPtr read(int tensor, std::vector<Subscript> subscripts, DType type = DType::F32) {
  return make_expr(type, Read{tensor, std::move(subscripts)});
}
inline ExprPtr call(Op op, std::vector<ExprPtr> arguments, DType type = DType::F32) {
  return make_expr(type, Call{op, std::move(arguments)});
}
inline ExprPtr number(double value, DType type = DType::F32) { return make_expr(type, Literal{value}); }

/// C(i,j) +=! A(i,k) * B(k,j), or += onto the caller's C. Indices i, j, k; tensors A, B, [C], C.
inline Program matmul(bool in_out = false, DType type = DType::F32) {
  Program program;
  program.name = "mm";
  program.sizes = {"M", "K", "N"};
  program.tensors = {{"A", type, {size("M"), size("K")}, Role::Input, Storage::row()},
                     {"B", type, {size("K"), size("N")}, Role::Input, Storage::row()}};
  if (in_out) program.tensors.push_back({"C", type, {size("M"), size("N")}, Role::InOut, Storage::row()});
  program.tensors.push_back({"C", type, {size("M"), size("N")}, Role::Output, Storage::row()});
  program.inputs = {0, 1};
  program.outputs = {in_out ? 3 : 2};
  Statement statement;
  statement.target = program.outputs[0];
  statement.subscripts = {at(0), at(1)};
  statement.indices = {{"i", 0, size("M"), "A(i,k), dimension 0"},
                       {"j", 0, size("N"), "B(k,j), dimension 1"},
                       {"k", 0, size("K"), "A(i,k), dimension 1"}};
  statement.op = Aggregation::Sum;
  if (in_out) statement.previous = 2;
  statement.accumulator = accumulator_type(type);
  statement.value = call(Op::Mul, {read(0, {at(0), at(2)}, type), read(1, {at(2), at(1)}, type)}, type);
  statement.place = Place{"mm.tc", 3, 5, 6, "    C(i,j) +=! A(i,k) * B(k,j)"};
  program.statements = {statement};
  return program;
}

/// o(x) +=! I(2*x + k) * W(k), then r(x) = max(o(x), 0): o is a temporary. Indices x, k; tensors I, W, o, r.
inline Program strided_convolution() {
  const auto length = SizeExpr::floor_div(size("N") - size("K"), 2) + 1;
  Program program;
  program.name = "conv";
  program.sizes = {"N", "K"};
  program.tensors = {{"I", DType::F32, {size("N")}, Role::Input, Storage::row()},
                     {"W", DType::F32, {size("K")}, Role::Input, Storage::row()},
                     {"o", DType::F32, {length}, Role::Temporary, Storage::row()},
                     {"r", DType::F32, {length}, Role::Output, Storage::row()}};
  program.inputs = {0, 1};
  program.outputs = {3};
  Statement convolve;
  convolve.target = 2;
  convolve.subscripts = {at(0)};
  convolve.indices = {{"x", 0, length, "I(2*x + k), dimension 0"}, {"k", 0, size("K"), "W(k), dimension 0"}};
  convolve.op = Aggregation::Sum;
  convolve.value = call(Op::Mul, {read(0, {affine({{0, 2}, {1, 1}})}), read(1, {at(1)})});
  Statement relu;
  relu.target = 3;
  relu.subscripts = {at(0)};
  relu.indices = {{"x", 0, length, "o(x), dimension 0"}};
  relu.value = call(Op::Max, {read(2, {at(0)}), number(0)});
  program.statements = {convolve, relu};
  return program;
}

/// o(i) +=! A(k) with 0 <= i - k < N: a running sum over n elements, bound. Indices i, k; tensors A, o.
inline Program running_sum(int64_t n) {
  Program program;
  program.name = "csum";
  program.tensors = {{"A", DType::F32, {n}, Role::Input, Storage::row()},
                     {"o", DType::F32, {n}, Role::Output, Storage::row()}};
  program.inputs = {0};
  program.outputs = {1};
  Statement statement;
  statement.target = 1;
  statement.subscripts = {at(0)};
  statement.indices = {{"i", 0, n, ""}, {"k", 0, n, ""}};
  statement.constraints = {{affine({{0, 1}, {1, -1}}), n}};
  statement.op = Aggregation::Sum;
  statement.value = read(0, {at(1)});
  program.statements = {statement};
  return program;
}

}  // namespace tile_tune::ir::test
