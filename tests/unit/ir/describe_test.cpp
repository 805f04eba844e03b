#include <catch2/catch.hpp>

#include "frontend/ir/describe.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

std::string text(const ExprPtr& expr) {
  static const Program program = matmul();
  return to_text(program, program.statements[0], *expr);
}

}  // namespace

TEST_CASE("signatures spell element types as TC does") {
  CHECK(signature(matmul()) == "mm(float(M,K) A, float(K,N) B) -> (float(M,N) C)");
  CHECK(signature(matmul(true)) == "mm(float(M,K) A, float(K,N) B) -> (float(M,N) C)");
  CHECK(signature(strided_convolution()) == "conv(float(N) I, float(K) W) -> (float(floor((N - K)/2) + 1) r)");
  Program program;
  program.name = "p";
  const std::vector<DType> types{DType::Bool, DType::U8, DType::I32, DType::F16, DType::BF16, DType::F64, DType::I64};
  for (const auto type : types) {
    program.inputs.push_back(static_cast<int>(program.tensors.size()));
    program.tensors.push_back(
        {std::string(1, char('a' + program.tensors.size())), type, {}, Role::Input, Storage::row()});
  }
  CHECK(signature(program) == "p(bool a, uint8 b, int32 c, float16 d, bfloat16 e, double f, int64 g) -> ()");
}

TEST_CASE("statements read as they were typed") {
  CHECK(to_text(matmul(), matmul().statements[0]) == "C(i,j) +=! A(i,k) * B(k,j)");
  CHECK(to_text(matmul(true), matmul(true).statements[0]) == "C(i,j) += A(i,k) * B(k,j)");
  const auto conv = strided_convolution();
  CHECK(to_text(conv, conv.statements[0]) == "o(x) +=! I(2*x + k) * W(k)");
  CHECK(to_text(conv, conv.statements[1]) == "r(x) = max(o(x), 0.0)");
  auto other = matmul(true);
  std::swap(other.statements[0].previous, other.statements[0].unwritten);
  CHECK(to_text(other, other.statements[0]) == "C(i,j) +=! A(i,k) * B(k,j), elsewhere C");
  auto minimum = matmul();
  minimum.statements[0].op = Aggregation::Min;
  minimum.statements[0].subscripts.clear();
  minimum.tensors[2].extents.clear();
  CHECK(to_text(minimum, minimum.statements[0]) == "C min=! A(i,k) * B(k,j)");
}

TEST_CASE("parentheses stand where they are needed and nowhere else") {
  const auto a = number(1.5), b = number(2), c = number(-3);
  CHECK(text(call(Op::Add, {call(Op::Mul, {a, b}), c})) == "1.5 * 2.0 + -3.0");
  CHECK(text(call(Op::Mul, {call(Op::Add, {a, b}), c})) == "(1.5 + 2.0) * -3.0");
  CHECK(text(call(Op::Sub, {call(Op::Sub, {a, b}), c})) == "1.5 - 2.0 - -3.0");
  CHECK(text(call(Op::Sub, {a, call(Op::Sub, {b, c})})) == "1.5 - (2.0 - -3.0)");
  CHECK(text(call(Op::Div, {a, call(Op::Mul, {b, c})})) == "1.5 / (2.0 * -3.0)");
  CHECK(text(call(Op::Neg, {call(Op::Add, {a, b})})) == "-(1.5 + 2.0)");
  CHECK(text(call(Op::Neg, {c})) == "-(-3.0)");
  const auto less = call(Op::Lt, {a, b}, DType::Bool), equal = call(Op::Eq, {b, c}, DType::Bool);
  CHECK(text(call(Op::Or, {call(Op::And, {less, equal}, DType::Bool), less}, DType::Bool)) ==
        "1.5 < 2.0 && 2.0 == -3.0 || 1.5 < 2.0");
  CHECK(text(call(Op::And, {less, call(Op::Or, {less, equal}, DType::Bool)}, DType::Bool)) ==
        "1.5 < 2.0 && (1.5 < 2.0 || 2.0 == -3.0)");
  CHECK(text(call(Op::Eq, {less, less}, DType::Bool)) == "1.5 < 2.0 == (1.5 < 2.0)");
  CHECK(text(call(Op::Not, {less}, DType::Bool)) == "!(1.5 < 2.0)");
  const auto select = call(Op::Select, {less, a, b});
  CHECK(text(select) == "1.5 < 2.0 ? 1.5 : 2.0");
  CHECK(text(call(Op::Select, {less, select, select})) ==
        "1.5 < 2.0 ? (1.5 < 2.0 ? 1.5 : 2.0) : 1.5 < 2.0 ? 1.5 : 2.0");
  CHECK(text(call(Op::Add, {select, a})) == "(1.5 < 2.0 ? 1.5 : 2.0) + 1.5");
}

TEST_CASE("leaves and functions") {
  CHECK(text(make_expr(DType::F32, Cast{read(0, {at(0), at(2)})})) == "float(A(i,k))");
  CHECK(text(make_expr(DType::I64, Cast{make_expr(DType::I32, IndexValue{1})})) == "int64(j)");
  CHECK(text(call(Op::Fma, {number(1), number(2), number(0.1)})) == "fma(1.0, 2.0, 0.1)");
  CHECK(text(make_expr(DType::Bool, Literal{true})) == "true");
  CHECK(text(make_expr(DType::U64, Literal{int64_t{-1}})) == "18446744073709551615");
  CHECK(text(number(1e300, DType::F64)) == "1e+300");
  const auto rows = make_expr(DType::I32, SizeValue{size("M") - 1});
  CHECK(text(call(Op::Mul, {rows, rows}, DType::I32)) == "(M - 1) * (M - 1)");
  CHECK(text(read(1, {read(0, {at(0), at(1)}, DType::I32), at(2)})) == "B(A(i,j),k)");
}

TEST_CASE("affine expressions") {
  const auto statement = matmul().statements[0];
  const auto print = [&](const AffineExpr& expr) { return to_text(statement, expr); };
  CHECK(print(affine({})) == "0");
  CHECK(print(affine({}, -4)) == "-4");
  CHECK(print(affine({{0, 2}, {2, -1}}, -1)) == "2*i - k - 1");
  CHECK(print(affine({{0, -1}}, size("N") - 1)) == "N - 1 - i");
  CHECK(print(affine({{0, -1}, {1, 1}}, size("N"))) == "j - i + N");
  CHECK(print(affine({{0, 1}}, -size("N"))) == "i - N");
  CHECK(print(affine({{0, 1}}, -size("N") - size("M"))) == "i - (M + N)");
  CHECK(print(affine({{0, -3}})) == "-3*i");
  CHECK(print(affine({{0, 1}, {1, -1}}, 1, 2)) == "(i - j + 1)/2");
}
