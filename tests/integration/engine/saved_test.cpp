// A program saved from the eDSL is a PROGRAM of the command line.
#include <catch2/catch.hpp>

#include "frontend/ir/program.h"
#include "frontend/tensor/npy.h"
#include "tests/integration/cli/sandbox.h"
#include "tests/unit/edsl/example.h"

using namespace tile_tune;
using namespace tile_tune::edsl::test;

TEST_CASE("every example is saved, checked and run by the command line's reference") {
  const tile_tune::test::Sandbox box;
  auto examples = document_examples();
  for (auto& example : rule_examples()) examples.push_back(std::move(example));
  for (const auto& example : examples) {
    INFO(example.name);
    example.program.save(box.path("p.json").string());
    std::vector<std::string> run = {"run", "p.json", "--engine", "reference", "--output-dir", "out"};
    for (const int number : example.program.ir().inputs) {
      const auto& tensor = example.program.ir().tensors[static_cast<size_t>(number)];
      REQUIRE(tensor::write_npy(box.path(tensor.name + ".npy"), to_array(example.inputs.at(tensor.name), tensor.type)));
      run.insert(run.end(), {"--input", tensor.name + "=" + tensor.name + ".npy"});
    }
    const auto finished = box.run(run);
    INFO(finished.err);
    REQUIRE(finished.exit_code == 0);
    for (const auto& [name, expected] : example.outputs) {
      INFO(name);
      const auto array = tensor::read_npy(box.path("out/" + name + ".npy"));
      REQUIRE(array);
      REQUIRE(array->shape == expected.shape);
      for (size_t i = 0; i < expected.values.size(); ++i)
        CHECK(element(*array, static_cast<int64_t>(i)) == Approx(expected.values[i]).margin(1e-5).epsilon(1e-5));
    }
  }
  const auto checked = box.run({"check", "p.json"});
  INFO(checked.err);
  CHECK(checked.exit_code == 0);
}

TEST_CASE("build makes a package of a saved program") {
  const tile_tune::test::Sandbox box;
  for (const auto& example : document_examples())
    if (example.name == "matmul") example.program.save(box.path("matmul.json").string());
  const auto built = box.run({"build", "matmul.json", "-o", "package"});
  INFO(built.err);
  CHECK(built.exit_code == 0);
  CHECK_THAT(box.read("package/include/matmul.h"), Catch::Contains("int matmul("));
}
