// The compiler's errors as Python's exceptions, and its warnings as Python's warnings. tile_tune/_errors.py has the
// classes.
#pragma once

#include <tile_tune/expected.h>
#include <tile_tune/message.h>
#include <tile_tune/program_error.h>

#include <functional>
#include <string>

#include "python/src/python.h"

namespace tile_tune::python {

/// Throws the exception that stands for the error's code.
[[noreturn]] void raise(const engine::Error& error);
[[noreturn]] void raise(const char* code, const std::string& message, const std::string& note = "");
/// The same of what the languages throw, with its place.
[[noreturn]] void raise(const ProgramError& error);

template <typename T>
T value_or_raise(engine::Expected<T> expected) {
  if (!expected) raise(expected.error());
  if constexpr (!std::is_void_v<T>) return std::move(expected.value());
}

/// For Options::on_message: keeps the warnings of this thread's call, which may run without the interpreter's lock.
void keep_message(const Message& message);
/// What was kept becomes warnings (tile_tune.CompilerWarning); throws where Python makes one an error.
void tell_messages();
void drop_messages();

void register_errors();

}  // namespace tile_tune::python
