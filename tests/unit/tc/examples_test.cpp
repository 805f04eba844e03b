// The programs in examples/, bound to sizes; and every good golden program through JSON.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

ir::Program only(std::string_view text) {
  auto parsed = tc::parse(text, "test.tc");
  INFO((parsed ? "" : render(parsed.error())));
  REQUIRE(parsed);
  REQUIRE(parsed->programs.size() == 1);
  return parsed->programs[0];
}

ir::Program bound(std::string_view text, const ir::Sizes& sizes) {
  auto program = ir::bind(only(text), sizes);
  INFO((program ? "" : render(program.error())));
  REQUIRE(program);
  return *program;
}

std::vector<int64_t> output_shape(const ir::Program& program) { return ir::shape(program.tensors[program.outputs[0]]); }

std::string example(const char* name) { return read_file(fs::path(TILE_TUNE_SOURCE_DIR) / "examples" / name); }

}  // namespace

TEST_CASE("the examples have the extents and the work they should") {
  const auto matmul = bound(example("matmul.tc"), {{"M", 3}, {"N", 5}, {"K", 7}});
  CHECK(output_shape(matmul) == std::vector<int64_t>{3, 5});
  CHECK(ir::flops(matmul) == 2 * 3 * 5 * 7);
  const auto matvec = bound(example("matvec.tc"), {{"R", 11}, {"C", 13}});
  CHECK(output_shape(matvec) == std::vector<int64_t>{11});
  const auto conv =
      bound(example("conv2d.tc"), {{"B", 2}, {"IP", 3}, {"H", 9}, {"W", 8}, {"OP", 4}, {"KH", 3}, {"KW", 2}});
  CHECK(output_shape(conv) == std::vector<int64_t>{2, 4, 7, 7});
  const auto padded = bound(example("conv2d_padded.tc"), {{"B", 1}, {"IP", 1}, {"H", 4}, {"W", 5}, {"OP", 1}});
  CHECK(output_shape(padded) == std::vector<int64_t>{1, 1, 4, 5});
  CHECK(ir::flops(padded) == 2 * (3 * 4 - 2) * (3 * 5 - 2));  // without the terms beyond the border
  const auto depthwise = bound(example("depthwise.tc"), {{"B", 2}, {"C", 3}, {"H", 4}, {"W", 5}});
  CHECK(output_shape(depthwise) == std::vector<int64_t>{2, 3, 4, 5});
  CHECK(ir::flops(depthwise) == 2 * 2 * 3 * (3 * 4 - 2) * (3 * 5 - 2));
  const auto contraction = bound(example("contraction.tc"), {{"A", 3}, {"B", 5}, {"C", 2}, {"D", 7}});
  CHECK(output_shape(contraction) == std::vector<int64_t>{2, 5, 3});
  CHECK(ir::flops(contraction) == 2 * 2 * 5 * 3 * 7);
  const auto pool = bound(example("maxpool2x2.tc"), {{"B", 1}, {"C", 3}, {"H", 7}, {"W", 6}});
  CHECK(output_shape(pool) == std::vector<int64_t>{1, 3, 3, 3});
  for (const auto* program : {&matmul, &matvec, &conv, &pool}) {
    CHECK(program->statements.size() == 1);
    CHECK(!program->initial_value_of(program->outputs[0]));
  }
}

TEST_CASE("sizes of 0 are legal") {
  const auto matmul = bound(example("matmul.tc"), {{"M", 3}, {"N", 5}, {"K", 0}});
  CHECK(output_shape(matmul) == std::vector<int64_t>{3, 5});
  CHECK(ir::flops(matmul) == 0);
  CHECK(output_shape(bound(example("matvec.tc"), {{"R", 0}, {"C", 4}})) == std::vector<int64_t>{0});
  const auto padded = bound(example("conv2d_padded.tc"), {{"B", 2}, {"IP", 1}, {"H", 0}, {"W", 5}, {"OP", 3}});
  CHECK(output_shape(padded) == std::vector<int64_t>{2, 3, 0, 5});
}

