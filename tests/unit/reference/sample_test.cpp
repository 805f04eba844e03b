// Samples of outputs: which elements, and that they cost only what they depend on.
#include "tests/unit/reference/programs.h"

#include <algorithm>
#include <set>

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

Expected sample_one(const ir::Program& program, const Inputs& inputs, int64_t samples, uint64_t seed) {
  const auto result = evaluate_sample(program, inputs, samples, seed);
  if (!result) FAIL(result.error().message);
  return result->at(0);
}

}  // namespace

TEST_CASE("a sample agrees with the whole and holds every border") {
  const int64_t m = 61, n = 67;
  const auto program = matmul(m, n, 5);
  const Inputs inputs = random_inputs(program, 1);
  const auto whole = evaluate_one(program, inputs), sample = sample_one(program, inputs, 100, 7);
  REQUIRE(std::is_sorted(sample.elements.begin(), sample.elements.end()));
  const std::set<int64_t> chosen(sample.elements.begin(), sample.elements.end());
  CHECK(chosen.size() == sample.elements.size());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i == 0 || j == 0 || i == m - 1 || j == n - 1) CHECK(chosen.count(i * n + j) == 1);
  const size_t border = 2 * (m + n) - 4;
  CHECK(chosen.size() > border + 60);
  CHECK(chosen.size() <= border + 100);
  for (size_t s = 0; s < sample.elements.size(); ++s) {
    CHECK(sample.values[s] == whole.values[sample.elements[s]]);
    CHECK(sample.tolerances[s] == whole.tolerances[sample.elements[s]]);
  }
}

TEST_CASE("faces larger than the sample are sampled themselves") {
  Builder b;
  const int a = b.input(DType::F32, {20, 30, 40}), o = b.output(DType::F32, {20, 30, 40});
  b.add(o, {at(0), at(1), at(2)}, {{0, 20}, {0, 30}, {0, 40}}, Aggregation::Assign, b.read(a, {at(0), at(1), at(2)}));
  const auto sample = sample_one(b.program(), random_inputs(b.program(), 1), 50, 3);
  CHECK(sample.elements.size() <= 50 * 7);
  CHECK(sample.elements.size() > 50 * 6);
  const auto on_face = [&](auto coordinate) {
    return std::count_if(sample.elements.begin(), sample.elements.end(), coordinate);
  };
  CHECK(on_face([](int64_t e) { return e / 1200 == 0; }) >= 45);
  CHECK(on_face([](int64_t e) { return e / 1200 == 19; }) >= 45);
  CHECK(on_face([](int64_t e) { return e / 40 % 30 == 0; }) >= 45);
  CHECK(on_face([](int64_t e) { return e / 40 % 30 == 29; }) >= 45);
  CHECK(on_face([](int64_t e) { return e % 40 == 0; }) >= 45);
  CHECK(on_face([](int64_t e) { return e % 40 == 39; }) >= 45);
}

TEST_CASE("a sample depends on its seed alone, and small outputs are taken whole") {
  const auto program = matmul(61, 67, 1);
  const Inputs inputs = random_inputs(program, 1);
  CHECK(sample_one(program, inputs, 10, 7).elements == sample_one(program, inputs, 10, 7).elements);
  CHECK(sample_one(program, inputs, 10, 7).elements != sample_one(program, inputs, 10, 8).elements);
  CHECK(sample_one(program, inputs, 61 * 67, 7).elements.size() == 61 * 67);
  const auto empty = matmul(0, 3, 2);
  CHECK(sample_one(empty, random_inputs(empty, 1), 10, 7).elements.empty());
  Builder b;
  const int a = b.input(DType::F32, {3}), o = b.output(DType::F32, {});
  b.add(o, {}, {{0, 3}}, Aggregation::Sum, b.read(a, {at(0)}));
  CHECK(sample_one(b.program(), {{a, f32({3}, {1, 2, 4})}}, 10, 7).values == std::vector<double>{7});
}

TEST_CASE("of intermediate tensors only what the sample needs is computed") {
  // t(i) = table(idx(i)); o(i) = t(i) + 1. An index outside of the table is noticed only where t is computed.
  Builder b;
  const int table = b.input(DType::F32, {2}), idx = b.input(DType::I32, {1000});
  const int t = b.tensor(Role::Temporary, DType::F32, {1000}), o = b.output(DType::F32, {1000});
  b.add(t, {at(0)}, {{0, 1000}}, Aggregation::Assign, b.read(table, {b.read(idx, {at(0)})}));
  b.add(o, {at(0)}, {{0, 1000}}, Aggregation::Assign, call(Op::Add, {b.read(t, {at(0)}), number(1)}));
  Inputs inputs = random_inputs(b.program(), 1);
  const auto sample = sample_one(b.program(), inputs, 10, 7);
  int64_t skipped = 0;
  while (std::binary_search(sample.elements.begin(), sample.elements.end(), skipped)) ++skipped;
  inputs.at(idx).as<int32_t>()[skipped] = 99;
  CHECK(evaluate_sample(b.program(), inputs, 10, 7));
  CHECK(evaluate(b.program(), inputs).error().code == "gather-out-of-range");
}

