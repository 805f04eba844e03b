#include "frontend/tc/lower_expression.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "frontend/ir/grouping.h"
#include "frontend/ir/operation_type.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/number_literal.h"
#include "frontend/tc/print.h"

namespace tile_tune::tc {
namespace {

using ir::Op;
using Flexible = Lowered::Flexible;

// The type a flexible literal takes when it meets `type` (decision 1).
DType met_type(Flexible flexible, DType type) {
  if (is_float(type)) return type;
  if (flexible == Flexible::Float) return DType::F32;
  return type == DType::Bool ? DType::I32 : type;
}

bool is_zero(const ir::Expr& expr) {
  const auto* literal = std::get_if<ir::Literal>(&expr.node);
  const auto* integer = literal ? std::get_if<int64_t>(&literal->value) : nullptr;
  return integer && *integer == 0;
}

ir::ExprPtr convert(const ir::ExprPtr& expr, DType type) {
  return expr->type == type ? expr : ir::make_expr(type, ir::Cast{expr});
}

// A tree of literals in another type, or in that of operations on it; nullptr if a literal does not fit.
ir::ExprPtr retype(const ir::Expr& expr, DType type) {
  if (const auto* literal = std::get_if<ir::Literal>(&expr.node)) {
    const auto value = literal_as(*literal, type);
    return value ? ir::make_expr(type, *value) : nullptr;
  }
  type = ir::operation_type(type);
  ir::Call call = std::get<ir::Call>(expr.node);
  for (size_t i = call.op == Op::Select ? 1 : 0; i < call.arguments.size(); ++i)
    if (!(call.arguments[i] = retype(*call.arguments[i], type))) return nullptr;
  return ir::make_expr(type, std::move(call));
}

}  // namespace

Result<Lowered> Lowering::value(const ast::Expr& expr) {
  return nested(expr.span, [&] { return dispatch(expr); });
}

Result<Lowered> Lowering::dispatch(const ast::Expr& expr) {
  if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
    if (const auto* integer = std::get_if<int64_t>(&number->value))
      return Lowered{ir::make_expr(DType::I64, ir::Literal{*integer}), DType::I64, 1, Flexible::Int};
    return Lowered{ir::make_expr(DType::F64, ir::Literal{std::get<double>(number->value)}), DType::F64, 1,
                   Flexible::Float};
  }
  if (const auto* name = std::get_if<ast::Identifier>(&expr.node)) return identifier({name->name, expr.span});
  if (const auto* node = std::get_if<ast::Operation>(&expr.node)) return operation(expr, *node);
  if (const auto* node = std::get_if<ast::Cast>(&expr.node)) return cast(expr, *node);
  const auto& apply = std::get<ast::Apply>(expr.node);
  if (const auto* found = find_builtin(apply.name.text)) return builtin(expr, *found, apply);
  return read(expr, apply.name, apply.arguments);
}

Result<Lowered> Lowering::identifier(const ast::Name& name) {
  if (const auto let = scope_.let_numbers.find(name.text); let != scope_.let_numbers.end())
    return value(*scope_.lets[let->second]->value);
  if (def_.sizes.contains(name.text))
    return Lowered{ir::make_expr(DType::I32, ir::SizeValue{ir::SizeExpr::name(std::string(name.text))}), DType::I32};
  if (const auto index = scope_.index_numbers.find(name.text); index != scope_.index_numbers.end())
    return Lowered{ir::make_expr(DType::I32, ir::IndexValue{index->second}), DType::I32};
  const auto tensor = def_.tensors.find(name.text);
  if (tensor == def_.tensors.end()) return errors::undefined_name(place(name.span), name.text);
  if (tensor->second.version) {
    const auto& extents = def_.program.tensors[*tensor->second.version].extents;
    if (!extents.empty()) return errors::tensor_as_scalar(place(name.span), name.text, extents.size());
  }
  const ast::Expr whole{name.span, ast::Identifier{name.text}, 1};
  return read(whole, name, {});
}

Result<std::vector<Lowering::Operand>> Lowering::operands(const std::vector<ast::ExprPtr>& arguments) {
  std::vector<Operand> result;
  for (const auto& argument : arguments) {
    TILE_TUNE_TRY(lowered, value(*argument));
    result.push_back({std::move(lowered), argument->span});
  }
  return result;
}

void Lowering::keep_group(Lowered& value) const {
  if (in_subscript_ || value.flexible != Flexible::No || !ir::is_product(*value.expr)) return;
  value.expr = ir::grouped(value.expr);
  ++value.depth;
}

