// Sums over products of three tensors: what the command line says of their steps, and what it does with them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontend/tensor/npy.h"
#include "sandbox.h"

using namespace tile_tune;
using namespace tile_tune::test;

namespace {

constexpr const char* kChain =
    "def chain(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) { O(i,l) +=! A(i,j)*B(j,k)*C(k,l) }\n";
// As written 3 * 37 * 29 * 13 * 41 FLOP, in steps 2 * (37 * 29 * 13 + 37 * 13 * 41).
const std::vector<std::string> kSizes = {"-s", "I=37", "-s", "J=29", "-s", "K=13", "-s", "L=41"};
constexpr const char* kFactored = "O = (A * B) * C, 67.3 kFLOP (1.72 MFLOP as written)";

std::vector<std::string> with_sizes(std::vector<std::string> command, const std::vector<std::string>& more = {}) {
  command.insert(command.end(), kSizes.begin(), kSizes.end());
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string content_hash_in(const Sandbox& box, const std::string& directory) {
  return nlohmann::json::parse(box.read(directory + "/share/chain/manifest.json"))["kernels"][0]["content_hash"];
}

}  // namespace

TEST_CASE("check and explain show the FLOP as written and in steps with their order") {
  const Sandbox box;
  box.write("chain.tc", kChain);
  const auto checked = box.run(with_sizes({"check", "chain.tc"}));
  REQUIRE(checked.exit_code == 0);
  CHECK(contains(checked.out, "work      67.3 kFLOP\n"));
  CHECK(contains(checked.out, std::string("factored  ") + kFactored));
  const auto json = nlohmann::json::parse(box.run(with_sizes({"check", "chain.tc", "--json"})).out)["programs"][0];
  CHECK(json["flops"] == 2 * (37 * 29 * 13 + 37 * 13 * 41));
  CHECK(json["factored"] == nlohmann::json{{"order", "O = (A * B) * C"}, {"flops_as_written", 3 * 37 * 29 * 13 * 41}});
  CHECK_FALSE(contains(box.run({"check", "chain.tc"}).out, "factored"));  // only sizes tell
  const auto explained = box.run(with_sizes({"explain", "chain.tc"}));
  CHECK(contains(explained.out, kFactored));
  CHECK(contains(explained.out, "O_part1(i,k) +=! A(i,j) * B(j,k)"));
}

TEST_CASE("only parentheses keep the order") {
  const Sandbox box;
  box.write("right.tc",
            "def chain(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) {"
            " O(i,l) +=! A(i,j)*(B(j,k)*C(k,l)) }\n");
  CHECK(contains(box.run(with_sizes({"check", "right.tc"})).out, "factored  O = A * (B * C), "));
  box.write("turned.tc",
            "def chain(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) {"
            " O(i,l) +=! C(k,l)*B(j,k)*A(i,j) }\n");
  CHECK(contains(box.run(with_sizes({"check", "turned.tc"})).out, "factored  O = (A * B) * C, "));
}

TEST_CASE("with --deterministic FLOP alone counts") {
  const Sandbox box;
  // Each intermediate saves a third of the FLOP and is larger than a cache.
  box.write("mttkrp.tc",
            "def f(float(I,J,K) X, float(J,R) B, float(K,R) C) -> (O) {"
            " O(i,r) +=! X(i,j,k)*B(j,r)*C(k,r) }\n");
  const std::vector<std::string> command{"check", "mttkrp.tc", "-s", "I=32", "-s", "J=32", "-s", "K=32", "-s", "R=512"};
  CHECK_FALSE(contains(box.run(command).out, "factored"));
  auto deterministic = command;
  deterministic.push_back("--deterministic");
  CHECK(contains(box.run(deterministic).out, "factored  O = "));
}

TEST_CASE("check says why a sum is not factored though its FLOP could fall") {
  const Sandbox box;
  box.write("sum.tc",
            "def chain(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) {"
            " O(i,l) +=! A(i,j)*B(j,k)*C(k,l) - B(j,k)*A(i,j)*C(k,l)/2 }\n");
  const auto checked = box.run(with_sizes({"check", "sum.tc"}));
  REQUIRE(checked.exit_code == 0);
  CHECK(contains(checked.out, "not factored  O: the term is a sum of products ("));
  const auto json = nlohmann::json::parse(box.run(with_sizes({"check", "sum.tc", "--json"})).out)["programs"][0];
  CHECK_FALSE(json.contains("factored"));
  REQUIRE(json["not_factored"].size() == 1);
  CHECK(json["not_factored"][0]["tensor"] == "O");
  CHECK(json["not_factored"][0]["reason"] == "the term is a sum of products");
  CHECK(json["not_factored"][0]["flops"] == json["flops"]);
  CHECK(contains(checked.err, "[unfactored-sum]"));
  CHECK(box.run(with_sizes({"check", "sum.tc", "--werror"})).exit_code == 2);
  // An order in parentheses is wanted so.
  box.write("ordered.tc",
            "def chain(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) { O(i,l) +=! A(i,j)*(B(j,k)*C(k,l)) }\n");
  CHECK(box.run(with_sizes({"check", "ordered.tc", "--werror"})).exit_code == 0);
}

TEST_CASE("an index of a where clause alone repeats the terms of steps, too") {
  const Sandbox box;
  box.write("thrice.tc",
            "def f(float(I,J) A, float(J,K) B, float(K,L) C) -> (O) {"
            " O(i,l) +=! A(i,j)*B(j,k)*C(k,l) where m in 0:3 }\n");
  const auto checked = box.run({"check", "thrice.tc", "-s", "I=7", "-s", "J=5", "-s", "K=3", "-s", "L=11"});
  CHECK(contains(checked.err, "[unused-index]"));
  // 7 * 3 * 5 products and sums, then 7 * 11 * 3 of them three times.
  CHECK(contains(checked.out, "1.60 kFLOP"));
}

TEST_CASE("run computes the steps and the reference the program as written") {
  const Sandbox box;
  box.write("chain.tc", kChain);
  const std::vector<std::pair<std::string, std::vector<int64_t>>> inputs{
      {"A", {37, 29}}, {"B", {29, 13}}, {"C", {13, 41}}};
  std::vector<std::string> given;
  for (const auto& [name, shape] : inputs) {
    auto array = tensor::Array::zeros(DType::F32, shape);
    auto* values = reinterpret_cast<float*>(array.data.data());
    for (int64_t i = 0; i < array.element_count(); ++i) values[i] = static_cast<float>((i * 7 + name[0]) % 11 - 5);
    REQUIRE(tensor::write_npy(box.path(name + ".npy"), array, false));
    given.insert(given.end(), {"--input", name + "=" + name + ".npy"});
  }
  for (const std::string engine : {"default", "reference"}) {
    std::vector<std::string> command{"run", "chain.tc", "--engine", engine, "--output-dir", engine};
    command.insert(command.end(), given.begin(), given.end());
    const auto result = box.run(command);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(contains(result.err, std::string("factored: ") + kFactored) == (engine == "default"));
  }
  // Small integers: both are exact.
  CHECK(box.read("default/O.npy") == box.read("reference/O.npy"));
}

TEST_CASE("tune and build meet under the program as written and its steps") {
  const Sandbox box;
  box.write("chain.tc", kChain);
  const auto tuned =
      box.run(with_sizes({"tune", "chain.tc"}, {"--trials", "4", "--seed", "1", "--db", "t.db", "--json"}));
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  CHECK(contains(tuned.err, "factored: "));
  const auto summary = nlohmann::json::parse(tuned.out);
  CHECK(summary["flops"] == 2 * (37 * 29 * 13 + 37 * 13 * 41));
  CHECK(summary["factored"]["order"] == "O = (A * B) * C");
  CHECK(summary.contains("as_written_ns"));  // its default schedule at least

  const auto rows = nlohmann::json::parse(box.run({"db", "list", "--db", "t.db", "--json"}).out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["content_hash"] == rows[1]["content_hash"]);
  CHECK(rows[0]["layout"] != rows[1]["layout"]);

  const auto built = box.run(with_sizes({"build", "chain.tc"}, {"-o", "p", "--db", "t.db"}));
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK(contains(built.err, "tuned schedule (exact)"));
  CHECK(content_hash_in(box, "p") == summary["content_hash"]);
  CHECK(box.run({"build", "--from", "p/share/chain/manifest.json", "-o", "again"}).exit_code == 0);
  CHECK(box.read("again/lib/libchain.a") == box.read("p/lib/libchain.a"));
  CHECK(box.run({"db", "recheck", "--db", "t.db"}).exit_code == 0);
}

TEST_CASE("an entry for many sizes has one order of steps") {
  const Sandbox box;
  box.write("chain.tc", kChain);
  const auto built = box.run(
      {"build", "chain.tc", "-s", "I=1..40", "-s", "J=29", "-s", "K=13", "-s", "L=41", "-o", "p", "--db", "t.db"});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK(contains(built.err, "factored: O = "));
}
