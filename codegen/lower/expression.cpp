#include "codegen/lower/expression.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "codegen/lower/conversion.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/named.h"
#include "codegen/lower/signs.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;

// What indices and literals alone say: Halide may come to know it when it has unrolled a loop.
bool may_become_known(const Expr& x) {
  struct Reads : Halide::Internal::IRVisitor {
    using IRVisitor::visit;
    void visit(const Halide::Internal::Call* call) override {
      found |= call->call_type == Halide::Internal::Call::Halide || call->call_type == Halide::Internal::Call::Image;
      IRVisitor::visit(call);
    }
    void visit(const Halide::Internal::Variable* name) override { found |= name->type.is_float(); }
    bool found = false;
  } reads;
  x.accept(&reads);
  return !reads.found && !Halide::Internal::is_const(x);
}

Expr float_quotient(const Expr& a, const Expr& b) {
  // Halide refuses to divide by a zero that it knows. Infinity times a is what IEEE has for it, 0 and NaN included.
  if (Halide::Internal::is_const_zero(b)) {
    const bool negative = std::signbit(Halide::Internal::as_const_float(b).value_or(0));
    return a * Halide::Internal::make_const(a.type(), negative ? -INFINITY : INFINITY);
  }
  if (!may_become_known(b)) return a / b;
  const Expr one = Halide::Internal::make_one(a.type()), infinity = Halide::Internal::make_const(a.type(), INFINITY);
  return named(a, [&](const Expr& dividend) {
    return named(b, [&](const Expr& divisor) {
      const Expr is_zero = word_of(magnitude(divisor)) == 0;
      const Expr signed_infinity = value_of(a.type(), word_of(divisor) | word_of(infinity));
      return chosen(is_zero, dividend * signed_infinity, dividend / chosen(is_zero, one, divisor));
    });
  });
}

Expr floor_division(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return float_quotient(a, b);
  // Halide's integer division rounds so that the remainder is not negative, which is floor for b > 0 only.
  const Expr quotient = a / b;
  if (!a.type().is_int()) return quotient;
  const Expr zero = Halide::Internal::make_zero(a.type());
  return Halide::Internal::simplify(Halide::select(b < zero && a % b != zero, quotient - 1, quotient));
}

Expr floor_modulo(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return functions::call("floor_mod", {a, b});
  const Expr remainder = a % b;
  if (!a.type().is_int()) return remainder;
  const Expr zero = Halide::Internal::make_zero(a.type());
  return Halide::Internal::simplify(Halide::select(b < zero && remainder != zero, remainder + b, remainder));
}

Expr nan_of(Halide::Type type) { return Halide::cast(type, Expr(std::numeric_limits<float>::quiet_NaN())); }

// Exactly maxps or minps: `first` where either is NaN.
Expr better_of(const Expr& first, const Expr& second, bool maximum) {
  return Halide::select(Halide::strict_float(maximum ? second > first : second < first), second, first);
}

// NaN wins, as in numpy: a NaN in b is taken, a NaN in a stays, because no comparison with it is true. Written so that
// x86 needs three instructions: the inner select is exactly maxps or minps, and giving back NaN rather than b keeps
// LLVM from merging the two selects into mask arithmetic (2x2 max-pooling: 25 GB/s merged, 29 apart, on two Zen 4
// cores). strict_float keeps it from assuming that NaN does not occur.
Expr nan_aware(const Expr& a, const Expr& b, bool maximum) {
  if (!a.type().is_float()) return maximum ? Halide::max(a, b) : Halide::min(a, b);
  return named(a, [&](const Expr& first) {
    return named(b, [&](const Expr& second) {
      return Halide::select(not_a_number(second), nan_of(first.type()), better_of(first, second, maximum));
    });
  });
}

// NaN wins, in four instructions of x86 for two numbers: one comparison asks of both whether either is NaN. Maxima of
// 2048 rows of 2048 took 190 us by ones, 164 so (two Zen 4 cores, 2026-11-26).
Expr nan_aware(const Expr& a, const Expr& b, const Expr& c, bool maximum) {
  return named(a, [&](const Expr& first) {
    return named(b, [&](const Expr& second) {
      return named(c, [&](const Expr& third) {
        return Halide::select(not_a_number(second) || not_a_number(third), nan_of(first.type()),
                              named(better_of(second, third, maximum),
                                    [&](const Expr& pair) { return better_of(first, pair, maximum); }));
      });
    });
  });
}

