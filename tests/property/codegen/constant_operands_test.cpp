// Kernels that take constants packed compute what the reference does from the unpacked ones.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/packed_form.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using codegen::Schedule;

ir::Program with_constants(ir::Program program, const std::vector<std::string>& names, bool columns = false) {
  for (auto& tensor : program.tensors) {
    tensor.constant = std::find(names.begin(), names.end(), tensor.name) != names.end();
    if (columns) tensor.storage = ir::Storage::col();
  }
  return program;
}

int number_of(const ir::Program& program, const std::string& name) {
  for (size_t t = 0; t < program.tensors.size(); ++t)
    if (program.tensors[t].name == name) return static_cast<int>(t);
  return -1;
}

struct ConstantCase {
  std::string name, text;
  ir::Sizes sizes;
  std::vector<std::string> constants;
  bool columns = false;
  int packed = 1;  // constants that the default schedule packs
};

const std::string kProduct = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const std::string kTransposed = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";

const std::vector<ConstantCase> kConstantCases{
    {"product, whole vectors", kProduct, {{"M", 37}, {"N", 96}, {"K", 41}}, {"B"}},
    {"product, a last tile that is moved back", kProduct, {{"M", 24}, {"N", 80}, {"K", 19}}, {"B"}},
    {"product, a last vector in part", kProduct, {{"M", 23}, {"N", 131}, {"K", 29}}, {"B"}},
    {"product, rows constant", kProduct, {{"M", 42}, {"N", 67}, {"K", 31}}, {"A"}},
    {"product, both constant", kProduct, {{"M", 24}, {"N", 100}, {"K", 16}}, {"A", "B"}, false, 2},
    {"product, columns", kProduct, {{"M", 52}, {"N", 33}, {"K", 21}}, {"A"}, true},
    {"product, transposed", kTransposed, {{"M", 11}, {"N", 77}, {"K", 53}}, {"B"}},
    {"product, unit extents", kProduct, {{"M", 1}, {"N", 1}, {"K", 1}}, {"B"}, false, 0},
    {"product, empty reduction", kProduct, {{"M", 5}, {"N", 7}, {"K", 0}}, {"B"}, false, 0},
    {"product onto the caller's values",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
     {{"M", 19}, {"N", 75}, {"K", 23}},
     {"B"}},
    {"product in doubles",
     "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 13}, {"N", 59}, {"K", 17}},
     {"B"}},
    {"product of halves",
     "def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 13}, {"N", 59}, {"K", 18}},
     {"B"}},
    {"product of bf16",
     "def f(bfloat16(M,K) A, bfloat16(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 21}, {"N", 83}, {"K", 36}},
     {"B"}},
    {"product of signed bytes",
     "def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 21}, {"N", 83}, {"K", 44}},
     {"B"}},
    {"batched product",
     "def f(float(B,M,K) X, float(B,K,N) Y) -> (C) { C(b,m,n) +=! X(b,m,k) * Y(b,k,n) }",
     {{"B", 3}, {"M", 17}, {"N", 43}, {"K", 13}},
     {"Y"}},
    {"a constant of two statements",
     "def f(float(M,K) A, float(M,K) D, float(K,N) B) -> (C, E) { C(m,n) +=! A(m,k) * B(k,n) "
     "E(m,n) +=! D(m,k) * B(k,n) }",
     {{"M", 13}, {"N", 40}, {"K", 11}},
     {"B"},
     false,
     0},
    {"convolution, channels first",
     "def f(float(N,C,H,W) I, float(F,C,KH,KW) W1) -> (O) { O(n,f,h,w) +=! I(n,c,h+kh,w+kw) * W1(f,c,kh,kw) }",
     {{"N", 1}, {"C", 5}, {"F", 23}, {"H", 9}, {"W", 37}, {"KH", 3}, {"KW", 3}},
     {"W1"}},
    {"convolution, channels last",
     "def f(float(N,H,W,C) I, float(F,C,KH,KW) W1) -> (O) { O(n,h,w,f) +=! I(n,h+kh,w+kw,c) * W1(f,c,kh,kw) }",
     {{"N", 2}, {"C", 5}, {"F", 51}, {"H", 9}, {"W", 11}, {"KH", 3}, {"KW", 2}},
     {"W1"}},
    {"layer with bias",
     "def f(float(M,K) A, float(K,N) B, float(N) bias) -> (O) { C(m,n) +=! A(m,k) * B(k,n) "
     "O(m,n) = fmax(C(m,n) + bias(n), 0.0) }",
     {{"M", 23}, {"N", 91}, {"K", 19}},
     {"B", "bias"}},
};

}  // namespace

