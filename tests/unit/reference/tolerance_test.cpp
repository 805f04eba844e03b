// Which kernels compare() lets pass, and which it refuses (decision 11).
#include "tests/unit/reference/programs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "frontend/reference/outcomes.h"

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

// o(i) = sum_k A(i,k) * x(k) as a kernel would compute it: `add` combines in the kernel's accumulator, `order` is
// the order of k, `row_shift` reads a wrong row.
template <typename Add>
tensor::Array matvec(const Inputs& inputs, int64_t m, int64_t k, const std::vector<int64_t>& order, Add add,
                     int64_t row_shift = 0) {
  auto out = tensor::Array::zeros(DType::F32, {m});
  const float *a = inputs.at(0).as<float>(), *x = inputs.at(1).as<float>();
  for (int64_t i = 0; i < m; ++i) {
    float sum = 0;
    for (const int64_t r : order) sum = add(sum, a[std::min(i + row_shift, m - 1) * k + r] * x[r]);
    out.as<float>()[i] = sum;
  }
  return out;
}

float add_f32(float a, float b) { return a + b; }
float add_bf16(float a, float b) { return static_cast<float>(tensor::round_to(DType::BF16, a + b)); }
float add_f16(float a, float b) { return static_cast<float>(tensor::round_to(DType::F16, a + b)); }

ir::Program matvec_program(int64_t m, int64_t k) {
  Builder b;
  const int a = b.input(DType::F32, {m, k}), x = b.input(DType::F32, {k}), o = b.output(DType::F32, {m});
  b.add(o, {at(0)}, {{0, m}, {0, k}}, Aggregation::Sum, call(Op::Mul, {b.read(a, {at(0), at(1)}), b.read(x, {at(1)})}));
  return b.program();
}

std::vector<int64_t> ascending(int64_t k) {
  std::vector<int64_t> order(k);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Expected expecting(std::vector<double> values, std::vector<double> tolerances) {
  Expected expected{7, {}, std::move(values), {}, std::move(tolerances)};
  expected.elements.resize(expected.values.size());
  std::iota(expected.elements.begin(), expected.elements.end(), 0);
  return expected;
}

}  // namespace

TEST_CASE("f32 sums pass in any order and with any number of partial sums") {
  for (const int64_t k : {1, 2, 3, 17, 512, 8191}) {
    const int64_t m = 37;
    const auto program = matvec_program(m, k);
    const Inputs inputs = random_inputs(program, static_cast<uint64_t>(k));
    const auto expected = evaluate_one(program, inputs);
    auto order = ascending(k);
    CHECK(compare(expected, matvec(inputs, m, k, order, add_f32)).worst <= 1);
    std::reverse(order.begin(), order.end());
    CHECK(compare(expected, matvec(inputs, m, k, order, add_f32)).worst <= 1);
    std::mt19937_64 engine(5);
    std::shuffle(order.begin(), order.end(), engine);
    CHECK(compare(expected, matvec(inputs, m, k, order, add_f32)).worst <= 1);
    const auto a = inputs.at(0).as<float>(), x = inputs.at(1).as<float>();
    auto lanes = tensor::Array::zeros(DType::F32, {m});
    for (int64_t i = 0; i < m; ++i) {
      float partial[16] = {};
      for (int64_t r = 0; r < k; ++r) partial[r % 16] = std::fma(a[i * k + r], x[r], partial[r % 16]);
      lanes.as<float>()[i] = std::accumulate(partial, partial + 16, 0.0f);
    }
    const auto verdict = compare(expected, lanes);
    CHECK(verdict.worst <= 1);
    CHECK(!verdict.mismatch);
  }
}

