// Kernels for deterministic targets: the same bits whatever the schedule, the number of threads and the instructions.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "codegen/schedule/check.h"
#include "codegen/schedule/sum_order.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

struct OrderCase {
  std::string name, text;
  ir::Sizes sizes;
};

const std::vector<OrderCase> kOrderCases{
    {"matmul",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 19}, {"N", 67}, {"K", 96}}},
    {"matmul of bf16",
     "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 19}, {"N", 64}, {"K", 96}}},
    {"sums of rows", "def f(float(R,C) A) -> (o) { o(i) +=! A(i,j) }", {{"R", 35}, {"C", 301}}},
    {"one sum", "def f(float(N) v) -> (o) { o +=! v(i) }", {{"N", 4096}}},
    {"products", "def f(double(R,C) A) -> (o) { o(i) *=! A(i,j) }", {{"R", 35}, {"C", 61}}},
    {"two reductions with a middle one of one step",
     "def f(float(B,C,H,W) I, float(O,C,1,KW) K) -> (R) { R(b,o,y,x) +=! I(b,c,y+i,x+j) * K(o,c,i,j) }",
     {{"B", 2}, {"C", 5}, {"H", 9}, {"W", 20}, {"O", 7}, {"KW", 4}}},
    {"onto the caller's values",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
     {{"M", 19}, {"N", 35}, {"K", 23}}},
    {"softmax",
     "def f(float(B,N) x) -> (o, m, e, s) { m(b) max=! x(b,j) e(b,j) = exp(x(b,j) - m(b)) s(b) +=! e(b,j) "
     "o(b,j) = e(b,j) / s(b) }",
     {{"B", 9}, {"N", 133}}},
    {"a chain with a product that may be inlined",
     "def f(float(M,K) A, float(K) w, float(K,N) B) -> (C) { S(m,k) = A(m,k) * w(k) C(m,n) +=! S(m,k) * B(k,n) }",
     {{"M", 11}, {"N", 33}, {"K", 40}}},
};

ir::Program program_of(const OrderCase& one) { return test::bound_program(one.text, one.sizes); }

ir::Program running_sums() {
  constexpr int64_t n = 200;
  edsl::TensorIndex i, k;
  const auto I = edsl::Placeholder(DType::F32, {n}, "I");
  auto O = edsl::TensorOutput(n);
  O(i) += I(k);
  O.add_constraint(i - k < n);
  return test::program_of({I}, O);
}

void check_same_bits(const ir::Program& program) {
  const auto target = codegen::deterministic(test::host(2));
  const search::Space space(program, target);
  test::KernelCheck check(program, target);
  const auto wanted = check.outputs(space.default_schedule());
  search::Rng rng(11);
  auto schedule = space.sample(rng).schedule;
  for (int i = 0; i < 3; ++i) {
    CAPTURE(codegen::to_json(schedule).dump());
    REQUIRE(codegen::check(program, schedule));
    REQUIRE(codegen::check_order(program, schedule));
    CHECK((check.outputs(schedule) == wanted));
    schedule = i % 2 == 0 ? space.mutate(schedule, rng).schedule
                          : space.crossover(space.sample(rng).schedule, schedule, rng).schedule;
  }
  // Fewer threads and older instructions.
  auto plain = codegen::describe_target(target.platform.text(), 1);
  REQUIRE(plain);
  const auto baseline = codegen::deterministic(*plain);
  test::KernelCheck elsewhere(program, baseline);
  CHECK((elsewhere.outputs(search::Space(program, baseline).default_schedule()) == wanted));
}

}  // namespace

TEST_CASE("deterministic kernels compute the same bits by every schedule", "[property]") {
  const OrderCase one = GENERATE(from_range(kOrderCases));
  CAPTURE(one.name);
  check_same_bits(program_of(one));
}

