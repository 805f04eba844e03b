#include "codegen/lower/packed.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/copy.h"
#include "codegen/lower/expression.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;
using Halide::Internal::simplify;

// False where an output loop runs on beyond its index's range, over elements that the statement does not write.
bool follows_loops(const ir::Statement& statement, const Loops& loops, const ir::AffineExpr& subscript) {
  for (int p = 0; p < static_cast<int>(loops.output.size()); ++p)
    if (subscript.coefficient(loops.output_index[p]) != 0 && !writes_all_of(statement, loops, p)) return false;
  return true;
}

bool reads(const ir::Expr& expr, int tensor) {
  bool found = false;
  ir::for_each_read(expr, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

// Of a branch of a select only those iterations are copied that may take it: fewer than the loops say.
bool is_read_in_a_branch(const ir::Expr& expr, int tensor) {
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return is_read_in_a_branch(*cast->argument, tensor);
  const auto* call = std::get_if<ir::Call>(&expr.node);
  return call && std::any_of(call->arguments.begin(), call->arguments.end(), [&](const ir::ExprPtr& argument) {
           return call->op == ir::Op::Select ? reads(*argument, tensor) : is_read_in_a_branch(*argument, tensor);
         });
}

}  // namespace

Values as_stored(Values elements, DType from, DType as) {
  if (from != as) elements[0] = convert(elements[0], halide_type(as));
  return elements;
}

PackedOperand copy_in_kernel(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
                             const Packing& choice, const std::optional<DotProduct>& dot,
                             const std::optional<MatrixTiles>& tiles,
                             const std::function<Values(const std::vector<Expr>& subscripts)>& element,
                             const std::string& name) {
  const auto& operand = loops.operands[choice.operand];
  const auto& tensor = program.tensors[operand.tensor];
  PackedOperand packed{choice, Func(fmt::format("{}_pack{}", name, choice.operand)), ir::shape(tensor), {}};
  packed.in_memory = dimensions_in_memory(tensor);
  const bool always = !is_read_in_a_branch(*statement.value, operand.tensor);
  std::vector<Expr> subscripts;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    packed.vars.push_back(Var(fmt::format("{}_p{}_{}", name, choice.operand, d)));
    subscripts.push_back(packed.vars.back());
    const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
    packed.unclamped.push_back(always && stays_inside(statement, subscript, packed.extents[d]) &&
                               follows_loops(statement, loops, subscript));
  }
  auto arguments = packed.vars;
  if (dot && dot->column == choice.operand) {
    packed.dot = dot;
    packed.part = Var(fmt::format("{}_p{}_part", name, choice.operand));
    Expr& along = subscripts[dot->dimension];
    along = along * dot->width + *packed.part;
    arguments.insert(arguments.begin(), *packed.part);
  }
  const auto places = subscripts;
  Expr inside;  // where an element is one that the sum reads; undefined: everywhere
  const auto restrict_to = [&](const Expr& counts) { inside = inside.defined() ? inside && counts : counts; };
  packed.bordered.resize(packed.vars.size());
  for (const TileBorder& border : tiles ? tiles->borders : std::vector<TileBorder>()) {
    if (border.operand != choice.operand) continue;
    const auto d = static_cast<size_t>(border.dimension);
    restrict_to(places[d] >= static_cast<int>(border.first) && places[d] < static_cast<int>(border.end));
    subscripts[d] = Halide::clamp(Halide::likely(places[d]), 0, static_cast<int>(packed.extents[d]) - 1);
    packed.bordered[d] = packed.unclamped[d] = true;
  }
  const auto end_at = [&](int dimension) {
    const auto extent = static_cast<int>(packed.extents[dimension]);
    const auto& affine = std::get<ir::AffineExpr>(operand.subscripts[dimension]);
    const int index = loops.reduction_index[dot->loop];
    // Of a window what follows a sum is read by another; next to the other operand's zeros it adds nothing.
    const int64_t end = affine.terms.size() > 1 ? extent
                                                : ir::range(statement.indices[index]).lo +
                                                      affine.constant.constant().value() + loops.reduction[dot->loop];
    if (tiles) restrict_to(places[dimension] < static_cast<int>(end));
    subscripts[dimension] = Halide::min(Halide::likely(subscripts[dimension]), extent - 1);
  };
  if (tiles && tiles->is_filled_up && tiles->row_operand == choice.operand) {
    end_at(tiles->row_dimension);
    packed.extents[tiles->row_dimension] += dot->width - loops.reduction[dot->loop] % dot->width;
  }
  // The last group reaches beyond the sum, which leaves that out.
  if (packed.dot && loops.reduction[dot->loop] % dot->width != 0) end_at(dot->dimension);
  DType as = dot && dot->widened ? DType::I16 : tensor.type;
  if (tensor.type == DType::F16 && only_widened_halves(*statement.value)) as = DType::F32;
  Values elements = element(subscripts);
  if (inside.defined())
    elements = select(inside, each_part(elements, [](const Expr& part) { return Halide::likely(part); }),
                      each_part(elements, [](const Expr& part) { return Halide::Internal::make_zero(part.type()); }));
  define(packed.func, arguments, as_stored(elements, tensor.type, as));
  return packed;
}

std::optional<std::vector<Expr>> indices_at(const ir::Statement& statement, const Operand& operand,
                                            const std::vector<Expr>& subscripts) {
  std::vector<Expr> indices(statement.indices.size());
  std::vector<bool> used(statement.indices.size());
  for (size_t d = 0; d < subscripts.size(); ++d) {
    const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
    for (const auto& [index, coefficient] : subscript.terms) used[static_cast<size_t>(index)] = true;
    if (subscript.terms.size() != 1 || subscript.terms[0].second != 1 || subscript.denominator != 1) continue;
    indices[static_cast<size_t>(subscript.terms[0].first)] =
        subscripts[d] - static_cast<int>(subscript.constant.constant().value());
  }
  for (size_t i = 0; i < indices.size(); ++i)
    if (used[i] && !indices[i].defined()) return std::nullopt;
  return indices;
}

PackedOperand copy_made_beforehand(const PackedForm& form, const Func& parameter) {
  return {form.packing, parameter, form.extents, form.dot, form};
}

std::vector<Expr> packed_arguments(const PackedOperand& packed, std::vector<Expr> subscripts, const Expr& part) {
  if (packed.dot) {
    auto& along = subscripts[packed.dot->dimension];
    along = simplify((along - part) / packed.dot->width);
  }
  std::vector<Expr> arguments;
  if (packed.dot) arguments.push_back(part);
  if (!packed.form) {
    arguments.insert(arguments.end(), subscripts.begin(), subscripts.end());
    return arguments;
  }
  for (const int d : packed.choice.order) arguments.push_back(subscripts[d]);
  if (const auto& blocks = packed.form->blocks) {
    const int width = static_cast<int>(blocks->width);
    Expr& cut = arguments[packed.dot ? 1 : 0];
    const Expr position = simplify(cut - static_cast<int>(blocks->origin));
    cut = position % width;
    arguments.push_back(position / width);
  }
  return arguments;
}

}  // namespace tile_tune::codegen