TEST_CASE("kernels that drop a term, read a wrong row or accumulate in 16 bits are refused") {
  const int64_t m = 37;
  for (const int64_t k : {3, 17, 512, 8191}) {
    const auto program = matvec_program(m, k);
    const Inputs inputs = random_inputs(program, static_cast<uint64_t>(k));
    const auto expected = evaluate_one(program, inputs);
    const auto order = ascending(k);
    const auto refused = [&](const tensor::Array& got) {
      const auto verdict = compare(expected, got);
      return verdict.worst > 1 && verdict.mismatch && verdict.mismatch->count > 0;
    };
    CHECK(refused(matvec(inputs, m, k, {order.begin(), order.end() - 1}, add_f32)));
    CHECK(refused(matvec(inputs, m, k, order, add_f32, 1)));
    CHECK(refused(matvec(inputs, m, k, order, add_bf16)));
    CHECK(refused(matvec(inputs, m, k, order, add_f16)));
  }
}

TEST_CASE("f16 and bf16 results pass when accumulated in f32, not in their own type") {
  const int64_t n = 9, k = 512;
  for (const DType type : {DType::F16, DType::BF16}) {
    const auto program = matmul(n, n, k, type);
    const Inputs inputs = random_inputs(program, 3);
    const auto expected = evaluate_one(program, inputs);
    const auto kernel = [&](bool narrow) {
      auto out = tensor::Array::zeros(type, {n, n});
      for (int64_t e = 0; e < n * n; ++e) {
        float sum = 0;
        for (int64_t r = 0; r < k; ++r) {
          const double a = tensor::load_real(type, inputs.at(0).data.data(), e / n * k + r);
          const double b = tensor::load_real(type, inputs.at(1).data.data(), r * n + e % n);
          sum += static_cast<float>(a * b);
          if (narrow) sum = static_cast<float>(tensor::round_to(type, sum));
        }
        tensor::store_real(type, out.data.data(), e, sum);
      }
      return out;
    };
    CHECK(compare(expected, kernel(false)).worst <= 1);
    CHECK(compare(expected, kernel(true)).worst > 1);
  }
}

TEST_CASE("copies, selections and extremes are exact; arithmetic has room for contraction only") {
  Builder b;
  const int a = b.input(DType::F32, {64}), c = b.input(DType::F32, {64}), d = b.input(DType::F32, {64});
  const auto x = b.read(a, {at(0)}), y = b.read(c, {at(0)}), z = b.read(d, {at(0)});
  const auto tolerances = [&](ExprPtr value) {
    Builder p = b;
    const int o = p.output(DType::F32, {64});
    p.add(o, {at(0)}, {{0, 64}}, Aggregation::Assign, value);
    return evaluate_one(p.program(), random_inputs(p.program(), 4)).tolerances;
  };
  const std::vector<double> zero(64, 0);
  CHECK(tolerances(x) == zero);
  CHECK(tolerances(call(Op::Max, {x, y})) == zero);
  CHECK(tolerances(call(Op::Neg, {call(Op::Abs, {x})})) == zero);
  CHECK(tolerances(call(DType::F32, Op::Select, {call(DType::Bool, Op::Lt, {x, y}), x, z})) == zero);
  CHECK(tolerances(cast(DType::F32, cast(DType::BF16, x))) == zero);

  Builder p = b;
  const int o = p.output(DType::F32, {64});
  p.add(o, {at(0)}, {{0, 64}}, Aggregation::Assign, call(Op::Add, {call(Op::Mul, {x, y}), z}));
  const Inputs inputs = random_inputs(p.program(), 4);
  const auto expected = evaluate_one(p.program(), inputs);
  auto fused = tensor::Array::zeros(DType::F32, {64}), separate = fused, wrong = fused;
  for (int i = 0; i < 64; ++i) {
    const float u = inputs.at(a).as<float>()[i], v = inputs.at(c).as<float>()[i], w = inputs.at(d).as<float>()[i];
    fused.as<float>()[i] = std::fma(u, v, w);
    volatile float product = u * v;
    separate.as<float>()[i] = product + w;
    wrong.as<float>()[i] = separate.as<float>()[i] + 0x1p-19f;
  }
  CHECK(compare(expected, fused).worst <= 1);
  CHECK(compare(expected, separate).worst <= 1);
  CHECK(compare(expected, wrong).mismatch->count == 64);
}

