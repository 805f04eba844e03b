#include "python/src/arrays.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "python/src/dtype.h"
#include "python/src/errors.h"
#include "python/src/numpy.h"
#include "python/src/torch.h"

namespace tile_tune::python {

namespace {

// Element words below are DLPack's types, whose strides count elements; others are addresses of numpy's, whose strides
// count bytes.
constexpr int64_t kEndOfDLPackTypes = int64_t{1} << 32;

int64_t word_of(const void* pointer) { return std::bit_cast<int64_t>(pointer); }
int64_t word_of(dlpack::Type type) { return type.code | type.bits << 8 | static_cast<int64_t>(type.lanes) << 16; }

std::optional<DType> dtype_of(int64_t dlpack_word) {
  const auto code = static_cast<uint8_t>(dlpack_word), bits = static_cast<uint8_t>(dlpack_word >> 8);
  if (dlpack_word >> 16 != 1) return std::nullopt;
  const int place = std::countr_zero(static_cast<unsigned>(bits)) - 3;  // 8, 16, 32, 64
  if (!std::has_single_bit(bits) || place < 0 || place > 3) {
    return code == dlpack::kComplex && bits == 128 ? std::optional(DType::C64) : std::nullopt;
  }
  constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
  constexpr DType kUnsigned[] = {DType::U8, DType::U16, DType::U32, DType::U64};
  switch (code) {
    case dlpack::kInt:
      return kSigned[place];
    case dlpack::kUInt:
      return kUnsigned[place];
    case dlpack::kFloat:
      return bits == 16 ? DType::F16 : bits == 32 ? DType::F32 : bits == 64 ? std::optional(DType::F64) : std::nullopt;
    case dlpack::kBFloat:
      return bits == 16 ? std::optional(DType::BF16) : std::nullopt;
    case dlpack::kComplex:
      return bits == 64 ? std::optional(DType::C32) : std::nullopt;
    case dlpack::kBool:
      return bits == 8 ? std::optional(DType::Bool) : std::nullopt;
  }
  return std::nullopt;
}

/// Of a format of the struct module, in the machine's byte order; lanes 0: none that kernels know.
dlpack::Type type_of_format(std::string_view format, Py_ssize_t size) {
  constexpr dlpack::Type kNone{0, 0, 0};
  if (!format.empty() && std::string_view("@=<").find(format.front()) != format.npos) format.remove_prefix(1);
  const auto bits = static_cast<uint8_t>(8 * size);
  if (format == "Zf" || format == "Zd") return {dlpack::kComplex, bits, 1};
  if (format.size() != 1) return kNone;
  if (format == "?") return {dlpack::kBool, bits, 1};
  if (std::string_view("bhilqn").find(format) != format.npos) return {dlpack::kInt, bits, 1};
  if (std::string_view("BHILQN").find(format) != format.npos) return {dlpack::kUInt, bits, 1};
  if (std::string_view("efd").find(format) != format.npos) return {dlpack::kFloat, bits, 1};
  return kNone;
}

std::string name_of(PyTypeObject* type) {
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  const std::string module = text_of(handle.attr("__module__")), name = text_of(handle.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

bool has(nb::handle object, const char* attribute) { return PyObject_HasAttrString(object.ptr(), attribute) != 0; }

/// Whether the type is, or comes from, one of this name in a package.
bool comes_from(PyTypeObject* type, std::string_view package, std::string_view name) {
  const nb::object bases = nb::handle(reinterpret_cast<PyObject*>(type)).attr("__mro__");
  for (const nb::handle base : nb::borrow<nb::tuple>(bases)) {
    const std::string module = text_of(base.attr("__module__"));
    if (text_of(base.attr("__name__")) != name || !module.starts_with(package)) continue;
    if (module.size() == package.size() || module[package.size()] == '.') return true;
  }
  return false;
}

/// The subclasses whose elements are all there is to them: others (masked arrays, quantities) would lose what they add.
bool is_plain_subclass(PyTypeObject* type) {
  return name_of(type) == "numpy.memmap" || name_of(type) == "numpy.matrix";
}

ArrayType examine(PyObject* object, PyTypeObject* type) {
  if (comes_from(type, "jax", "Tracer") || comes_from(type, "jax.core", "Tracer"))
    raise("traced", "a JAX tracer has no elements yet: tile_tune computes on arrays, outside of jax.jit and jax.grad",
          "call it outside, or through jax.pure_callback");
  if (comes_from(type, "torch", "FakeTensor") || comes_from(type, "torch", "FunctionalTensor") ||
      comes_from(type, "torch", "Proxy"))
    raise("traced", "a " + name_of(type) + " has no elements yet: tile_tune computes on tensors that have memory",
          "call it outside of what is traced, or in an operator of torch.library");
  if (find_numpy() && PyObject_TypeCheck(object, &PyArray_Type)) {
    if (type != &PyArray_Type && !is_plain_subclass(type))
      raise("not-an-array", name_of(type) + " is more than its elements: pass what is meant, as numpy.asarray(x) say");
    return {type, Access::Numpy, Family::Numpy, nullptr};
  }
  const bool is_torch = comes_from(type, "torch", "Tensor");
  const bool is_jax = comes_from(type, "jax", "Array") || comes_from(type, "jaxlib", "ArrayImpl");
  if (has(nb::handle(reinterpret_cast<PyObject*>(type)), "__dlpack_c_exchange_api__")) {
    const nb::object capsule = nb::handle(reinterpret_cast<PyObject*>(type)).attr("__dlpack_c_exchange_api__");
    const auto* api =
        static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (!api) PyErr_Clear();
    if (api && api->version.major == 1)
      return {type, Access::Exchange, is_torch ? Family::Torch : Family::Exchange, api};
  }
  if (has(object, "__dlpack__") && has(object, "__dlpack_device__")) {
    const Family family = is_torch                             ? Family::Torch
                          : is_jax                             ? Family::Jax
                          : has(object, "__array_namespace__") ? Family::Namespace
                                                               : Family::Memory;
    return {type, Access::DLPack, family, nullptr};
  }
  if (PyObject_CheckBuffer(object)) return {type, Access::Buffer, Family::Memory, nullptr};
  raise("not-an-array", name_of(type) +
                            " is no array: tile_tune takes numpy arrays, PyTorch and JAX tensors of "
                            "the CPU, and what has __dlpack__ or the buffer protocol");
}

nb::object capsule_of(nb::handle object) {
  try {
    return object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return object.attr("__dlpack__")();  // written before version 1
  }
}

void check_device(const dlpack::Device& device, const std::string& name) {
  if (device.type == dlpack::kCpu || device.type == dlpack::kCudaHost) return;
  raise("wrong-device", name + " is not in the host's memory (DLPack's device " + std::to_string(device.type) + ")",
        "tile_tune moves nothing between devices: move it, x.cpu() say");
}

}  // namespace

const ArrayType& array_type_of(PyObject* object) {
  // Few types meet in a process; they are never taken off the list, and so never freed. Guarded by Python's lock.
  static std::vector<ArrayType*>& known = *new std::vector<ArrayType*>;
  PyTypeObject* const type = Py_TYPE(object);
  for (const ArrayType* one : known)
    if (one->type == type) return *one;
  auto* examined = new ArrayType(examine(object, type));
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  known.push_back(examined);
  return *examined;
}

CallArrays::~CallArrays() {
  for (auto& buffer : buffers_) PyBuffer_Release(&buffer);
}

std::string CallArrays::name(bool is_written) const {
  return is_written ? "the output" : "operand " + std::to_string(count_);
}

void CallArrays::raise_hidden(const nb::python_error& error, bool is_written) const {
  const std::string text = text_of(error.value());
  raise("bad-array", name(is_written) + " shows no memory: " + text.substr(0, text.find('\n')));
}

void CallArrays::raise_too_many() const {
  raise("array-count", "a call takes at most " + std::to_string(kMostArrays) + " arrays");
}

bool CallArrays::add_numpy(PyObject* object, bool is_written, Key& key) {
  if (Py_TYPE(object) != numpy_array_type || !numpy_array_type) return false;
  add_numpy_words(object, numpy_array_type, is_written, key);
  return true;
}

void CallArrays::add_numpy_words(PyObject* object, PyTypeObject* type, bool is_written, Key& key) {
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  const int rank = PyArray_NDIM(array);
  if (static_cast<size_t>(rank) > kMostDimensions)
    raise("bad-array", name(is_written) + " has more than " + std::to_string(kMostDimensions) + " dimensions");
  if (is_written && !PyArray_ISWRITEABLE(array)) raise("read-only", name(is_written) + " may not be written");
  first_word_[count_] = key.size();
  data_[count_++] = PyArray_DATA(array);
  key.add(word_of(type));
  key.add(word_of(PyArray_DESCR(array)));
  key.add(rank);
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  key.add(reinterpret_cast<const int64_t*>(PyArray_DIMS(array)), static_cast<size_t>(rank));
  key.add(reinterpret_cast<const int64_t*>(PyArray_STRIDES(array)), static_cast<size_t>(rank));
}

void CallArrays::add_other(PyObject* object, bool is_written, Key& key) {
  const ArrayType& type = array_type_of(object);
  switch (type.access) {
    case Access::Numpy:
      return add_numpy_words(object, type.type, is_written, key);
    case Access::Exchange:
      return add_exchange(object, type, is_written, key);
    case Access::DLPack:
      return add_dlpack(object, type, is_written, key);
    case Access::Buffer:
      return add_buffer(object, type, is_written, key);
  }
}

void CallArrays::add_exchange(PyObject* object, const ArrayType& type, bool is_written, Key& key) {
  dlpack::Tensor tensor;
  if (type.exchange->view_of_object(object, &tensor) != 0) {
    const nb::python_error error;  // takes the one that is set
    if (type.family == Family::Torch) torch::check_wrapped(object);
    raise_hidden(error, is_written);
  }
  if (type.family == Family::Torch) torch::check(object, tensor.type.code == dlpack::kComplex);
  check_device(tensor.device, name(is_written));
  add_tensor(tensor, type.type, key);
}

void CallArrays::add_dlpack(PyObject* object, const ArrayType& type, bool is_written, Key& key) {
  if (is_written && type.family == Family::Jax)
    raise("read-only", "JAX arrays are never written", "leave out= away: the result is a JAX array, too");
  if (type.family == Family::Jax && nb::cast<bool>(nb::handle(object).attr("is_deleted")()))
    raise("bad-array", name(is_written) + " was deleted or donated: it has no memory any more");
  const nb::object device = nb::handle(object).attr("__dlpack_device__")();
  check_device({nb::cast<int32_t>(nb::int_(device[0])), 0}, name(is_written));
  if (type.family == Family::Torch) torch::check(object, nb::cast<bool>(nb::handle(object).attr("is_complex")()));
  nb::object capsule;
  try {
    capsule = capsule_of(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    raise_hidden(error, is_written);
  }
  // The capsule keeps its name, so that it frees what it holds when the call ends.
  const dlpack::Tensor* tensor = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    const auto* managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1) raise("not-an-array", name(is_written) + " has a DLPack of another version");
    if (is_written && (managed->flags & dlpack::kReadOnly))
      raise("read-only", name(is_written) + " may not be written");
    tensor = &managed->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    tensor = &static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor;
  } else {
    raise("not-an-array", name(is_written) + " gives no DLPack tensor");
  }
  held_.push_back(std::move(capsule));
  add_tensor(*tensor, type.type, key);
}

void CallArrays::add_tensor(const dlpack::Tensor& tensor, PyTypeObject* type, Key& key) {
  if (tensor.rank < 0 || static_cast<size_t>(tensor.rank) > kMostDimensions)
    raise("bad-array", "operand " + std::to_string(count_) + " has more than 32 dimensions");
  const auto rank = static_cast<size_t>(tensor.rank);
  first_word_[count_] = key.size();
  data_[count_++] = static_cast<char*>(tensor.data) + (tensor.data ? tensor.byte_offset : 0);
  key.add(word_of(type));
  key.add(word_of(tensor.type));
  key.add(tensor.rank);
  key.add(tensor.shape, rank);
  if (tensor.strides) return key.add(tensor.strides, rank);
  int64_t strides[kMostDimensions], next = 1;
  for (size_t d = rank; d-- > 0; next *= tensor.shape[d]) strides[d] = next;
  key.add(strides, rank);
}

void CallArrays::add_buffer(PyObject* object, const ArrayType& type, bool is_written, Key& key) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FORMAT | PyBUF_STRIDES | (is_written ? PyBUF_WRITABLE : 0)) != 0) {
    PyErr_Clear();
    raise(is_written ? "read-only" : "bad-array",
          name(is_written) + (is_written ? " may not be written" : " does not show its memory"));
  }
  buffers_.push_back(buffer);
  const dlpack::Type element = type_of_format(buffer.format ? buffer.format : "B", buffer.itemsize);
  if (element.lanes == 0)
    raise("dtype-mismatch", name(is_written) + " has elements of the format '" + buffer.format + "'");
  dlpack::Tensor tensor{buffer.buf, {dlpack::kCpu, 0}, buffer.ndim, element, nullptr, nullptr, 0};
  if (buffer.ndim < 0 || static_cast<size_t>(buffer.ndim) > kMostDimensions)
    raise("bad-array", name(is_written) + " has more than 32 dimensions");
  int64_t shape[kMostDimensions], strides[kMostDimensions];
  for (int d = 0; d < buffer.ndim; ++d) {
    shape[d] = buffer.shape[d];
    if (!buffer.strides) continue;  // in C order, as of arrays of ctypes, although strides were asked for
    if (buffer.strides[d] % buffer.itemsize != 0)
      raise("bad-array", name(is_written) + " has strides that are no whole elements");
    strides[d] = buffer.strides[d] / buffer.itemsize;
  }
  tensor.shape = shape;
  if (buffer.strides) tensor.strides = strides;
  add_tensor(tensor, type.type, key);
}

