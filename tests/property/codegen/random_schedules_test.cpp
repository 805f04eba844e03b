// No schedule ever changes a result: the default and random members of the space, and their mutants and children,
// against the reference on odd, prime, unit and zero extents.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

struct Case {
  std::string name;
  std::string text;
  ir::Sizes sizes;
  bool columns = false;  // every tensor in column order
};

const std::string kMatmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const std::string kMatvec = "def f(float(R,C) A, float(C) B) -> (o) { o(i) +=! A(i,j) * B(j) }";
const std::string kPool =
    "def f(float(B,C,H,W) input) -> (output) { output(b,c,i,j) max=! input(b,c,2*i + kw, 2*j + kh) "
    "where kw = [0, 2[, kh = [0, 2[ }";
const std::string kConvolution =
    "def f(float(B,IP,H,W) input, float(OP,IP,KH,KW) weight) -> (output) "
    "{ output(b, op, h, w) +=! input(b, ip, h + kh, w + kw) * weight(op, ip, kh, kw) }";

const std::vector<Case> kCases{
    {"matmul, prime extents", kMatmul, {{"M", 61}, {"N", 67}, {"K", 71}}},
    {"matmul, unit extents", kMatmul, {{"M", 1}, {"N", 1}, {"K", 1}}},
    {"matmul, one long loop", kMatmul, {{"M", 1}, {"N", 131}, {"K", 3}}},
    {"matmul, empty reduction", kMatmul, {{"M", 5}, {"N", 7}, {"K", 0}}},
    {"matmul, empty output", kMatmul, {{"M", 0}, {"N", 7}, {"K", 3}}},
    {"matmul, columns", kMatmul, {{"M", 37}, {"N", 41}, {"K", 24}}, true},
    {"matmul onto the caller's values",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
     {{"M", 19}, {"N", 35}, {"K", 23}}},
    {"matmul, transposed operand",
     "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 29}, {"N", 47}, {"K", 53}}},
    {"matmul in doubles",
     "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 13}, {"N", 31}, {"K", 17}}},
    {"matmul of bytes",
     "def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 13}, {"N", 31}, {"K", 37}}},
    {"the seed's mm as typed",
     "def mm(float(X,Y) A, float(Y,Z) B) -> (R) { R(i,j) += A(i,j) * B(j,k) }",
     {{"X", 11}, {"Y", 23}, {"Z", 37}}},
    {"matrix-vector", kMatvec, {{"R", 37}, {"C", 101}}},
    {"matrix-vector, short rows", kMatvec, {{"R", 53}, {"C", 3}}},
    {"matrix-vector, one row", kMatvec, {{"R", 1}, {"C", 97}}},
    {"matrix-vector onto the caller's values",
     "def f(float(R,C) A, float(C) B) -> (o) { o(i) += A(i,j) * B(j) }",
     {{"R", 37}, {"C", 61}}},
    {"maximum of rows", "def f(float(R,C) A) -> (o) { o(i) max=! A(i,j) }", {{"R", 7}, {"C", 83}}},
    {"product to a scalar", "def f(double(N) A) -> (o) { o *=! A(i) }", {{"N", 29}}},
    {"max-pooling, odd image", kPool, {{"B", 2}, {"C", 3}, {"H", 37}, {"W", 43}}},
    {"max-pooling onto the caller's values, the other where",
     "def f(float(B,C,H,W) input) -> (output) { output(b,c,i,j) max= input(b,c,2*i + kw, 2*j + kh) where kw in 0:2, kh "
     "in 0:2 }",
     {{"B", 1}, {"C", 2}, {"H", 9}, {"W", 71}}},
    {"convolution", kConvolution, {{"B", 2}, {"IP", 3}, {"OP", 5}, {"H", 17}, {"W", 23}, {"KH", 3}, {"KW", 2}}},
    {"convolution, kernel as large as the image",
     kConvolution,
     {{"B", 1}, {"IP", 2}, {"OP", 3}, {"H", 5}, {"W", 7}, {"KH", 5}, {"KW", 7}}},
    {"transposition", "def f(float(M,N) A) -> (B) { B(j,i) = A(i,j) }", {{"M", 23}, {"N", 41}}},
    {"an output that a later statement reads",
     "def f(float(N) A) -> (p,o) { p(i) = A(i)  o(i) = 2.0 * p(i) }",
     {{"N", 5}}},
    {"outputs in a chain, parallel",
     "def f(double(M,N) A) -> (p,o) { p(i,j) = A(i,j) + 1.0  o(i,j) = p(i,j) * p(M - 1 - i,j) }",
     {{"M", 5}, {"N", 13}}},
    {"two statements",
     "def f(float(N,M) A, float(M) b) -> (C) { t(i,j) = A(i,j) - b(j)  C(i) +=! t(i,j) * t(i,j) }",
     {{"N", 13}, {"M", 45}}},
    {"sum over the rows of a tall matrix", "def f(float(R,C) A) -> (o) { o(j) +=! A(i,j) }", {{"R", 60}, {"C", 37}}},
    {"norm", "def f(double(N,M) A) -> (o) { s +=! A(i,j) * A(i,j)  o = sqrt(s) }", {{"N", 24}, {"M", 35}}},
    {"minimum onto the caller's values", "def f(float(N,M) A) -> (o) { o(i) min= A(i,j) }", {{"N", 3}, {"M", 48}}},
    {"layers of a network",
     "def f(float(B,K) I, float(N,K) V, float(N) c, float(P,N) W, float(P) d) -> (Y) { h(b,n) +=! I(b,k) * V(n,k)  "
     "h(b,n) "
     "= fmax(h(b,n) + c(n), 0)  Y(b,p) +=! h(b,n) * W(p,n)  Y(b,p) = fmax(Y(b,p) + d(p), 0) }",
     {{"B", 29}, {"K", 11}, {"N", 19}, {"P", 7}}},
    {"layers, columns",
     "def f(float(B,K) I, float(K,N) V, float(N,P) W) -> (Y) { h(b,n) +=! I(b,k) * V(k,n)  t(b,n) = h(b,n) * h(b,n)  "
     "Y(b,p) +=! t(b,n) * W(n,p) }",
     {{"B", 17}, {"K", 5}, {"N", 23}, {"P", 21}},
     true},
    {"softmax",
     "def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = e(n,k) / "
     "s(n) }",
     {{"N", 13}, {"M", 37}}},
    {"logarithm of a sum of exponentials",
     "def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  s(n) +=! exp(X(n,k) - m(n))  O(n) = log(s(n)) + m(n) }",
     {{"N", 19}, {"M", 33}}},
    {"attention",
     "def f(float(H,S,D) Q, float(H,S,D) K, float(H,S,D) V) -> (O) { p(h,i,j) +=! Q(h,i,d) * K(h,j,d)  m(h,i) max=! "
     "p(h,i,j)  e(h,i,j) = exp(p(h,i,j) - m(h,i))  s(h,i) +=! e(h,i,j)  a(h,i,d) +=! e(h,i,j) * V(h,j,d)  O(h,i,d) = "
     "a(h,i,d) / s(h,i) }",
     {{"H", 3}, {"S", 23}, {"D", 9}}},
    {"convolution, bias, relu",
     "def f(float(C,H,W) I, float(F,C,KH,KW) V, float(F) b) -> (O) { O(f,h,w) +=! I(c,h+kh,w+kw) * V(f,c,kh,kw)  "
     "O(f,h,w) = fmax(O(f,h,w) + b(f), 0) }",
     {{"C", 3}, {"F", 5}, {"H", 13}, {"W", 21}, {"KH", 3}, {"KW", 3}}},
    {"convolutions in sequence, backwards and strided",
     "def f(float(N) I, float(K) V) -> (O, P) { t(i) +=! I(i+k) * V(k)  u(i) +=! t(2*i + k) * V(k)  O(i) = u(i) * 2  "
     "P(i) = t(20 - i) + t(22 - i) where i in 0:20 }",
     {{"N", 67}, {"K", 4}}},
    {"an epilogue transposed",
     "def f(float(M,K) A, float(K,N) B, float(N,M) D) -> (O) { C(m,n) +=! A(m,k) * B(k,n)  O(n,m) = C(m,n) + D(n,m) }",
     {{"M", 14}, {"N", 39}, {"K", 5}}},
    {"onto the caller's values, then changed",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n)  C(m,n) = fmax(C(m,n), 0) }",
     {{"M", 9}, {"N", 19}, {"K", 6}}},
    {"read at one element and as a whole",
     "def f(float(N) X) -> (O) { t(i) = X(i) * X(i)  s +=! t(i)  u(i) = t(i) + t(0)  O(i) = u(i) / s }",
     {{"N", 41}}},
    {"an epilogue of part of the elements",
     "def f(float(M,N) A) -> (O) { r(i) +=! A(i,j)  O(i) = r(i) * 2  O(i) = r(i+1) where i in 3:7 }",
     {{"M", 21}, {"N", 18}}},
};

ir::Program program_of(const Case& test) {
  ir::Program program = test::bound_program(test.text, test.sizes);
  if (test.columns)
    for (auto& tensor : program.tensors) tensor.storage = ir::Storage::col();
  return program;
}

// The default, random members, and descendants of both.
std::vector<codegen::Schedule> members(const search::Space& space, int count, uint64_t seed) {
  search::Rng rng(seed);
  std::vector<codegen::Schedule> result{space.default_schedule()};
  while (static_cast<int>(result.size()) < count) {
    switch (result.size() % 3) {
      case 0:
        result.push_back(space.mutate(rng.pick(result), rng).schedule);
        break;
      case 1:
        result.push_back(space.sample(rng).schedule);
        break;
      default:
        result.push_back(space.crossover(rng.pick(result), rng.pick(result), rng).schedule);
        break;
    }
  }
  return result;
}

// Every fourth case: ctest runs the parts at the same time, each well below its limit.
void check_part(size_t part) {
  for (size_t c = part; c < kCases.size(); c += 4) {
    const auto& test = kCases[c];
    CAPTURE(test.name);
    const ir::Program program = program_of(test);
    const search::Space space(program, test::host(2));
    test::KernelCheck check(program);
    for (const auto& schedule : members(space, 3, std::hash<std::string>()(test.name))) {
      CAPTURE(codegen::to_json(schedule).dump());
      REQUIRE(codegen::check(program, schedule).has_value());
      check.expect_right(schedule);
    }
  }
}

}  // namespace

