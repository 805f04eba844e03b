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
  auto made = value(make_program(value(parse(std::string_view(subscripts))), known));
  if (operands.empty()) return edsl::Program(std::move(made.program));
  return edsl::Program(value(ir::bind(made.program, made.sizes)));
}

}  // namespace tile_tune::einsum