TEST_CASE("tolerances travel through a chain") {
  // s = sum_k x(k); o = exp(s): the sum's own bound times the derivative, and 4 ulp of exp.
  Builder b;
  const int x = b.input(DType::F32, {16}), s = b.tensor(Role::Temporary, DType::F32, {}), o = b.output(DType::F32, {});
  b.add(s, {}, {{0, 16}}, Aggregation::Sum, b.read(x, {at(0)}));
  b.add(o, {}, {}, Aggregation::Assign, call(Op::Exp, {b.read(s, {})}));
  const auto expected = evaluate_one(b.program(), {{x, f32({16}, std::vector<float>(16, 0.125f))}});
  const double of_sum = 4 * 4 * 0x1p-23 * 2 + 2 * 0x1p-23 * 2, e2 = std::exp(2.0);
  CHECK(expected.values[0] == static_cast<float>(e2));
  CHECK(expected.tolerances[0] == Approx(e2 * of_sum + 4 * 0x1p-23 * e2 + 2 * 0x1p-23 * e2).epsilon(1e-4));
}

TEST_CASE("a comparison that rounding may turn allows either branch, and only there") {
  // o(i) = x(i) * 3 > 1 ? 10 : 20; the product is exact nowhere, and only the second element is close to 1.
  Builder b;
  const int x = b.input(DType::F32, {3}), o = b.output(DType::F32, {3});
  const auto tripled = call(Op::Mul, {b.read(x, {at(0)}), number(3)});
  b.add(o, {at(0)}, {{0, 3}}, Aggregation::Assign,
        call(DType::F32, Op::Select, {call(DType::Bool, Op::Gt, {tripled, number(1)}), number(10), number(20)}));
  const auto expected = evaluate_one(b.program(), {{x, f32({3}, {0.25f, 1.0f / 3, 0.5f})}});
  CHECK(!compare(expected, f32({3}, {20, 10, 10})).mismatch);
  CHECK(!compare(expected, f32({3}, {20, 20, 10})).mismatch);
  CHECK(compare(expected, f32({3}, {10, 10, 10})).mismatch->element == 0);
  CHECK(compare(expected, f32({3}, {20, 10, 20})).mismatch->element == 2);
}

TEST_CASE("integers are compared exactly, in all 64 bits") {
  const int64_t big = (int64_t{1} << 53) + 1;
  Expected expected = expecting({static_cast<double>(big), -1}, {0, 0});
  expected.integers = {big, -1};
  CHECK(!compare(expected, array<int64_t>(DType::I64, {2}, {big, -1})).mismatch);
  const auto verdict = compare(expected, array<int64_t>(DType::I64, {2}, {big - 1, -1}));
  REQUIRE(verdict.mismatch);
  CHECK(verdict.mismatch->element == 0);
  CHECK(verdict.mismatch->tensor == 7);
  CHECK(verdict.mismatch->count == 1);
}

TEST_CASE("NaN and infinities must match in kind") {
  const float nan = std::nanf(""), infinity = static_cast<float>(kInfinity);
  const auto expected = expecting({NAN, kInfinity, -kInfinity, 1}, {0, 0, 0, 0.5});
  CHECK(!compare(expected, f32({4}, {-nan, infinity, -infinity, 1.25f})).mismatch);
  CHECK(compare(expected, f32({4}, {nan, infinity, -infinity, 1.25f})).worst == 0.5);
  for (const auto& got : std::vector<std::vector<float>>{{0, infinity, -infinity, 1},
                                                         {nan, 3e38f, -infinity, 1},
                                                         {nan, infinity, infinity, 1},
                                                         {nan, nan, -infinity, 1},
                                                         {nan, infinity, -infinity, nan},
                                                         {nan, infinity, -infinity, infinity}}) {
    const auto verdict = compare(expected, f32({4}, got));
    CHECK(verdict.worst == kInfinity);
    CHECK(verdict.mismatch->count == 1);
  }
}