TEST_CASE("what depends on sizes is refused when they are known") {
  const auto code = [](std::string_view text, const ir::Sizes& sizes) {
    const auto result = ir::bind(only(text), sizes);
    REQUIRE(!result);
    CHECK(result.error().error_class == ErrorClass::Mismatch);
    REQUIRE(result.error().place);
    return result.error().code;
  };
  const auto shifted = "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) where i in 0:N }";
  CHECK(output_shape(bound(shifted, {{"N", 4}, {"M", 4}})) == std::vector<int64_t>{4});
  const auto outside = code(shifted, {{"N", 5}, {"M", 4}});
  const auto later = "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i)  O(i) = B(i) where i in 0:M }";
  CHECK(ir::bind(only(later), {{"N", 5}, {"M", 5}}));
  CHECK(code(later, {{"N", 5}, {"M", 6}}) == outside);
  const auto declared = "def f(float(N) A, float(M) B) -> (float(M) O) { O(i) = A(i) * B(i) }";
  CHECK(output_shape(bound(declared, {{"N", 6}, {"M", 5}})) == std::vector<int64_t>{5});
  CHECK(code(declared, {{"N", 4}, {"M", 5}}) == outside);
  CHECK(code(example("conv2d.tc"), {{"B", 1}, {"IP", 1}, {"H", 2}, {"W", 9}, {"OP", 1}, {"KH", 3}, {"KW", 3}}) !=
        outside);
}

TEST_CASE("exists asserts that an element is there, as a read does, and computes nothing") {
  const auto refusal = [](std::string_view text, const ir::Sizes& sizes) {
    const auto result = ir::bind(only(text), sizes);
    REQUIRE(!result);
    CHECK(result.error().error_class == ErrorClass::Mismatch);
    CHECK(result.error().place);
    return result.error().code + ": " + result.error().message;
  };
  // A range that is given, as by a where clause, does not follow from what exists asserts.
  const auto sum = "def f(float(M,N) A, float(K) B) -> (O) { O(i,j) = A(i,j) where exists B(i + j) }";
  const auto same = bound(sum, {{"M", 5}, {"N", 3}, {"K", 7}});
  CHECK(same.statements[0].constraints.empty());
  CHECK(refusal(sum, {{"M", 5}, {"N", 3}, {"K", 6}}) ==
        "out-of-bounds: an element that must exist does not: 0 <= M + N - 2 < K is 0 <= 6 < 6 for these sizes");
  const auto given = "def f(float(N) A, float(K) B) -> (O) { O(i) = A(i) where i in 0:N, exists B(i + 1) }";
  CHECK(bound(given, {{"N", 5}, {"K", 6}}).is_bound());
  CHECK(refusal(given, {{"N", 5}, {"K", 5}}).starts_with("out-of-bounds"));
  // The very same by the signature alone, and below the first element.
  const auto never = "def f(float(N) A, float(N) B) -> (O) { O(i) = A(i) where i in 0:N, exists B(i + 1) }";
  CHECK(tc::parse(never, "test.tc").error().code == "out-of-bounds");
  const auto before = "def f(float(N) A, float(K) B) -> (O) { O(i) = A(i) where i in 0:N, exists B(i - N + K) }";
  CHECK(bound(before, {{"N", 5}, {"K", 5}}).is_bound());
  CHECK(refusal(before, {{"N", 5}, {"K", 3}}).find("is 0 <= -2 < 3") != std::string::npos);
  // Indices of its own take all their values.
  const auto own = "def f(float(N) A, float(M,L) B) -> (O) { O(i) = A(i) where exists B(i + k, k) }";
  CHECK(bound(own, {{"N", 4}, {"M", 9}, {"L", 6}}).statements[0].indices.size() == 1);
  CHECK(refusal(own, {{"N", 4}, {"M", 8}, {"L", 6}}).starts_with("out-of-bounds"));
  // With none for it nothing would be asserted.
  const auto own_alone = "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) where exists B(i + k) }";
  CHECK(bound(own_alone, {{"N", 7}, {"M", 7}}).is_bound());
  for (const int64_t size : {6, 5, 1}) CHECK(refusal(own_alone, {{"N", 7}, {"M", size}}).starts_with("out-of-bounds"));
  const auto quotient = "def f(float(N) A, float(K) B) -> (O) { O(i) = A(i) where i in 0:N, exists B(i / 2) }";
  CHECK(bound(quotient, {{"N", 8}, {"K", 4}}).is_bound());
  CHECK(refusal(quotient, {{"N", 9}, {"K", 4}}).starts_with("out-of-bounds"));
  // Nothing has to exist for nothing.
  CHECK(bound(sum, {{"M", 0}, {"N", 3}, {"K", 1}}).is_bound());
  // A size that is 0 elsewhere, or of the very tensor, excuses nothing that is computed.
  CHECK(refusal(sum, {{"M", 5}, {"N", 3}, {"K", 0}}).starts_with("out-of-bounds"));
  CHECK(refusal(own_alone, {{"N", 7}, {"M", 0}}).starts_with("out-of-bounds"));
  for (const std::string size : {"Q", "0"}) {
    const auto beside = "def f(float(N) A, float(K) B, float(" + size +
                        ") Z) -> (O, P) { O(i) = A(i) where i in 0:N, exists B(i + 1)  P(q) = Z(q) }";
    const auto at = [&](int64_t n, int64_t k) {
      ir::Sizes sizes{{"N", n}, {"K", k}};
      if (size == "Q") sizes["Q"] = 0;
      return sizes;
    };
    CHECK(refusal(beside, at(5, 5)).starts_with("out-of-bounds"));
    CHECK(bound(beside, at(5, 6)).is_bound());
    CHECK(bound(beside, at(0, 0)).is_bound());
  }
  // As a reduction over a part, which is two statements.
  const auto part =
      "def f(float(N,L) A, float(K) B) -> (float(N) O) { O(i) = A(i,0) "
      "O(i) +=! A(i,k) where i in 0:2, k in 0:L, exists B(i + k) }";
  CHECK(bound(part, {{"N", 4}, {"L", 3}, {"K", 4}}).is_bound());
  CHECK(refusal(part, {{"N", 4}, {"L", 3}, {"K", 3}}).starts_with("out-of-bounds"));
  // It is no part of what is computed.
  const auto without = only("def f(float(M,N) A, float(K) B) -> (O) { O(i,j) = A(i,j) }");
  CHECK(ir::family_hash(only(sum)) == ir::family_hash(without));
  CHECK(ir::family_hash(only(sum)) == ir::family_hash(same));
  CHECK(ir::content_hash(same) == ir::content_hash(ir::bind(without, {{"M", 5}, {"N", 3}, {"K", 7}}).value()));
  const auto read = ir::program_from_json(ir::to_json(only(sum)));
  REQUIRE(read);
  CHECK_FALSE(ir::bind(*read, {{"M", 5}, {"N", 3}, {"K", 6}}));
}

