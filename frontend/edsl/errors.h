// Misuse of the eDSL becomes a ProgramError here, and nowhere else.
#pragma once

#include <string>
#include <tile_tune/message.h>
#include <tile_tune/where.h>
#include <utility>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::edsl {

Place place_of(const Where& where);

[[noreturn]] void raise(const Diagnostic& diagnostic);
/// Class Program.
[[noreturn]] void raise(std::string code, std::string message, const Where& where, std::string note = "");

/// A warning as its reader gets it.
Message message_of(const Diagnostic& warning);

/// The value, or the error: placed at `where` if it has no place of its own.
template <typename T>
T value_or_raise(Result<T> result, const Where& where) {
  if (!result) {
    if (!result.error().place) result.error().place = place_of(where);
    raise(result.error());
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

bool is_identifier(const std::string& name);

}  // namespace tile_tune::edsl