// Of a sum LLVM takes for granted that it is no NaN, whatever is asked of it as a float. (Narrow ones were widened.)
Expr is_nan_by_bits(const Expr& x) {
  if (x.type().bits() < 32) return not_a_number(x);
  const Expr infinity = Halide::Internal::make_const(x.type(), std::numeric_limits<double>::infinity());
  return word_of(magnitude(x)) > word_of(infinity);
}

// What programs compare with itself they ask whether it is a NaN; Halide takes it for equal.
bool is_same_float(const Expr& a, const Expr& b) { return a.type().is_float() && Halide::Internal::equal(a, b); }

// a <= b. Halide turns <= and >= into a negated <, which is true of NaN.
Expr at_most(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return a <= b;
  return is_same_float(a, b) ? !is_nan_by_bits(a) : Halide::strict_float(a < b) || Halide::strict_float(a == b);
}

// C's fmax and fmin, which ignore a NaN: in vectors, where calls of the C library run lane by lane. Beside a constant
// one comparison is enough, which is not true of NaN.
Expr number_of(const Expr& a, const Expr& b, bool largest) {
  const auto better = [&](const Expr& x, const Expr& y) { return Halide::strict_float(largest ? x > y : x < y); };
  if (const auto number = Halide::Internal::as_const_float(b); number && !std::isnan(*number))
    return named(a, [&](const Expr& first) { return chosen(better(first, b), first, b); });
  return named(a, [&](const Expr& first) {
    return named(
        b, [&](const Expr& second) { return chosen(is_nan_by_bits(first) || better(second, first), second, first); });
  });
}

// C's round; a call of that name is Halide's, which rounds halves to even. x - trunc(x) is exact.
Expr round_half_away(const Expr& x) {
  const Expr whole = Halide::trunc(x), one = Halide::Internal::make_one(x.type());
  const Expr half = Halide::Internal::make_const(x.type(), 0.5);
  return chosen(at_most(half, x - whole), whole + one, chosen(at_most(half, whole - x), whole - one, whole));
}

// Signed 32- and 64-bit arithmetic wraps in the IR, but may not overflow in Halide (8 and 16 bits do wrap there): it is
// done on the unsigned bits. `operation` is one whose low bits do not depend on signs.
template <typename Operation>
Expr wrapping(const Expr& a, const Expr& b, Operation operation) {
  if (!a.type().is_int() || a.type().bits() < 32) return operation(a, b);
  const Halide::Type bits = a.type().with_code(halide_type_uint);
  return Halide::cast(a.type(), operation(Halide::cast(bits, a), Halide::cast(bits, b)));
}

Expr add(const Expr& a, const Expr& b) { return wrapping(a, b, std::plus<Expr>()); }
Expr subtract(const Expr& a, const Expr& b) { return wrapping(a, b, std::minus<Expr>()); }
Expr multiply(const Expr& a, const Expr& b) { return wrapping(a, b, std::multiplies<Expr>()); }

