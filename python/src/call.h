// A call of a kernel on Python's arrays: found again by its arrays' types, shapes and strides.
//
//   first call:  arrays -> Resolve (which kernel, what it gives) -> kernel (compiles) -> an entry is kept
//   later calls: arrays -> entry -> kernel, without the interpreter's lock
#pragma once

#include <tile_tune/einsum_call.h>
#include <tile_tune/kernel.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/key.h"
#include "python/src/python.h"

namespace tile_tune::python {

/// What arrays mean to a callable.
struct Resolved {
  engine::Kernel kernel;
  std::vector<engine::OutputType> outputs;
};
/// `outputs`: those that the caller gave, else empty. Throws.
using Resolve = std::function<Resolved(std::span<const engine::Array> inputs, std::span<const engine::Array> outputs)>;

/// Arguments of a call, borrowed.
struct Arguments {
  PyObject* text = nullptr;  // what else the call is about: an einsum's subscripts
  std::span<PyObject* const> inputs;
  std::span<const size_t> size_inputs = {};  // those whose value is a size
  std::span<PyObject* const> outputs;        // empty: new ones are made
};

/// The calls of one callable. Used under Python's lock.
class CallTable {
 public:
  /// `size`, a power of two: how many kinds of arrays are remembered; one more takes another's place.
  explicit CallTable(size_t size) : entries_(size) {}

  /// The result, of several a tuple: the outputs that were given, or new ones, of the first input's kind. Throws.
  nb::object call(const Arguments& arguments, const Resolve& resolve);
  void clear();

 private:
  struct Entry;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace tile_tune::python
