#include "codegen/lower/reversed.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

constexpr const char* kLowest = "tile_tune_lowest";

bool is_reversed(const ir::Tensor& tensor) {
  const auto& strides = tensor.storage.strides();
  return std::any_of(strides.begin(), strides.end(), [](const ir::Stride& stride) {
    const auto* number = std::get_if<int64_t>(&stride);
    return number && *number < 0;
  });
}

}  // namespace

std::optional<std::string> reversed_buffer(const ir::Program& program, const Inputs& inputs,
                                           const std::vector<Halide::Func>& outputs) {
  for (const auto& [parameter, tensor] : inputs.parameters)
    if (is_reversed(program.tensors[tensor])) return parameter.name();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_reversed(program.tensors[program.outputs[i]])) return outputs[i].name();
  return std::nullopt;
}

Stmt Reversed::mutate(const Stmt& stmt) {
  if (inside_) return IRMutator::mutate(stmt);
  inside_ = true;
  const Stmt body = IRMutator::mutate(stmt);
  inside_ = false;
  const Expr buffer = Variable::make(Halide::type_of<halide_buffer_t*>(), buffer_ + ".buffer");
  return LetStmt::make(kLowest, Call::make(Halide::Int(32), Call::buffer_get_min, {buffer, 0}, Call::Extern), body);
}

Expr Reversed::unknown(const Expr& index) {
  const auto* ramp = index.as<Ramp>();
  if (!ramp || !ramp->base.type().is_scalar()) return index;
  const auto base = as_const_int(ramp->base), stride = as_const_int(ramp->stride);
  if (!base || (*base >= 0 && (!stride || *stride >= 0))) return index;
  const Expr lowest = Variable::make(Halide::Int(32), kLowest);
  return Ramp::make(ramp->base + cast(ramp->base.type(), lowest), ramp->stride, ramp->lanes);
}

Expr Reversed::visit(const Load* load) {
  return Load::make(load->type, load->name, unknown(mutate(load->index)), load->image, load->param,
                    mutate(load->predicate), load->alignment);
}

Stmt Reversed::visit(const Store* store) {
  return Store::make(store->name, mutate(store->value), unknown(mutate(store->index)), store->param,
                     mutate(store->predicate), store->alignment);
}

}  // namespace tile_tune::codegen
