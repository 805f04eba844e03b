// Copies that hold an operand times other factors of the term: nothing is rounded otherwise for it, and the loop of the
// reduction multiplies less.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "codegen/lower/compile.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using codegen::Schedule;

int tensor_named(const ir::Program& program, const std::string& name) {
  for (size_t t = 0; t < program.tensors.size(); ++t)
    if (program.tensors[t].name == name) return static_cast<int>(t);
  FAIL("there is no " << name);
  return -1;
}

// Rows of 5 by 16 columns; the operand of that name, if any, packed panel by panel, its last dimension innermost.
Schedule with_packed(const ir::Program& program, const std::string& name = "") {
  const auto loops = codegen::loops_of(program, program.statements[0]);
  codegen::NestSchedule stage;
  stage.tiles = {{5}, {16}};
  stage.order = {{1, 0}};
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 8;
  stage.reduction_order = {0};
  stage.reduction_block = loops.reduction;
  stage.reduction_unroll = {1};
  for (const auto& operand : loops.operands)
    if (!name.empty() && operand.tensor == tensor_named(program, name)) {
      std::vector<int> order(operand.subscripts.size());
      std::iota(order.rbegin(), order.rend(), 0);
      stage.packings.push_back({operand.number, 1, order});
    }
  return {{stage}};
}

// Whether the vector V is read where the sum is: on the line that adds to it.
bool reads_scale_in_sum(const ir::Program& program, const Schedule& schedule) {
  const auto text = codegen::lowered_loops(program, schedule, test::host(1));
  REQUIRE(text.has_value());
  const std::string name = "tensor" + std::to_string(tensor_named(program, "V")) + "[";
  CHECK(text->find(name) != std::string::npos);
  std::istringstream lines(*text);
  bool found = false;
  for (std::string line; std::getline(lines, line);)
    found |= line.find("acc") != std::string::npos && line.find("[") != std::string::npos &&
             line.find(name) != std::string::npos;
  return found;
}

ir::Program scaled_product(int64_t m, int64_t n, int64_t k) {
  return test::bound_program(
      "def f(float(M,K) A, float(K) V, float(K,N) B) -> (O) { O(i,j) +=! A(i,k) * V(k) * B(k,j) }",
      {{"M", m}, {"N", n}, {"K", k}});
}

}  // namespace

TEST_CASE("a scale of the reduction goes into the copy of the operand that it multiplies first", "[property]") {
  const auto program = scaled_product(23, 53, 31);
  test::KernelCheck check(program, 1);
  const auto plain = with_packed(program), packed = with_packed(program, "B");
  check.expect_right(packed);
  CHECK(check.outputs(plain) == check.outputs(packed));
  CHECK(reads_scale_in_sum(program, plain));
  CHECK_FALSE(reads_scale_in_sum(program, packed));
}

TEST_CASE("a scale that is copied itself, and the copy of what it does not multiply first, stay apart", "[property]") {
  const auto program = scaled_product(23, 53, 31);
  test::KernelCheck check(program, 1);
  auto both = with_packed(program, "B");
  both.stages[0].nest().packings.push_back(with_packed(program, "V").stages[0].nest().packings.front());
  check.expect_right(both);
  const auto other = with_packed(program, "A");
  check.expect_right(other);
  CHECK(reads_scale_in_sum(program, other));
  CHECK(check.outputs(both) == check.outputs(other));
}

TEST_CASE("factors at shifted and summed subscripts stay right", "[property]") {
  // The scale lies two further on; of B only a part is read.
  const auto shifted = test::bound_program(
      "def f(float(M,K) A, float(L) V, float(P,N) B) -> (O) { O(i,j) +=! A(i,k) * V(k + 2) * B(k + 1, j) where k in "
      "0:K }",
      {{"M", 11}, {"N", 35}, {"K", 19}, {"L", 21}, {"P", 24}});
  test::KernelCheck check(shifted, 1);
  const auto packed = with_packed(shifted, "B");
  check.expect_right(packed);
  CHECK(check.outputs(packed) == check.outputs(with_packed(shifted)));
  CHECK_FALSE(reads_scale_in_sum(shifted, packed));
  // What the copy holds at j + k belongs to several k: it cannot be multiplied by V(k).
  const auto window =
      test::bound_program("def f(float(M,Q) X, float(K) V, float(K) W) -> (O) { O(i,j) +=! X(i,j + k) * V(k) * W(k) }",
                          {{"M", 9}, {"Q", 40}, {"K", 5}});
  const auto image = with_packed(window, "X");
  test::KernelCheck(window, 1).expect_right(image);
  CHECK(reads_scale_in_sum(window, image));
}

