// New arrays for results, of the kind that the caller's arrays are.
#pragma once

#include <tile_tune/kernel.h>

#include "python/src/arrays.h"

namespace tile_tune::python {

class ResultMaker {
 public:
  /// Results as `like` is one, an operand. What is looked up once is looked up here.
  ResultMaker(PyObject* like, const engine::OutputType& type);

  struct Made {
    nb::object array;
    void* data;
  };
  /// Elements hold nothing of meaning, but those of in/out outputs what these start from.
  Made make() const;
  /// What the caller gets once the elements are there.
  nb::object finished(nb::object array) const;

 private:
  Made make_array() const;

  Family family_;
  engine::OutputType type_;
  int64_t count_ = 1;                        // elements
  nb::object element_;                       // numpy's
  nb::object empty_, arguments_, keywords_;  // PyTorch's
  nb::object convert_;                       // from numpy's array
  const dlpack::ExchangeApi* exchange_ = nullptr;
};

}  // namespace tile_tune::python