TEST_CASE("an output with a scattered left-hand side is evaluated whole") {
  Builder b;
  const int a = b.input(DType::I32, {300}), o = b.output(DType::I32, {600});
  b.add(o, {affine({{0, 1}, {1, 1}})}, {{0, 300}, {0, 3}}, Aggregation::Sum, b.read(a, {at(0)}));
  CHECK(sample_one(b.program(), random_inputs(b.program(), 1), 10, 7).elements.size() == 600);
}

TEST_CASE("a strided or diagonal left-hand side is sampled like a plain one") {
  Builder b;
  const int a = b.input(DType::I32, {5}), o = b.output(DType::I32, {13, 5, 45});
  b.add(o, {affine({{0, 2}}, 3), at(0), affine({{0, 1}, {1, 4}}, 1)}, {{0, 5}, {0, 9}}, Aggregation::Product,
        b.read(a, {at(0)}));
  const auto inputs = random_inputs(b.program(), 1);
  const auto sample = sample_one(b.program(), inputs, 400, 7);
  CHECK(sample.elements.size() < 2925);
  const auto data = inputs.at(a);
  // Element (2*i + 3, i, i + 4*j + 1), all others 0.
  int found = 0;
  for (size_t n = 0; n < sample.elements.size(); ++n) {
    const int64_t x = sample.elements[n] / 225, y = sample.elements[n] / 45 % 5, z = sample.elements[n] % 45;
    const bool written = x == 2 * y + 3 && z >= y + 1 && (z - y - 1) % 4 == 0 && (z - y - 1) / 4 < 9;
    found += written ? 1 : 0;
    CHECK(sample.integers[n] == (written ? tensor::load_integer(DType::I32, data.data.data(), y) : 0));
  }
  CHECK(found > 5);
}

TEST_CASE("very long chains do not overflow the stack") {
  Builder b;
  int last = b.input(DType::F32, {2});
  for (int i = 0; i < 50'000; ++i) {
    const int next = b.tensor(i + 1 < 50'000 ? Role::Temporary : Role::Output, DType::F32, {2});
    b.add(next, {at(0)}, {{0, 2}}, Aggregation::Assign, call(Op::Add, {b.read(last, {at(0)}), number(1)}));
    last = next;
  }
  CHECK(sample_one(b.program(), {{0, f32({2}, {0, -7})}}, 10, 1).values == std::vector<double>{50000, 49993});
}

TEST_CASE("several outputs come in the order of the signature") {
  Builder b;
  const int a = b.input(DType::F32, {2}), p = b.output(DType::F32, {2}), q = b.output(DType::I32, {});
  b.add(q, {}, {{0, 2}}, Aggregation::Sum, cast(DType::I32, b.read(a, {at(0)})));
  b.add(p, {at(0)}, {{0, 2}}, Aggregation::Assign,
        call(Op::Mul, {b.read(a, {at(0)}), cast(DType::F32, b.read(q, {}))}));
  const auto result = evaluate(b.program(), {{a, f32({2}, {1.5f, 2.5f})}});
  REQUIRE(result);
  REQUIRE(result->size() == 2);
  CHECK(result->at(0).tensor == p);
  CHECK(result->at(0).values == std::vector<double>{4.5, 7.5});
  CHECK(result->at(1).integers == std::vector<int64_t>{3});
}

TEST_CASE("a contraction costs less than other statements with as many terms, and an empty one nothing") {
  const auto product = evaluation_seconds(matmul(64, 512, 512));
  CHECK(product == 8 * evaluation_seconds(matmul(64, 64, 512)));
  Builder b;
  const int a = b.input(DType::F32, {64, 512}), m = b.output(DType::F32, {});
  b.add(m, {}, {{0, 64}, {0, 512}, {0, 512}}, Aggregation::Max, b.read(a, {at(0), at(1)}));
  CHECK(evaluation_seconds(b.program()) > 2 * product);
  CHECK(evaluation_seconds(matmul(3, 0, 5)) == 0);
}