TEST_CASE("kernels with packed constants compute what the reference does", "[property]") {
  const auto& one = kConstantCases[GENERATE(range(size_t{0}, kConstantCases.size()))];
  CAPTURE(one.name);
  const auto program = with_constants(test::bound_program(one.text, one.sizes), one.constants, one.columns);
  const search::Space space(program, test::host(2));
  const Schedule standard = space.default_schedule();
  CHECK(codegen::packed_forms(program, standard).size() == static_cast<size_t>(one.packed));
  test::KernelCheck check(program);
  check.expect_right(standard);
  search::Rng rng(11);
  int with = 0;
  for (int i = 0; i < 40 && with < 1; ++i) {
    const Schedule schedule = i % 2 == 0 ? space.sample(rng).schedule : space.mutate(standard, rng).schedule;
    if (codegen::packed_forms(program, schedule).empty() && one.packed > 0) continue;
    ++with;
    check.expect_right(schedule);
  }
}

namespace {

Schedule product_schedule(std::vector<int64_t> columns, std::vector<int64_t> rows, std::vector<int> storage) {
  codegen::NestSchedule stage;
  stage.tiles = {std::move(rows), std::move(columns)};
  stage.order.assign(stage.tiles[0].size(), {1, 0});
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {12};
  stage.reduction_unroll = {1};
  stage.packings = {{1, 0, std::move(storage)}};
  return {{stage}};
}

}  // namespace

TEST_CASE("a packed form is cut into blocks for register tiles") {
  const auto form_of = [](const std::string& text, int64_t n, Schedule schedule) {
    const auto program = with_constants(test::bound_program(text, {{"M", 8}, {"N", n}, {"K", 12}}), {"B"});
    for (const auto& operand : codegen::loops_of(program, program.statements[0]).operands)
      if (operand.tensor == number_of(program, "B")) schedule.stages[0].nest().packings[0].operand = operand.number;
    REQUIRE(codegen::check(program, schedule));
    const auto forms = codegen::packed_forms(program, schedule);
    REQUIRE(forms.size() == 1);
    CHECK(forms[0].tensor == number_of(program, "B"));
    test::KernelCheck(program).expect_right(schedule);
    return forms[0];
  };
  const auto whole = form_of(kProduct, 96, product_schedule({48}, {4}, {1, 0}));
  CHECK(whole.extents == std::vector<int64_t>{48, 12, 2});
  CHECK(whole.bytes() == 48 * 12 * 2 * 4);
  CHECK_FALSE(whole.blocks->guarded);
  // Tiles of 48 columns begin at 0 and 48, and the second one goes on to 96.
  const auto in_part = form_of(kProduct, 83, product_schedule({48}, {4}, {1, 0}));
  CHECK(in_part.extents == std::vector<int64_t>{48, 12, 2});
  CHECK(in_part.blocks->guarded);
  CHECK(form_of(kProduct, 83, product_schedule({64, 32}, {8, 4}, {1, 0})).extents == std::vector<int64_t>{32, 12, 4});
  // Beyond the border there is no scale: the last tile is moved back, to the border of a vector.
  const std::string scaled =
      "def f(float(M,K) A, float(K,N) B, float(N) s) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * s(n) }";
  const auto moved_back = form_of(scaled, 80, product_schedule({48}, {4}, {1, 0}));
  CHECK(moved_back.extents == std::vector<int64_t>{16, 12, 5});
  CHECK_FALSE(moved_back.blocks->guarded);
  CHECK(form_of(scaled, 83, product_schedule({48}, {4}, {1, 0})).extents == std::vector<int64_t>{83, 12});
  // Along the reduction there are no tiles to store for.
  const auto as_asked = form_of(kProduct, 80, product_schedule({48}, {4}, {0, 1}));
  CHECK(as_asked.extents == std::vector<int64_t>{12, 80});
  CHECK_FALSE(as_asked.blocks);
}

TEST_CASE("where a schedule packs a constant makes no difference") {
  const auto program = with_constants(test::bound_program(kProduct, {{"M", 64}, {"N", 96}, {"K", 12}}), {"B"});
  const search::Space space(program, test::host(2));
  auto schedule = product_schedule({48}, {4}, {1, 0});
  const auto once = space.adapt(schedule).schedule;
  schedule.stages[0].nest().packings[0].depth = 1;
  CHECK(space.adapt(schedule).schedule == once);
  CHECK(once.stages[0].nest().packings.size() == 1);
}

}  // namespace tile_tune
