#include "codegen/lower/values.h"

#include "codegen/lower/signs.h"

namespace tile_tune::codegen {

using Halide::Expr;

namespace {

Values parts_of(const Halide::FuncRef& element) {
  if (element.size() == 1) return {Expr(element)};
  return {element[0], element[1]};
}

// Smith's algorithm: the textbook formula squares the divisor, which overflows for parts beyond 1e19 in f32.
Values quotient(const Values& a, const Values& b) {
  const Expr by_real = Halide::abs(b[0]) >= Halide::abs(b[1]);
  const Expr large = Halide::select(by_real, b[0], b[1]), small = Halide::select(by_real, b[1], b[0]);
  const Expr ratio = small / large, scale = large + small * ratio;
  const Expr real = Halide::select(by_real, a[0] + a[1] * ratio, a[0] * ratio + a[1]);
  const Expr imaginary = Halide::select(by_real, a[1] - a[0] * ratio, a[1] * ratio - a[0]);
  return {real / scale, imaginary / scale};
}

}  // namespace

Values at(const Halide::Func& func, const std::vector<Expr>& arguments) { return parts_of(func(arguments)); }
Values at(const Halide::Func& func, const std::vector<Halide::Var>& arguments) { return parts_of(func(arguments)); }

void define(Halide::Func& func, const std::vector<Halide::Var>& vars, const Values& values) {
  if (values.size() == 1)
    func(vars) = values[0];
  else
    func(vars) = Halide::Tuple(values);
}

Values select(const Expr& condition, const Values& if_true, const Values& if_false) {
  Values result;
  for (size_t part = 0; part < if_true.size(); ++part)
    result.push_back(Halide::select(condition, if_true[part], if_false[part]));
  return result;
}

Values product_of_parts(const Values& a, bool conjugate_a, const Values& b, bool conjugate_b) {
  const Expr real = a[0] * b[0], imaginary = a[1] * b[1], mixed = a[0] * b[1], other = a[1] * b[0];
  if (conjugate_a && conjugate_b) return {real - imaginary, negated(mixed + other)};
  if (conjugate_a) return {real + imaginary, mixed - other};
  if (conjugate_b) return {real + imaginary, other - mixed};
  return {real - imaginary, mixed + other};
}

Values complex_call(ir::Op op, const std::vector<Values>& arguments) {
  const Values &a = arguments[0], &b = arguments.back();
  switch (op) {
    case ir::Op::Add:
      return {a[0] + b[0], a[1] + b[1]};
    case ir::Op::Sub:
      return {a[0] - b[0], a[1] - b[1]};
    case ir::Op::Mul:
      return product_of_parts(a, false, b, false);
    case ir::Op::Div:
      return quotient(a, b);
    case ir::Op::Neg:
      return {negated(a[0]), negated(a[1])};
    case ir::Op::Conj:
      return {a[0], negated(a[1])};
    case ir::Op::Eq:
      return {Halide::strict_float(a[0] == b[0]) && Halide::strict_float(a[1] == b[1])};
    case ir::Op::Ne:
      return {Halide::strict_float(a[0] != b[0]) || Halide::strict_float(a[1] != b[1])};
    default:
      return {};
  }
}

}  // namespace tile_tune::codegen
