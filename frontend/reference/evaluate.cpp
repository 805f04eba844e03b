#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <new>
#include <numeric>

#include "base/cpus.h"
#include "frontend/reference/evaluator.h"
#include "frontend/reference/random.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

// Computing on demand recurses once for each statement of a chain, in frames of together about 1 KiB: this many
// take an eighth of a stack of 8 MiB.
constexpr size_t kMaxChain = 1000;

// Of one innermost iteration (one Zen 4 core): products take 1.9 ns at 512^3, 3.4 at 128x1024x1024; and of one element
// of the result: 4096x1024x9 takes 13 ns a product.
constexpr double kProductSeconds = 3.5e-9, kTermSeconds = 30e-9, kElementSeconds = 90e-9;

Result<void> check_inputs(const ir::Program& program, const Inputs& inputs) {
  if (!program.is_bound())
    return fail(ErrorClass::Program, "unbound-program", fmt::format("'{}' has sizes without a value", program.name));
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const auto& tensor = program.tensors[i];
    if (tensor.role != ir::Role::Input && tensor.role != ir::Role::InOut) continue;
    const auto found = inputs.find(static_cast<int>(i));
    if (found == inputs.end())
      return fail(ErrorClass::Mismatch, "missing-input", fmt::format("there is no array for {}", tensor.name));
    const auto& array = found->second;
    if (array.type != tensor.type)
      return fail(ErrorClass::Mismatch, "input-type",
                  fmt::format("{} is {}, but its array holds {}", tensor.name, dtype_name(tensor.type),
                              dtype_name(array.type)));
    const auto shape = ir::shape(tensor);
    const int64_t elements =
        array.strides.empty() ? ir::element_count(tensor) : ir::reach(array.strides, array.shape).count;
    if (array.shape != shape || array.data.size() != static_cast<size_t>(elements) * dtype_size(tensor.type))
      return fail(ErrorClass::Mismatch, "input-shape",
                  fmt::format("{} has shape ({}), but its array has ({})", tensor.name, fmt::join(shape, ", "),
                              fmt::join(array.shape, ", ")));
  }
  return {};
}

tl::unexpected<Diagnostic> out_of_memory(const ir::Program& program) {
  return failure("out-of-memory",
                 fmt::format("there is not enough memory to compute '{}' in the reference", program.name));
}

