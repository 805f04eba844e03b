// The Tile eDSL in Python, as the C++ one reads: `O[n] += I[m, n]` for `O(n) += I(m, n)`.
#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tile_tune/edsl.h>

#include <optional>
#include <sstream>
#include <variant>

#include "python/src/dtype.h"
#include "python/src/module.h"
#include "python/src/place.h"

// C++ finds these through the classes of what is added and so on; here the operands carry the place of Python's line.
namespace tile_tune::edsl {
TensorDim operator+(const DimArg& a, const DimArg& b);
TensorDim operator-(const DimArg& a, const DimArg& b);
TensorDim operator*(const DimArg& a, const DimArg& b);
TensorDim operator/(const DimArg& a, const DimArg& b);
TensorDim operator-(const DimArg& a);
TensorIndex operator+(const IndexArg& a, const IndexArg& b);
TensorIndex operator-(const IndexArg& a, const IndexArg& b);
TensorIndex operator*(const IndexArg& a, const IndexArg& b);
TensorIndex operator/(const IndexArg& a, const IndexArg& b);
TensorIndex operator%(const IndexArg& a, const IndexArg& b);
TensorIndex operator-(const IndexArg& a);
Constraint operator<(const IndexArg& index, const DimArg& bound);
Tensor operator+(const TensorArg& a, const TensorArg& b);
Tensor operator-(const TensorArg& a, const TensorArg& b);
Tensor operator*(const TensorArg& a, const TensorArg& b);
Tensor operator/(const TensorArg& a, const TensorArg& b);
Tensor operator-(const TensorArg& a);
Tensor operator==(const TensorArg& a, const TensorArg& b);
Tensor operator!=(const TensorArg& a, const TensorArg& b);
Tensor operator<(const TensorArg& a, const TensorArg& b);
Tensor operator<=(const TensorArg& a, const TensorArg& b);
Tensor operator>(const TensorArg& a, const TensorArg& b);
Tensor operator>=(const TensorArg& a, const TensorArg& b);
}  // namespace tile_tune::edsl