TEST_CASE("an integer input in a range is a size") {
  const auto program =
      bound("def f(int s, float(N) A) -> (O) { O(i) = A(i + s) where i in 0:N - s }", {{"N", 10}, {"s", 3}});
  CHECK(output_shape(program) == std::vector<int64_t>{7});
  CHECK(program.inputs.size() == 2);
}

TEST_CASE("a statement may write a part of the caller's buffer") {
  const auto program =
      bound("def f(float(3) A, float(N) B) -> (float(N) O) { O(i) += A(i - 2) where i in 2:5 }", {{"N", 9}});
  CHECK(output_shape(program) == std::vector<int64_t>{9});
  CHECK(program.initial_value_of(program.outputs[0]) == program.statements[0].previous);
}

TEST_CASE("every good program survives the program file format") {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TILE_TUNE_SOURCE_DIR) / "tests/golden/tc/good")) {
    if (entry.path().extension() != ".tc") continue;
    const auto parsed = tc::parse(read_file(entry.path()), entry.path().filename().string());
    REQUIRE(parsed);
    for (const auto& program : parsed->programs) {
      INFO(entry.path() << ": " << program.name);
      const auto json = ir::to_json(program);
      const auto again = ir::program_from_json(json);
      INFO((again ? "" : render(again.error())));
      REQUIRE(again);
      CHECK(ir::to_json(*again) == json);
      ++count;
    }
  }
  CHECK(count > 40);
}
