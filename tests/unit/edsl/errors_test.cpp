// Misuse: a stable code, the caller's file and line, and words that name what does not fit.
#include <catch2/catch.hpp>
#include <tile_tune/edsl.h>

#include <limits>

using namespace tile_tune;
using namespace tile_tune::edsl;
using Catch::Matchers::Contains;

namespace {

/// The error of a misuse that stands on line `line` of this file.
template <typename Misuse>
std::string misuse(Misuse misuse, const std::string& code, int line) {
  try {
    misuse();
  } catch (const ProgramError& error) {
    CHECK(error.code() == code);
    CHECK(error.line() == line);
    CHECK(error.file() == __FILE__);
    CHECK_THAT(error.what(), Contains(std::string(__FILE__) + ":" + std::to_string(line) + ":") &&
                                 Contains(": error: ") && Contains("[" + code + "]"));
    return error.what();
  }
  FAIL("nothing was thrown");
  return "";
}

#define MISUSE(code, ...) misuse([&] { __VA_ARGS__; }, code, __LINE__)

Tensor matrix() { return Placeholder(DType::F32, {3, 4}, "A"); }

}  // namespace

TEST_CASE("bind_dims names tensor, dimension and both sizes") {
  const auto A = matrix(), B = Placeholder(DType::F32, {5, 2}, "B");
  TensorDim M, K, N;
  CHECK_THAT(MISUSE("rank-mismatch", A.bind_dims(M)), Contains("A has 2 dimensions, but bind_dims is given 1"));
  CHECK_THAT(MISUSE("rank-mismatch", A.bind_dims(M, K, N)), Contains("given 3"));
  CHECK_THAT(MISUSE("rank-mismatch", A.bind_dims()), Contains("given 0"));
  A.bind_dims(M, K);
  CHECK_THAT(MISUSE("size-conflict", B.bind_dims(K, N)),
             Contains("B, dimension 0: its size is 5, but the dim given for it is 4") &&
                 Contains("dimension 1 of A, bound at errors_test.cpp:"));
  CHECK_THAT(MISUSE("size-conflict", A.bind_dims(3, 5)), Contains("A, dimension 1: its size is 4") && Contains("is 5"));
  A.bind_dims(3, K);
  TensorDim square;
  CHECK_THAT(MISUSE("size-conflict", A.bind_dims(square, square)), Contains("dimension 0 of A"));
  std::vector<TensorDim> dims(2);
  A.bind_dims(dims);
  CHECK(dims[1].value() == 4);
}

TEST_CASE("dims are numbers once they are bound") {
  TensorDim M, N = 7;
  MISUSE("unbound-dim", M + 1);
  MISUSE("unbound-dim", 2 * M);
  MISUSE("unbound-dim", TensorOutput(N, M));
  MISUSE("unbound-dim", matrix() / M);
  MISUSE("division-by-zero", N / 0);
  MISUSE("overflow", N * std::numeric_limits<int64_t>::max());
  MISUSE("overflow", TensorDim(std::numeric_limits<uint64_t>::max()));
  CHECK((-N / 2).value() == -3);
  CHECK(min(N, 3).value() == 3);
  CHECK(max(2, N).value() == 7);
  CHECK((TensorDim(std::numeric_limits<int64_t>::max()) / -1).value() == -std::numeric_limits<int64_t>::max());
  CHECK_THAT(MISUSE("bad-extent", TensorOutput(N - 7)), Contains("not 0"));
  CHECK_THAT(MISUSE("bad-extent", TensorOutput(N, -N)), Contains("dimension 1") && Contains("not -7"));
  MISUSE("bad-extent", Placeholder(DType::F32, {3, 0}, "Z"));
  MISUSE("overflow", Placeholder(DType::F32, {int64_t{1} << 40, int64_t{1} << 40}, "Z"));
}

TEST_CASE("index expressions are affine and exact") {
  TensorIndex i, j;
  MISUSE("not-affine", i * j);
  MISUSE("not-affine", 4 / i);
  MISUSE("division-by-zero", i / 0);
  MISUSE("not-affine", i % j);
  MISUSE("bad-divisor", i % 0);
  MISUSE("bad-divisor", i % -3);
  MISUSE("overflow", i * std::numeric_limits<int64_t>::max() + i);
  MISUSE("overflow", TensorIndex(std::numeric_limits<int64_t>::min()));
  TensorDim unbound;
  MISUSE("unbound-dim", i + unbound);
  MISUSE("unbound-dim", i < unbound);
}

TEST_CASE("accesses have an index for each dimension") {
  TensorIndex x, y;
  const auto I = matrix();
  CHECK_THAT(MISUSE("rank-mismatch", I(x)), Contains("A has 2 dimensions, but 1 index is given"));
  // The document's first avg, as typed.
  auto Sum = TensorOutput();
  CHECK_THAT(MISUSE("rank-mismatch", Sum(y) += I(x, y)),
             Contains("TensorOutput of line") && Contains("has no dimensions, but 1 index is given"));
}

