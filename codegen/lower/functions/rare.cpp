#include "codegen/lower/functions/rare.h"

#include <map>

#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::VectorReduce;

const std::string kRarePrefix = "tile_tune_rare_";

const std::map<std::string, Expr (*)(const std::vector<Expr>&)>& rare_cases() {
  static const std::map<std::string, Expr (*)(const std::vector<Expr>&)> all{
      {"acosh", rare_acosh}, {"asinh", rare_asinh},     {"atan2", rare_atan2}, {"atanh", rare_atanh},
      {"cbrt", rare_cbrt},   {"cos", rare_cos},         {"cosh", rare_cosh},   {"exp", rare_exp},
      {"exp10", rare_exp10}, {"exp2", rare_exp2},       {"fmod", rare_fmod},   {"fmod_single", rare_fmod_single},
      {"hypot", rare_hypot}, {"lgamma", rare_lgamma},   {"log", rare_log},     {"log10", rare_log10},
      {"log1p", rare_log1p}, {"log2", rare_log2},       {"pow", rare_pow},     {"pow_negative", rare_pow_negative},
      {"rsqrt", rare_rsqrt}, {"sigmoid", rare_sigmoid}, {"sin", rare_sin},     {"sinh", rare_sinh},
      {"tan", rare_tan},
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

// Halide makes a call of every lane, and LLVM one instruction of them.
Expr fused_multiply_add(const Expr& a, const Expr& b, const Expr& c, bool is_opencl) {
  const std::string instruction = is_opencl ? "fma" : a.type().bits() == 32 ? "llvm.fma.f32" : "llvm.fma.f64";
  return Call::make(a.type(), instruction, {a, b, c}, Call::PureExtern);
}

// Of vectors with as many lanes as the instruction of AVX has, where that divides them.
Expr inverse_root_instruction(const Expr& x) {
  constexpr int kLanes = 8;
  const std::string name = "fast_inverse_sqrt_f32";
  if (x.type().lanes() % kLanes != 0) return Call::make(x.type(), name, {x}, Call::PureExtern);
  std::vector<Expr> parts;
  for (int first = 0; first < x.type().lanes(); first += kLanes) {
    const Expr part = Halide::Internal::Shuffle::make_slice(x, first, 1, kLanes);
    parts.push_back(Call::make(part.type(), name, {part}, Call::PureExtern));
  }
  return parts.size() == 1 ? parts[0] : Halide::Internal::Shuffle::make_concat(parts);
}

// That there is none, which LLVM then takes for true: it keeps constants in registers for the usual arithmetic, where
// the rare case would have them loaded in each iteration. Its pass knows this one form of comparison.
Expr likely_none(const Expr& any) {
  const Halide::Type type = Halide::Int(32);
  return Call::make(type, "llvm.expect.i32", {Halide::cast(type, any), 0}, Call::PureExtern) == 0;
}

}  // namespace

Expr usually(const Expr& usual, const Expr& is_rare, const std::string& rare_case, const std::vector<Expr>& arguments) {
  std::vector<Expr> all{usual, is_rare};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Call::make(usual.type(), kRarePrefix + rare_case, all, Call::PureExtern);
}

RareCases::RareCases(const Halide::Target& target)
    : code_(target.has_feature(Halide::Target::OpenCL) ? Code::OpenCl
            : target.has_feature(Halide::Target::CUDA) ? Code::Cuda
                                                       : Code::Cpu),
      fuses_(code_ != Code::Cpu || target.arch != Halide::Target::X86 || target.has_feature(Halide::Target::FMA) ||
             target.has_feature(Halide::Target::AVX512)),
      is_deterministic_(target.has_feature(Halide::Target::StrictFloat)),
      approximates_(code_ == Code::Cpu && fuses_ && !is_deterministic_ && target.arch == Halide::Target::X86 &&
                    target.has_feature(Halide::Target::AVX)),
      rounds_(code_ != Code::Cpu || target.arch != Halide::Target::X86 || target.has_feature(Halide::Target::SSE41)) {}

Expr RareCases::visit(const Call* op) {
  if (op->name == kWhereFused) return mutate(op->args[fuses_ && !is_deterministic_ ? 0 : 1]);
  if (op->name == kWhereApproximate) return mutate(op->args[approximates_ ? 0 : 1]);
  const Expr same = IRMutator::visit(op);
  if (op->name == kApproximateInverseRoot) return inverse_root_instruction(same.as<Call>()->args[0]);
  if (op->name == kFused) {
    const auto& factors = same.as<Call>()->args;
    if (!fuses_) return mutate(fused(factors));  // what it rounds with is looked at, too
    return fused_multiply_add(factors[0], factors[1], factors[2], code_ == Code::OpenCl);
  }
  if (op->name == kProductError) {
    const auto& factors = same.as<Call>()->args;
    if (!fuses_) return unfused_product_error(factors);
    return fused_multiply_add(factors[0], factors[1], with_sign(factors[2], word(factors[2], sign_mask(factors[2]))),
                              code_ == Code::OpenCl);
  }
  const auto rounding = roundings().find(op->name);
  if (!rounds_ && rounding != roundings().end()) return rounding->second(same.as<Call>()->args[0]);
  if (op->name.compare(0, kRarePrefix.size(), kRarePrefix) != 0) return same;
  const auto& arguments = same.as<Call>()->args;
  // Both by names, lest LLVM put half of the usual arithmetic into either branch, and both halves into memory.
  const auto named = [](const Expr& value) {
    return Halide::Internal::Variable::make(value.type(), Halide::Internal::unique_name('r'));
  };
  const Expr usual = named(arguments[0]), is_rare = named(arguments[1]);
  const auto rare_case = rare_cases().at(op->name.substr(kRarePrefix.size()));
  const Expr rare = mutate(rare_case({arguments.begin() + 2, arguments.end()}));
  Expr chosen;
  if (code_ != Code::Cpu) {
    chosen = Call::make(usual.type(), Call::if_then_else, {is_rare, rare, usual}, Call::PureIntrinsic);
  } else {
    const Expr none =
        likely_none(is_rare.type().is_scalar() ? is_rare : VectorReduce::make(VectorReduce::Or, is_rare, 1));
    const Expr mixed = Halide::select(is_rare, rare, usual);
    chosen = Call::make(usual.type(), Call::if_then_else, {none, usual, mixed}, Call::PureIntrinsic);
  }
  for (const auto& [name, value] : {std::pair(usual, arguments[0]), std::pair(is_rare, arguments[1])})
    chosen = Halide::Internal::Let::make(name.as<Halide::Internal::Variable>()->name, value, chosen);
  return chosen;
}

}  // namespace tile_tune::codegen::functions