Result<Lowered> Lowering::operation(const ast::Expr& expr, const ast::Operation& operation) {
  const Op op = operation.op;
  if (op == Op::Select) return select(expr, operation.arguments);
  TILE_TUNE_TRY(arguments, operands(operation.arguments));
  if (op == Op::Mul || op == Op::And || op == Op::Div) {
    if (operation.left_in_parentheses) keep_group(arguments[0].value);
    if (op != Op::Div && operation.right_in_parentheses) keep_group(arguments[1].value);
  }
  if (op == Op::And || op == Op::Or || op == Op::Not) return logic(expr, op, std::move(arguments));
  if (ir::is_comparison(op)) return comparison(expr, op, std::move(arguments));
  return arithmetic(expr, op, std::move(arguments));
}

Result<Lowered> Lowering::arithmetic(const ast::Expr& expr, Op op, std::vector<Operand> operands,
                                     Builtin::Typing typing) {
  std::vector<ir::Literal> literals;
  for (const auto& operand : operands)
    if (const auto* literal = std::get_if<ir::Literal>(&operand.value.expr->node);
        literal && operand.value.flexible != Flexible::No)
      literals.push_back(*literal);
  if (literals.size() == operands.size() && typing == Builtin::Typing::Keeps) {
    if (const auto folded = fold(op, literals)) {
      const bool is_integer = std::holds_alternative<int64_t>(folded->value);
      const auto type = is_integer ? DType::I64 : DType::F64;
      return Lowered{ir::make_expr(type, *folded), type, 1, is_integer ? Flexible::Int : Flexible::Float};
    }
  }

  TILE_TUNE_TRY(unified, unify(operands, typing, widening(op)));
  if (unified.flexible == Flexible::Int) {
    // Integer arithmetic on conditionals of literals: what / gives depends on the type, so it is settled here.
    for (auto& operand : operands) {
      TILE_TUNE_TRY(settled, settle(operand.value, operand.span));
      operand.value = settled;
    }
    TILE_TUNE_TRY(again, unify(operands, typing, widening(op)));
    unified = std::move(again);
  }
  if (unified.type == DType::Bool) {
    const auto logical = ir::on_bools(op);
    if (!logical) return errors::needs_numbers(place(expr.span));
    op = *logical;
  }
  if (in_subscript_ && (op == Op::Div || op == Op::Mod) && is_zero(*unified.arguments[1]))
    return errors::division_by_zero(place(expr.span));
  if (op == Op::Mod && (is_float(unified.type) || unified.flexible == Flexible::Float))
    return errors::modulo_of_floats(place(expr.span));
  const auto type = typing == Builtin::Typing::IsFloat ? DType::Bool : unified.type;
  const auto natural = typing == Builtin::Typing::IsFloat ? DType::Bool : unified.natural;
  return check_depth(
      {ir::make_expr(type, ir::Call{op, std::move(unified.arguments)}), natural, unified.depth + 1, unified.flexible},
      expr.span);
}

Result<Lowered> Lowering::comparison(const ast::Expr& expr, Op op, std::vector<Operand> operands) {
  for (auto& operand : operands) {
    const bool all_flexible = operands[0].value.flexible != Flexible::No && operands[1].value.flexible != Flexible::No;
    if (!all_flexible) break;
    TILE_TUNE_TRY(settled, settle(operand.value, operand.span));
    operand.value = settled;
  }
  TILE_TUNE_TRY(unified, unify(operands, Builtin::Typing::Keeps, Widening::None));
  return check_depth(
      {ir::make_expr(DType::Bool, ir::Call{op, std::move(unified.arguments)}), DType::Bool, unified.depth + 1},
      expr.span);
}

Result<void> Lowering::require_bool(const Operand& operand) const {
  if (operand.value.flexible == Flexible::No && operand.value.expr->type == DType::Bool) return {};
  TILE_TUNE_TRY(settled, settle(operand.value, operand.span));
  return errors::not_a_condition(place(operand.span), settled.natural);
}

Result<Lowered> Lowering::logic(const ast::Expr& expr, Op op, std::vector<Operand> operands) {
  ir::Call call{op, {}};
  int depth = 0;
  for (const auto& operand : operands) {
    TILE_TUNE_CHECK(require_bool(operand));
    call.arguments.push_back(operand.value.expr);
    depth = std::max(depth, operand.value.depth);
  }
  return check_depth({ir::make_expr(DType::Bool, std::move(call)), DType::Bool, depth + 1}, expr.span);
}