TEST_CASE("the worst element is reported, with how many fail") {
  const auto verdict = compare(expecting({1, 2, 3, 4}, {1, 1, 1, 1}), f32({4}, {1.5f, 4, 13, 5.5f}));
  CHECK(verdict.worst == 10);
  REQUIRE(verdict.mismatch);
  CHECK(verdict.mismatch->element == 2);
  CHECK(verdict.mismatch->got == 13);
  CHECK(verdict.mismatch->expected == 3);
  CHECK(verdict.mismatch->tolerance == 1);
  CHECK(verdict.mismatch->count == 3);
}

TEST_CASE("an array that is too short fails where it ends") {
  const auto verdict = compare(expecting({1, 2}, {0, 0}), f32({1}, {1}));
  REQUIRE(verdict.mismatch);
  CHECK(verdict.mismatch->element == 1);
  CHECK(std::isnan(verdict.mismatch->got));
}

TEST_CASE("zeros that are exact have their sign, others have either") {
  const auto passes = [](const Expected& expected, float got) { return !compare(expected, f32({1}, {got})).mismatch; };
  CHECK(passes(expecting({-0.0}, {0}), -0.0f));
  CHECK_FALSE(passes(expecting({-0.0}, {0}), 0.0f));
  CHECK_FALSE(passes(expecting({0.0}, {0}), -0.0f));
  CHECK(passes(expecting({0.0}, {1e-7}), -0.0f));
  Expected either = expecting({0.0}, {0});
  either.also = {kZero};
  CHECK(passes(either, -0.0f));
}

namespace {

// The only element of an f32 statement over k terms a(k) * b(k) * c(k), or their product.
Expected one_element(Aggregation op, const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& c = {}) {
  const auto k = static_cast<int64_t>(a.size());
  Builder builder;
  const int x = builder.input(DType::F32, {k}), y = builder.input(DType::F32, {k});
  ExprPtr term = call(Op::Mul, {builder.read(x, {at(0)}), builder.read(y, {at(0)})});
  Inputs inputs{{x, f32({k}, a)}, {y, f32({k}, b)}};
  if (!c.empty()) {
    const int z = builder.input(DType::F32, {k});
    term = call(Op::Mul, {term, builder.read(z, {at(0)})});
    inputs.emplace(z, f32({k}, c));
  }
  const int o = builder.output(DType::F32, {});
  builder.add(o, {}, {{0, k}}, op, term);
  return evaluate_one(builder.program(), inputs);
}

bool allows(const Expected& expected, float got) { return !compare(expected, f32({}, {got})).mismatch; }

}  // namespace

TEST_CASE("where partial sums may overflow, what they then give passes, and no other wrong number") {
  const Expected over = one_element(Aggregation::Sum, {2e38f, 2e38f, -2e38f, -2e38f, 7}, {1, 1, 1, 1, 1});
  CHECK(allows(over, INFINITY));
  CHECK(allows(over, -INFINITY));
  CHECK(allows(over, NAN));
  CHECK(allows(over, 0));  // 7 is far below the last place of 2e38
  CHECK_FALSE(allows(over, 1e34f));
  const Expected positive = one_element(Aggregation::Sum, {3e38f, 3e38f, -3e38f}, {1, 1, 1});
  CHECK(allows(positive, 3e38f));
  CHECK(allows(positive, INFINITY));
  CHECK_FALSE(allows(positive, -INFINITY));
  CHECK_FALSE(allows(positive, NAN));
  CHECK_FALSE(allows(positive, 2.9e38f));
  const Expected inside = one_element(Aggregation::Sum, {1e38f, 1e38f, -1e38f}, {1, 1, 1});
  CHECK_FALSE(allows(inside, INFINITY));
  CHECK_FALSE(allows(inside, NAN));
  // 0 * inf is NaN, whatever else is added.
  CHECK_FALSE(allows(one_element(Aggregation::Sum, {0, 1}, {INFINITY, 1}), INFINITY));
  CHECK(allows(one_element(Aggregation::Sum, {0, 1}, {INFINITY, 1}), NAN));
}

