// einsum(), and programs as callables: functions of CPython's fastest calling convention, since a call that was seen
// before takes less than the frame of a slower one.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tile_tune/einsum.h>

#include "python/src/call.h"
#include "python/src/dtype.h"
#include "python/src/errors.h"
#include "python/src/module.h"

namespace tile_tune::python {

namespace {

// Calls of an einsum that differ in subscripts, types, shapes or strides; of one program they are fewer.
constexpr size_t kEinsumCalls = 4096, kProgramCalls = 256;

/// Never destroyed: what it holds is Python's, which may be gone before.
CallTable& einsum_table() {
  static CallTable& table = *new CallTable(kEinsumCalls);
  return table;
}

struct Given {
  std::span<PyObject* const> positional;
  PyObject* out = nullptr;  // or null
};

/// Of METH_FASTCALL | METH_KEYWORDS. Throws TypeError.
Given given_of(const char* function, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  Given given{{arguments, static_cast<size_t>(count)}, nullptr};
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GetItem(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "out") != 0)
      throw nb::type_error((std::string(function) + "() takes no '" + text_of(name) + "'").c_str());
    if (arguments[count + i] != Py_None) given.out = arguments[count + i];
  }
  return given;
}

/// What goes wrong in C++ becomes the Python error that is set.
template <typename Work>
PyObject* at_border(const Work& work) {
  try {
    return work().release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const ProgramError& error) {
    try {
      raise(error);
    } catch (nb::python_error& raised) {
      raised.restore();
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// The error of an einsum in the compiler's words, which point at the place in its text where they can.
[[noreturn]] void raise_einsum(const std::string& subscripts, std::span<const engine::Array> inputs,
                               const engine::Error& error) {
  einsum::Operands operands;
  for (const auto& input : inputs) operands.emplace_back(input.type, input.shape);
  einsum::parse(subscripts, operands);
  raise(error);
}

bool is_unsigned(DType type) {
  return type == DType::U8 || type == DType::U16 || type == DType::U32 || type == DType::U64;
}

bool is_signed(DType type) {
  return type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
}

/// uint32 and int32 promote to int32, as in C++, where numpy has int64: large numbers would become negative.
void check_signs(std::span<const engine::Array> inputs, DType result) {
  for (const auto& input : inputs)
    if (is_unsigned(input.type) && is_signed(result) && size_of(input.type) >= size_of(result))
      raise("dtype-mismatch",
            std::string("an operand of ") + name_of(input.type) + " has numbers that are none of the result's type, " +
                name_of(result),
            "convert one operand: x.astype(numpy.int64), say");
}

PyObject* einsum_call(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return at_border([&] {
    const Given given = given_of("einsum", arguments, count, names);
    if (given.positional.empty() || !PyUnicode_Check(given.positional[0]))
      throw nb::type_error("einsum() takes the subscripts as its first argument: einsum('ij,jk->ik', a, b)");
    if (given.positional.size() < 2) throw nb::type_error("einsum() takes an array for each operand");
    PyObject* const text = given.positional[0];
    const auto resolve = [text](std::span<const engine::Array> inputs, std::span<const engine::Array> outputs) {
      const std::string subscripts = text_of(text);
      const auto type = engine::einsum_type(subscripts, inputs);
      if (!type) raise_einsum(subscripts, inputs, type.error());
      const DType result = outputs.empty() ? type->type : outputs.front().type;
      check_signs(inputs, result);
      return Resolved{value_or_raise(engine::einsum_kernel(subscripts, inputs, result)), {{*type, ""}}};
    };
    const std::span<PyObject* const> outputs(&given.out, given.out ? 1 : 0);
    return einsum_table().call({text, given.positional.subspan(1), {}, outputs}, resolve);
  });
}

/// A program as a callable: what its capsule holds.
struct ProgramCall {
  CallTable table{kProgramCalls};
  edsl::Program program;
  engine::Kernel kernel;
  std::vector<size_t> size_inputs;
};

PyObject* program_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return at_border([&] {
    auto& call = *static_cast<ProgramCall*>(PyCapsule_GetPointer(self, nullptr));
    const Given given = given_of(call.program.name().c_str(), arguments, count, names);
    if (given.positional.empty()) raise("array-count", call.program.name() + " takes arrays");
    const auto resolve = [&](std::span<const engine::Array> inputs, std::span<const engine::Array>) {
      auto fit = value_or_raise(engine::fit(call.program, inputs));
      return Resolved{call.kernel, std::move(fit.outputs)};
    };
    const bool is_tuple = given.out && PyTuple_Check(given.out);
    std::vector<PyObject*> several;
    for (Py_ssize_t i = 0; is_tuple && i < PyTuple_Size(given.out); ++i)
      several.push_back(PyTuple_GetItem(given.out, i));
    const std::span<PyObject* const> outputs =
        is_tuple ? std::span<PyObject* const>(several) : std::span<PyObject* const>(&given.out, given.out ? 1 : 0);
    return call.table.call({nullptr, given.positional, call.size_inputs, outputs}, resolve);
  });
}

PyMethodDef einsum_definition = {"einsum", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&einsum_call)),
                                 METH_FASTCALL | METH_KEYWORDS,
                                 R"(einsum(subscripts, /, *operands, out=None)
--

Sums of products in Einstein's notation, at the speed of a compiled kernel.

subscripts: labels of each operand's axes and, after '->', of the result's: "ij,jk->ik". Any characters but blanks and
    , - > ( ) . are labels; '...' stands for leading axes that broadcast; parentheses fix the order of contractions.
operands: arrays of any strides, taken as they lie: numpy arrays (of its subclasses memmap and matrix alone), PyTorch and
    JAX tensors of the CPU, and whatever has __dlpack__ or the buffer protocol.
out: where the result goes, of the result's shape; returned. Without it the result is a new array of the first
    operand's kind, whose element type is what the operands promote to, and int32 instead of 8- and 16-bit integers.

The first call for new types, shapes or strides compiles, in about a second, or loads what an earlier process compiled;
tile_tune.tuning() says whether it searches for a faster kernel.

Raises ProgramError (the notation), ArrayError (shapes that do not fit, overlapping or read-only memory), DTypeError,
ToolError. Runs without Python's lock.)"};

PyMethodDef program_definition = {"program", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&program_call)),
                                  METH_FASTCALL | METH_KEYWORDS, "The kernel of a program on arrays."};