// The condition and both branches, each lowered on its path.
Result<std::vector<Lowering::Operand>> Lowering::branches(const ast::Expr& condition, const ast::Expr& yes,
                                                          const ast::Expr& no) {
  TILE_TUNE_TRY(first, value(condition));
  std::vector<Operand> result{{first, condition.span}};
  for (const bool holds : {true, false}) {
    const auto& branch = holds ? yes : no;
    path_.push_back({first.expr.get(), holds});
    TILE_TUNE_TRY(lowered, value(branch));
    path_.pop_back();
    result.push_back({std::move(lowered), branch.span});
  }
  return result;
}

Result<Lowered> Lowering::select(const ast::Expr& expr, const std::vector<ast::ExprPtr>& arguments) {
  TILE_TUNE_TRY(operands, branches(*arguments[0], *arguments[1], *arguments[2]));
  TILE_TUNE_CHECK(require_bool(operands[0]));
  const auto condition = operands[0].value;
  operands.erase(operands.begin());
  TILE_TUNE_TRY(unified, unify(operands, Builtin::Typing::Keeps, widening(Op::Select)));
  ir::Call call{Op::Select, {condition.expr}};
  call.arguments.insert(call.arguments.end(), unified.arguments.begin(), unified.arguments.end());
  return check_depth({ir::make_expr(unified.type, std::move(call)), unified.natural,
                      std::max(condition.depth, unified.depth) + 1, unified.flexible},
                     expr.span);
}

Result<Lowered> Lowering::builtin(const ast::Expr& expr, const Builtin& builtin, const ast::Apply& apply) {
  if (apply.arguments.size() != builtin.arity)
    return errors::wrong_argument_count(place(expr.span), builtin.name, builtin.arity, apply.arguments.size());
  if (builtin.typing == Builtin::Typing::Select) return select(expr, apply.arguments);
  TILE_TUNE_TRY(arguments, operands(apply.arguments));
  return arithmetic(expr, builtin.op, std::move(arguments), builtin.typing);
}

Result<Lowered> Lowering::cast(const ast::Expr& expr, const ast::Cast& cast) {
  TILE_TUNE_TRY(argument, value(*cast.argument));
  if (argument.flexible != Flexible::No) {
    // float64(0.1) is the double nearest 0.1, and uint8(300) wraps around as any other cast does.
    const bool takes_type = is_float(cast.type) || (argument.flexible == Flexible::Int && is_integer(cast.type));
    if (const auto retyped = takes_type ? retype(*argument.expr, cast.type) : nullptr)
      return check_depth(
          {convert(retyped, cast.type), cast.type, argument.depth + (retyped->type == cast.type ? 0 : 1)}, expr.span);
    const auto widest = argument.flexible == Flexible::Float ? DType::F64 : DType::I64;
    TILE_TUNE_TRY(settled, settle(argument, widest, cast.argument->span));
    argument = settled;
  }
  const int depth = argument.depth + (argument.expr->type == cast.type ? 0 : 1);
  return check_depth({convert(argument.expr, cast.type), cast.type, depth}, expr.span);
}

Result<Lowered> Lowering::read(const ast::Expr& expr, const ast::Name& name,
                               const std::vector<ast::ExprPtr>& subscripts) {
  const auto& symbol = def_.tensors.find(name.text)->second;
  if (!symbol.version) return errors::read_before_written(place(name.span), name.text);
  const auto& tensor = def_.program.tensors[*symbol.version];
  if (subscripts.size() != tensor.extents.size())
    return errors::wrong_subscript_count(place(expr.span), name.text, tensor.extents.size(), subscripts.size());
  if (def_.size_parameters.contains(name.text))
    return Lowered{ir::make_expr(tensor.type, ir::SizeValue{ir::SizeExpr::name(std::string(name.text))}), tensor.type};
  ir::Read result{*symbol.version, {}};
  int depth = 0;
  const auto text = subscripts.empty() ? "" : to_text(expr);
  for (size_t d = 0; d < subscripts.size(); ++d) {
    SubscriptBound bound{{}, 1, tensor.extents[d], fmt::format("{}, dimension {}", text, d), subscripts[d]->span};
    TILE_TUNE_TRY(lowered, subscript(*subscripts[d], std::move(bound), depth));
    result.subscripts.push_back(std::move(lowered));
  }
  return check_depth({ir::make_expr(tensor.type, std::move(result)), tensor.type, depth + 1}, expr.span);
}