TEST_CASE("the factors of a term, and of a product, may leave the range in one order and not in another") {
  const Expected over = one_element(Aggregation::Sum, {1e30f, 1}, {1e-30f, 1}, {1e30f, 1});
  CHECK(allows(over, 1e30f));
  CHECK(allows(over, INFINITY));
  CHECK_FALSE(allows(over, 1.01e30f));
  CHECK_FALSE(allows(over, NAN));
  const Expected under = one_element(Aggregation::Sum, {1e-30f, 1}, {1e30f, 1}, {1e-30f, 1});
  CHECK(allows(under, 1));
  CHECK_FALSE(allows(under, 0.999f));
  CHECK(allows(one_element(Aggregation::Sum, {1e-30f}, {1e30f}, {1e-30f}), 0));
  CHECK(allows(one_element(Aggregation::Sum, {1e30f}, {1e30f}, {0}), NAN));
  CHECK_FALSE(allows(one_element(Aggregation::Sum, {1e10f}, {1e10f}, {0}), NAN));

  const Expected product = one_element(Aggregation::Product, {1e30f, 1e-30f, 1e20f}, {1, 1, 1e-19f});
  CHECK(allows(product, 10));
  CHECK_FALSE(allows(product, 10.1f));
  CHECK_FALSE(allows(product, INFINITY));
  const Expected far = one_element(Aggregation::Product, {1e30f, 1e30f, 1e-30f, 1e-30f}, {1, 1, 1, 1});
  for (const float got : {1.0f, INFINITY, 0.0f, NAN}) CHECK(allows(far, got));
  CHECK_FALSE(allows(far, -INFINITY));
}

TEST_CASE("sums of what is below the normal numbers may lose each term") {
  const std::vector<float> tiny(1000, 0x1p-75f);
  const Expected sum = one_element(Aggregation::Sum, tiny, tiny);  // 1000 * 2^-150, half a step each
  CHECK(allows(sum, 0));
  CHECK(allows(sum, 0x1p-140f));
  CHECK_FALSE(allows(sum, 0x1p-126f));
}