/// Whether the handler of a signal raised something, which then is the Python error that is set.
bool is_interrupted() {
  PyGILState_STATE state{};
  take_lock([&] { state = PyGILState_Ensure(); });
  const bool is_raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return is_raised;
}

engine::CompileOptions options_from(const nb::dict& given) {
  engine::CompileOptions options;
  options.on_message = &keep_message;
  options.interrupted = &is_interrupted;
  for (const auto [key, value] : given) {
    const std::string name = text_of(key);
    if (name == "executable")
      options.executable = path_of(value);
    else if (name == "database")
      options.database = path_of(value);
    else if (name == "target")
      options.target = text_of(value);
    else if (name == "threads")
      options.threads = nb::cast<int>(value);
    else if (name == "cache")
      options.cache = path_of(value);
    else if (name == "deterministic")
      options.deterministic = nb::cast<bool>(value);
    else if (name == "tune_seconds")
      options.tune_seconds = nb::cast<double>(value);
    else if (name == "background_seconds")
      options.background_seconds = nb::cast<double>(value);
    else if (name == "default_schedule")
      options.schedule = nb::cast<bool>(value) ? engine::Schedule::Default : engine::Schedule::Tuned;
    else
      throw nb::type_error(("no option " + name).c_str());
  }
  // A handle that compiles at its first call knows the arrays' strides.
  options.at_first_call = true;
  return options;
}

nb::object callable(const edsl::Program& program, const nb::dict& options) {
  drop_messages();
  auto kernel = value_or_raise(engine::compile(program, options_from(options)));
  auto* call = new ProgramCall{CallTable(kProgramCalls), program, std::move(kernel), engine::size_inputs(program)};
  const nb::object capsule = checked(PyCapsule_New(
      call, nullptr, [](PyObject* self) { delete static_cast<ProgramCall*>(PyCapsule_GetPointer(self, nullptr)); }));
  tell_messages();
  return checked(PyCFunction_NewEx(&program_definition, capsule.ptr(), nullptr));
}

std::optional<std::string> schedule_of(nb::handle function) {
  PyObject* const capsule = PyCFunction_GetSelf(function.ptr());
  if (!capsule) raise_python_error();
  const auto& call = *static_cast<ProgramCall*>(PyCapsule_GetPointer(capsule, nullptr));
  const auto schedule = call.kernel.schedule();
  if (!schedule) return std::nullopt;
  return *schedule == engine::Schedule::Default ? "default" : "tuned";
}

/// (dtype, shape, strides in elements) of each array.
nb::list described(const nb::args& arguments) {
  CallArrays arrays;
  Key key;
  nb::list all;
  for (const nb::handle argument : arguments) arrays.add(argument.ptr(), false, key);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto array = arrays.array(i, key);
    all.append(nb::make_tuple(name_of(array.type), array.shape, array.strides));
  }
  return all;
}

std::map<std::string, int64_t> sizes_of(const edsl::Program& program, const nb::args& arguments) {
  CallArrays arrays;
  Key key;
  std::vector<engine::Array> inputs;
  for (const nb::handle argument : arguments) arrays.add(argument.ptr(), false, key);
  for (size_t i = 0; i < arrays.size(); ++i) inputs.push_back(arrays.array(i, key));
  return value_or_raise(engine::fit(program, inputs)).sizes;
}

}  // namespace

void bind_calls(nb::module_& m) {
  m.attr("einsum") = checked(PyCFunction_NewEx(&einsum_definition, nullptr, nb::str("tile_tune").ptr()));
  m.def("set_einsum_options", [](const nb::dict& options) {
    engine::set_einsum_options(options_from(options));
    einsum_table().clear();
  });
  m.def("callable", &callable, nb::arg("program"), nb::arg("options"));
  m.def("schedule_of", &schedule_of);
  m.def("described", &described);
  m.def("sizes_of", &sizes_of);
  m.def("shutdown", &engine::shutdown, nb::call_guard<nb::gil_scoped_release>(),
        "Ends searches in the background, for good, within 0.2 s.");
}

}  // namespace tile_tune::python
