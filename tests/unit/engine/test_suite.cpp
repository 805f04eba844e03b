// The stored suites: every program parses, binds, and agrees with its source's figures; and malformed suites.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/programs/bindings.h"
#include "engine/programs/program_argument.h"
#include "engine/programs/suite.h"

namespace tile_tune::engine {
namespace {

const Reporter kQuiet({});

nlohmann::json stored_suite(const std::string& name) {
  std::ifstream file(std::string(TILE_TUNE_SOURCE_DIR) + "/configs/suites/" + name);
  return nlohmann::json::parse(file);
}
nlohmann::json public_suite() { return stored_suite("public.json"); }

int64_t volume(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const auto extent : shape) product *= extent;
  return product;
}

TEST_CASE("every drawn workload of the general suite binds to about as many bytes as it says") {
  const auto json = stored_suite("general.json");
  const auto loaded = load_suite(json, "general.json", kQuiet);
  REQUIRE(loaded.has_value());
  REQUIRE(loaded->size() == 100);
  for (size_t i = 0; i < loaded->size(); ++i) {
    INFO(json["workloads"][i]["name"]);
    const auto bound = ir::bind((*loaded)[i].program, (*loaded)[i].sizes);
    REQUIRE(bound.has_value());
    // Strided windows may leave the last rows of an image unread.
    CHECK(static_cast<double>(ir::traffic(*bound).total()) ==
          Approx(json["workloads"][i]["bytes"].get<double>()).epsilon(0.03));
  }
}

TEST_CASE("every workload of the public suite has the shapes and bytes of its source") {
  const auto json = public_suite();
  const auto loaded = load_suite(json, "public.json", kQuiet);
  REQUIRE(loaded.has_value());
  REQUIRE(loaded->size() == 68);
  for (size_t i = 0; i < loaded->size(); ++i) {
    const auto& workload = json["workloads"][i];
    INFO(workload["name"]);
    const auto bound = ir::bind((*loaded)[i].program, (*loaded)[i].sizes);
    REQUIRE(bound.has_value());
    // Groups may stand apart from channels in a program: elements are what must agree.
    const auto shapes = workload["shapes"].get<std::vector<std::vector<int64_t>>>();
    REQUIRE(bound->inputs.size() + 1 == shapes.size());
    for (size_t input = 0; input < bound->inputs.size(); ++input)
      CHECK(ir::element_count(bound->tensors[bound->inputs[input]]) == volume(shapes[input]));
    int64_t outputs = 0;
    for (const int output : bound->outputs) outputs += ir::element_count(bound->tensors[output]);
    CHECK(outputs == volume(shapes.back()));
    // A look-up table counts the rows it touches only.
    if (workload["name"].get<std::string>().find("lut") == std::string::npos)
      CHECK(ir::traffic(*bound).total() == workload["bytes"].get<double>());
  }
}

TEST_CASE("FLOP of the public suite's programs agree with their source") {
  const auto json = public_suite();
  const auto loaded = load_suite(json, "public.json", kQuiet);
  REQUIRE(loaded.has_value());
  for (size_t i = 0; i < loaded->size(); ++i) {
    const auto& one = (*loaded)[i];
    INFO(one.suite->name);
    const auto bound = ir::bind(one.program, one.sizes).value();
    const double counted = ir::flops(bound), given = *one.suite->flops;
    // The source counts padded taps (3.8 % of a 3x3 window over 56, 30 % over 7) and no division by a constant (1 in 4
    // of average pooling, of each element here); a running sum as one addition, a moved element as one operation.
    if (one.suite->name == "csum_4096")
      CHECK(counted == 4096 * 4097 / 2);
    else if (one.suite->name.starts_with("avgpool"))
      CHECK(counted == 2 * given);
    else if (one.suite->name.starts_with("permute"))
      CHECK(counted == 0);
    else
      CHECK(counted / given == Approx(1).margin(json["workloads"][i].contains("program") ? 0.3 : 0.01));
  }
}

TEST_CASE("groups of the public suite are the rows of the table, and permutations") {
  std::map<std::string, int> groups;
  const auto json = public_suite();
  for (const auto& workload : json["workloads"]) ++groups[workload["group"]];
  CHECK(groups == std::map<std::string, int>{{"matrix-products", 9},
                                             {"batched-products", 3},
                                             {"grouped-convolutions", 7},
                                             {"dense-convolutions", 10},
                                             {"permutations", 2},
                                             {"reductions", 14},
                                             {"contractions", 14},
                                             {"fused-chains", 4},
                                             {"dtypes", 5}});
}

std::string code_of(const std::string& text) {
  const auto loaded = load_suite(nlohmann::json::parse(text), "s.json", kQuiet);
  return loaded ? "" : loaded.error().code;
}

TEST_CASE("malformed suites are told apart") {
  const std::string head = R"({"kind": "suite", "format": 1, "workloads": [)";
  CHECK(code_of(head + R"({"name": "a", "einsum": "ij,jk->ik", "sizes": {"i": 1, "j": 2, "k": 3}}]})").empty());
  CHECK(code_of(R"({"kind": "suite", "format": 2, "workloads": []})") == "bad-suite");
  CHECK(code_of(R"({"kind": "suite", "format": 1})") == "bad-suite");
  CHECK(code_of(head + "]}") == "bad-suite");
  CHECK(code_of(head + "3]}") == "bad-suite");
  CHECK(code_of(head + R"({"einsum": "i->i"}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a"}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "tc": ""}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": 3}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "sizes": {"i": "many"}}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "sizes": {"i": 65.7}}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "sizes": {"i": 1e30}}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "sizes": {"i": 18446744073709551615}}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->i", "weights": ["W"]}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a-b", "einsum": "i->i"}, {"name": "a_b", "einsum": "i->i"}]})") == "bad-suite");
  CHECK(code_of(head + R"({"name": "a", "einsum": "i->j"}]})") != "");
}

