#include <algorithm>
#include <cstring>
#include <tuple>

#include "frontend/reference/random.h"
#include "frontend/reference/reference.h"
#include "frontend/tensor/convert.h"
#include "frontend/tensor/copy_elements.h"

namespace tile_tune::reference {
namespace {

// Both ends inclusive.
struct Interval {
  int64_t lo, hi;
};
using Intervals = std::map<int, Interval>;  // by tensor number

std::optional<int64_t> literal_integer(const ir::Expr& expr) {
  const auto* literal = std::get_if<ir::Literal>(&expr.node);
  const auto* value = literal ? std::get_if<int64_t>(&literal->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

// Values an integer expression of indices, sizes and numbers takes, if it is that simple.
std::optional<Interval> interval_of(const ir::Statement& statement, const ir::Expr& expr) {
  if (const auto value = literal_integer(expr)) return Interval{*value, *value};
  if (const auto* size = std::get_if<ir::SizeValue>(&expr.node)) {
    const int64_t value = size->size.constant().value();
    return Interval{value, value};
  }
  if (const auto* index = std::get_if<ir::IndexValue>(&expr.node)) {
    const auto range = ir::range(statement.indices[index->index]);
    return Interval{range.lo, range.hi - 1};
  }
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return interval_of(statement, *cast->argument);
  return std::nullopt;
}

// Narrows the inputs that `expr` reads so that `expr` lies in `wanted`: through casts and through sums and
// products with what interval_of() knows. Other expressions pass `wanted` on and may leave it; evaluating then says so.
class Narrowing {
 public:
  Narrowing(const ir::Program& program, const ir::Statement& statement, Intervals& result)
      : program_(program), statement_(statement), result_(result) {}

  void narrow(const ir::Expr& expr, Interval wanted) {
    if (const auto* read = std::get_if<ir::Read>(&expr.node)) {
      if (program_.tensors[read->tensor].role != ir::Role::Input) return;
      const auto [entry, inserted] = result_.emplace(read->tensor, wanted);
      if (!inserted) entry->second = {std::max(entry->second.lo, wanted.lo), std::min(entry->second.hi, wanted.hi)};
    } else if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
      narrow(*cast->argument, wanted);
    } else if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
      if (call->arguments.size() == 2) {
        const auto& [left, right] = std::tie(*call->arguments[0], *call->arguments[1]);
        if (const auto known = interval_of(statement_, right)) return narrow(left, before(call->op, wanted, *known));
        const bool commutes = call->op == ir::Op::Add || call->op == ir::Op::Mul;
        if (const auto known = interval_of(statement_, left); known && commutes)
          return narrow(right, before(call->op, wanted, *known));
      }
      for (const auto& argument : call->arguments) narrow(*argument, wanted);
    }
  }

 private:
  // What x must be for `x op known` to lie in `wanted`.
  static Interval before(ir::Op op, Interval wanted, Interval known) {
    if (op == ir::Op::Add) return {wanted.lo - known.lo, wanted.hi - known.hi};
    if (op == ir::Op::Sub) return {wanted.lo + known.hi, wanted.hi + known.lo};
    if (op == ir::Op::Mul && known.lo > 0) return {(wanted.lo + known.lo - 1) / known.lo, wanted.hi / known.hi};
    return wanted;
  }

  const ir::Program& program_;
  const ir::Statement& statement_;
  Intervals& result_;
};

// What inputs that serve as subscripts must hold.
Intervals subscript_intervals(const ir::Program& program) {
  Intervals result;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) {
      for (size_t d = 0; d < read.subscripts.size(); ++d)
        if (const auto* gather = std::get_if<ir::ExprPtr>(&read.subscripts[d]))
          Narrowing(program, statement, result).narrow(**gather, {0, ir::extent(program.tensors[read.tensor], d) - 1});
    });
  return result;
}

// Small, so that sums of thousands of products stay far from the borders of 32 bits.
Interval default_interval(DType type) {
  if (type == DType::Bool) return {0, 1};
  return is_signed(type) ? Interval{-8, 7} : Interval{0, 15};
}

// Values of the type within `wanted`; a subscript into more elements than an 8-bit index reaches uses those it does.
Interval within_type(DType type, Interval wanted) {
  if (dtype_size(type) == 8) return wanted;
  const int bits = 8 * static_cast<int>(dtype_size(type)) - (is_signed(type) ? 1 : 0);
  const int64_t highest = (int64_t{1} << bits) - 1, lowest = is_signed(type) ? -highest - 1 : 0;
  return {std::max(wanted.lo, lowest), std::min(wanted.hi, highest)};
}

