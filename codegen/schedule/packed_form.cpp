#include "codegen/schedule/packed_form.h"

#include <algorithm>

#include "codegen/schedule/collapsed_form.h"
#include "codegen/schedule/cut_indices.h"
#include "codegen/schedule/fusion.h"

namespace tile_tune::codegen {
namespace {

int uses_of(const ir::Program& program, int tensor) {
  int uses = 0;
  for (const auto& statement : program.statements) {
    uses += statement.previous == tensor;
    uses += statement.unwritten == tensor;
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { uses += read.tensor == tensor; });
  }
  return uses;
}

struct Former {
  const ir::Program& program;
  const Schedule& schedule;
  int statement;
  const NestSchedule& stage;
  Loops loops;

  const ir::Statement& text() const { return program.statements[statement]; }

  // The output loop whose index alone is the subscript; -1 if there is none, or another dimension uses the index, too.
  int loop_walking(const Operand& operand, size_t dimension) const {
    const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[dimension]);
    if (subscript.terms.size() != 1 || subscript.terms[0].second != 1 || subscript.denominator != 1) return -1;
    const int index = subscript.terms[0].first;
    for (size_t d = 0; d < operand.subscripts.size(); ++d)
      if (d != dimension && std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index) != 0) return -1;
    const auto found = std::find(loops.output_index.begin(), loops.output_index.end(), index);
    return found == loops.output_index.end() ? -1 : static_cast<int>(found - loops.output_index.begin());
  }

  // The statement computes every position of the loop, and none is clamped on the way to the operand.
  bool walks_all(int p, const Operand& operand, size_t dimension) const {
    return writes_all_of(text(), loops, p) &&
           stays_inside(text(), std::get<ir::AffineExpr>(operand.subscripts[dimension]),
                        ir::extent(program.tensors[operand.tensor], dimension));
  }

  // Whether tiles may compute beyond the loop's border: nothing but the packed operand is read there.
  bool may_overrun(int p, const Operand& operand) const {
    const int index = loops.output_index[p];
    for (const auto& other : loops.operands)
      if (other.number != operand.number && (!other.affine || loops.is_walked(other, p))) return false;
    if (is_constrained(text(), index)) return false;
    // An expression of the index itself is not read, but may divide by it.
    if (uses_index(*text().value, index)) return false;
    return !has_guests(schedule, statement);
  }

  static bool uses_index(const ir::Expr& expr, int index) {
    if (const auto* value = std::get_if<ir::IndexValue>(&expr.node)) return value->index == index;
    if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return uses_index(*cast->argument, index);
    if (const auto* call = std::get_if<ir::Call>(&expr.node))
      return std::any_of(call->arguments.begin(), call->arguments.end(),
                         [&](const ir::ExprPtr& argument) { return uses_index(*argument, index); });
    return false;
  }

  std::optional<Blocks> blocks_of(const Operand& operand, size_t dimension) const {
    const int p = loop_walking(operand, dimension);
    if (p < 0 || stage.compute_at || !walks_all(p, operand, dimension)) return std::nullopt;
    const bool vectors = p == stage.cpu().vector_loop;
    const int64_t extent = loops.output[p], outer = stage.tiles[p].front(), tile = stage.tiles[p].back();
    Blocks blocks{p, tile, loops.first[p], 1, false};
    blocks.origin += std::get<ir::AffineExpr>(operand.subscripts[dimension]).constant.constant().value();
    if (tile <= 1) return std::nullopt;
    // A last tile that is moved back to end at the border begins where a block does only if the width divides.
    if (extent % tile != 0) {
      blocks.guarded = vectors && may_overrun(p, operand);
      if (!blocks.guarded && vectors) blocks.width = stage.cpu().lanes;
      if (!blocks.guarded && extent % blocks.width != 0) return std::nullopt;
    }
    blocks.count = (blocks.guarded ? (extent + outer - 1) / outer * outer : extent) / blocks.width;
    return blocks;
  }

  PackedForm form(const Packing& packing) const {
    const auto& operand = loops.operands[packing.operand];
    const auto& tensor = program.tensors[operand.tensor];
    PackedForm form{operand.tensor, statement, packing, std::nullopt, std::nullopt, tensor.type, {}};
    if (tensor.type == DType::F16 && only_widened_halves(*text().value)) form.type = DType::F32;
    if (stage.dot_product) form.dot = dot_product(text(), loops, stage);
    if (form.dot && form.dot->widened) form.type = DType::I16;
    if (form.dot && form.dot->column != operand.number) form.dot.reset();
    const auto first = static_cast<size_t>(packing.order.front());
    if (!form.dot || form.dot->dimension != packing.order.front()) form.blocks = blocks_of(operand, first);
    if (form.dot) form.extents.push_back(form.dot->width);
    for (const int d : packing.order) {
      const int64_t extent = ir::extent(tensor, static_cast<size_t>(d));
      const bool in_groups = form.dot && form.dot->dimension == d;
      form.extents.push_back(in_groups ? (extent + form.dot->width - 1) / form.dot->width : extent);
    }
    if (form.blocks) {
      form.extents[form.dot ? 1 : 0] = form.blocks->width;
      form.extents.push_back(form.blocks->count);
    }
    return form;
  }
};

}  // namespace

int64_t PackedForm::bytes() const {
  auto bytes = static_cast<int64_t>(dtype_size(type));
  for (const int64_t extent : extents) bytes *= extent;
  return bytes;
}

bool is_packed_beforehand(const ir::Program& program, const Operand& operand) {
  const auto& tensor = program.tensors[operand.tensor];
  return tensor.constant && operand.affine && !operand.subscripts.empty() && !is_complex(tensor.type) &&
         ir::element_count(tensor) > 0 && uses_of(program, operand.tensor) == 1;
}

std::vector<PackedForm> packed_forms(const ir::Program& program, const Schedule& schedule) {
  if (schedule.collapsed) {
    const auto form = collapsed_form(program, schedule);
    return packed_forms(form->program, form->schedule);
  }
  std::vector<PackedForm> forms;
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    if (!schedule.stages[s].find_nest()) continue;
    const auto& stage = schedule.stages[s].nest();
    if (stage.packings.empty() || stage.is_gpu()) continue;  // a GPU's blocks stage their own parts
    const int number = static_cast<int>(s);
    const Former former{program, schedule, number, stage, loops_of(program, program.statements[s])};
    for (const auto& packing : stage.packings)
      if (is_packed_beforehand(program, former.loops.operands[packing.operand])) forms.push_back(former.form(packing));
  }
  std::sort(forms.begin(), forms.end(), [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
  return forms;
}

bool only_widened_halves(const ir::Expr& expr) {
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node))
    return (expr.type == DType::F32 && std::holds_alternative<ir::Read>(cast->argument->node)) ||
           only_widened_halves(*cast->argument);
  if (const auto* call = std::get_if<ir::Call>(&expr.node))
    return std::all_of(call->arguments.begin(), call->arguments.end(),
                       [](const ir::ExprPtr& argument) { return only_widened_halves(*argument); });
  return !std::holds_alternative<ir::Read>(expr.node) || expr.type != DType::F16;
}

}  // namespace tile_tune::codegen
