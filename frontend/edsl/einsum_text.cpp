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

}  // namespace

edsl::Program parse(const std::string& subscripts,
                    const std::vector<std::pair<DType, std::vector<int64_t>>>& operands) {
  Known known;
  for (const auto& [type, shape] : operands) known.operands.push_back({type, shape});
  const auto einsum = value(parse(std::string_view(subscripts)));
  auto made = value(make_program(einsum, known));
  if (!operands.empty()) return edsl::Program(value(ir::bind(made.program, made.sizes)));
  return edsl::Program(std::move(made.program), [einsum](const ir::Sizes& sizes) {
    Known bound;
    bound.sizes = sizes;
    return value(make_program(einsum, bound)).program;
  });
}

}  // namespace tile_tune::einsum