TEST_CASE("a TensorOutput takes one contraction, and its constraints before the first read") {
  TensorIndex i, j;
  const auto A = matrix();
  auto O = TensorOutput(3);
  MISUSE("never-written", O + 1);
  MISUSE("never-written", TensorOutput(3)(i) += O(i));
  MISUSE("never-written", O(i) += O(i));
  MISUSE("never-written", Program("p", {A}, {{"O", O}}));
  MISUSE("never-written", O.dtype());
  O(i) += A(i, j);
  MISUSE("second-contraction", O(i) >= A(i, j));
  O.add_constraint(j < 3);
  MISUSE("bad-extent", TensorOutput(0));
  MISUSE("shape-mismatch", O.use_default(A));
  CHECK_THAT(MISUSE("own-default", O.use_default(O)), Contains("cannot be its own default"));
  MISUSE("narrowing", O.use_default(Placeholder(DType::F64, {3}, "D")));
  O.use_default(1);
  MISUSE("second-default", O.use_default(2));
  const auto twice = O + O;
  MISUSE("already-read", O.add_constraint(j < 2));
  MISUSE("already-read", O.use_default(3));
  MISUSE("not-an-output", A(i, j) += A(i, j));
  MISUSE("not-an-output", Tensor(twice).add_constraint(j < 2));
  MISUSE("no-tensor", Tensor() + A);
  MISUSE("no-tensor", Tensor()(i));
}

TEST_CASE("elementwise operands fit together") {
  const auto A = matrix(), B = Placeholder(DType::F32, {3}, "B"), I = Placeholder(DType::I8, {4}, "I");
  CHECK_THAT(MISUSE("shape-mismatch", A + B), Contains("(3, 4)") && Contains("(3)"));
  MISUSE("shape-mismatch", select(A > 0, B, 1));
  MISUSE("not-a-condition", select(A, A, A));
  CHECK_THAT(MISUSE("literal-out-of-range", I + 200), Contains("i8 has no value 200"));
  MISUSE("literal-out-of-range", A * 1e300);
  CHECK_THAT(MISUSE("needs-numbers", -(A > 0)), Contains("bool has no '-'"));
  MISUSE("needs-numbers", (A > 0) / (A > 1));
  const auto C = Placeholder(DType::C32, {4}, "C");
  CHECK_THAT(MISUSE("complex-function", exp(C)), Contains("complex numbers have no 'exp'"));
  CHECK_THAT(MISUSE("complex-function", C < C), Contains("complex numbers have no '<'"));
  TensorIndex i;
  MISUSE("complex-order", TensorOutput()() >= C(i));
}

TEST_CASE("what only the whole tells is an error of the Program, placed at the contraction") {
  TensorIndex i("i"), j("j"), k("k");
  const auto A = matrix(), B = Placeholder(DType::F32, {4, 5}, "B");
  auto unbounded = TensorOutput(3);
  CHECK_THAT(MISUSE("unbounded-index", unbounded(i) += A(i, j + k); Program("p", {A}, {{"O", unbounded}})),
             Contains("nothing bounds index j: j - k can be any integer"));
  auto matmul = TensorOutput(3, 5);
  CHECK_THAT(MISUSE("assigned-twice", matmul(i, k) = A(i, j) * B(j, k); Program("p", {A, B}, {{"O", matmul}})),
             Contains("(i = ") && Contains("j = 0") && Contains("j = 1"));
  auto overlapping = TensorOutput(7);
  CHECK_THAT(MISUSE("assigned-twice", overlapping(2 * i + j) = A(i, j); Program("p", {A}, {{"O", overlapping}})),
             Contains("twice, at"));
}

TEST_CASE("a Program's arguments") {
  const auto A = matrix(), B = Placeholder(DType::F32, {3, 4}, "B");
  CHECK_THAT(MISUSE("missing-input", Program("p", {A}, {{"O", A + B}})), Contains("B is used"));
  MISUSE("not-an-input", Program("p", {A, A + 1}, {{"O", A}}));
  MISUSE("duplicate-name", Program("p", {A, A}, {{"O", A}}));
  MISUSE("duplicate-name", Program("p", {A}, {{"A", A}}));
  MISUSE("duplicate-name", Program("p", {A}, {{"O", A}, {"O", A}}));
  MISUSE("no-output", Program("p", {A}, {}));
  MISUSE("bad-name", Program("1p", {A}, {{"O", A}}));
  MISUSE("bad-name", Program("p", {A}, {{"my output", A}}));
  MISUSE("bad-name", Placeholder(DType::F32, {3}, ""));
  CHECK_THAT(MISUSE("cannot-write", Program("p", {A}, {{"O", A}}).save("/no/such/folder/p.json")),
             Contains("/no/such/folder/p.json"));
}

TEST_CASE("an empty set of indices is a warning that names the constraint") {
  TensorIndex i("i"), k("k");
  const auto A = matrix();
  auto O = TensorOutput(3);
  O(i) += A(i, k);
  O.add_constraint(i < 2);
  const int line = __LINE__ + 1;
  O.add_constraint(k - 4 < 9);
  const Program program("p", {A}, {{"O", O}});
  REQUIRE(program.warnings().size() == 1);
  CHECK_THAT(program.warnings()[0].text, Contains("0 <= k - 4 < 9") && !Contains("i < 2") &&
                                             Contains("[empty-domain]") &&
                                             Contains("errors_test.cpp:" + std::to_string(line)));
}