// Of each pair of numbers their quotient, of each number its root and so on: which elements of A hold what differs from
// shape to shape, the numbers do not.
TEST_CASE("deterministic functions give a number the same bits in every storage order and length of rows",
          "[property]") {
  const DType type = GENERATE(DType::F32, DType::F64, DType::F16, DType::BF16);
  const std::string name = type == DType::BF16  ? "bfloat16"
                           : type == DType::F16 ? "half"
                           : type == DType::F32 ? "float"
                                                : "double";
  const std::string text = "def f(" + name + "(M,N) A, " + name + "(M) B, " + name +
                           "(N) C) -> (o, p, q, r, s, t) { o(i,j) = A(i,j) / B(i) p(i,j) = A(i,j) / C(j) "
                           "q(i,j) = rsqrt(A(i,j)) + sqrt(C(j)) / B(i) r(i,j) = sigmoid(A(i,j)) / 3 "
                           "s(i,j) = log(A(i,j)) * B(i) + C(j) t(i,j) = exp(A(i,j) / B(i)) / (B(i) * C(j)) }";
  constexpr int64_t of_a = 61, of_b = 7, of_c = 11;
  const auto number = [](int64_t n) { return 0.25 + std::fmod(0.7548776662 * static_cast<double>(n + 1), 1.0) * 3; };
  std::map<std::tuple<size_t, int64_t, int64_t, int64_t>, std::vector<std::byte>> wanted;  // by output and numbers
  const auto check = [&](int64_t m, int64_t n, ir::Storage layout, int threads) {
    CAPTURE(name, m, n, ir::to_text(layout), threads);
    auto parsed = tc::parse(text, "test.tc");
    REQUIRE(parsed);
    for (auto& tensor : parsed->programs[0].tensors) tensor.storage = layout;
    const auto program = ir::canonicalize(ir::bind(parsed->programs[0], {{"M", m}, {"N", n}}).value());
    const auto at_a = [&](int64_t i, int64_t j) { return (5 * i + 3 * j) % of_a; };
    reference::Inputs inputs;
    for (const int input : program.inputs) {
      const auto& tensor = program.tensors[static_cast<size_t>(input)];
      auto array = tensor::Array::zeros(type, ir::shape(tensor));
      for (int64_t e = 0; e < array.element_count(); ++e)
        tensor::store_real(type, array.data.data(), e,
                           tensor.name == "A"   ? number(at_a(e / n, e % n))
                           : tensor.name == "B" ? number(100 + e % of_b)
                                                : number(200 + e % of_c));
      inputs.emplace(input, std::move(array));
    }
    const auto target = codegen::deterministic(test::host(threads));
    const search::Space space(program, target);
    test::KernelCheck kernel(program, inputs, target);
    const auto outputs = kernel.outputs(space.default_schedule());
    const size_t size = dtype_size(type);
    int differ = 0;
    for (size_t o = 0; o < outputs.size(); ++o)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const std::byte* element = outputs[o].data() + static_cast<size_t>(i * n + j) * size;
          const auto [found, is_new] = wanted.try_emplace({o, at_a(i, j), i % of_b, j % of_c}, element, element + size);
          differ += !is_new && std::memcmp(found->second.data(), element, size) != 0;
        }
    CHECK(differ == 0);
  };
  check(67, 5, ir::Storage::row(), 1);
  if (dtype_size(type) == 2) return check(5, 131, ir::Storage::col(), 2);  // computed as floats
  check(67, 5, ir::Storage::col(), 2);
  check(5, 131, ir::Storage::row(), 2);
  check(3, 64, ir::Storage::col(), 1);
  check(64, 64, ir::Storage::row(), 2);
}

TEST_CASE("deterministic running totals compute the same bits by every schedule", "[property]") {
  check_same_bits(running_sums());
}

TEST_CASE("a schedule that sums in another order is refused for a deterministic target, and for no other") {
  const auto program = program_of(kOrderCases[0]);
  const auto target = test::host(2);
  auto schedule = search::Space(program, codegen::deterministic(target)).default_schedule();
  REQUIRE(codegen::check_for(codegen::deterministic(target), program, schedule));
  schedule.stages[0].nest().parallel_reduction = codegen::ParallelReduction{0, 2};
  schedule.stages[0].nest().reduction_block = {48};
  schedule.stages[0].nest().reduction_unroll = {1};
  REQUIRE(codegen::check_for(target, program, schedule));
  const auto refused = codegen::check_for(codegen::deterministic(target), program, schedule);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "another-order");
  // Integers add up to the same in any order.
  const auto integers = test::bound_program("def f(int32(R,C) A) -> (o) { o(i) +=! A(i,j) }", {{"R", 35}, {"C", 64}});
  const auto usual = search::Space(integers, target).default_schedule();
  CHECK(usual == search::Space(integers, codegen::deterministic(target)).default_schedule());
}

}  // namespace tile_tune