namespace tile_tune::python {

using namespace edsl;

namespace {

/// What `+=` and its like leave for the assignment that Python makes of them.
struct Written {};

template <typename T>
std::string text_of(const T& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

/// nullopt: it is none. Python's bool is an int, but no size.
std::optional<int64_t> integer(nb::handle object) {
  if (PyBool_Check(object.ptr()) || !PyIndex_Check(object.ptr())) return std::nullopt;
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid() && PyErr_ExceptionMatches(PyExc_TypeError)) {  // an array of numbers
    PyErr_Clear();
    return std::nullopt;
  }
  if (!number.is_valid()) nb::raise_python_error();
  const long long value = PyLong_AsLongLong(number.ptr());
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

/// Python's and numpy's, which are none of Python's classes: numbers.Real has those of both.
bool is_real(nb::handle object) {
  if (PyFloat_Check(object.ptr())) return true;
  const int is_instance = PyObject_IsInstance(object.ptr(), nb::module_::import_("numbers").attr("Real").ptr());
  if (is_instance < 0) nb::raise_python_error();
  return is_instance == 1;
}

/// A tuple of new ones; where there is no memory for so many, MemoryError before any is made.
template <typename T>
nb::tuple new_tuple(Py_ssize_t size) {
  if (size < 0) throw nb::value_error("there are no fewer than 0 of them");
  const auto all = nb::borrow<nb::tuple>(checked(PyTuple_New(size)));
  for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SetItem(all.ptr(), i, nb::cast(T()).release().ptr());
  return all;
}

std::optional<TensorDim> dim(nb::handle object) {
  if (nb::isinstance<TensorDim>(object)) return nb::cast<TensorDim>(object);
  if (const auto number = integer(object)) return TensorDim(*number, caller());
  return std::nullopt;
}

std::optional<TensorIndex> index(nb::handle object) {
  if (nb::isinstance<TensorIndex>(object)) return nb::cast<TensorIndex>(object);
  if (const auto size = dim(object)) return TensorIndex(*size, caller());
  return std::nullopt;
}

std::optional<Tensor> tensor(nb::handle object) {
  if (nb::isinstance<Tensor>(object)) return nb::cast<Tensor>(object);
  if (PyBool_Check(object.ptr())) return Tensor(object.ptr() == Py_True);
  if (const auto size = dim(object)) return Tensor(*size, caller());
  if (is_real(object)) return Tensor(nb::cast<double>(nb::float_(object)));
  return std::nullopt;
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

[[noreturn]] void raise_type(const std::string& what, nb::handle object) {
  throw nb::type_error((what + ", not " + nb::repr(object.type()).c_str()).c_str());
}

Tensor tensor_or_raise(nb::handle object) {
  if (auto value = tensor(object)) return *value;
  raise_type("a tensor, a size or a number is expected", object);
}

TensorDim dim_or_raise(nb::handle object) {
  if (auto value = dim(object)) return *value;
  raise_type("a TensorDim or an int is expected", object);
}

std::vector<nb::object> items_of(nb::handle key) {
  std::vector<nb::object> items;
  if (nb::isinstance<nb::tuple>(key) || nb::isinstance<nb::list>(key))
    for (const nb::handle item : key) items.push_back(nb::borrow(item));
  else
    items.push_back(nb::borrow(key));
  return items;
}

IndexedTensor at(const Tensor& self, nb::handle key) {
  std::vector<TensorIndex> indices;
  for (const auto& item : items_of(key)) {
    const auto subscript = index(item);
    if (!subscript) raise_type("a subscript is a TensorIndex, a TensorDim or an int", item);
    indices.push_back(*subscript);
  }
  return self(indices, caller());
}

/// A list where the caller has given one: bind_dims([M, N]).
std::vector<nb::object> items_of(const nb::args& arguments) {
  if (arguments.size() == 1 && (nb::isinstance<nb::list>(arguments[0]) || nb::isinstance<nb::tuple>(arguments[0])))
    return items_of(nb::handle(arguments[0]));
  std::vector<nb::object> items;
  for (const nb::handle item : arguments) items.push_back(nb::borrow(item));
  return items;
}

void bind_dims(const Tensor& self, const nb::args& arguments) {
  const Where where = caller();
  std::vector<BindArg> dims;
  for (const auto& item : items_of(arguments)) {
    if (nb::isinstance<TensorDim>(item))
      dims.emplace_back(nb::cast<TensorDim&>(item), where);
    else
      dims.emplace_back(dim_or_raise(item), where);
  }
  self.bind_dims(dims, where);
}

Tensor output(const nb::args& arguments) {
  std::vector<TensorDim> dims;
  for (const auto& item : items_of(arguments)) dims.push_back(dim_or_raise(item));
  return TensorOutput(dims, caller());
}

/// Operands of an operator, from either side; nullopt: Python asks the other operand.
template <typename Class, typename Convert, typename Operate>
void add_operator(Class& type, const char* name, const char* reflected, Convert convert, Operate operate) {
  using T = typename Class::Type;
  type.def(
      name,
      [convert, operate](const T& self, nb::handle other) -> nb::object {
        const auto value = convert(other);
        return value ? nb::cast(operate(self, *value, caller())) : not_implemented();
      },
      nb::is_operator());
  if (!reflected) return;
  type.def(
      reflected,
      [convert, operate](const T& self, nb::handle other) -> nb::object {
        const auto value = convert(other);
        return value ? nb::cast(operate(*value, self, caller())) : not_implemented();
      },
      nb::is_operator());
}

void bind_dim(nb::module_& m) {
  nb::class_<TensorDim> type(m, "TensorDim", "A size: unbound until Tensor.bind_dims gives it a value, or a number.");
  type.def(nb::init<>()).def("__init__", [](TensorDim* self, int64_t value) { new (self) TensorDim(value, caller()); });
  add_operator(type, "__add__", "__radd__", dim,
               [](const auto& a, const auto& b, const Where& where) { return DimArg(a, where) + DimArg(b, where); });
  add_operator(type, "__sub__", "__rsub__", dim,
               [](const auto& a, const auto& b, const Where& where) { return DimArg(a, where) - DimArg(b, where); });
  add_operator(type, "__mul__", "__rmul__", dim,
               [](const auto& a, const auto& b, const Where& where) { return DimArg(a, where) * DimArg(b, where); });
  // Truncates, as dims do in C++; of the positive numbers that sizes are it is what Python does, too.
  add_operator(type, "__floordiv__", "__rfloordiv__", dim,
               [](const auto& a, const auto& b, const Where& where) { return DimArg(a, where) / DimArg(b, where); });
  type.def("__neg__", [](const TensorDim& self) { return -DimArg(self, caller()); });
  type.def_prop_ro("is_bound", &TensorDim::is_bound);
  type.def("__int__", [](const TensorDim& self) { return self.value(caller()); });
  type.def("__index__", [](const TensorDim& self) { return self.value(caller()); });
  type.def("__repr__", [](const TensorDim& self) { return "TensorDim(" + text_of(self) + ")"; });
  m.def("TensorDims", &new_tuple<TensorDim>, nb::arg("count"), "So many sizes: M, N = TensorDims(2).");
}

void bind_index(nb::module_& m) {
  nb::class_<Constraint>(m, "Constraint", "0 <= index < bound; made by `index < bound`.")
      .def("__bool__",
           [](const Constraint&) -> bool {
             throw nb::type_error("a constraint is no condition: give it to Tensor.add_constraint");
           })
      .def("__repr__", &text_of<Constraint>);
  nb::class_<TensorIndex> type(m, "TensorIndex", "An index variable, or an affine expression of index variables.");
  type.def(nb::init<>()).def(nb::init<const std::string&>(), nb::arg("name"));
  add_operator(type, "__add__", "__radd__", index, [](const auto& a, const auto& b, const Where& where) {
    return IndexArg(a, where) + IndexArg(b, where);
  });
  add_operator(type, "__sub__", "__rsub__", index, [](const auto& a, const auto& b, const Where& where) {
    return IndexArg(a, where) - IndexArg(b, where);
  });
  add_operator(type, "__mul__", "__rmul__", index, [](const auto& a, const auto& b, const Where& where) {
    return IndexArg(a, where) * IndexArg(b, where);
  });
  add_operator(type, "__truediv__", "__rtruediv__", index, [](const auto& a, const auto& b, const Where& where) {
    return IndexArg(a, where) / IndexArg(b, where);
  });
  add_operator(type, "__mod__", "__rmod__", index, [](const auto& a, const auto& b, const Where& where) {
    return IndexArg(a, where) % IndexArg(b, where);
  });
  type.def(
      "__lt__",
      [](const TensorIndex& self, nb::handle bound) -> nb::object {
        const auto size = dim(bound);
        return size ? nb::cast(IndexArg(self, caller()) < DimArg(*size, caller())) : not_implemented();
      },
      nb::is_operator());
  type.def("__neg__", [](const TensorIndex& self) { return -IndexArg(self, caller()); });
  type.def("__repr__", &text_of<TensorIndex>);
  m.def("TensorIndexes", &new_tuple<TensorIndex>, nb::arg("count"),
        "So many index variables: i, j = TensorIndexes(2).");
}

/// An operand of a contraction, or what several are combined to.
template <typename Of>
std::optional<Of> operand(nb::handle object) {
  if (nb::isinstance<IndexedTensor>(object)) return Of(nb::cast<IndexedTensor>(object));
  if (nb::isinstance<Of>(object)) return nb::cast<Of>(object);
  return std::nullopt;
}

std::optional<Combination> combination(nb::handle object) {
  if (nb::isinstance<Combination>(object)) return nb::cast<Combination>(object);
  if (nb::isinstance<IndexedTensor>(object)) return Combination(nb::cast<IndexedTensor>(object));
  return std::nullopt;
}

template <typename Write>
void add_aggregation(nb::class_<IndexedTensor>& type, const char* operation, const char* method, Write write) {
  type.def(
      operation,
      [write](const IndexedTensor& self, nb::handle value) -> nb::object {
        const auto combined = combination(value);
        if (!combined) return not_implemented();
        write(self, *combined);
        return nb::cast(Written{});
      },
      nb::is_operator());
  type.def(
      method,
      [write](const IndexedTensor& self, nb::handle value) {
        const auto combined = combination(value);
        if (!combined) raise_type("a contraction combines tensors at subscripts", value);
        write(self, *combined);
      },
      nb::arg("value"));
}

void bind_indexed(nb::module_& m) {
  nb::class_<Written>(m, "_Written");
  nb::class_<Combination>(m, "Combination",
                          "What a contraction combines: a product or a sum of tensors at subscripts.");
  nb::class_<Product, Combination> product(m, "Product");
  nb::class_<Sum, Combination> sum(m, "Sum");
  nb::class_<IndexedTensor> type(m, "IndexedTensor",
                                 "A tensor at subscripts: an operand of a contraction, or its target.");
  const auto multiply = [](const auto& a, const auto& b, const Where&) { return Product(a) * Product(b); };
  const auto add = [](const auto& a, const auto& b, const Where&) { return Sum(a) + Sum(b); };
  add_operator(type, "__mul__", nullptr, operand<Product>, multiply);
  add_operator(product, "__mul__", nullptr, operand<Product>, multiply);
  add_operator(type, "__add__", nullptr, operand<Sum>, add);
  add_operator(sum, "__add__", nullptr, operand<Sum>, add);
  add_aggregation(type, "__iadd__", "sum", [](const auto& to, const auto& value) { to.sum(value); });
  add_aggregation(type, "__imul__", "product", [](const auto& to, const auto& value) { to.product(value); });
  add_aggregation(type, "__ge__", "max", [](const auto& to, const auto& value) { to.max(value); });
  add_aggregation(type, "__le__", "min", [](const auto& to, const auto& value) { to.min(value); });
  type.def("__repr__", &text_of<IndexedTensor>);
}

void set_item(const Tensor& self, nb::handle key, nb::handle value) {
  if (nb::isinstance<Written>(value)) return;
  const auto combined = combination(value);
  if (!combined) raise_type("a contraction combines tensors at subscripts", value);
  at(self, key).assign(*combined);
}

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> type(
      m, "Tensor",
      "An input, a contraction's output, a scalar, or an elementwise function of these. Computes nothing.");
  type.def(
      "__init__", [](Tensor* self, nb::handle value) { new (self) Tensor(tensor_or_raise(value)); }, nb::arg("value"),
      "A scalar: it takes the type of what it meets.");
  type.def("bind_dims", &bind_dims,
           "Gives unbound dims this tensor's sizes; bound ones and numbers must agree with them.");
  type.def("__getitem__", &at);
  type.def("__setitem__", &set_item);
  type.attr("__iter__") = nb::none();  // any number is a subscript: loops over one would not end
  type.def(
      "add_constraint",
      [](Tensor& self, const Constraint& constraint) -> Tensor& { return self.add_constraint(constraint); },
      nb::arg("constraint"), "Of the contraction that writes this TensorOutput; before anything reads it.");
  type.def(
      "add_constraints",
      [](Tensor& self, const std::vector<Constraint>& constraints) -> Tensor& {
        return self.add_constraints(constraints);
      },
      nb::arg("constraints"));
  type.def(
      "use_default",
      [](Tensor& self, nb::handle values) -> Tensor& { return self.use_default(tensor_or_raise(values), caller()); },
      nb::arg("values"), "Elements that nothing writes come from `values` instead of being 0.");
  type.def_prop_ro("shape", [](const Tensor& self) {
    nb::list shape;
    for (const int64_t extent : self.shape(caller())) shape.append(extent);
    return nb::tuple(shape);
  });
  type.def_prop_ro("dtype", [](const Tensor& self) { return name_of(self.dtype(caller())); });
  type.def("__repr__", &text_of<Tensor>);
  // Operators that compare give tensors: what is looked up in a dict is the object. numpy leaves operators to Tensor.
  type.def("__hash__", [](nb::handle self) { return std::bit_cast<intptr_t>(self.ptr()) >> 4; });
  type.attr("__array_ufunc__") = nb::none();
  type.def("__bool__", [](const Tensor&) -> bool { throw nb::type_error("a Tensor has no value yet"); });

#define TILE_TUNE_OPERATOR(name, reflected, op)                                                      \
  add_operator(type, name, reflected, tensor, [](const auto& a, const auto& b, const Where& where) { \
    return TensorArg(a, where) op TensorArg(b, where);                                               \
  })
  TILE_TUNE_OPERATOR("__add__", "__radd__", +);
  TILE_TUNE_OPERATOR("__sub__", "__rsub__", -);
  TILE_TUNE_OPERATOR("__mul__", "__rmul__", *);
  TILE_TUNE_OPERATOR("__truediv__", "__rtruediv__", /);
  TILE_TUNE_OPERATOR("__eq__", nullptr, ==);
  TILE_TUNE_OPERATOR("__ne__", nullptr, !=);
  TILE_TUNE_OPERATOR("__lt__", nullptr, <);
  TILE_TUNE_OPERATOR("__le__", nullptr, <=);
  TILE_TUNE_OPERATOR("__gt__", nullptr, >);
  TILE_TUNE_OPERATOR("__ge__", nullptr, >=);
#undef TILE_TUNE_OPERATOR
  type.def("__neg__", [](const Tensor& self) { return -TensorArg(self, caller()); });

  m.def("TensorOutput", &output, "A tensor of these sizes for one contraction to write.");
  m.def(
      "Placeholder",
      [](nb::handle type, const std::vector<int64_t>& shape, const std::string& name) {
        return Placeholder(dtype_from(type), shape, name, caller());
      },
      nb::arg("dtype"), nb::arg("shape"), nb::arg("name"), "An input of a program, of this type, shape and name.");
}

using Unary = Tensor (*)(const Tensor&, const Where&);
using Binary = Tensor (*)(const Tensor&, const Tensor&, const Where&);

void bind_functions(nb::module_& m) {
  const std::pair<const char*, Unary> unary[] = {
      {"exp", edsl::exp},     {"log", edsl::log},   {"sin", edsl::sin},         {"cos", edsl::cos},
      {"tan", edsl::tan},     {"tanh", edsl::tanh}, {"sqrt", edsl::sqrt},       {"abs", edsl::abs},
      {"floor", edsl::floor}, {"ceil", edsl::ceil}, {"sigmoid", edsl::sigmoid}, {"relu", edsl::relu}};
  for (const auto& [name, function] : unary)
    m.def(
        name, [function = function](nb::handle x) { return function(tensor_or_raise(x), caller()); }, nb::arg("x"),
        "Of each element.");
  const std::pair<const char*, Binary> binary[] = {
      {"pow", edsl::pow}, {"min", static_cast<Binary>(edsl::min)}, {"max", static_cast<Binary>(edsl::max)}};
  for (const auto& [name, function] : binary)
    m.def(
        name,
        [function = function](nb::handle x, nb::handle y) {
          return function(tensor_or_raise(x), tensor_or_raise(y), caller());
        },
        nb::arg("x"), nb::arg("y"), "Of each pair of elements; shapes broadcast as in numpy.");
  m.def(
      "select",
      [](nb::handle condition, nb::handle if_true, nb::handle if_false) {
        return select(tensor_or_raise(condition), tensor_or_raise(if_true), tensor_or_raise(if_false), caller());
      },
      nb::arg("condition"), nb::arg("if_true"), nb::arg("if_false"), "`condition` is of type bool.");
  m.def(
      "cast", [](nb::handle x, nb::handle type) { return edsl::cast(tensor_or_raise(x), dtype_from(type), caller()); },
      nb::arg("x"), nb::arg("dtype"), "Floats become integers by truncation and saturate.");
}

}  // namespace

void bind_edsl(nb::module_& m) {
  bind_dim(m);
  bind_index(m);
  bind_indexed(m);
  bind_tensor(m);
  bind_functions(m);
}

}  // namespace tile_tune::python
