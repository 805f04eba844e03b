#include "codegen/lower/padded_inputs.h"

#include <algorithm>

#include "codegen/schedule/loops.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::codegen {
namespace {

using ir::AffineExpr;

bool same(const AffineExpr& a, const AffineExpr& b) {
  return a.terms == b.terms && a.constant == b.constant && a.denominator == b.denominator;
}

bool same(const ir::Read& a, const ir::Read& b) {
  const auto equal = [](const ir::Subscript& x, const ir::Subscript& y) {
    const auto *one = std::get_if<AffineExpr>(&x), *other = std::get_if<AffineExpr>(&y);
    return one && other && same(*one, *other);
  };
  return a.tensor == b.tensor &&
         std::equal(a.subscripts.begin(), a.subscripts.end(), b.subscripts.begin(), b.subscripts.end(), equal);
}

// Reads that make the whole term 0 where they are 0.
void collect_factors(const ir::Expr& expr, std::vector<ir::Read>& factors) {
  if (const auto* read = std::get_if<ir::Read>(&expr.node)) factors.push_back(*read);
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) collect_factors(*cast->argument, factors);
  if (const auto* call = std::get_if<ir::Call>(&expr.node); call && call->op == ir::Op::Mul)
    for (const auto& argument : call->arguments) collect_factors(*argument, factors);
}

// Elements to put before and behind dimension d so that the subscript stays inside.
struct Border {
  int64_t before = 0, behind = 0;
  bool any() const { return before > 0 || behind > 0; }
};

Border border(const ir::Statement& statement, const AffineExpr& subscript, int64_t extent) {
  int64_t low = subscript.constant.constant().value(), high = low;
  for (const auto& [index, coefficient] : subscript.terms) {
    const auto range = ir::range(statement.indices[index]);
    const int64_t first = coefficient * range.lo, last = coefficient * (range.hi - 1);
    low += std::min(first, last);
    high += std::max(first, last);
  }
  return {std::max<int64_t>(0, -low), std::max<int64_t>(0, high - (extent - 1))};
}

// Constraints that say no more than that dimension d of the read lies inside its tensor.
bool keeps_inside(const ir::Constraint& constraint, const AffineExpr& subscript, int64_t extent) {
  return same(constraint.expr, subscript) && constraint.bound == ir::SizeExpr(extent);
}

std::vector<Border> borders(const ir::Program& program, const ir::Statement& statement, const ir::Read& read) {
  std::vector<Border> result(read.subscripts.size());
  for (size_t d = 0; d < result.size(); ++d) {
    const auto* subscript = std::get_if<AffineExpr>(&read.subscripts[d]);
    if (!subscript) return std::vector<Border>(result.size());
    const int64_t extent = ir::extent(program.tensors[read.tensor], d);
    const bool guarded =
        std::any_of(statement.constraints.begin(), statement.constraints.end(),
                    [&](const auto& constraint) { return keeps_inside(constraint, *subscript, extent); });
    if (guarded) result[d] = border(statement, *subscript, extent);
  }
  return result;
}

// The statement that copies `tensor` into the inside of a new one, whose other elements nothing writes: they are 0.
ir::Statement padding(ir::Program& program, int tensor, const std::vector<Border>& around) {
  ir::Tensor padded = program.tensors[tensor];
  padded.name += "_padded";
  padded.role = ir::Role::Temporary;
  ir::Statement copy;
  ir::Read read{tensor, {}};
  for (size_t d = 0; d < around.size(); ++d) {
    const int64_t extent = ir::extent(program.tensors[tensor], d);
    padded.extents[d] = extent + around[d].before + around[d].behind;
    copy.indices.push_back({"p" + std::to_string(d), 0, extent, ""});
    const AffineExpr position = AffineExpr::index(static_cast<int>(d));
    read.subscripts.push_back(position);
    copy.subscripts.push_back(position);
    copy.subscripts.back().constant = around[d].before;
  }
  copy.target = static_cast<int>(program.tensors.size());
  copy.accumulator = padded.type;
  copy.value = ir::make_expr(padded.type, read);
  program.tensors.push_back(std::move(padded));
  return copy;
}

void read_padded(ir::Statement& statement, const ir::Program& program, const ir::Read& original, int padded,
                 const std::vector<Border>& around) {
  std::erase_if(statement.constraints, [&](const ir::Constraint& constraint) {
    for (size_t d = 0; d < around.size(); ++d)
      if (around[d].any() && keeps_inside(constraint, std::get<AffineExpr>(original.subscripts[d]),
                                          ir::extent(program.tensors[original.tensor], d)))
        return true;
    return false;
  });
  ir::Rewriter rewriter;
  rewriter.node = [&](ir::Expr& expr) {
    auto* read = std::get_if<ir::Read>(&expr.node);
    if (!read || !same(*read, original)) return;
    read->tensor = padded;
    for (size_t d = 0; d < around.size(); ++d) {
      auto& constant = std::get<AffineExpr>(read->subscripts[d]).constant;
      constant = constant + ir::SizeExpr(around[d].before);
    }
  };
  statement.value = ir::rewrite(*statement.value, rewriter);
}

}  // namespace

ir::Program with_padded_inputs(ir::Program program) {
  std::vector<ir::Statement> statements;
  for (auto& statement : program.statements) {
    std::vector<ir::Read> factors;
    if (statement.op == ir::Aggregation::Sum) collect_factors(*statement.value, factors);
    for (const auto& factor : factors) {
      const auto around = borders(program, statement, factor);
      if (std::none_of(around.begin(), around.end(), [](const Border& one) { return one.any(); })) continue;
      const ir::Statement copy = padding(program, factor.tensor, around);
      read_padded(statement, program, factor, copy.target, around);
      statements.push_back(copy);
    }
    statements.push_back(std::move(statement));
  }
  program.statements = std::move(statements);
  return program;
}

}  // namespace tile_tune::codegen
