// Small programs the tests of search/judge and its neighbours share.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::test {

/// o(i, j) = 2 * a(i, j)
inline ir::Program doubling(int64_t rows, int64_t columns, ir::Storage layout = ir::Storage::row()) {
  ir::Program program;
  program.name = "doubling";
  program.tensors = {{"a", DType::F32, {rows, columns}, ir::Role::Input, layout},
                     {"o", DType::F32, {rows, columns}, ir::Role::Output, layout}};
  program.inputs = {0};
  program.outputs = {1};
  ir::Statement statement;
  statement.target = 1;
  statement.subscripts = {ir::AffineExpr::index(0), ir::AffineExpr::index(1)};
  statement.indices = {{"i", 0, rows, ""}, {"j", 0, columns, ""}};
  const auto read = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0), ir::AffineExpr::index(1)}});
  const auto two = ir::make_expr(DType::F32, ir::Literal{2.0});
  statement.value = ir::make_expr(DType::F32, ir::Call{ir::Op::Mul, {two, read}});
  program.statements = {statement};
  return program;
}

/// o(i) = o(i) + a(i): in/out
inline ir::Program accumulating(int64_t extent) {
  ir::Program program;
  program.name = "accumulating";
  program.tensors = {{"a", DType::F32, {extent}, ir::Role::Input},
                     {"o", DType::F32, {extent}, ir::Role::InOut},
                     {"o", DType::F32, {extent}, ir::Role::Output}};
  program.inputs = {0};
  program.outputs = {2};
  ir::Statement statement;
  statement.target = 2;
  statement.subscripts = {ir::AffineExpr::index(0)};
  statement.indices = {{"i", 0, extent, ""}};
  statement.op = ir::Aggregation::Sum;
  statement.previous = 1;
  statement.value = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0)}});
  program.statements = {statement};
  return program;
}

}  // namespace tile_tune::test
