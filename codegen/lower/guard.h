// The one border at which the compiler's exceptions end. Halide::Error is no std::exception and never leaves it.
#pragma once

#include <functional>
#include <optional>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// `work`, and what it throws as an error: "the compiler failed while DOING: ...". Class Failure, compiler-error. The
/// compiler's warnings are not printed.
Result<void> guard(const char* doing, const std::function<void()>& work);

/// What `call`, which returns a Result, returns or throws.
template <typename Call>
auto guarded(const char* doing, Call&& call) -> decltype(call()) {
  std::optional<decltype(call())> result;
  TILE_TUNE_CHECK(guard(doing, [&] { result.emplace(call()); }));
  return std::move(*result);
}

}  // namespace tile_tune::codegen