// `round` rounds to the element type, which may reach the open end of the range.
template <typename Round>
auto random_float(std::mt19937_64& engine, FloatRange range, const Round& round) {
  while (true) {
    const auto value = round(range.lo + (range.hi - range.lo) * random_unit(engine));
    if (value < range.hi) return value;
  }
}

/// More numbers than these are drawn no more but repeat: 2^22 - 3 is a prime, so that no row or tile begins where
/// another does. Of 2^28 numbers that saves 2.4 s of 2.6 (Zen 4, 2026-11-26).
constexpr int64_t kDrawn = (int64_t{1} << 22) - 3;

void repeat_drawn(std::byte* data, int64_t count, size_t size) {
  for (int64_t filled = kDrawn; filled < count;) {
    const int64_t next = std::min(filled, count - filled);
    std::memcpy(data + filled * static_cast<int64_t>(size), data, static_cast<size_t>(next) * size);
    filled += next;
  }
}

// Weights of 268 MB are common: what the machine knows itself is not looked up for each element.
void fill_randomly(std::mt19937_64& engine, DType part, FloatRange range, int64_t count, std::byte* data) {
  if (part == DType::F32) {
    auto* floats = reinterpret_cast<float*>(data);
    for (int64_t i = 0; i < count; ++i)
      floats[i] = random_float(engine, range, [](double value) { return static_cast<float>(value); });
    return;
  }
  const auto round = [part](double value) { return tensor::round_to(part, value); };
  for (int64_t i = 0; i < count; ++i) tensor::store_real(part, data, i, random_float(engine, range, round));
}

/// Zeros of its shape; what stands for many elements, by strides of 0, is there once.
tensor::Array zeros_for(const ir::Tensor& tensor) {
  const auto shape = ir::shape(tensor), strides = ir::strides(tensor);
  auto stored = shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (strides[d] == 0 && shape[d] > 1) stored[d] = 1;
  auto array = tensor::Array::zeros(tensor.type, stored);
  if (stored == shape) return array;
  array.strides = tensor::c_strides(stored);
  for (size_t d = 0; d < shape.size(); ++d)
    if (stored[d] != shape[d]) array.strides[d] = 0;
  array.shape = shape;
  return array;
}

}  // namespace

Inputs random_inputs(const ir::Program& program, uint64_t seed, FloatRange range) {
  std::mt19937_64 engine(seed);
  const Intervals subscripts = subscript_intervals(program);
  Inputs inputs;
  for (int number = 0; number < static_cast<int>(program.tensors.size()); ++number) {
    const auto& tensor = program.tensors[number];
    if (tensor.role != ir::Role::Input && tensor.role != ir::Role::InOut) continue;
    auto array = zeros_for(tensor);
    const DType part = component_type(tensor.type);
    const auto count = static_cast<int64_t>(array.data.size() / dtype_size(part)), drawn = std::min(count, kDrawn);
    if (is_float(part)) {
      fill_randomly(engine, part, range, drawn, array.data.data());
    } else {
      const auto found = subscripts.find(number);
      const auto [lo, hi] =
          found == subscripts.end() ? default_interval(tensor.type) : within_type(tensor.type, found->second);
      for (int64_t i = 0; i < drawn; ++i)
        tensor::store_integer(tensor.type, array.data.data(), i, hi < lo ? 0 : lo + random_below(engine, hi - lo + 1));
    }
    repeat_drawn(array.data.data(), count, dtype_size(part));
    inputs.emplace(number, std::move(array));
  }
  return inputs;
}

bool is_mostly_finite(const std::vector<Expected>& outputs) {
  constexpr double kMostNotFinite = 0.01;  // decision 12
  size_t count = 0, finite = 0;
  for (const auto& output : outputs) {
    count += output.values.size();
    for (size_t i = 0; i < output.values.size(); ++i)
      finite += std::isfinite(output.values[i]) && (output.imaginaries.empty() || std::isfinite(output.imaginaries[i]));
  }
  return static_cast<double>(count - finite) <= kMostNotFinite * static_cast<double>(count);
}

Result<FloatRange> finite_range(const ir::Program& program, uint64_t seed) {
  // 512 elements tell 1 % from what logarithms of symmetric data give (half of all elements) without doubt.
  constexpr int64_t kSamples = 512;
  for (const FloatRange range : {FloatRange{-1, 1}, FloatRange{0.125, 1}, FloatRange{1, 2}}) {
    TILE_TUNE_TRY(outputs, evaluate_sample(program, random_inputs(program, seed, range), kSamples, seed,
                                           OutsideIndices::BecomeNearest));
    if (is_mostly_finite(outputs)) return range;
  }
  return FloatRange{};
}

}  // namespace tile_tune::reference
