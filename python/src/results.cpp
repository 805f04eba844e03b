#include "python/src/results.h"

#include <algorithm>
#include <cstring>

#include "python/src/dtype.h"
#include "python/src/errors.h"
#include "python/src/numpy.h"

namespace tile_tune::python {

namespace {

/// Of the struct module; "": it has none.
const char* format_of(DType type) {
  constexpr const char* kFormats[] = {"?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "", "f", "d", "", ""};
  return kFormats[static_cast<int>(type)];
}

dlpack::Type dlpack_type(DType type) {
  const auto bits = static_cast<uint8_t>(8 * size_of(type));
  constexpr uint8_t kCodes[] = {dlpack::kBool,   dlpack::kInt,   dlpack::kUInt,  dlpack::kInt,     dlpack::kUInt,
                                dlpack::kInt,    dlpack::kUInt,  dlpack::kInt,   dlpack::kUInt,    dlpack::kFloat,
                                dlpack::kBFloat, dlpack::kFloat, dlpack::kFloat, dlpack::kComplex, dlpack::kComplex};
  return {kCodes[static_cast<int>(type)], bits, 1};
}

nb::tuple tuple_of(const std::vector<int64_t>& shape) {
  nb::list list;
  for (const int64_t extent : shape) list.append(extent);
  return nb::tuple(list);
}

/// JAX would make 32 bits of 64.
void check_jax_width(DType type) {
  const bool is_wide = type == DType::C64 || (size_of(type) == 8 && type != DType::C32);
  if (is_wide && !nb::cast<bool>(nb::module_::import_("jax").attr("config").attr("jax_enable_x64")))
    raise("dtype-mismatch", std::string("JAX has no ") + name_of(type) + ", which the operands promote to",
          "set jax_enable_x64, convert the wider operand, or give a numpy array first or as out=");
}

void set_exchange_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

}  // namespace

ResultMaker::ResultMaker(PyObject* like, const engine::OutputType& type) : type_(type) {
  const ArrayType& kind = array_type_of(like);
  family_ = kind.family;
  exchange_ = kind.exchange;
  for (const int64_t extent : type.shape) count_ *= extent;
  const nb::object namespace_of_like =
      family_ == Family::Namespace ? nb::handle(like).attr("__array_namespace__")() : nb::object();
  if (family_ == Family::Torch && !exchange_) {
    const nb::module_ torch = nb::module_::import_("torch");
    empty_ = torch.attr("empty");
    arguments_ = nb::make_tuple(tuple_of(type.shape));
    nb::dict keywords;
    keywords["dtype"] = torch.attr(name_of(type.type));
    keywords_ = keywords;
  }
  if (family_ == Family::Jax) check_jax_width(type.type);
  if (family_ == Family::Jax) convert_ = nb::module_::import_("jax.numpy").attr("asarray");
  if (family_ == Family::Namespace) convert_ = namespace_of_like.attr("from_dlpack");
  if (family_ == Family::Memory && import_numpy()) family_ = Family::Numpy;
  if (family_ == Family::Memory && !*format_of(type.type))
    raise("not-an-array", std::string("without numpy there is no array of ") + name_of(type.type), "pass out=");
  if (family_ != Family::Numpy && family_ != Family::Jax && family_ != Family::Namespace) return;
  if (!import_numpy()) raise("not-an-array", "without numpy there is no array for the result", "pass out=");
  element_ = checked(reinterpret_cast<PyObject*>(element_of(type.type)));
}

ResultMaker::Made ResultMaker::make_array() const {
  switch (family_) {
    case Family::Numpy:
    case Family::Jax:
    case Family::Namespace: {
      auto* element = reinterpret_cast<PyArray_Descr*>(element_.ptr());
      Py_INCREF(element_.ptr());  // which the call takes
      nb::object array = checked(PyArray_NewFromDescr(&PyArray_Type, element, static_cast<int>(type_.shape.size()),
                                                      reinterpret_cast<const npy_intp*>(type_.shape.data()), nullptr,
                                                      nullptr, 0, nullptr));
      void* data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()));
      return {std::move(array), data};
    }
    case Family::Torch:
    case Family::Exchange: {
      if (!exchange_) {
        nb::object array = checked(PyObject_Call(empty_.ptr(), arguments_.ptr(), keywords_.ptr()));
        void* data = PyLong_AsVoidPtr(array.attr("data_ptr")().ptr());
        return {std::move(array), data};
      }
      dlpack::Tensor prototype{nullptr,
                               {dlpack::kCpu, 0},
                               static_cast<int32_t>(type_.shape.size()),
                               dlpack_type(type_.type),
                               const_cast<int64_t*>(type_.shape.data()),
                               nullptr,
                               0};
      dlpack::ManagedVersioned* managed = nullptr;
      std::string error;
      if (exchange_->allocate(&prototype, &managed, &error, set_exchange_error) != 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.c_str());
        raise_python_error();
      }
      void* data = static_cast<char*>(managed->tensor.data) + managed->tensor.byte_offset;
      void* object = nullptr;
      if (exchange_->object_from_managed(managed, &object) != 0) raise_python_error();
      return {checked(static_cast<PyObject*>(object)), data};
    }
    case Family::Memory:
      break;
  }
  const nb::object bytes = checked(PyByteArray_FromStringAndSize(nullptr, count_ * size_of(type_.type)));
  void* data = PyByteArray_AsString(bytes.ptr());
  nb::object view = checked(PyMemoryView_FromObject(bytes.ptr()));
  if (count_ == 0) return {view.attr("cast")(format_of(type_.type)), data};  // a view knows no extents of 0
  return {view.attr("cast")(format_of(type_.type), tuple_of(type_.shape)), data};
}

ResultMaker::Made ResultMaker::make() const {
  Made made = make_array();
  const size_t size = type_.initial.size();
  auto* to = static_cast<char*>(made.data);
  if (size > 0)
    for (int64_t i = 0; i < count_; ++i) std::memcpy(to + static_cast<size_t>(i) * size, type_.initial.data(), size);
  return made;
}

nb::object ResultMaker::finished(nb::object array) const { return convert_.is_valid() ? convert_(array) : array; }

}  // namespace tile_tune::python