TEST_CASE("terms that are alike are rounded one way: a sum may lose what adding them one after the other does") {
  constexpr int kTerms = 100'000;
  const std::vector<float> ones(kTerms, 1);
  float in_turn = 0;
  for (int k = 0; k < kTerms; ++k) in_turn += 0.1f;
  REQUIRE(std::abs(in_turn - 1e4f) > 1);
  const Expected alike = one_element(Aggregation::Sum, std::vector<float>(kTerms, 0.1f), ones);
  CHECK(allows(alike, in_turn));
  CHECK(allows(alike, 10'000));
  CHECK_FALSE(allows(alike, 10'000 + 3 * (in_turn - 10'000)));
  // By way of a sum of any expression, not of products alone.
  const Expected shifted = one_element(Aggregation::Sum, std::vector<float>(kTerms, 0.1f), ones, ones);
  CHECK(allows(shifted, in_turn));
  CHECK_FALSE(allows(shifted, 10'000 + 3 * (in_turn - 10'000)));

  // Ordinary numbers keep the bound that they had.
  std::vector<float> mixed(kTerms);
  for (int k = 0; k < kTerms; ++k) mixed[k] = static_cast<float>(k * 7919 % 10'007) / 10'007;
  const Expected random = one_element(Aggregation::Sum, mixed, ones);
  CHECK(random.tolerances[0] < 1.01 * 4 * std::sqrt(1e5) * 0x1p-23 * random.values[0] + 1e-2);
}

namespace {

// O op= A over `terms` complex numbers, if any; O starts from `previous`, if given.
Expected complex_element(Aggregation op, const std::vector<float>& terms, const std::vector<float>& previous = {}) {
  const auto k = static_cast<int64_t>(terms.size() / 2);
  Builder builder;
  const int a = builder.input(DType::C32, {k});
  Inputs inputs{{a, array(DType::C32, {k}, terms)}};
  std::optional<int> initial;
  if (!previous.empty()) {
    initial = builder.tensor(Role::InOut, DType::C32, {}, "O");
    inputs.emplace(*initial, array(DType::C32, {}, previous));
  }
  const int o = builder.tensor(Role::Output, DType::C32, {}, "O");
  builder.add(o, {}, {{0, k}}, op, builder.read(a, {at(0)})).previous = initial;
  return evaluate_one(builder.program(), inputs);
}

bool allows(const Expected& expected, float real, float imaginary) {
  return !compare(expected, array(DType::C32, {}, std::vector<float>{real, imaginary})).mismatch;
}

}  // namespace

TEST_CASE("a sum of no complex numbers leaves the sign of zeros open, and nothing else") {
  const Expected nothing = complex_element(Aggregation::Sum, {}, {-0.0f, 5});
  CHECK(allows(nothing, -0.0f, 5));
  CHECK(allows(nothing, 0.0f, 5));
  CHECK_FALSE(allows(nothing, 0.0f, 0.0f));
  CHECK_FALSE(allows(nothing, 1e-30f, 5));
}

TEST_CASE("a product of one complex number may be multiplied by 1, which an infinite part shows") {
  const Expected one = complex_element(Aggregation::Product, {0.25f, INFINITY});
  CHECK(allows(one, 0.25f, INFINITY));
  CHECK(allows(one, NAN, INFINITY));
  CHECK_FALSE(allows(one, NAN, 3));
  const Expected finite = complex_element(Aggregation::Product, {0.25f, 3});
  CHECK_FALSE(allows(finite, NAN, 3));
  const Expected several = complex_element(Aggregation::Product, {0.25f, INFINITY, 2, -1});
  CHECK(allows(several, INFINITY, INFINITY));
  CHECK_FALSE(allows(several, 0.25f, 3));
  const Expected none = complex_element(Aggregation::Product, {}, {0.25f, INFINITY});
  CHECK(allows(none, NAN, INFINITY));
  CHECK_FALSE(allows(none, 0.5f, INFINITY));
  CHECK_FALSE(allows(complex_element(Aggregation::Product, {}, {0.25f, 3}), NAN, 3));
}

TEST_CASE("of three complex factors the order says which parts of an infinite product are NaN") {
  // (inf + 0i) * (2 - i) is inf - inf i, or NaN beside an infinity by 1 first; of finite factors no order has NaN.
  const auto product = [](std::vector<float> first, size_t count) {
    Builder builder;
    const int o = builder.tensor(Role::Output, DType::C32, {}, "O");
    Inputs inputs;
    ExprPtr term;
    for (size_t i = 0; i < count; ++i) {
      const int a = builder.input(DType::C32, {1});
      inputs.emplace(a, array(DType::C32, {1}, i == 0 ? first : std::vector<float>{2, -1}));
      const auto factor = builder.read(a, {at(0)});
      term = term ? call(Op::Mul, {term, factor}) : factor;
    }
    builder.add(o, {}, {{0, 1}}, Aggregation::Sum, term);
    return evaluate_one(builder.program(), inputs);
  };
  const Expected three = product({INFINITY, 1}, 3);
  CHECK(allows(three, INFINITY, -INFINITY));
  CHECK(allows(three, NAN, -INFINITY));
  CHECK_FALSE(allows(three, 3, -INFINITY));
  CHECK_FALSE(allows(product({INFINITY, 1}, 2), NAN, -INFINITY));
  CHECK_FALSE(allows(product({1, 1}, 3), NAN, -1));
}
