#include "codegen/lower/functions/functions.h"

#include <functional>
#include <map>

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

using Unary = Expr (*)(const Expr&);
using Binary = Expr (*)(const Expr&, const Expr&);
using Ternary = Expr (*)(const Expr&, const Expr&, const Expr&);

struct Definition {
  int arguments;
  std::function<Expr(const std::vector<Expr>&)> arithmetic;

  Definition(Unary f) : arguments(1), arithmetic([f](const auto& x) { return f(x[0]); }) {}
  Definition(Ternary f) : arguments(3), arithmetic([f](const auto& x) { return f(x[0], x[1], x[2]); }) {}
  Definition(Binary f) : arguments(2), arithmetic([f](const auto& x) { return f(x[0], x[1]); }) {}
};

const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> all{
      {"acosh", acosh},         {"asinh", asinh},       {"atanh", atanh}, {"cbrt", cbrt},
      {"cosh", cosh},           {"exp", exp},           {"exp10", exp10}, {"exp2", exp2},
      {"expm1", expm1},         {"log", log},           {"log10", log10}, {"log1p", log1p},
      {"log2", log2},           {"pow", pow},           {"rsqrt", rsqrt}, {"sigmoid", sigmoid},
      {"sinh", sinh},           {"tanh", tanh},         {"acos", acos},   {"asin", asin},
      {"atan", atan},           {"atan2", atan2},       {"cos", cos},     {"erf", erf},
      {"erfc", erfc},           {"copysign", copysign}, {"fdim", fdim},   {"fma", fma},
      {"floor_mod", floor_mod}, {"fmod", fmod},         {"hypot", hypot}, {"lgamma", lgamma},
      {"tgamma", tgamma},       {"sin", sin},           {"tan", tan},
  };
  return all;
}

const std::string kFunctionPrefix = "tile_tune_function_";

class Expansion : public Halide::Internal::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const Halide::Internal::Call* op) override {
    const Expr same = IRGraphMutator::visit(op);
    if (op->name.compare(0, kFunctionPrefix.size(), kFunctionPrefix) != 0) return same;
    return definitions()
        .at(op->name.substr(kFunctionPrefix.size()))
        .arithmetic(same.as<Halide::Internal::Call>()->args);
  }
};

}  // namespace

Expr call(const std::string& name, const std::vector<Expr>& arguments) {
  return Halide::Internal::Call::make(arguments[0].type(), kFunctionPrefix + name, arguments,
                                      Halide::Internal::Call::PureExtern);
}

Expr expand(const Expr& expr) { return Expansion().mutate(expr); }

std::vector<Name> names() {
  std::vector<Name> all;
  for (const auto& [name, definition] : definitions()) all.push_back({name, definition.arguments});
  return all;
}

}  // namespace tile_tune::codegen::functions