Result<ir::Subscript> Lowering::subscript(const ast::Expr& expr, SubscriptBound bound, int& depth) {
  TILE_TUNE_TRY(linear, affine(expr));
  if (linear) {
    bound.expr = *linear;
    add_bound(std::move(bound));
    return ir::Subscript{*std::move(linear)};
  }
  TILE_TUNE_CHECK(bound_quotient(expr, std::move(bound)));
  // Index arithmetic does not wrap in 8 or 16 bits, whatever type a gather's indices are stored in.
  const bool widens = std::exchange(widens_, true), in_subscript = std::exchange(in_subscript_, true);
  TILE_TUNE_TRY(lowered, value(expr));
  widens_ = widens;
  in_subscript_ = in_subscript;
  TILE_TUNE_TRY(settled, settle(lowered, expr.span));
  if (!is_integer(settled.expr->type)) return errors::not_an_integer(place(expr.span), "a subscript", settled.natural);
  depth = std::max(depth, settled.depth);
  return ir::Subscript{settled.expr};
}

Lowering::Widening Lowering::widening(Op op) const {
  if (widens_) return Widening::All;
  const bool grows = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg;
  return grows ? Widening::Integers : Widening::None;
}

Result<Lowering::Unified> Lowering::unify(const std::vector<Operand>& operands, Builtin::Typing typing,
                                          Widening widening) const {
  const bool wants_float = typing == Builtin::Typing::Float || typing == Builtin::Typing::IsFloat;
  std::optional<DType> type, natural;
  auto literals = wants_float ? Flexible::Float : Flexible::Int;
  for (const auto& [operand, span] : operands) {
    if (operand.flexible == Flexible::No) {
      type = type ? promote(*type, operand.expr->type) : operand.expr->type;
      natural = natural ? promote(*natural, operand.natural) : operand.natural;
    } else if (operand.flexible == Flexible::Float) {
      literals = Flexible::Float;
    }
  }

  Unified result;
  if (!type) {
    // Literals only. isnan has a type of its own, so its argument must settle.
    const bool settles = typing == Builtin::Typing::IsFloat;
    for (const auto& [operand, span] : operands) {
      Lowered argument = operand;
      if (settles) {
        TILE_TUNE_TRY(settled, settle(operand, DType::F32, span));
        argument = settled;
      }
      result.arguments.push_back(argument.expr);
      result.depth = std::max(result.depth, argument.depth);
    }
    result.flexible = settles ? Flexible::No : literals;
    return result;
  }
  const bool has_literals = std::any_of(operands.begin(), operands.end(),
                                        [](const auto& operand) { return operand.value.flexible != Flexible::No; });
  for (auto* common : {&*type, &*natural}) {
    if (has_literals) *common = met_type(literals, *common);
    if (wants_float && !is_float(*common)) *common = DType::F32;
  }
  const bool widens = widening == Widening::All || (widening == Widening::Integers && is_integer(*type));
  result.type = widens ? accumulator_type(*type) : ir::operation_type(*type);
  result.natural = *natural;
  for (const auto& [operand, span] : operands) {
    TILE_TUNE_TRY(settled, settle(operand, result.type, span));
    result.arguments.push_back(convert(settled.expr, result.type));
    result.depth = std::max(result.depth, settled.depth + (settled.expr->type == result.type ? 0 : 1));
  }
  return result;
}

Result<Lowered> Lowering::settle(const Lowered& value, DType type, Span span) const {
  if (value.flexible == Flexible::No) return value;
  auto retyped = retype(*value.expr, type);
  if (!retyped) return errors::literal_out_of_range(place(span), source_.text(span), type);
  return Lowered{std::move(retyped), type, value.depth};
}

Result<Lowered> Lowering::settle(const Lowered& value, Span span) const {
  if (value.flexible == Flexible::No) return value;
  if (value.flexible == Flexible::Float) return settle(value, DType::F32, span);
  const bool is_small = retype(*value.expr, DType::I32) != nullptr;
  return settle(value, is_small ? DType::I32 : DType::I64, span);
}

Result<Lowered> Lowering::check_depth(Lowered value, Span span) const {
  if (value.depth > ast::kMaxDepth) return errors::too_deep(place(span), ast::kMaxDepth);
  return value;
}

}  // namespace tile_tune::tc
