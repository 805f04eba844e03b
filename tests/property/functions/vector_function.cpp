#include "tests/property/functions/vector_function.h"

#include "codegen/lower/expression.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"

namespace tile_tune::codegen::functions {
namespace {

Halide::Target target_of(const std::string& name) {
  const Halide::Target host = Halide::get_host_target();
  if (name == "host") return host;
  if (name == "strict") return host.with_feature(Halide::Target::StrictFloat);
  if (host.arch != Halide::Target::X86) return host;
  if (name == "strict avx2") return Halide::Target("x86-64-linux-avx-avx2-fma-f16c-sse41-strict_float");
  if (name == "strict sse41") return Halide::Target("x86-64-linux-sse41-strict_float");
  if (name == "sse41") return Halide::Target("x86-64-linux-sse41");
  return Halide::Target("x86-64-linux-avx-avx2-fma-f16c-sse41");
}

}  // namespace

std::vector<std::string> targets() {
  const Halide::Target host = Halide::get_host_target();
  if (host.arch != Halide::Target::X86) return {"host", "strict"};
  // What a host of AVX2 alone is already.
  if (!host.has_feature(Halide::Target::AVX512)) return {"host", "strict", "sse41"};
  return {"host", "strict", "avx2", "sse41"};
}

template <typename T>
struct VectorFunction<T>::Compiled {
  std::vector<Halide::ImageParam> inputs;
  Halide::Callable callable;
};

template <typename T>
VectorFunction<T>::VectorFunction(const std::string& name, int arguments, const std::string& target, int vectors)
    : compiled_(std::make_unique<Compiled>()) {
  const Halide::Type type = Halide::type_of<T>();
  Halide::Var i("i"), vector("vector"), lane("lane");
  std::vector<Halide::Expr> values;
  std::vector<Halide::Argument> inputs;
  for (int k = 0; k < arguments; ++k) {
    compiled_->inputs.emplace_back(type, 1);
    values.push_back(compiled_->inputs.back()(i));
    inputs.push_back(compiled_->inputs.back());
  }
  const Halide::Target machine = target_of(target).with_feature(Halide::Target::NoAsserts);
  Halide::Func result("result_of_" + name);
  result(i) = with_ieee_rules(Values{call(name, values)}, false).front();
  const int lanes = machine.natural_vector_size<T>();
  result.split(i, i, vector, lanes * vectors).split(vector, vector, lane, lanes).vectorize(lane).unroll(vector);
  result.add_custom_lowering_pass(new RareCases(machine));
  compiled_->callable = result.compile_to_callable(inputs, machine);
}

template <typename T>
VectorFunction<T>::VectorFunction(VectorFunction&&) noexcept = default;
template <typename T>
VectorFunction<T>::~VectorFunction() = default;

template <typename T>
void VectorFunction<T>::run(const std::vector<const T*>& arguments, T* results, size_t count) const {
  const int extent = static_cast<int>(count);
  std::vector<Halide::Runtime::Buffer<T>> in;
  for (const T* argument : arguments) in.emplace_back(const_cast<T*>(argument), extent);
  Halide::Runtime::Buffer<T> out(results, extent);
  if (in.size() == 1)
    compiled_->callable(in[0], out);
  else if (in.size() == 2)
    compiled_->callable(in[0], in[1], out);
  else
    compiled_->callable(in[0], in[1], in[2], out);
}

template <typename T>
std::vector<T> VectorFunction<T>::operator()(const std::vector<std::vector<T>>& arguments) const {
  std::vector<const T*> in;
  for (const auto& argument : arguments) in.push_back(argument.data());
  std::vector<T> results(arguments[0].size());
  run(in, results.data(), results.size());
  return results;
}

template class VectorFunction<float>;
template class VectorFunction<double>;

}  // namespace tile_tune::codegen::functions