// Operations are done in f32 at least (ir/operation_type.h).
Expr unary(ir::Op op, const Expr& x) {
  using ir::Op;
  const Expr zero = Halide::Internal::make_zero(x.type());
  const Expr one = Halide::Internal::make_one(x.type());
  switch (op) {
    case Op::Neg:
      return x.type().is_float() ? negated(x) : subtract(zero, x);
    case Op::Not:
      return !x;
    case Op::Abs:
      if (x.type().is_float()) return magnitude(x);
      return x.type().is_int() ? Halide::cast(x.type(), Halide::abs(x)) : x;
    case Op::Ceil:
      return Halide::ceil(x);
    case Op::Floor:
      return Halide::floor(x);
    case Op::Trunc:
      return Halide::trunc(x);
    case Op::Sqrt:
      return Halide::sqrt(x);
    case Op::Exp:
      return functions::call("exp", {x});
    case Op::Log:
      return functions::call("log", {x});
    case Op::Sin:
      return functions::call("sin", {x});
    case Op::Cos:
      return functions::call("cos", {x});
    case Op::Tan:
      return functions::call("tan", {x});
    case Op::Tanh:
      return functions::call("tanh", {x});
    case Op::IsNan:
      return is_nan_by_bits(x);
    case Op::Relu:
      return !x.type().is_float() ? nan_aware(zero, x, true) : named(x, [&](const Expr& value) {
        return chosen(is_nan_by_bits(value), value, better_of(zero, value, true));
      });
    case Op::Rsqrt:
      return functions::call("rsqrt", {x});
    case Op::Sigmoid:
      return functions::call("sigmoid", {x});
    case Op::Sign:
      return chosen(x > zero, one, chosen(x < zero, zero - one, x));
    case Op::Acos:
      return functions::call("acos", {x});
    case Op::Acosh:
      return functions::call("acosh", {x});
    case Op::Asin:
      return functions::call("asin", {x});
    case Op::Asinh:
      return functions::call("asinh", {x});
    case Op::Atan:
      return functions::call("atan", {x});
    case Op::Atanh:
      return functions::call("atanh", {x});
    case Op::Cbrt:
      return functions::call("cbrt", {x});
    case Op::Cosh:
      return functions::call("cosh", {x});
    case Op::Erf:
      return functions::call("erf", {x});
    case Op::Erfc:
      return functions::call("erfc", {x});
    case Op::Exp2:
      return functions::call("exp2", {x});
    case Op::Exp10:
      return functions::call("exp10", {x});
    case Op::Expm1:
      return functions::call("expm1", {x});
    case Op::Lgamma:
      return functions::call("lgamma", {x});
    case Op::Log10:
      return functions::call("log10", {x});
    case Op::Log1p:
      return functions::call("log1p", {x});
    case Op::Log2:
      return functions::call("log2", {x});
    case Op::Round:
      return round_half_away(x);
    case Op::Sinh:
      return functions::call("sinh", {x});
    case Op::Tgamma:
      return functions::call("tgamma", {x});
    default:
      break;
  }
  return Expr();
}

Expr binary(ir::Op op, const Expr& a, const Expr& b) {
  using ir::Op;
  switch (op) {
    case Op::Add:
      return add(a, b);
    case Op::Sub:
      return subtract(a, b);
    case Op::Mul:
      return multiply(a, b);
    case Op::Div:
      return floor_division(a, b);
    case Op::Mod:
      return floor_modulo(a, b);
    case Op::Min:
      return nan_aware(a, b, false);
    case Op::Max:
      return nan_aware(a, b, true);
    case Op::Eq:
      return is_same_float(a, b) ? !is_nan_by_bits(a) : a == b;
    case Op::Ne:
      return is_same_float(a, b) ? is_nan_by_bits(a) : a != b;
    case Op::Lt:
      return a < b;
    case Op::Le:
      return at_most(a, b);
    case Op::Gt:
      return a > b;
    case Op::Ge:
      return at_most(b, a);
    case Op::And:
      return a && b;
    case Op::Or:
      return a || b;
    case Op::Pow:
      return functions::call("pow", {a, b});
    case Op::Atan2:
      return functions::call("atan2", {a, b});
    case Op::Copysign:
      return functions::call("copysign", {a, b});
    case Op::Fdim:
      return functions::call("fdim", {a, b});
    case Op::Fmax:
      return number_of(a, b, true);
    case Op::Fmin:
      return number_of(a, b, false);
    case Op::Fmod:
      return functions::call("fmod", {a, b});
    case Op::Hypot:
      return functions::call("hypot", {a, b});
    default:
      break;
  }
  return Expr();
}

Expr call(ir::Op op, const std::vector<Expr>& arguments) {
  if (op == ir::Op::Fma) return functions::call("fma", arguments);
  return arguments.size() == 1 ? unary(op, arguments[0]) : binary(op, arguments[0], arguments[1]);
}

Expr literal(const ir::Literal& literal, const Halide::Type& type) {
  return std::visit(
      [&](auto value) -> Expr {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return Halide::Internal::make_const(type, value);
        } else {
          return Halide::Internal::make_const(type, static_cast<int64_t>(value));
        }
      },
      literal.value);
}

struct Lowering {
  const std::vector<Expr>& indices;
  const ReadOperand& read_operand;
  const Branches& branches;
  int reads = 0;

