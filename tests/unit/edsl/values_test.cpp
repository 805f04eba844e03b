// What the examples compute, by the reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/reference/reference.h"
#include "tests/unit/edsl/example.h"

using namespace tile_tune;
using namespace tile_tune::edsl::test;

namespace {

std::vector<tensor::Array> by_reference(const ir::Program& program, const std::map<std::string, Grid>& inputs) {
  reference::Inputs arrays;
  for (const int number : program.inputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    arrays.emplace(number, to_array(inputs.at(tensor.name), tensor.type));
  }
  const auto expected = reference::evaluate(program, arrays);
  INFO((expected ? "" : render(expected.error())));
  REQUIRE(expected);
  std::vector<tensor::Array> outputs;
  for (const auto& output : *expected) outputs.push_back(reference::to_array(program, output));
  return outputs;
}

void check(const Example& example) {
  INFO(example.name);
  const ir::Program& program = example.program.ir();
  const auto outputs = by_reference(program, example.inputs);
  REQUIRE(outputs.size() == example.outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto& name = program.tensors[static_cast<size_t>(program.outputs[o])].name;
    INFO(name);
    const Grid& expected = example.outputs.at(name);
    REQUIRE(outputs[o].shape == expected.shape);
    for (size_t i = 0; i < expected.values.size(); ++i) {
      INFO(i);
      const double got = element(outputs[o], static_cast<int64_t>(i));
      CHECK(std::abs(got - expected.values[i]) <= example.tolerance * std::max(1.0, std::abs(expected.values[i])));
    }
  }
}

}  // namespace

TEST_CASE("the document's examples compute what their loops do") {
  for (const auto& example : document_examples()) check(example);
}

TEST_CASE("Python's twins of the document's examples are the same programs") {
  // python/tests/test_edsl.py compares what Python makes with this file.
  std::ifstream file(TILE_TUNE_SOURCE_DIR "/tests/golden/edsl/document_hashes.txt");
  const auto examples = document_examples();
  int twins = 0;
  for (std::string name, hash; file >> name >> hash; ++twins) {
    const auto example =
        std::find_if(examples.begin(), examples.end(), [&](const auto& one) { return one.name == name; });
    INFO(name);
    REQUIRE(example != examples.end());
    CHECK(example->program.content_hash() == hash);
  }
  CHECK(twins == 14);
}

TEST_CASE("the suite of examples has the document's programs") {
  std::ifstream file(TILE_TUNE_SOURCE_DIR "/configs/suites/examples.json");
  const auto suite = nlohmann::json::parse(file);
  for (const auto& example : document_examples()) {
    INFO(example.name);
    const auto& workloads = suite["workloads"];
    const auto workload = std::find_if(workloads.begin(), workloads.end(),
                                       [&](const auto& one) { return one["name"] == "tile_" + example.name; });
    REQUIRE(workload != workloads.end());
    auto program = ir::to_json(example.program.ir());
    for (auto& statement : program["statements"]) statement.erase("place");  // where it stands in this test
    CHECK((*workload)["program"] == program);
  }
}

TEST_CASE("each rule's example computes what its loops do") {
  for (const auto& example : rule_examples()) check(example);
}
