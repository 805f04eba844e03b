#include "frontend/reference/evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/ir/describe.h"
#include "frontend/reference/complex.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

// Calls `visit` for every combination of values of the indices numbered `which`, the last one fastest.
template <typename Visit>
void for_each_point(const std::vector<int>& which, const std::vector<ir::Range>& ranges, std::vector<int64_t>& index,
                    const Visit& visit) {
  for (const int i : which) {
    if (ranges[i].extent() == 0) return;
    index[i] = ranges[i].lo;
  }
  while (true) {
    visit();
    size_t d = which.size();
    while (d > 0 && ++index[which[d - 1]] == ranges[which[d - 1]].hi) {
      index[which[d - 1]] = ranges[which[d - 1]].lo;
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace

Evaluator::Evaluator(const ir::Program& program, const Inputs& inputs, OutsideIndices outside)
    : program_(program), outside_(outside) {
  for (const auto& tensor : program.tensors) {
    tensors_.emplace_back();
    tensors_.back().type = tensor.type;
    tensors_.back().real = is_float(tensor.type);
    tensors_.back().complex = is_complex(tensor.type);
  }
  for (const auto& [tensor, array] : inputs) {
    tensors_[tensor].data = array.data.data();
    if (!array.strides.empty()) tensors_[tensor].strided = &array;
  }
  for (const auto& statement : program.statements) {
    Plan plan = make_plan(program, statement);
    tensors_[statement.target].task = static_cast<int>(tasks_.size());
    const ReductionKind kind{statement.op,
                             statement.accumulator,
                             plan.target_type,
                             is_float(statement.accumulator),
                             is_complex(statement.accumulator),
                             plan.flushes};
    const size_t nodes = plan.nodes.size();
    tasks_.push_back({std::move(plan), kind, statement.value->type != statement.accumulator,
                      std::vector<int64_t>(statement.indices.size()), std::vector<Value>(nodes)});
  }
  const auto keep_if_computed = [&](int tensor) {
    if (tensors_[tensor].task >= 0) keep(tensors_[tensor]);
  };
  for (const auto& task : tasks_) {
    for (const auto& access : task.plan.accesses) keep_if_computed(access.tensor);
    if (task.plan.statement->previous) keep_if_computed(*task.plan.statement->previous);
    if (task.plan.statement->unwritten) keep_if_computed(*task.plan.statement->unwritten);
    if (!task.plan.elementwise) keep_if_computed(task.plan.statement->target);
  }
}

bool Evaluator::computes_single_elements(int tensor) const {
  return tensors_[tensor].task < 0 || tasks_[tensors_[tensor].task].plan.elementwise;
}

bool Evaluator::computes_single_elements() const {
  return std::all_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.plan.elementwise; });
}

size_t Evaluator::bytes_kept() const {
  size_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.kept.size() + tensor.errors.size() * sizeof(double);
  return bytes;
}

void Evaluator::keep(Tensor& tensor) {
  const auto count = static_cast<size_t>(ir::element_count(program_.tensors[&tensor - tensors_.data()]));
  tensor.kept.resize(count * dtype_size(tensor.type));
  tensor.errors.resize(count);
  tensor.ready.resize(count);
  tensor.data = tensor.kept.data();
}

void Evaluator::store(Tensor& tensor, int64_t position, const Value& value) {
  if (tensor.real)
    tensor::store_real(tensor.type, tensor.kept.data(), position, value.real);
  else if (tensor.complex)
    tensor::store_complex(tensor.type, tensor.kept.data(), position, {value.real, value.imaginary});
  else
    tensor::store_integer(tensor.type, tensor.kept.data(), position, value.integer);
  tensor.errors[position] = value.error;
  if (value.also != 0 && tensor.also.empty()) tensor.also.resize(tensor.errors.size());
  if (!tensor.also.empty()) tensor.also[position] = value.also;
  tensor.ready[position] = true;
}

Value Evaluator::load(const Tensor& tensor, int64_t position) const {
  const double error = tensor.errors.empty() ? 0 : tensor.errors[position];
  const Outcomes also = tensor.also.empty() ? Outcomes{0} : tensor.also[position];
  if (tensor.strided) position = tensor.strided->place(position);
  if (tensor.real) return {tensor::load_real(tensor.type, tensor.data, position), 0, error, 0, also};
  if (tensor.complex) {
    const auto value = tensor::load_complex(tensor.type, tensor.data, position);
    return {value.real(), 0, error, value.imag(), also};
  }
  return {0, tensor::load_integer(tensor.type, tensor.data, position), error};
}

Value Evaluator::value(int number, int64_t position) {
  Tensor& tensor = tensors_[number];
  if (tensor.task < 0) return tensor.data == nullptr ? Value{} : load(tensor, position);
  Task& task = tasks_[tensor.task];
  if (tensor.data == nullptr) return compute_element(task, position);
  if (!tensor.all_ready && !tensor.ready[position]) {
    if (task.plan.elementwise)
      store(tensor, position, compute_element(task, position));
    else
      compute_all(task, tensor);
  }
  return load(tensor, position);
}

void Evaluator::compute_intermediates() {
  for (const auto& task : tasks_) {
    const int number = task.plan.statement->target;
    const auto count = static_cast<int64_t>(tensors_[number].errors.size());
    for (int64_t p = 0; p < count && !fault_; ++p) value(number, p);
  }
}

Reduction Evaluator::start(const Task& task, int64_t position) {
  const auto& previous = task.plan.statement->previous;
  return previous ? Reduction(task.kind, value(*previous, position)) : Reduction(task.kind);
}

// Of an element no assignment wrote: the previous value; else the identity where the reduction runs over nothing
// (a zero size), else what unwritten elements are.
Value Evaluator::result(Task& task, const Reduction& reduction, bool in_range, int64_t position) {
  if (reduction.terms() > 0) return reduction.finish(task.kind);
  if (const auto& previous = task.plan.statement->previous) {
    Value kept = value(*previous, position);
    // A kernel may add a sum of nothing, 0, to it, or multiply it by a product of nothing, 1: of a complex number the
    // part beside an infinite one is NaN then.
    const bool is_complex_product = task.kind.complex && task.kind.op == ir::Aggregation::Product;
    const bool is_sum = (task.kind.real || task.kind.complex) && task.kind.op == ir::Aggregation::Sum;
    const bool has_zero = kept.real == 0 || (task.kind.complex && kept.imaginary == 0);
    if ((is_sum || is_complex_product) && has_zero) kept.also |= kOtherZero;
    if (is_complex_product && !is_finite(kept)) kept.also |= kInfinities | kNotANumber;
    return kept;
  }
  if (in_range && task.plan.reduction_is_empty) return reduction.finish(task.kind);
  const auto& unwritten = task.plan.statement->unwritten;
  return unwritten ? value(*unwritten, position) : Value{};
}

Value Evaluator::compute_element(Task& task, int64_t position) {
  const Plan& plan = task.plan;
  const bool in_range = solve(task, position) && (!plan.reduction_is_empty || assigns_start(task));
  Reduction reduction = start(task, position);
  if (in_range && plan.products)
    add_products(task, reduction);
  else if (in_range)
    for_each_point(plan.reduction, plan.ranges, task.index, [&] {
      if (guards_hold(task)) reduction.add(task.kind, term(task));
    });
  return result(task, reduction, in_range, position);
}

// A sum of products, innermost loop by innermost loop.
void Evaluator::add_products(Task& task, Reduction& reduction) {
  const Plan& plan = task.plan;
  const auto [a, b, inner] = *plan.products;
  std::vector<int> outer;
  std::copy_if(plan.reduction.begin(), plan.reduction.end(), std::back_inserter(outer),
               [inner = inner](int index) { return index != inner; });
  const ir::Range range = plan.ranges[inner];
  if (range.extent() == 0) return;
  task.index[inner] = range.lo;
  for_each_point(outer, plan.ranges, task.index, [&] {
    if (fault_ || !guards_hold(task)) return;
    const Run of_a = run_along(task, plan.accesses[a], inner), of_b = run_along(task, plan.accesses[b], inner);
    if (!fault_) reduction.add_products(task.kind, of_a, of_b, range.extent());
  });
}

// The elements an access names while one index runs through its range, from where it stands. Computes what is missing.
Run Evaluator::run_along(const Task& task, const Access& access, int index) {
  Run run{nullptr, nullptr, nullptr, position(task, access), 0};
  if (fault_) return run;
  for (const auto& [number, coefficient] : access.offset.terms)
    if (number == index) run.step += coefficient;
  const Tensor& tensor = tensors_[access.tensor];
  if (tensor.task >= 0 && !tensor.all_ready) {
    int64_t p = run.first;
    for (int64_t k = 0; k < task.plan.ranges[index].extent() && !fault_; ++k, p += run.step)
      if (!tensor.ready[p]) value(access.tensor, p);
  }
  if (tensor.strided) {
    // Both ends are elements, and what is between them is as far apart in memory as in C order: evenly.
    const bool moves = task.plan.ranges[index].extent() > 1;
    const int64_t next = tensor.strided->place(moves ? run.first + run.step : run.first);
    run.first = tensor.strided->place(run.first);
    run.step = next - run.first;
  }
  run.data = tensor.data;
  run.errors = tensor.errors.empty() ? nullptr : tensor.errors.data();
  run.also = tensor.also.empty() ? nullptr : tensor.also.data();
  return run;
}

// Sets the output indices to where they write the element; false if none does.
bool Evaluator::solve(Task& task, int64_t position) const {
  const Plan& plan = task.plan;
  int64_t stride = plan.target_elements;
  for (size_t d = 0; d < plan.target_shape.size(); ++d) {
    stride /= plan.target_shape[d];
    const auto& subscript = plan.statement->subscripts[d];
    int64_t rest = position / stride % plan.target_shape[d] - plan.target_constants[d];
    const auto& pivots = plan.pivots[d];
    const auto is_pivot = [&](int index) {
      return std::any_of(pivots.begin(), pivots.end(), [&](const auto& pivot) { return pivot.index == index; });
    };
    for (const auto& [index, factor] : subscript.terms)
      rest -= is_pivot(index) ? factor * plan.ranges[index].lo : factor * task.index[index];
    // Positions in their ranges, which fill the rest like digits: each digit is less than the next factor.
    for (const auto& [index, factor] : pivots) {
      const ir::Range range = plan.ranges[index];
      if (rest < 0 || rest / factor >= range.extent()) return false;
      task.index[index] = range.lo + rest / factor;
      rest %= factor;
    }
    if (rest != 0) return false;
  }
  return true;
}

void Evaluator::compute_all(Task& task, Tensor& target) {
  const Plan& plan = task.plan;
  const auto count = static_cast<int64_t>(target.errors.size());
  std::vector<Reduction> reductions;
  reductions.reserve(count);
  for (int64_t p = 0; p < count; ++p) reductions.push_back(start(task, p));
  std::vector<bool> in_range(count);
  for_each_point(plan.output, plan.ranges, task.index, [&] {
    if (plan.reduction_is_empty && assigns_start(task) && !fault_)
      if (const int64_t p = this->position(task, plan.target); !fault_) in_range[p] = true;
    for_each_point(plan.reduction, plan.ranges, task.index, [&] {
      if (fault_ || !guards_hold(task)) return;
      const int64_t p = this->position(task, plan.target);
      if (!fault_) reductions[p].add(task.kind, term(task));
    });
  });
  for (int64_t p = 0; p < count; ++p) store(target, p, result(task, reductions[p], in_range[p], p));
  target.all_ready = true;
}

// Whether a reduction over nothing, at these output indices, leaves what elements start from.
bool Evaluator::assigns_start(Task& task) const {
  if (task.plan.guards.empty()) return true;
  bool assigns = false;
  for_each_point(task.plan.others, task.plan.ranges, task.index, [&] { assigns |= guards_hold(task); });
  return assigns;
}

bool Evaluator::guards_hold(const Task& task) const {
  for (const auto& guard : task.plan.guards) {
    const int64_t numerator = guard.numerator.at(task.index.data());
    if (numerator % guard.denominator != 0) return false;
    const int64_t value = numerator / guard.denominator;
    if (guard.bound && (value < 0 || value >= *guard.bound)) return false;
  }
  return true;
}

// A condition that rounding may turn either way tells nothing.
bool Evaluator::is_taken(const Task& task, const Access& access) {
  return std::all_of(access.path.begin(), access.path.end(), [&](const Taken& branch) {
    const Value& condition = task.nodes[branch.node];
    return condition.error > 0 || (condition.integer != 0) == branch.holds;
  });
}

Value Evaluator::term(Task& task) {
  for (size_t n = 0; n < task.plan.nodes.size(); ++n) {
    const Node& node = task.plan.nodes[n];
    Value& slot = task.nodes[n];
    const auto argument = [&](int i) -> const Value& { return task.nodes[node.arguments[i]]; };
    switch (node.kind) {
      case Node::Kind::Constant:
        slot = node.constant;
        break;
      case Node::Kind::Index:
        slot = convert(DType::I64, node.type, {0, task.index[node.arguments[0]], 0});
        break;
      case Node::Kind::Load: {
        const Access& access = task.plan.accesses[node.arguments[0]];
        if (!is_taken(task, access)) {
          slot = Value{};
          break;
        }
        const int64_t p = position(task, access);
        slot = fault_ || p < 0 ? Value{} : value(access.tensor, p);
        for (const auto& subscript : access.checked)
          if (subscript.node >= 0 && task.nodes[subscript.node].error > 0)
            slot.error = std::numeric_limits<double>::infinity();  // it may be any element
        break;
      }
      case Node::Kind::Operation:
        slot = apply(node.operation, argument(0), argument(1), argument(2));
        break;
      case Node::Kind::Cast:
        slot = convert(node.from, node.type, argument(0));
        break;
    }
  }
  Value& root = task.nodes.back();
  if (!task.plan.factors.empty()) allow_other_orders(task, root);
  return task.converts ? convert(task.plan.statement->value->type, task.kind.accumulator, root) : root;
}

void Evaluator::allow_other_orders(const Task& task, Value& product) {
  const DType node_type = task.plan.nodes.back().type;
  const Precision type = precision(node_type);
  PartialProducts partial;
  bool is_subnormal = false;
  for (const int factor : task.plan.factors) {
    const double value = task.nodes[factor].real;
    partial.add(is_complex(node_type) ? factor_magnitude(task.nodes[factor]) : value);
    is_subnormal |= value != 0 && std::abs(value) < type.least_normal();
  }
  if (is_complex(node_type)) {
    product.also |= outcomes_of_orders(partial, type, product);
    return;
  }
  for (const int divisor : task.plan.divisors) partial.add(1 / task.nodes[divisor].real);
  if (task.plan.flushes) {
    if (!is_subnormal) return;
    product.error += std::abs(product.real);
    if (!partial.all_finite()) product.also |= kNotANumber;  // infinity times what is taken for 0
    return;
  }
  double terms = 1;  // that may be summed before they are multiplied by the rest
  for (const int index : task.plan.reduction) terms *= static_cast<double>(task.plan.ranges[index].extent());
  product.also |= partial.outside_range(type, product.real, product.error, terms);
}

// -1 where a tensor without elements is gathered from.
int64_t Evaluator::position(const Task& task, const Access& access) {
  int64_t result = access.offset.at(task.index.data());
  for (const auto& subscript : access.checked) {
    if (subscript.node >= 0) {
      const int64_t index = gathered(task, access, subscript);
      if (index < 0) return -1;
      result += index * subscript.stride;
      continue;
    }
    const int64_t index = subscript.numerator.at(task.index.data()) / subscript.denominator;
    if (index < 0 || index >= subscript.extent) {
      report(task, access, subscript, std::to_string(index));
      return 0;
    }
    result += index * subscript.stride;
  }
  return result;
}

// Of an index outside the tensor the nearest one inside, as kernels have it, which see its low 32 bits.
int64_t Evaluator::gathered(const Task& task, const Access& access, const CheckedSubscript& subscript) {
  const Value& value = task.nodes[subscript.node];
  const bool is_beyond_64_bits = task.plan.nodes[subscript.node].type == DType::U64 && value.integer < 0;
  const int64_t index = is_beyond_64_bits ? INT64_MAX : value.integer;
  if (index >= 0 && index < subscript.extent) return index;
  // A kernel that rounds floats otherwise may not use it at all.
  const bool may_be_unused = std::any_of(access.path.begin(), access.path.end(),
                                         [&](const Taken& branch) { return task.nodes[branch.node].error > 0; });
  if (outside_ == OutsideIndices::AreErrors && !may_be_unused)
    report(task, access, subscript,
           is_beyond_64_bits ? std::to_string(static_cast<uint64_t>(value.integer)) : std::to_string(index));
  return std::clamp<int64_t>(static_cast<int32_t>(value.integer), std::min<int64_t>(0, subscript.extent - 1),
                             subscript.extent - 1);
}

void Evaluator::report(const Task& task, const Access& access, const CheckedSubscript& subscript,
                       const std::string& index) {
  if (fault_) return;
  const auto& statement = *task.plan.statement;
  const auto& tensor = program_.tensors[access.tensor].name;
  if (subscript.node < 0) {
    fault_ = Diagnostic{
        ErrorClass::Mismatch, "access-out-of-range",
        fmt::format("{} is {} at {} in dimension {}, where its extent is {}", tensor,
                    &access == &task.plan.target ? "written" : "read", index, subscript.dimension, subscript.extent),
        statement.place};
    return;
  }
  std::vector<std::string> place;
  for (size_t i = 0; i < task.index.size(); ++i)
    place.push_back(fmt::format("{} = {}", statement.indices[i].name, task.index[i]));
  const auto where = place.empty() ? std::string() : fmt::format(" at {}", fmt::join(place, ", "));
  fault_ = Diagnostic{ErrorClass::Mismatch, "gather-out-of-range",
                      fmt::format("index {} of {} is {}{}, but dimension {} of {} has extent {}",
                                  ir::to_text(program_, statement, *subscript.index), tensor, index, where,
                                  subscript.dimension, tensor, subscript.extent),
                      statement.place};
}

}  // namespace tile_tune::reference