  Values read(const ir::Read& node) {
    const int number = reads++;  // before its subscripts, as ir::for_each_read counts
    std::vector<Expr> subscripts;
    for (const auto& subscript : node.subscripts) {
      if (const auto* affine = std::get_if<ir::AffineExpr>(&subscript))
        subscripts.push_back(to_halide(*affine, indices));
      else
        subscripts.push_back(Halide::cast<int>((*this)(*std::get<ir::ExprPtr>(subscript))[0]));
    }
    return read_operand(number, node, subscripts);
  }

  // Of conjugates without these: a change of sign would be an instruction for each operand that is read.
  Values complex_product(const ir::Call& node) {
    Values factors[2];
    bool is_conjugate[2];
    for (size_t i = 0; i < 2; ++i) {
      const ir::Expr& factor = *node.arguments[i];
      const auto* call = std::get_if<ir::Call>(&factor.node);
      is_conjugate[i] = call && call->op == ir::Op::Conj;
      factors[i] = (*this)(is_conjugate[i] ? *call->arguments[0] : factor);
    }
    return product_of_parts(factors[0], is_conjugate[0], factors[1], is_conjugate[1]);
  }

  // A real number as one of `type`.
  static Values real(const Expr& value, DType type) {
    if (is_complex(type)) return {value, Halide::Internal::make_zero(value.type())};
    return {value};
  }

  // Of a complex number a real type keeps the real part; it is false if both parts are 0.
  static Values cast(const Values& value, DType type) {
    const Halide::Type part = halide_type(type);
    if (value.size() == 2 && part.is_bool()) return {convert(value[0], part) || convert(value[1], part)};
    if (value.size() == 1 || !is_complex(type)) return real(convert(value[0], part), type);
    return each_part(value, [&](const Expr& one) { return convert(one, part); });
  }

  static Values choice(const Expr& condition, const Values& if_true, const Values& if_false) {
    Values result;
    for (size_t part = 0; part < if_true.size(); ++part)
      result.push_back(chosen(condition, if_true[part], if_false[part]));
    return result;
  }

  Values operator()(const ir::Expr& expr) {
    const Halide::Type type = halide_type(expr.type);
    if (const auto* node = std::get_if<ir::Literal>(&expr.node)) return real(literal(*node, type), expr.type);
    if (const auto* node = std::get_if<ir::IndexValue>(&expr.node)) return {Halide::cast(type, indices[node->index])};
    if (const auto* node = std::get_if<ir::SizeValue>(&expr.node))
      return {Halide::Internal::make_const(type, node->size.constant().value())};
    if (const auto* node = std::get_if<ir::Read>(&expr.node)) return read(*node);
    if (const auto* node = std::get_if<ir::Cast>(&expr.node)) {
      return cast((*this)(*node->argument), expr.type);
    }
    const auto& node = std::get<ir::Call>(expr.node);
    if (node.op == ir::Op::Mul && is_complex(expr.type)) return complex_product(node);
    std::vector<Values> arguments;
    for (const auto& argument : node.arguments) arguments.push_back((*this)(*argument));
    if (node.op == ir::Op::Select)
      return branches.decide(expr) ? branches.value(expr, indices, arguments[1], arguments[2])
                                   : choice(arguments[0][0], arguments[1], arguments[2]);
    if (is_complex(node.arguments[0]->type)) return complex_call(node.op, arguments);
    std::vector<Expr> reals;
    for (const auto& argument : arguments) reals.push_back(argument[0]);
    return {call(node.op, reals)};
  }
};

}  // namespace

Halide::Type halide_type(DType type) {
  switch (type) {
    case DType::Bool:
      return Halide::UInt(1);
    case DType::I8:
      return Halide::Int(8);
    case DType::U8:
      return Halide::UInt(8);
    case DType::I16:
      return Halide::Int(16);
    case DType::U16:
      return Halide::UInt(16);
    case DType::I32:
      return Halide::Int(32);
    case DType::U32:
      return Halide::UInt(32);
    case DType::I64:
      return Halide::Int(64);
    case DType::U64:
      return Halide::UInt(64);
    case DType::F16:
      return Halide::Float(16);
    case DType::BF16:
      return Halide::BFloat(16);
    case DType::F32:
    case DType::C32:
      return Halide::Float(32);
    case DType::F64:
    case DType::C64:
      return Halide::Float(64);
  }
  return {};
}

