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

TEST_CASE("explain tells the exact ranges of constrained targets, and what meets in an element") {
  using namespace tile_tune::edsl;
  const tile_tune::test::Sandbox box;
  const auto explained = [&](const Program& program) {
    program.save(box.path("p.json").string());
    const auto finished = box.run({"explain", "p.json"});
    INFO(finished.err);
    CHECK(finished.exit_code == 0);
    return finished.out;
  };
  TensorIndex i("i"), j("j"), k("k");
  const auto vector = [](int64_t size, const char* name) { return Placeholder(DType::F32, {size}, name); };
  const auto A = vector(3, "A"), B = vector(4, "B");
  auto strided = TensorOutput(20);
  strided(6 * i + 4 * j) += A(i) * B(j);
  // Over the ranges alone 6*i + 4*j would run to 24.
  CHECK(explained(Program("p", {A, B}, {{"out", strided}})) == R"(p(float(3) A, float(4) B) -> (float(20) out)

  out(6*i + 4*j) +=! A(i) * B(j)
    index  range   reduced  bounded by
    i      [0, 3)  summed   A(i), dimension 0
    j      [0, 4)  summed   B(j), dimension 0
    where 0 <= 6*i + 4*j < 20
    sums the values over all i, j that give one out(6*i + 4*j)
    writes out(6*i + 4*j) with 6*i + 4*j from 0 to 18; the others are 0
    10 points
)");
  const auto T = Placeholder(DType::F32, {5, 5}, "T");
  auto turned = TensorOutput(5, 5);
  turned(i + j, i - j) += T(i, j);
  const auto text = explained(Program("p", {T}, {{"out", turned}}));
  CHECK_THAT(text, Catch::Contains("with i + j from 0 to 4, i - j from 0 to 4; the others are 0"));
  CHECK_THAT(text, Catch::Contains("T(i,j), dimension 0"));
  CHECK_THAT(text, !Catch::Contains("sum"));  // an element tells i and j
  auto both = TensorOutput(6);
  both(i + j) >= A(i) * B(j) * A(k);
  CHECK_THAT(explained(Program("p", {A, B}, {{"out", both}})),
             Catch::Contains("takes the largest of the values over k, and all i, j that give one out(i + j)"));
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
