// CPython's limited API of 3.10 and what little this module uses beside it.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <string>
#include <utility>

// The buffer protocol is in the limited API from 3.11 on, where the structure got the layout it already had in 3.10: a
// module for 3.10 and later declares it itself.
#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030B0000
extern "C" {
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject*);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject*, Py_buffer*, int);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer*);
}
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#endif

namespace tile_tune::python {

namespace nb = nanobind;

/// Owns a reference; null where a call of Python failed.
inline nb::object steal(PyObject* object) { return nb::steal(object); }

/// The Python error that is set becomes a C++ exception, which ends at the border of the module.
[[noreturn]] inline void raise_python_error() { nb::raise_python_error(); }

/// Takes Python's lock back. A thread that would do so while the interpreter ends waits for the end of the process, as
/// from CPython 3.14 on; before that CPython ends the thread, through functions that nothing may leave by an exception,
/// and the process aborted.
template <typename Take>
void take_lock(const Take& take) {
  try {
    take();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

/// What a call of CPython gave, or its error as an exception.
inline nb::object checked(PyObject* object) {
  if (!object) raise_python_error();
  return nb::steal(object);
}

/// What str() gives. Throws UnicodeEncodeError for what is no text, a lone surrogate.
inline std::string text_of(nb::handle object) {
  const nb::object text = checked(PyObject_Str(object.ptr()));
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!bytes) raise_python_error();
  return {bytes, static_cast<size_t>(size)};
}

/// Of str, bytes and what has __fspath__, as the system has it: names that are not UTF-8 come through. Throws
/// ValueError for one with a NUL.
inline std::string path_of(nb::handle object) {
  PyObject* encoded = nullptr;
  if (!PyUnicode_FSConverter(object.ptr(), &encoded)) raise_python_error();
  const nb::object bytes = nb::steal(encoded);
  return PyBytes_AsString(encoded);
}

}  // namespace tile_tune::python