engine::Array CallArrays::array(size_t number, const Key& key) const {
  const auto words = key.words().subspan(first_word_[number]);
  const auto rank = static_cast<size_t>(words[2]);
  engine::Array array{data_[number], DType::F32, {words.begin() + 3, words.begin() + 3 + static_cast<int64_t>(rank)}};
  array.strides.assign(words.begin() + 3 + static_cast<int64_t>(rank),
                       words.begin() + 3 + 2 * static_cast<int64_t>(rank));
  std::optional<DType> type;
  std::string spelling;
  int64_t size = 1;  // of what the strides count
  if (words[1] < kEndOfDLPackTypes) {
    type = dtype_of(words[1]);
    spelling =
        "DLPack's type " + std::to_string(words[1] & 0xff) + " of " + std::to_string(words[1] >> 8 & 0xff) + " bits";
  } else {
    auto* element = std::bit_cast<PyArray_Descr*>(words[1]);
    type = python::dtype_of(element);
    spelling = text_of(nb::handle(reinterpret_cast<PyObject*>(element)));
    size = std::max<int64_t>(PyDataType_ELSIZE(element), 1);
  }
  if (!type)
    raise("dtype-mismatch",
          "array " + std::to_string(number) + " has elements of a type that kernels lack: " + spelling);
  array.type = *type;
  for (size_t d = 0; d < rank; ++d) {
    // Of a dimension of one element numpy's strides may be anything.
    if (array.strides[d] % size != 0 && array.shape[d] > 1)
      raise("bad-array", "array " + std::to_string(number) + " has strides that are no whole elements",
            "numpy.ascontiguousarray(x) copies it");
    array.strides[d] /= size;
  }
  return array;
}

int64_t CallArrays::value(size_t number, const Key& key) const {
  const engine::Array array = this->array(number, key);
  int64_t value = 0;
  if (array.data && array.shape.empty())
    std::memcpy(&value, array.data, std::min(sizeof value, static_cast<size_t>(size_of(array.type))));
  return value;
}

void CallArrays::keep_alive(size_t number, const Key& key, std::vector<nb::object>& kept) const {
  const auto words = key.words().subspan(first_word_[number]);
  kept.push_back(nb::borrow(std::bit_cast<PyObject*>(words[0])));
  if (words[1] >= kEndOfDLPackTypes) kept.push_back(nb::borrow(std::bit_cast<PyObject*>(words[1])));
}

}  // namespace tile_tune::python
