#define TILE_TUNE_IMPORTS_NUMPY
#include "python/src/numpy.h"

#include <string_view>

namespace tile_tune::python {

PyTypeObject* numpy_array_type = nullptr;

namespace {

bool import_api() {
  if (numpy_array_type) return true;
  // Looked for first, since numpy's own function prints what is wrong.
  if (!nb::steal(PyImport_ImportModule("numpy")).is_valid() || PyArray_ImportNumPyAPI() < 0) {
    PyErr_Clear();
    return false;
  }
  numpy_array_type = &PyArray_Type;
  return true;
}

bool is_bfloat16(PyArray_Descr* element) {
  const nb::object name = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(element->typeobj), "__name__"));
  if (!name.is_valid()) PyErr_Clear();
  return name.is_valid() && nb::isinstance<nb::str>(name) && std::string_view(nb::str(name).c_str()) == "bfloat16";
}

}  // namespace

bool find_numpy() {
  if (numpy_array_type) return true;
  PyObject* modules = PyImport_GetModuleDict();  // borrowed, as what is in it
  return PyDict_GetItemString(modules, "numpy") != nullptr && import_api();
}

bool import_numpy() { return import_api(); }

std::optional<DType> dtype_of(PyArray_Descr* element) {
  if (!PyArray_ISNBO(element->byteorder)) return std::nullopt;
  switch (element->type_num) {
    case NPY_BOOL:
      return DType::Bool;
    case NPY_HALF:
      return DType::F16;
    case NPY_FLOAT:
      return DType::F32;
    case NPY_DOUBLE:
      return DType::F64;
    case NPY_CFLOAT:
      return DType::C32;
    case NPY_CDOUBLE:
      return DType::C64;
  }
  if (PyTypeNum_ISINTEGER(element->type_num)) {
    constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
    constexpr DType kUnsigned[] = {DType::U8, DType::U16, DType::U32, DType::U64};
    const auto size = PyDataType_ELSIZE(element);
    const int place = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return PyTypeNum_ISSIGNED(element->type_num) ? kSigned[place] : kUnsigned[place];
  }
  if (PyTypeNum_ISUSERDEF(element->type_num) && PyDataType_ELSIZE(element) == 2 && is_bfloat16(element))
    return DType::BF16;
  return std::nullopt;
}

PyArray_Descr* element_of(DType type) {
  switch (type) {
    case DType::Bool:
      return PyArray_DescrFromType(NPY_BOOL);
    case DType::I8:
      return PyArray_DescrFromType(NPY_INT8);
    case DType::U8:
      return PyArray_DescrFromType(NPY_UINT8);
    case DType::I16:
      return PyArray_DescrFromType(NPY_INT16);
    case DType::U16:
      return PyArray_DescrFromType(NPY_UINT16);
    case DType::I32:
      return PyArray_DescrFromType(NPY_INT32);
    case DType::U32:
      return PyArray_DescrFromType(NPY_UINT32);
    case DType::I64:
      return PyArray_DescrFromType(NPY_INT64);
    case DType::U64:
      return PyArray_DescrFromType(NPY_UINT64);
    case DType::F16:
      return PyArray_DescrFromType(NPY_HALF);
    case DType::F32:
      return PyArray_DescrFromType(NPY_FLOAT);
    case DType::F64:
      return PyArray_DescrFromType(NPY_DOUBLE);
    case DType::C32:
      return PyArray_DescrFromType(NPY_CFLOAT);
    case DType::C64:
      return PyArray_DescrFromType(NPY_CDOUBLE);
    case DType::BF16:
      break;
  }
  const nb::object module = nb::steal(PyImport_ImportModule("ml_dtypes"));
  if (!module.is_valid()) return nullptr;
  const nb::object scalar = nb::steal(PyObject_GetAttrString(module.ptr(), "bfloat16"));
  PyArray_Descr* element = nullptr;
  if (!scalar.is_valid() || !PyArray_DescrConverter(scalar.ptr(), &element)) return nullptr;
  return element;
}

}  // namespace tile_tune::python
