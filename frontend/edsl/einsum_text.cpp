#include <tile_tune/einsum.h>

#include <string_view>

#include "frontend/edsl/errors.h"
#include "frontend/einsum/einsum.h"

namespace tile_tune::einsum {

namespace {

template <typename T>
T value(Result<T> result) {
  if (!result) edsl::raise(result.error());
  return std::move(*result);
}

edsl::Program program(const Einsum& einsum, const Operands& operands, std::optional<DType> out) {
  Known known;
  for (const auto& [type, shape] : operands) known.operands.push_back({type, shape});
  known.result = out;
  auto made = value(make_program(einsum, known));
  if (!operands.empty()) return edsl::Program(std::move(made.program), made.sizes);
  return edsl::Program(std::move(made.program), [einsum, known](const ir::Sizes& sizes) {
    Known bound = known;
    bound.sizes = sizes;
    return value(make_program(einsum, bound)).program;
  });
}

}  // namespace

edsl::Program parse(const std::string& subscripts, const Operands& operands, std::optional<DType> out) {
  return program(value(parse(std::string_view(subscripts))), operands, out);
}

edsl::Program from_labels(const std::vector<std::vector<int64_t>>& operand_labels,
                          const std::vector<int64_t>& result_labels, const Operands& operands,
                          std::optional<DType> out) {
  static_assert(kEllipsis == -1);  // as the header says
  return program(value(parse(operand_labels, result_labels)), operands, out);
}

}  // namespace tile_tune::einsum