TEST_CASE("every schedule of the space computes what the reference does, part 1", "[property]") { check_part(0); }
TEST_CASE("every schedule of the space computes what the reference does, part 2", "[property]") { check_part(1); }
TEST_CASE("every schedule of the space computes what the reference does, part 3", "[property]") { check_part(2); }
TEST_CASE("every schedule of the space computes what the reference does, part 4", "[property]") { check_part(3); }

TEST_CASE("a minimum over nothing is written where constraints on the other indices let it", "[property]") {
  const std::string text = "def f(double(I,J,K) A) -> (o) { o(i) min=! A(i,j,k) }";
  const auto of = [&](const std::vector<ir::Constraint>& constraints) {
    ir::Program program = test::bound_program(text, {{"I", 7}, {"J", 3}, {"K", 0}});
    program.statements[0].constraints = constraints;
    return ir::canonicalize(program);
  };
  const auto sum = [](std::vector<std::pair<int, int64_t>> terms, int64_t constant) {
    return ir::AffineExpr{std::move(terms), constant, 1};
  };
  for (const auto& program :
       {of({{sum({{0, 1}, {2, 1}}, 0), 2}}), of({{sum({{0, 1}, {2, 1}}, 0), 2}, {sum({{0, 1}}, 0), 5}}),
        of({{sum({{0, 1}, {1, -1}}, -2), 1}, {sum({{1, 1}, {2, 1}}, 0), 2}})}) {
    const search::Space space(program, test::host(2));
    test::KernelCheck check(program);
    for (const auto& schedule : members(space, 3, 1)) check.expect_right(schedule);
  }
}

TEST_CASE("a schedule survives its JSON form", "[property]") {
  const ir::Program program = program_of(kCases[0]);
  const search::Space space(program, test::host(2));
  for (const auto& schedule : members(space, 60, 11)) {
    const auto again = codegen::schedule_from_json(codegen::to_json(schedule));
    REQUIRE(again.has_value());
    CHECK(*again == schedule);
  }
}

TEST_CASE("numbers that a schedule cannot hold are refused") {
  const ir::Program program = program_of(kCases[0]);
  const auto good = codegen::to_json(search::Space(program, test::host(2)).default_schedule());
  for (const auto& wrong : {"4294967297", "388888888888888888883", "-9223372036854775809", "1.5", "true", "null"}) {
    CAPTURE(wrong);
    auto json = good;
    json["stages"][0]["lanes"] = nlohmann::json::parse(wrong);
    CHECK_FALSE(codegen::schedule_from_json(json).has_value());
    json = good;
    json["version"] = nlohmann::json::parse(wrong);
    CHECK_FALSE(codegen::schedule_from_json(json).has_value());
  }
}

}  // namespace tile_tune
