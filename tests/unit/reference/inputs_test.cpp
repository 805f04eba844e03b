#include "tests/unit/reference/programs.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

std::set<int64_t> distinct(const tensor::Array& array) {
  std::set<int64_t> result;
  for (int64_t i = 0; i < array.element_count(); ++i)
    result.insert(tensor::load_integer(array.type, array.data.data(), i));
  return result;
}

// o(i) = table(subscript) with a table of `extent` elements and an index tensor of 2000.
ir::Program gather(DType type, int64_t extent, const std::function<ExprPtr(ExprPtr)>& subscript) {
  Builder b;
  const int table = b.input(DType::F32, {extent}), idx = b.input(type, {2000}), o = b.output(DType::F32, {2000});
  b.add(o,
        {
            at(0),
        },
        {{0, 2000}, {0, 3}}, Aggregation::Sum, b.read(table, {subscript(b.read(idx, {at(0)}))}));
  return b.program();
}

}  // namespace

TEST_CASE("floats are uniform in [-1, 1), negative ones included, in every type") {
  for (const DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    Builder b;
    const int a = b.input(type, {10000});
    const auto array = random_inputs(b.program(), 1).at(a);
    double sum = 0, low = 0, high = 0;
    for (int64_t i = 0; i < 10000; ++i) {
      const double value = tensor::load_real(type, array.data.data(), i);
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    CHECK(low >= -1);
    CHECK(low < -0.98);
    CHECK(high < 1);
    CHECK(high > 0.98);
    CHECK(std::abs(sum / 10000) < 0.03);
  }
}

TEST_CASE("the numbers are the same on every platform") {
  Builder b;
  const int a = b.input(DType::F64, {2}), c = b.input(DType::I32, {4});
  const Inputs inputs = random_inputs(b.program(), 42);
  // The first outputs of std::mt19937_64 seeded with 42: 13930160852258120406, 11788048577503494824, ...
  CHECK(inputs.at(a).as<double>()[0] == static_cast<double>(13930160852258120406u >> 11) * 0x1p-52 - 1);
  CHECK(inputs.at(a).as<double>()[1] == static_cast<double>(11788048577503494824u >> 11) * 0x1p-52 - 1);
  CHECK(inputs.at(c).as<int32_t>()[0] == -8 + static_cast<int32_t>(13874630024467741450u >> 60));
  CHECK(random_inputs(b.program(), 43).at(a).data != inputs.at(a).data);
}

TEST_CASE("beyond four million numbers are those before, which no row of a power of two begins with again") {
  Builder b;
  constexpr int64_t kDrawn = (int64_t{1} << 22) - 3, kCount = 2 * kDrawn + 1000;
  const int a = b.input(DType::I8, {kCount}), c = b.input(DType::C32, {kDrawn + 7});
  const Inputs inputs = random_inputs(b.program(), 1);
  const int8_t* const bytes = inputs.at(a).as<int8_t>();
  CHECK(std::equal(bytes, bytes + kDrawn, bytes + kDrawn));
  CHECK(std::equal(bytes, bytes + 1000, bytes + 2 * kDrawn));
  CHECK_FALSE(std::equal(bytes, bytes + 1000, bytes + (int64_t{1} << 22)));
  // Real and imaginary parts are numbers each.
  const auto* parts = reinterpret_cast<const float*>(inputs.at(c).data.data());
  CHECK(parts[kDrawn] == parts[0]);
  CHECK(parts[2 * (kDrawn + 7) - 1] == parts[13]);
}

TEST_CASE("integers are small, signed ones negative too, and bool is both") {
  Builder b;
  const int s = b.input(DType::I8, {2000}), u = b.input(DType::U64, {2000}), t = b.input(DType::Bool, {100});
  const int before = b.tensor(Role::InOut, DType::I32, {2000}, "o");
  const Inputs inputs = random_inputs(b.program(), 1);
  CHECK(*distinct(inputs.at(s)).begin() == -8);
  CHECK(*distinct(inputs.at(s)).rbegin() == 7);
  CHECK(*distinct(inputs.at(u)).begin() == 0);
  CHECK(*distinct(inputs.at(u)).rbegin() == 15);
  CHECK(distinct(inputs.at(t)) == std::set<int64_t>{0, 1});
  CHECK(distinct(inputs.at(before)).size() == 16);
}

TEST_CASE("subscripts are uniform over the extent they index") {
  const auto bounds = [](const ir::Program& program) {
    const Inputs inputs = random_inputs(program, 1);
    const auto evaluated = evaluate(program, inputs);
    CHECK(evaluated);
    const auto values = distinct(inputs.at(1));
    return std::pair{*values.begin(), *values.rbegin()};
  };
  using Bounds = std::pair<int64_t, int64_t>;
  CHECK(bounds(gather(DType::I32, 10, [](ExprPtr idx) { return idx; })) == Bounds{0, 9});
  CHECK(bounds(gather(DType::I32, 1, [](ExprPtr idx) { return idx; })) == Bounds{0, 0});
  CHECK(bounds(gather(DType::I64, 100, [](ExprPtr idx) { return cast(DType::I32, idx); })) == Bounds{0, 99});
  CHECK(bounds(gather(DType::U8, 100000, [](ExprPtr idx) { return cast(DType::I32, idx); })) == Bounds{0, 255});
  CHECK(bounds(gather(DType::I32, 10, [](ExprPtr idx) {
          return call(Op::Add, {idx, index_value(1)});
        })) == Bounds{0, 7});
  CHECK(bounds(gather(DType::I32, 10, [](ExprPtr idx) { return call(Op::Sub, {idx, integer(3)}); })) == Bounds{3, 12});
  CHECK(bounds(gather(DType::I32, 10, [](ExprPtr idx) {
          return call(Op::Add, {integer(1), call(Op::Mul, {idx, integer(2)})});
        })) == Bounds{0, 4});
}

TEST_CASE("index tensors of a gather of a gather fit both") {
  Builder b;
  const int table = b.input(DType::F32, {50}), inner = b.input(DType::I32, {7}), outer = b.input(DType::I32, {500});
  const int o = b.output(DType::F32, {500});
  b.add(o, {at(0)}, {{0, 500}}, Aggregation::Assign, b.read(table, {b.read(inner, {b.read(outer, {at(0)})})}));
  const Inputs inputs = random_inputs(b.program(), 3);
  CHECK(*distinct(inputs.at(outer)).rbegin() == 6);
  CHECK(*distinct(inputs.at(inner)).rbegin() > 7);
  CHECK(evaluate(b.program(), inputs));
}

TEST_CASE("ranges are narrowed where results would not be finite") {
  const auto range_for = [](Op op) {
    Builder b;
    const int a = b.input(DType::F32, {1000}), o = b.output(DType::F32, {1000});
    b.add(o, {at(0)}, {{0, 1000}}, Aggregation::Assign, call(op, {b.read(a, {at(0)})}));
    const auto range = finite_range(b.program(), 1);
    REQUIRE(range);
    const auto expected = evaluate_one(b.program(), random_inputs(b.program(), 1, *range));
    CHECK(std::all_of(expected.values.begin(), expected.values.end(), [](double x) { return std::isfinite(x); }));
    return std::pair{range->lo, range->hi};
  };
  CHECK(range_for(Op::Exp) == std::pair{-1.0, 1.0});
  CHECK(range_for(Op::Log) == std::pair{0.125, 1.0});
  CHECK(range_for(Op::Acosh) == std::pair{1.0, 2.0});
}

TEST_CASE("special inputs hold every kind of special number, about one in two rows, and leave subscripts alone") {
  const auto program = matmul(400, 300, 50);
  const auto ordinary = random_inputs(program, 1);
  const auto special = special_inputs(program, ordinary, 1);
  REQUIRE(special);
  int64_t zeros = 0, negative_zeros = 0, infinities = 0, nans = 0, subnormals = 0;
  for (const auto& [tensor, array] : *special) {
    const float *now = array.as<float>(), *before = ordinary.at(tensor).as<float>();
    for (int64_t i = 0; i < array.element_count(); ++i) {
      if (now[i] == before[i]) continue;
      zeros += now[i] == 0 && !std::signbit(now[i]);
      negative_zeros += now[i] == 0 && std::signbit(now[i]);
      infinities += std::isinf(now[i]);
      nans += std::isnan(now[i]);
      subnormals += std::fpclassify(now[i]) == FP_SUBNORMAL;
    }
  }
  for (const int64_t count : {zeros, negative_zeros, infinities, nans, subnormals}) CHECK(count >= 40);
  CHECK(zeros + negative_zeros + infinities + nans + subnormals > 340);
  CHECK(zeros + negative_zeros + infinities + nans + subnormals <= 350);
  // Two vectors of one row have one number between them.
  const auto dot = matmul(1, 1, 500);
  const auto before = random_inputs(dot, 1);
  const auto few = special_inputs(dot, before, 1);
  REQUIRE(few);
  CHECK((few->at(0).data == before.at(0).data) != (few->at(1).data == before.at(1).data));
  const auto gathering =
      gather(DType::F32, 50, [](ExprPtr index) { return cast(DType::I32, call(Op::Abs, {std::move(index)})); });
  const auto indices = random_inputs(gathering, 1);
  const auto kept = special_inputs(gathering, indices, 1);
  REQUIRE(kept);
  CHECK(kept->at(1).data == indices.at(1).data);
  CHECK(kept->at(0).data != indices.at(0).data);
  CHECK_FALSE(special_inputs(matmul(3, 3, 3, DType::I32), random_inputs(matmul(3, 3, 3, DType::I32), 1), 1));
}
