#include "codegen/lower/functions/rare.h"

#include <map>

#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::VectorReduce;

const std::string kPrefix = "tile_tune_rare_";

const std::map<std::string, Expr (*)(const std::vector<Expr>&)>& rare_cases() {
  static const std::map<std::string, Expr (*)(const std::vector<Expr>&)> all{
      {"cos", rare_cos}, {"fmod", rare_fmod}, {"fmod_single", rare_fmod_single}, {"sin", rare_sin}, {"tan", rare_tan},
  };
  return all;
}

// By Halide's names.
const std::map<std::string, Expr (*)(const Expr&)>& roundings() {
  static const std::map<std::string, Expr (*)(const Expr&)> all{
      {"ceil_f32", ceiled},   {"ceil_f64", ceiled},     {"floor_f32", floored},
      {"floor_f64", floored}, {"trunc_f32", truncated}, {"trunc_f64", truncated},
  };
  return all;
}

}  // namespace

Expr usually(const Expr& usual, const Expr& is_rare, const std::string& rare_case, const std::vector<Expr>& arguments) {
  std::vector<Expr> all{usual, is_rare};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Call::make(usual.type(), kPrefix + rare_case, all, Call::PureExtern);
}

RareCases::RareCases(const Halide::Target& target)
    : fuses_(target.arch != Halide::Target::X86 || target.has_feature(Halide::Target::FMA) ||
             target.has_feature(Halide::Target::AVX512)),
      rounds_(target.arch != Halide::Target::X86 || target.has_feature(Halide::Target::SSE41)) {}

Expr RareCases::visit(const Call* op) {
  const Expr same = IRMutator::visit(op);
  if (op->name == kFused) {
    const auto& factors = same.as<Call>()->args;
    if (!fuses_) return mutate(fused(factors));  // what it rounds with is looked at, too
    // Halide makes a call of every lane, and LLVM one instruction of them.
    const std::string instruction = op->type.bits() == 32 ? "llvm.fma.f32" : "llvm.fma.f64";
    return Call::make(op->type, instruction, factors, Call::PureExtern);
  }
  const auto rounding = roundings().find(op->name);
  if (!rounds_ && rounding != roundings().end()) return rounding->second(same.as<Call>()->args[0]);
  if (op->name.compare(0, kPrefix.size(), kPrefix) != 0) return same;
  const auto& arguments = same.as<Call>()->args;
  const Expr& usual = arguments[0];
  const Expr is_rare = Halide::Internal::Variable::make(arguments[1].type(), Halide::Internal::unique_name('r'));
  const Expr rare = rare_cases().at(op->name.substr(kPrefix.size()))({arguments.begin() + 2, arguments.end()});
  const Expr any = is_rare.type().is_scalar() ? is_rare : VectorReduce::make(VectorReduce::Or, is_rare, 1);
  const Expr mixed = Halide::select(is_rare, rare, usual);
  const Expr chosen = Call::make(usual.type(), Call::if_then_else, {any, mixed, usual}, Call::PureIntrinsic);
  return Halide::Internal::Let::make(is_rare.as<Halide::Internal::Variable>()->name, arguments[1], chosen);
}

}  // namespace tile_tune::codegen::functions