std::vector<int64_t> all_elements(const ir::Tensor& tensor) {
  std::vector<int64_t> result(ir::element_count(tensor));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// Calls `visit(i)` for every i in [0, count), or for `samples` random ones where that is fewer.
template <typename Visit>
void for_some(int64_t count, int64_t samples, std::mt19937_64& engine, const Visit& visit) {
  for (int64_t i = 0; i < std::min(count, samples); ++i) visit(count <= samples ? i : random_below(engine, count));
}

std::vector<int64_t> sample_elements(const ir::Tensor& tensor, int64_t samples, std::mt19937_64& engine) {
  const auto shape = ir::shape(tensor);
  const int64_t count = ir::element_count(tensor);
  std::vector<int64_t> result;
  if (count == 0) return result;
  for_some(count, samples, engine, [&](int64_t i) { result.push_back(i); });
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    for (const int64_t coordinate : {int64_t{0}, shape[d] - 1})
      for_some(count / shape[d], samples, engine,
               [&](int64_t i) { result.push_back((i / stride * shape[d] + coordinate) * stride + i % stride); });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Expected expect(Evaluator& evaluator, int number, DType type, const int64_t* elements, size_t count) {
  Expected expected{number, {elements, elements + count}, {}, {}, {}};
  expected.values.reserve(count);
  expected.tolerances.reserve(count);
  if (is_integer(type)) expected.integers.reserve(count);
  for (const int64_t element : expected.elements) {
    const Value value = evaluator.value(number, element);
    if (evaluator.fault()) break;
    const bool real = is_float(type) || is_complex(type);
    expected.values.push_back(real ? value.real : convert(type, DType::F64, value).real);
    if (is_complex(type)) expected.imaginaries.push_back(value.imaginary);
    if (is_integer(type)) expected.integers.push_back(value.integer);
    expected.tolerances.push_back(value.error);
    if (value.also != 0) {
      expected.also.resize(count);
      expected.also[expected.tolerances.size() - 1] = value.also;
    }
    if (value.beyond) expected.beyond.push_back(element);
  }
  return expected;
}

// Elements of each output in turn, each cut into as many equal parts as there are evaluators: what part `number` is.
std::vector<Expected> evaluate_part(Evaluator& evaluator, const ir::Program& program,
                                    const std::vector<std::vector<int64_t>>& elements, size_t number, size_t parts) {
  std::vector<Expected> result;
  for (size_t i = 0; i < elements.size() && !evaluator.fault(); ++i) {
    const size_t first = elements[i].size() * number / parts, last = elements[i].size() * (number + 1) / parts;
    const int output = program.outputs[i];
    result.push_back(expect(evaluator, output, program.tensors[output].type, elements[i].data() + first, last - first));
  }
  return result;
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append(Expected& to, const Expected& more) {
  if (!to.also.empty() || !more.also.empty()) {
    to.also.resize(to.elements.size());
    append(to.also, more.also);
    to.also.resize(to.elements.size() + more.elements.size());
  }
  append(to.elements, more.elements);
  append(to.values, more.values);
  append(to.integers, more.integers);
  append(to.tolerances, more.tolerances);
  append(to.imaginaries, more.imaginaries);
  append(to.beyond, more.beyond);
}

// How many evaluators share the work. What several elements depend on each of them computes and keeps for itself:
// neighbours, which share most (a row's sum), are mostly in one part.
size_t count_parts(const ir::Program& program, const Evaluator& evaluator) {
  constexpr double kLeastSeconds = 0.02;  // a hundred times what a thread takes to start
  constexpr double kMostBytes = 1 << 30;  // of what evaluators keep, all but the first
  if (program.statements.size() > kMaxChain || !evaluator.computes_single_elements()) return 1;
  const double parts = std::min(evaluation_seconds(program) / kLeastSeconds,
                                kMostBytes / static_cast<double>(std::max<size_t>(evaluator.bytes_kept(), 1)) + 1);
  return static_cast<size_t>(std::clamp(parts, 1.0, static_cast<double>(base::usable_cpus())));
}

// Elements of each output as `choose(evaluator, output)` says.
template <typename Choose>
Result<std::vector<Expected>> evaluate_chosen(const ir::Program& program, const Inputs& inputs, OutsideIndices outside,
                                              const Choose& choose) {
  TILE_TUNE_CHECK(check_inputs(program, inputs));
  try {
    Evaluator first(program, inputs, outside);
    if (program.statements.size() > kMaxChain) first.compute_intermediates();
    std::vector<std::vector<int64_t>> elements;
    for (const int output : program.outputs) elements.push_back(choose(first, output));
    const size_t parts = count_parts(program, first);
    using Part = Result<std::vector<Expected>>;
    const auto evaluate_with = [&](Evaluator& evaluator, size_t number) -> Part {
      auto part = evaluate_part(evaluator, program, elements, number, parts);
      if (evaluator.fault()) return tl::unexpected(*evaluator.fault());
      return part;
    };
    std::vector<std::future<Part>> others;
    for (size_t number = 1; number < parts; ++number)
      others.push_back(std::async(std::launch::async, [&, number] {
        Evaluator evaluator(program, inputs, outside);
        return evaluate_with(evaluator, number);
      }));
    Part result = evaluate_with(first, 0);
    for (auto& other : others) {
      const Part part = other.get();
      if (!result) return result;
      if (!part) return part;
      for (size_t i = 0; i < part->size(); ++i) append((*result)[i], (*part)[i]);
    }
    return result;
  } catch (const std::bad_alloc&) {
    return out_of_memory(program);
  }
}

// The program with a statement behind it that does nothing but use the index. It reads a tensor of which no element
// matters, whose other dimensions cannot be left.
ir::Program with_probe(const ir::Program& program, const ir::IndexCheck& check) {
  ir::Program result = program;
  ir::Tensor read = program.tensors[check.tensor], target;
  for (size_t d = 0; d < read.extents.size(); ++d)
    if (d != check.dimension) read.extents[d] = 1;
  read.type = target.type = DType::U8;
  read.role = target.role = ir::Role::Temporary;
  const int number = static_cast<int>(result.tensors.size());
  result.tensors.insert(result.tensors.end(), {read, target});
  result.statements.push_back(ir::statement_for(program, check, number + 1, [&](const ir::ExprPtr& index) {
    std::vector<ir::Subscript> subscripts(read.extents.size());
    subscripts[check.dimension] = index;
    return ir::make_expr(read.type, ir::Read{number, std::move(subscripts)});
  }));
  return result;
}

}  // namespace

Result<void> check_indices(const ir::Program& program, const Inputs& inputs,
                           const std::vector<ir::IndexCheck>& checks) {
  TILE_TUNE_CHECK(check_inputs(program, inputs));
  try {
    for (const auto& check : checks) {
      const ir::Program probe = with_probe(program, check);
      Evaluator evaluator(probe, inputs);
      if (program.statements.size() > kMaxChain) evaluator.compute_intermediates();
      evaluator.value(probe.statements.back().target, 0);
      if (evaluator.fault()) return tl::unexpected(*evaluator.fault());
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory(program);
  }
  return {};
}

Result<std::vector<Expected>> evaluate(const ir::Program& program, const Inputs& inputs, OutsideIndices outside) {
  return evaluate_chosen(program, inputs, outside,
                         [&](const Evaluator&, int output) { return all_elements(program.tensors[output]); });
}

Result<std::vector<Expected>> evaluate_sample(const ir::Program& program, const Inputs& inputs, int64_t samples,
                                              uint64_t seed, OutsideIndices outside) {
  std::mt19937_64 engine(seed);
  return evaluate_chosen(program, inputs, outside, [&](const Evaluator& evaluator, int output) {
    return evaluator.computes_single_elements(output) ? sample_elements(program.tensors[output], samples, engine)
                                                      : all_elements(program.tensors[output]);
  });
}

double evaluation_seconds(const ir::Program& program) {
  double seconds = 0;
  for (const auto& statement : program.statements) {
    const Plan plan = make_plan(program, statement);
    double points = 1;
    for (const auto& range : plan.ranges) points *= static_cast<double>(range.extent());
    seconds += points * (plan.products && plan.elementwise ? kProductSeconds : kTermSeconds) +
               static_cast<double>(plan.target_elements) * kElementSeconds;
  }
  return seconds;
}

tensor::Array to_array(const ir::Program& program, const Expected& expected) {
  const auto& tensor = program.tensors[expected.tensor];
  auto array = tensor::Array::zeros(tensor.type, ir::shape(tensor));
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    if (is_float(tensor.type))
      tensor::store_real(tensor.type, array.data.data(), expected.elements[i], expected.values[i]);
    else if (is_complex(tensor.type))
      tensor::store_complex(tensor.type, array.data.data(), expected.elements[i],
                            {expected.values[i], expected.imaginaries[i]});
    else
      tensor::store_integer(tensor.type, array.data.data(), expected.elements[i],
                            is_integer(tensor.type) ? expected.integers[i] : static_cast<int64_t>(expected.values[i]));
  }
  for (const int64_t element : expected.beyond)
    tensor::store_real(tensor.type, array.data.data(), element,
                       std::copysign(INFINITY, tensor::load_real(tensor.type, array.data.data(), element)));
  return array;
}

}  // namespace tile_tune::reference
