// The arrays of a call: whatever kind they are, the words that tell them from others, and where their elements lie.
//
// numpy's arrays are read from their structures and those with DLPack's exchange table (PyTorch's tensors) by its
// functions: no Python code runs for them. Others are asked for their `__dlpack__` or their buffer, which are held
// until the call ends. Nothing is ever copied.
#pragma once

#include <tile_tune/array.h>

#include <optional>
#include <string>
#include <vector>

#include "python/src/dlpack.h"
#include "python/src/key.h"
#include "python/src/python.h"

namespace tile_tune::python {

/// How objects of a type are read.
enum class Access { Numpy, Exchange, DLPack, Buffer };

/// What results for a caller with such objects are.
enum class Family { Numpy, Torch, Jax, Exchange, Namespace, Memory };

struct ArrayType {
  PyTypeObject* type;  // owned: never freed while it is listed
  Access access;
  Family family;
  const dlpack::ExchangeApi* exchange;  // of Access::Exchange
};

/// Throws TypeError (code not-an-array) for what is none.
const ArrayType& array_type_of(PyObject* object);

class CallArrays {
 public:
  CallArrays() = default;
  ~CallArrays();
  CallArrays(const CallArrays&) = delete;
  CallArrays& operator=(const CallArrays&) = delete;

  /// `position`: for messages. Throws what is wrong with it.
  void add(PyObject* object, bool is_written, Key& key) {
    if (count_ == kMostArrays) raise_too_many();
    if (!add_numpy(object, is_written, key)) add_other(object, is_written, key);
  }
  size_t size() const { return count_; }
  void* data(size_t array) const { return data_[array]; }

  /// Array `array` for the engine, from its words.
  engine::Array array(size_t array, const Key& key) const;
  /// The bytes of its first element; of an array without dimensions the only one.
  int64_t value(size_t array, const Key& key) const;
  /// Objects that have to live as long as its words are kept: its type, numpy's element type.
  void keep_alive(size_t array, const Key& key, std::vector<nb::object>& kept) const;

 private:
  bool add_numpy(PyObject* object, bool is_written, Key& key);
  void add_other(PyObject* object, bool is_written, Key& key);
  void add_numpy_words(PyObject* object, PyTypeObject* type, bool is_written, Key& key);
  void add_exchange(PyObject* object, const ArrayType& type, bool is_written, Key& key);
  void add_dlpack(PyObject* object, const ArrayType& type, bool is_written, Key& key);
  void add_buffer(PyObject* object, const ArrayType& type, bool is_written, Key& key);
  void add_tensor(const dlpack::Tensor& tensor, PyTypeObject* type, Key& key);
  [[noreturn]] void raise_too_many() const;
  [[noreturn]] void raise_hidden(const nb::python_error& error, bool is_written) const;
  std::string name(bool is_written) const;

  size_t count_ = 0;
  void* data_[kMostArrays];
  size_t first_word_[kMostArrays];
  std::vector<nb::object> held_;  // capsules
  std::vector<Py_buffer> buffers_;
};

}  // namespace tile_tune::python
