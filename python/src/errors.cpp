#include "python/src/errors.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "python/src/place.h"

namespace tile_tune::python {

namespace {

/// Of Python's module with the exceptions, which is never unloaded before this one.
nb::object errors_module() { return nb::module_::import_("tile_tune._errors"); }

void set(const std::string& code, const std::string& text, const std::string& note, const std::string& file, int line) {
  const nb::object error = errors_module().attr("error_of")(code, text, note, file, line);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

thread_local std::vector<Message> kept_messages;

}  // namespace

void raise(const engine::Error& error) {
  set(error.code, error.message, error.note, "", 0);
  raise_python_error();
}

void raise(const char* code, const std::string& message, const std::string& note) {
  raise(engine::Error{code, message, note});
}

void raise(const ProgramError& error) {
  set(error.code(), error.what(), "", error.file(), error.line());
  raise_python_error();
}

void keep_message(const Message& message) {
  // That nothing was tuned yet is how every program begins.
  if (message.severity != Message::Severity::Warning || message.code == "untuned" || message.code == "no-database")
    return;
  kept_messages.push_back(message);
}

void drop_messages() { kept_messages.clear(); }

void tell_messages() {
  if (kept_messages.empty()) return;
  const auto messages = std::exchange(kept_messages, {});
  const nb::object category = errors_module().attr("CompilerWarning");
  for (const Message& message : messages)
    if (PyErr_WarnEx(category.ptr(), message.text.c_str(), caller_level()) != 0) raise_python_error();
}

void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ProgramError& error) {
      set(error.code(), error.what(), "", error.file(), error.line());
    }
  });
}

}  // namespace tile_tune::python
