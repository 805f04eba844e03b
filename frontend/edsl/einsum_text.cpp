#include <tile_tune/einsum.h>

#include <string_view>

#include "frontend/edsl/einsum_program.h"
#include "frontend/edsl/errors.h"

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
  return edsl::einsum_program(einsum, known, value(make_program(einsum, known)));
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

namespace tile_tune::edsl {

Program einsum_program(const einsum::Einsum& notation, const einsum::Known& known, einsum::Made made) {
  if (!made.sizes.empty()) return Program(std::move(made.program), made.sizes);
  return Program(std::move(made.program), [notation, known](const ir::Sizes& sizes) {
    einsum::Known bound = known;
    bound.sizes = sizes;
    auto at_sizes = make_program(notation, bound);
    if (!at_sizes) raise(at_sizes.error());
    return std::move(at_sizes->program);
  });
}

}  // namespace tile_tune::edsl
