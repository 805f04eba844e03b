#include "codegen/lower/bfloat16_as_bits.h"

#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;
using namespace Halide::Internal;

Type words(const Type& type) { return type.is_bfloat() ? Halide::UInt(16, type.lanes()) : type; }

Expr widened(const Expr& bits) {
  const Type word = Halide::UInt(32, bits.type().lanes());
  return Reinterpret::make(Halide::Float(32, bits.type().lanes()), Cast::make(word, bits) << make_const(word, 16));
}

// Of the two numbers next to it the nearer one, and of two as near the even one. (What is NaN is chosen outside.)
Expr narrowed(const Expr& value) {
  const Type word = Halide::UInt(32, value.type().lanes());
  const std::string name = unique_name('w');
  const Expr bits = Variable::make(word, name);
  const Expr rounded = bits + make_const(word, 0x7fff) + ((bits >> make_const(word, 16)) & make_const(word, 1));
  const Expr cut = Cast::make(word.with_bits(16), rounded >> make_const(word, 16));
  return Let::make(name, Reinterpret::make(word, value), cut);
}

}  // namespace

Expr Bfloat16AsBits::mutate(const Expr& expr) {
  if (!expr.defined() || !expr.type().is_bfloat()) return IRMutator::mutate(expr);
  switch (expr.node_type()) {
    case IRNodeType::Add:
    case IRNodeType::Sub:
    case IRNodeType::Mul:
    case IRNodeType::Div:
    case IRNodeType::Mod:
    case IRNodeType::Min:
    case IRNodeType::Max:
      throw Halide::CompileError("kernels of a GPU compute nothing in bfloat16 itself");
    default:
      return IRMutator::mutate(expr);
  }
}

Expr Bfloat16AsBits::visit(const FloatImm* op) {
  if (!op->type.is_bfloat()) return op;
  return make_const(Halide::UInt(16), static_cast<int64_t>(Halide::bfloat16_t(op->value).to_bits()));
}

Expr Bfloat16AsBits::visit(const Variable* op) {
  return op->type.is_bfloat() ? Variable::make(words(op->type), op->name) : Expr(op);
}

Expr Bfloat16AsBits::visit(const Load* op) {
  if (!op->type.is_bfloat()) return IRMutator::visit(op);
  return Load::make(words(op->type), op->name, mutate(op->index), op->image, op->param, mutate(op->predicate),
                    op->alignment);
}

Expr Bfloat16AsBits::visit(const Cast* op) {
  const Type from = op->value.type();
  if (from.is_bfloat() == op->type.is_bfloat()) return IRMutator::visit(op);
  const Expr value = mutate(op->value);
  const Type single = Halide::Float(32, op->type.lanes());
  if (from.is_bfloat()) return op->type == single ? widened(value) : Cast::make(op->type, widened(value));
  return narrowed(from == single ? value : Cast::make(single, value));
}

Expr Bfloat16AsBits::visit(const Reinterpret* op) {
  const Expr value = mutate(op->value);
  const Type type = words(op->type);
  return value.type() == type ? value : Reinterpret::make(type, value);
}

Expr Bfloat16AsBits::visit(const Call* op) {
  const bool compares = op->is_intrinsic({Call::strict_eq, Call::strict_lt, Call::strict_le});
  if (!op->type.is_bfloat() && !compares) return IRMutator::visit(op);
  std::vector<Expr> arguments;
  for (const auto& argument : op->args) {
    arguments.push_back(mutate(argument));
    if (compares && argument.type().is_bfloat()) arguments.back() = widened(arguments.back());
  }
  return Call::make(words(op->type), op->name, arguments, op->call_type, op->func, op->value_index, op->image,
                    op->param);
}

// Of words the sign would be the highest bit of a number, and NaN one.
template <typename Comparison>
Expr Bfloat16AsBits::compared(const Comparison* op) {
  if (!op->a.type().is_bfloat()) return IRMutator::visit(op);
  return Comparison::make(widened(mutate(op->a)), widened(mutate(op->b)));
}

Expr Bfloat16AsBits::visit(const EQ* op) { return compared(op); }
Expr Bfloat16AsBits::visit(const NE* op) { return compared(op); }
Expr Bfloat16AsBits::visit(const LT* op) { return compared(op); }
Expr Bfloat16AsBits::visit(const LE* op) { return compared(op); }
Expr Bfloat16AsBits::visit(const GT* op) { return compared(op); }
Expr Bfloat16AsBits::visit(const GE* op) { return compared(op); }

Stmt Bfloat16AsBits::visit(const Allocate* op) {
  if (!op->type.is_bfloat()) return IRMutator::visit(op);
  return Allocate::make(op->name, words(op->type), op->memory_type, op->extents, mutate(op->condition),
                        mutate(op->body), op->new_expr, op->free_function, op->padding);
}

}  // namespace tile_tune::codegen
