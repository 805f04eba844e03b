// The surface of the language: what compiles, what does not, how values print, what programs become.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <tile_tune/edsl.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"

// Both namespaces stay unambiguous (decision 3).
using namespace tile_tune;
using namespace tile_tune::edsl;

namespace {

// An elementwise function of an access does not compile (decision 6), nor do sums of products.
template <typename T>
concept HasElementwise = requires(T a, Tensor t) {
  exp(a);
}
|| requires(T a) { -a; }
|| requires(T a) { a - a; }
|| requires(T a) { a / a; }
|| requires(T a) { a == a; }
|| requires(T a, Tensor t) { a* t; }
|| requires(T a) { a * 2; }
|| requires(T a) { select(a, a, a); }
|| requires(T a) { relu(a); };
static_assert(HasElementwise<Tensor>);
static_assert(!HasElementwise<IndexedTensor>);
template <typename T>
concept MixesCombinations = requires(T a) {
  a* a + a;
};
static_assert(!MixesCombinations<IndexedTensor>);
template <typename T>
concept HasInnerProduct = requires(T a) {
  a(TensorIndex()) += a(TensorIndex()) * a(TensorIndex());
};
static_assert(HasInnerProduct<Tensor>);
static_assert(!std::is_convertible_v<Tensor, IndexedTensor> && !std::is_convertible_v<IndexedTensor, Tensor>);
static_assert(!std::is_convertible_v<const char*, Tensor> && !std::is_convertible_v<double, TensorDim>);
static_assert(!std::is_convertible_v<bool, TensorDim> && !std::is_convertible_v<double, TensorIndex>);

template <typename T>
std::string text(const T& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

std::string hash(const Program& program) { return ir::content_hash(program.ir()); }

std::string hash_of_tc(const std::string& source, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(source, "test.tc");
  REQUIRE(parsed);
  const auto bound = ir::bind(parsed->programs[0], sizes);
  REQUIRE(bound);
  return ir::content_hash(*bound);
}

}  // namespace

TEST_CASE("values print readably") {
  TensorIndex i("i"), j("j"), unnamed, other;
  const TensorDim N = 5;
  CHECK(text(TensorDim()) == "unbound");
  CHECK(text(2 * N - 1) == "9");
  CHECK(text(2 * i - j + 3) == "2*i - j + 3");
  CHECK(text(-(i - 1) / 2) == "(-i + 1)/2");
  CHECK(text(4 * i / 2) == "2*i");
  CHECK(text(i / 3 + i / 6) == "i/2");
  CHECK(text(i / -2) == "-i/2");
  CHECK(text(i - i) == "0");
  CHECK(text(unnamed + other) == "_1 + _2");
  CHECK(text(i - N < 2 * N) == "i - 5 < 10");
  const auto A = Placeholder(DType::BF16, {3, 4}, "A");
  CHECK(text(A) == "A: bf16(3, 4)");
  CHECK(text(A(i, 2 * j)) == "A(i, 2*j)");
  CHECK(text(Tensor(3)) == "3");
  CHECK(text(Tensor()) == "no tensor");
  CHECK_THAT(text(TensorOutput(N)), Catch::Contains("unwritten(5)"));
  auto O = TensorOutput(3);
  O(i) += A(i, j);
  const Program program("sum", {A}, {{"O", O}});
  CHECK(text(program).substr(0, 4) == "sum(");
  CHECK_THAT(text(program), Catch::Contains("O(i) +=! A(i,j)"));
}

TEST_CASE("types follow the operands") {
  const auto f16 = Placeholder(DType::F16, {2}, "h"), bf16 = Placeholder(DType::BF16, {2}, "b"),
             i8 = Placeholder(DType::I8, {2}, "c"), u8 = Placeholder(DType::U8, {2}, "u"),
             f64 = Placeholder(DType::F64, {2}, "d"), yes = Placeholder(DType::Bool, {2}, "y");
  CHECK((f16 + bf16).dtype() == DType::F32);
  CHECK((f16 + i8).dtype() == DType::F16);
  CHECK((i8 + u8).dtype() == DType::I8);
  CHECK((i8 + 1).dtype() == DType::I8);
  CHECK((i8 + 1.5).dtype() == DType::F32);
  CHECK((f64 * 1.5f).dtype() == DType::F64);
  CHECK((f16 * 2).dtype() == DType::F16);
  CHECK((yes + 1).dtype() == DType::I32);
  CHECK((yes * yes).dtype() == DType::Bool);
  CHECK((yes * f16).dtype() == DType::F16);
  CHECK((f16 < bf16).dtype() == DType::Bool);
  CHECK(exp(i8).dtype() == DType::F32);
  CHECK(exp(bf16).dtype() == DType::BF16);
  CHECK(abs(i8).dtype() == DType::I8);
  CHECK(cast(f64, DType::U16).dtype() == DType::U16);
  CHECK(select(yes, i8, f64).dtype() == DType::F64);
  TensorIndex i;
  const auto reduced = [&](const Tensor& a, auto write) {
    auto O = TensorOutput();
    write(O(), a(i));
    return O.dtype();
  };
  const auto sum = [](const IndexedTensor& o, const IndexedTensor& a) { o += a; };
  const auto max = [](const IndexedTensor& o, const IndexedTensor& a) { o >= a; };
  CHECK(reduced(u8, sum) == DType::I32);
  CHECK(reduced(u8, max) == DType::U8);
  CHECK(reduced(bf16, sum) == DType::BF16);
  CHECK(reduced(yes, sum) == DType::Bool);
}

TEST_CASE("a contraction is the same program whatever it was written in") {
  TensorIndex i, j, k;
  for (const auto type : {DType::F32, DType::BF16, DType::I8}) {
    const auto A = Placeholder(type, {5, 7}, "A"), B = Placeholder(type, {7, 3}, "B");
    auto C = TensorOutput(5, 3), D = TensorOutput(5, 3);
    C(i, j) += A(i, k) * B(k, j);
    D(k, i).sum(B(j, i) * A(k, j));
    const Program program("matmul", {A, B}, {{"C", C}});
    CHECK(hash(program) == hash(Program("other", {A, B}, {{"Result", C}})));
    CHECK(hash(program) == hash(Program("other", {B, A}, {{"Result", C}})));
    CHECK(hash(program) == hash(Program("other", {A, B}, {{"Result", D}})));
    const std::string scalar = type == DType::F32 ? "float" : type == DType::I8 ? "int8" : "bfloat16";
    CHECK(hash(program) ==
          hash_of_tc("def mm(" + scalar + "(M,K) A, " + scalar + "(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
                     {{"M", 5}, {"K", 7}, {"N", 3}}));
  }
  const auto I = Placeholder(DType::F32, {9}, "I");
  auto O = TensorOutput(4), P = TensorOutput(4);
  O(i) >= I(2 * i + j);
  O.add_constraint(j < 2);
  P(i) <= I(2 * i + j);
  P.add_constraint(j < 2);
  const Program pool("pool", {I}, {{"O", O}});
  CHECK(hash(pool) ==
        hash_of_tc("def pool(float(N) I) -> (O) { O(i) max=! I(2*i + j) where j in 0:2, i in 0:4 }", {{"N", 9}}));
  CHECK(hash(pool) != hash(Program("pool", {I}, {{"O", P}})));
}

TEST_CASE("elementwise operations between contractions are one statement") {
  TensorIndex i, j;
  const auto A = Placeholder(DType::F32, {3, 4}, "A");
  const auto B = Placeholder(DType::F32, {2, 3}, "B");
  const auto scaled = relu(A * 2 + 1) - A;
  auto O = TensorOutput(3);
  O(i) += scaled(i, j);
  const auto statements = [](const Program& program) { return program.ir().statements.size(); };
  CHECK(statements(Program("p", {A}, {{"O", sqrt(abs(O)) + 1}})) == 3);
  // Used twice, or by more elements than it has: computed once.
  const auto shared = exp(A);
  CHECK(statements(Program("p", {A}, {{"O", shared * shared}})) == 2);
  CHECK(statements(Program("p", {A, B}, {{"O", exp(O) * B}})) == 4);
  // Long chains are cut: expressions nest only so deep, and doubling must not double the program.
  Tensor chain = A;
  for (int n = 0; n < 1000; ++n) chain = chain + 1;
  CHECK(statements(Program("p", {A}, {{"O", chain}})) < 20);
  Tensor doubled = A;
  for (int n = 0; n < 100; ++n) doubled = doubled + doubled;
  CHECK(statements(Program("p", {A}, {{"O", doubled}})) == 100);
  Tensor endless = A;
  for (int n = 0; n < 200000; ++n) endless = endless + 1;  // must not exhaust the stack when it ends
}

TEST_CASE("elementwise operations on halves are one computation in f32, whatever is kept of their parts") {
  const auto A = Placeholder(DType::BF16, {6}, "A"), B = Placeholder(DType::BF16, {6}, "B");
  const auto type_of = [](const Program& program, size_t statement) {
    const auto& ir = program.ir();
    return ir.tensors[static_cast<size_t>(ir.statements[statement].target)].type;
  };
  const std::string tc = "def f(bfloat16(N) A, bfloat16(N) B) -> (O) { O(i) = ";
  for (const auto& [tensor, value] : std::initializer_list<std::pair<Tensor, std::string>>{
           {A * A - B, "A(i) * A(i) - B(i)"},
           {relu(-A) * 0.1, "relu(-A(i)) * 0.1"},
           {select(A > B, exp(A), B), "A(i) > B(i) ? exp(A(i)) : B(i)"},
           {cast(A * B, DType::BF16) + B, "bfloat16(A(i) * B(i)) + B(i)"},
           {cast(A * B, DType::F32), "float(A(i) * B(i))"}}) {
    INFO(value);
    CHECK(hash(Program("f", {A, B}, {{"O", tensor}})) == hash_of_tc(tc + value + " }", {{"N", 6}}));
  }
  TensorIndex i, j;
  auto outer = TensorOutput(6, 6);
  outer(i, j) = A(i) * B(j);
  CHECK(hash(Program("f", {A, B}, {{"O", outer}})) ==
        hash_of_tc("def f(bfloat16(N) A, bfloat16(N) B) -> (O) { O(i,j) = A(i) * B(j) }", {{"N", 6}}));

  // A part that is used twice is kept as f32; as an output, or by a contraction, it is seen rounded.
  const auto square = A * A;
  const Program twice("f", {A, B}, {{"O", square * (square - B)}});
  REQUIRE(twice.ir().statements.size() == 2);
  CHECK(type_of(twice, 0) == DType::F32);
  CHECK(type_of(twice, 1) == DType::BF16);
  const Program listed("f", {A, B}, {{"S", square}, {"O", square - B}});
  REQUIRE(listed.ir().statements.size() == 3);
  CHECK(type_of(listed, 0) == DType::F32);
  CHECK(type_of(listed, 1) == DType::BF16);
  auto sum = TensorOutput();
  sum() += square(i);
  const Program summed("f", {A, B}, {{"S", sum}, {"O", square - B}});
  REQUIRE(summed.ir().statements.size() == 4);
  CHECK(type_of(summed, 1) == DType::BF16);
  CHECK(summed.ir().statements[2].op == ir::Aggregation::Sum);
}

TEST_CASE("a complex number keeps its real part in a real type") {
  const auto C = Placeholder(DType::C32, {4}, "C");
  CHECK(cast(C, DType::F32).dtype() == DType::F32);
  CHECK_NOTHROW(Program("f", {C}, {{"O", cast(C, DType::F64) + 1}, {"B", cast(C, DType::Bool)}}));
}

TEST_CASE("save writes what the reader reads") {
  TensorIndex i, j;
  const auto A = Placeholder(DType::F32, {3, 4}, "A");
  auto O = TensorOutput(5);
  O(i) += A((i - 1) / 2, j);
  O.use_default(-1);
  const Program program("p", {A}, {{"O", O}});
  const auto path =
      std::filesystem::temp_directory_path() / ("tile_tune_surface_test." + std::to_string(getpid()) + ".json");
  program.save(path.string());
  std::ifstream stream(path);
  std::ostringstream saved;
  saved << stream.rdbuf();
  std::filesystem::remove(path);
  CHECK(saved.str() == program.json());
  const auto json = nlohmann::json::parse(saved.str());
  CHECK(json["kind"] == "program");
  const auto read = ir::program_from_json(json);
  INFO((read ? "" : render(read.error())));
  REQUIRE(read);
  CHECK(ir::content_hash(*read) == hash(program));
}