TEST_CASE("where a suite is wrong is said once") {
  const auto loaded = load_suite(
      nlohmann::json::parse(R"({"kind": "suite", "format": 1, "workloads": [{"name": "a"}]})"), "s.json", kQuiet);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "s.json: a: a workload has one of \"einsum\", \"tc\" and \"program\"");
}

TEST_CASE("a field of the wrong type is named") {
  const auto said = [](const std::string& field) {
    const std::string workload = R"({"name": "a", "einsum": "i->i", )" + field + "}";
    const auto loaded = load_suite(
        nlohmann::json::parse(R"({"kind": "suite", "format": 1, "workloads": [)" + workload + "]}"), "s.json", kQuiet);
    return loaded ? "" : loaded.error().message;
  };
  CHECK(said(R"("sizes": [1, 2])") == "s.json: a: \"sizes\" is of the wrong type");
  CHECK(said(R"("flops": "many")") == "s.json: a: \"flops\" is of the wrong type");
  CHECK(said(R"("weights": "B")") == "s.json: a: \"weights\" is of the wrong type");
  CHECK(said(R"("dtype": 32)") == "s.json: a: \"dtype\" is of the wrong type");
  CHECK(said(R"("bytes": -1)") == "s.json: a: \"bytes\" is negative");
  CHECK(said(R"("bytes": 0)") == "");
}

TEST_CASE("a workload's name becomes an identifier and its figures stay") {
  const auto loaded = load_suite(
      nlohmann::json::parse(R"({"kind": "suite", "format": 1, "workloads": [{"name": "9 a-b", "group": "g", "flops": 7,
        "einsum": "ij,jk->ik", "dtype": "i8", "result_dtype": "i32", "weights": ["in1"], "sizes": {"i": 2}}]})"),
      "s.json", kQuiet);
  REQUIRE(loaded.has_value());
  const auto& one = loaded->front();
  CHECK(one.program.name == "w9_a_b");
  CHECK(one.suite->name == "9 a-b");
  CHECK(one.suite->group == "g");
  CHECK(one.suite->flops == 7.0);
  CHECK_FALSE(one.suite->bytes.has_value());
  CHECK(one.sizes == ir::Sizes{{"i", 2}});
  CHECK(one.program.tensors[one.program.outputs[0]].type == DType::I32);
}

}  // namespace
}  // namespace tile_tune::engine
