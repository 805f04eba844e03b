#include "codegen/lower/product.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "frontend/ir/program.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

enum { kI, kJ, kK, kIndices };

ir::ExprPtr read(int tensor, const std::vector<int>& indices, DType type = DType::F32) {
  ir::Read read{tensor, {}};
  for (const int index : indices) read.subscripts.push_back(ir::AffineExpr::index(index));
  return ir::make_expr(type, read);
}

ir::ExprPtr times(const ir::ExprPtr& a, const ir::ExprPtr& b) {
  return ir::make_expr(a->type, ir::Call{ir::Op::Mul, {a, b}});
}

// "x0" is what operand 0 holds.
std::string text(const ir::ExprPtr& term) {
  const std::vector<Halide::Expr> indices(kIndices, 0);
  Loops loops;
  loops.output = {300, 256};
  loops.output_index = {kI, kJ};
  loops.reduction = {512};
  loops.reduction_index = {kK};
  const auto product = codegen::Product::of(*term, indices.size(), loops, 1, Branches());
  if (!product) return "";
  std::ostringstream stream;
  stream << product
                ->value(
                    indices,
                    [&](int number, const ir::Read& read, const auto&) {
                      CHECK(number == read.tensor);
                      return Values{
                          Halide::Internal::Variable::make(halide_type(term->type), "x" + std::to_string(number))};
                    },
                    [](int) { return std::nullopt; })
                .front();
  std::string text = stream.str();
  const std::string type = "(float32)";
  for (size_t at = text.find(type); at != std::string::npos; at = text.find(type)) text.erase(at, type.size());
  return text;
}

}  // namespace

TEST_CASE("factors that a register tile shares are multiplied first") {
  const auto a = read(0, {kI, kK}), v = read(1, {kK}), b = read(2, {kK, kJ});
  CHECK(text(times(times(a, v), b)) == "(x0*(x1*x2))");
  CHECK(text(times(a, times(v, b))) == "(x0*(x1*x2))");
  // Of four, all that varies with the vectors alone comes first.
  CHECK(text(times(times(times(a, v), b), read(3, {kJ}))) == "(x0*((x1*x2)*x3))");
}

TEST_CASE("what does not vary with the reduction's innermost loop is multiplied before it") {
  CHECK(text(times(times(read(0, {kI, kK}), read(1, {kK, kJ})), times(read(2, {kI}), read(3, {kJ})))) ==
        "((x0*x1)*(x2*x3))");
}

TEST_CASE("other terms are left as they are") {
  const auto a = read(0, {kI, kK}), b = read(1, {kK, kJ});
  CHECK(text(times(a, b)) == "");
  CHECK(text(ir::make_expr(DType::F32, ir::Call{ir::Op::Add, {times(a, b), read(2, {kI})}})) == "");
  const auto integer = [](int tensor) { return read(tensor, {kI}, DType::I32); };
  CHECK(text(times(times(integer(0), integer(1)), integer(2))) == "");
  const auto complex = [](int tensor) { return read(tensor, {kI}, DType::C32); };
  CHECK(text(times(times(complex(0), complex(1)), complex(2))) == "");
}