TEST_CASE("the last multiplication stays with its sum, whatever is copied", "[property]") {
  const auto program = test::bound_program(
      "def f(float(K,N) B, float(K) V, float(N) W, float(M) U) -> (O) { O(i,j) +=! B(k,j) * V(k) * W(j) where i in "
      "0:M }",
      {{"M", 7}, {"N", 37}, {"K", 29}});
  test::KernelCheck check(program, 1);
  const auto packed = with_packed(program, "B");
  check.expect_right(packed);
  CHECK(check.outputs(packed) == check.outputs(with_packed(program)));
}

TEST_CASE("the default schedule of a scaled product has the scale in its copies", "[property]") {
  const auto program = scaled_product(83, 701, 509);
  const auto schedule = search::Space(program, test::host(2)).default_schedule();
  CHECK_FALSE(reads_scale_in_sum(program, schedule));
  test::KernelCheck(program, 2).expect_right(schedule);
}

TEST_CASE("what the only reader copies is computed by the copies, if each element is copied once", "[property]") {
  const auto rectified = [](int64_t rows) {
    return test::bound_program(
        "def f(float(M,K) A, float(K,N) B) -> (O) { T(k,j) = fmax(B(k,j), 0)  O(i,j) +=! A(i,k) * T(k,j) }",
        {{"M", rows}, {"N", 701}, {"K", 509}});
  };
  const auto many = rectified(83);
  const auto schedule = search::Space(many, test::host(2)).default_schedule();
  CHECK(schedule.stages[0].is_inlined());
  CHECK_FALSE(schedule.stages[1].nest().packings.empty());
  test::KernelCheck(many, 2).expect_right(schedule);
  // Too few rows to copy what they read: inlined, each would compute it again.
  const auto few = search::Space(rectified(13), test::host(2)).default_schedule();
  CHECK_FALSE(few.stages[0].is_inlined());
}

TEST_CASE("what becomes an epilogue, or joins another's nest, leaves no work to copies that it no longer has",
          "[property]") {
  // T would be computed again in every row of the epilogue.
  const auto epilogue = test::bound_program(
      "def f(float(M,K) A, float(K,N) B, float(N) X) -> (O) { T(j) = exp(X(j))  S(i,j) +=! A(i,k) * B(k,j)  O(i,j) = "
      "S(i,j) * T(j) }",
      {{"M", 199}, {"N", 307}, {"K", 101}});
  auto schedule = search::Space(epilogue, test::host(1)).default_schedule();
  CHECK(schedule.stages[2] == codegen::Epilogue{1});
  CHECK_FALSE(schedule.stages[0].is_inlined());
  test::KernelCheck(epilogue, 1).expect_right(schedule);
  // S is computed block by block of the rows of O, and so would T be.
  const auto joined = test::bound_program(
      "def f(float(M,K) A, float(N,K) X) -> (O) { T(j,k) = exp(X(j,k))  S(i,j) +=! A(i,k) * T(j,k)  m(i) max=! S(i,j)  "
      "O(i,j) = S(i,j) - m(i) }",
      {{"M", 509}, {"N", 61}, {"K", 67}});
  schedule = search::Space(joined, test::host(2)).default_schedule();
  CHECK(schedule.stages[1].compute_at());
  CHECK_FALSE(schedule.stages[0].is_inlined());
  test::KernelCheck(joined, 2).expect_right(schedule);
}

}  // namespace tile_tune