namespace {

Expr strict(const Expr& value) { return functions::expand(Halide::strict_float(value)); }

// The product of strict factors; undefined: it is none of floats, or a literal's.
Expr free_product(const Expr& value) {
  const auto* product = value.type().is_float() ? value.as<Halide::Internal::Mul>() : nullptr;
  if (!product || Halide::Internal::is_const(product->a) || Halide::Internal::is_const(product->b)) return {};
  return strict(product->a) * strict(product->b);
}

// A part of a complex product.
struct TwoProducts {
  Expr first, second;
  bool is_difference;
};

std::optional<TwoProducts> two_products(const Expr& part) {
  using namespace Halide::Internal;
  const auto* sum = part.as<Add>();
  const auto* difference = part.as<Sub>();
  if (!sum && !difference) return std::nullopt;
  const TwoProducts both{sum ? sum->a : difference->a, sum ? sum->b : difference->b, difference != nullptr};
  return both.first.as<Mul>() && both.second.as<Mul>() ? std::optional(both) : std::nullopt;
}

// Each product that with_ieee_rules() left free becomes one with the addition.
Expr sum_with(const Expr& sum, const Expr& part) {
  const auto both = two_products(part);
  if (!both) return sum + part;
  return both->is_difference ? sum + both->first - both->second : sum + both->first + both->second;
}

Expr free_or_strict(const Expr& part, bool is_complex) {
  if (!is_complex) {
    const Expr product = free_product(part);
    return product.defined() ? product : strict(part);
  }
  const auto both = two_products(part);
  const Expr first = both ? free_product(both->first) : Expr(), second = both ? free_product(both->second) : Expr();
  if (!first.defined() || !second.defined()) return strict(part);
  return both->is_difference ? first - second : first + second;
}

}  // namespace

Values with_ieee_rules(const Values& value, bool is_fused) {
  return each_part(value,
                   [&](const Expr& part) { return is_fused ? free_or_strict(part, value.size() > 1) : strict(part); });
}

Expr to_halide(const ir::AffineExpr& expr, const std::vector<Expr>& indices) {
  Expr sum = static_cast<int>(expr.constant.constant().value());
  for (const auto& [index, coefficient] : expr.terms) sum = indices[index] * static_cast<int>(coefficient) + sum;
  return Halide::Internal::simplify(sum);
}

Values to_halide(const ir::Expr& expr, const std::vector<Expr>& indices, const ReadOperand& read_operand,
                 const Branches& branches) {
  return Lowering{indices, read_operand, branches}(expr);
}

Values combine(ir::Aggregation op, const Values& a, const Values& b) {
  const bool boolean = a[0].type().is_bool(), complex = a.size() > 1;
  switch (op) {
    case ir::Aggregation::Assign:
      return b;
    case ir::Aggregation::Sum:
      if (complex) return {sum_with(a[0], b[0]), sum_with(a[1], b[1])};
      return {boolean ? a[0] || b[0] : add(a[0], b[0])};
    case ir::Aggregation::Product:
      if (complex) return complex_call(ir::Op::Mul, {a, b});
      return {boolean ? a[0] && b[0] : multiply(a[0], b[0])};
    case ir::Aggregation::Min:
      return {nan_aware(a[0], b[0], false)};
    case ir::Aggregation::Max:
      return {nan_aware(a[0], b[0], true)};
  }
  return b;
}

Values combine(ir::Aggregation op, const Values& a, const Values& b, const Values& c) {
  return {nan_aware(a[0], b[0], c[0], op == ir::Aggregation::Max)};
}

Values identity(ir::Aggregation op, DType type) {
  const Halide::Type halide = halide_type(type);
  const Expr zero = Halide::Internal::make_zero(halide);
  if (is_complex(type)) return {op == ir::Aggregation::Product ? Halide::Internal::make_one(halide) : zero, zero};
  switch (op) {
    case ir::Aggregation::Product:
      return {Halide::Internal::make_one(halide)};
    case ir::Aggregation::Min:
      return {halide.is_float() ? Halide::cast(halide, Expr(std::numeric_limits<float>::infinity())) : halide.max()};
    case ir::Aggregation::Max:
      return {halide.is_float() ? Halide::cast(halide, Expr(-std::numeric_limits<float>::infinity())) : halide.min()};
    default:
      return {zero};
  }
}

}  // namespace tile_tune::codegen
