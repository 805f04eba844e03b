#include "engine/programs/initial_value.h"

#include <algorithm>
#include <limits>

#include "frontend/tensor/convert.h"

namespace tile_tune::engine {

namespace {

/// Smallest or largest value of an integer type; U64 as its bit pattern.
int64_t extreme(DType type, bool largest) {
  if (type == DType::Bool) return largest;
  const int bits = static_cast<int>(8 * dtype_size(type));
  if (!is_signed(type)) return largest ? static_cast<int64_t>(UINT64_MAX >> (64 - bits)) : 0;
  const int64_t top = INT64_MAX >> (64 - bits);
  return largest ? top : -top - 1;
}

void fill(tensor::Array& array, double real, int64_t integer) {
  const int64_t count = array.element_count();
  const bool complex = is_complex(array.type);
  const DType part = array.type == DType::C32 ? DType::F32 : array.type == DType::C64 ? DType::F64 : array.type;
  for (int64_t i = 0; i < count; ++i) {
    if (is_float(part))
      tensor::store_real(part, array.data.data(), complex ? 2 * i : i, real);
    else
      tensor::store_integer(part, array.data.data(), i, integer);
  }
}

ir::Aggregation first_update(const ir::Program& program, int number) {
  for (const auto& statement : program.statements)
    if (statement.previous == number) return statement.op;
  return ir::Aggregation::Assign;
}

InitialValue initial_of_shape(const ir::Program& program, int number, std::vector<int64_t> shape) {
  const auto& tensor = program.tensors[static_cast<size_t>(number)];
  InitialValue initial{tensor::Array::zeros(tensor.type, std::move(shape)), "zeros"};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (first_update(program, number)) {
    case ir::Aggregation::Product:
      fill(initial.array, 1, 1);
      initial.text = "ones";
      break;
    case ir::Aggregation::Min:
      fill(initial.array, kInfinity, extreme(tensor.type, true));
      initial.text = is_float(tensor.type) ? "infinity" : "the largest value of its type";
      break;
    case ir::Aggregation::Max:
      fill(initial.array, -kInfinity, extreme(tensor.type, false));
      initial.text = is_float(tensor.type) ? "minus infinity" : "the smallest value of its type";
      break;
    case ir::Aggregation::Sum:
    case ir::Aggregation::Assign:
      break;
  }
  return initial;
}

}  // namespace

InitialValue initial_value(const ir::Program& program, int number) {
  return initial_of_shape(program, number, ir::shape(program.tensors[static_cast<size_t>(number)]));
}

std::vector<std::byte> initial_element(const ir::Program& program, int number) {
  return initial_of_shape(program, number, {}).array.data;
}

}  // namespace tile_tune::engine
