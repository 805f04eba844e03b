// Programs: from the eDSL, from text, and what they are called.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tile_tune/edsl.h>
#include <tile_tune/einsum.h>
#include <tile_tune/tc.h>

#include <sstream>

#include "python/src/dtype.h"
#include "python/src/module.h"
#include "python/src/place.h"

namespace tile_tune::python {

using edsl::Program;
using edsl::Tensor;

namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

Outputs outputs_from(nb::handle given) {
  Outputs outputs;
  if (nb::isinstance<nb::dict>(given))
    for (const auto [name, tensor] : nb::borrow<nb::dict>(given))
      outputs.emplace_back(text_of(name), nb::cast<Tensor>(tensor));
  else
    outputs = nb::cast<Outputs>(given);
  return outputs;
}

}  // namespace

void bind_programs(nb::module_& m) {
  nb::class_<Program>(m, "Program", "What is tuned, compiled and saved. A value that never changes.")
      .def(
          "__init__",
          [](Program* self, const std::string& name, const std::vector<Tensor>& inputs, nb::handle outputs) {
            new (self) Program(name, inputs, outputs_from(outputs), caller());
          },
          nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"),
          "Inputs in the order of the arguments; outputs as a dict or a list of (name, tensor).")
      .def_prop_ro("name", &Program::name)
      .def_prop_ro(
          "warnings",
          [](const Program& self) {
            std::vector<std::string> texts;
            for (const auto& warning : self.warnings()) texts.push_back(warning.text);
            return texts;
          },
          "What is legal but hardly meant.")
      .def_prop_ro(
          "content_hash", [](const Program& self) { return self.content_hash(caller()); },
          "Names what is computed, whatever it was written in. All sizes must have numbers.")
      .def(
          "bind",
          [](const Program& self, const std::map<std::string, int64_t>& sizes) { return self.bind(sizes, caller()); },
          nb::arg("sizes"), "This program with numbers for all its sizes.")
      .def("json", &Program::json, "The text that the command line takes as FILE.json.")
      .def(
          "save", [](const Program& self, nb::handle path) { self.save(path_of(path), caller()); }, nb::arg("path"),
          "Writes json() beside `path`, then renames.")
      .def("__repr__", [](const Program& self) {
        std::ostringstream stream;
        stream << self;
        return stream.str();
      });
  m.def(
      "tc_parse", [](const std::string& text, const std::string& file) { return tc::parse(text, file.c_str()); },
      nb::arg("text"), nb::arg("file"));
  m.def(
      "einsum_program",
      [](const std::string& subscripts, nb::list operands) {
        einsum::Operands known;
        for (const nb::handle operand : operands) {
          const auto pair = nb::cast<nb::tuple>(operand);
          known.emplace_back(dtype_from(pair[0]), nb::cast<std::vector<int64_t>>(pair[1]));
        }
        return einsum::parse(subscripts, known);
      },
      nb::arg("subscripts"), nb::arg("operands"));
}

}  // namespace tile_tune::python
