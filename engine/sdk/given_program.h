// What calls of the SDK have in common: their options as a session, programs with what is said of them.
#pragma once

#include <tile_tune/engine.h>

#include <type_traits>
#include <utility>

#include "engine/programs/bindings.h"
#include "engine/session/session.h"
#include "frontend/edsl/errors.h"

namespace tile_tune::engine {

/// Its value, or the SDK's exception.
template <typename T>
T value(Result<T> result) {
  if (!result) edsl::raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Session session_of(const Options& options, bool is_deterministic);

/// The warnings of the program, and those of its sizes; `sized` may have open ones.
void tell_all(const edsl::Program& program, const ir::Program& sized, const Options& options, const Session& session);

/// A program with what is said of it; `bindings` have one number for a size.
struct GivenProgram {
  LoadedProgram loaded;
  ir::Sizes sizes;
  ir::Program stored;  // with layouts, constants, objective
};
GivenProgram given_program(const edsl::Program& program, const BindingOptions& bindings);
BindingOptions bindings_of(const ProgramOptions& options);

}  // namespace tile_tune::engine
