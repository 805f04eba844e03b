// What programs compute, against loops and numbers written by hand.
#include "tests/unit/reference/programs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;
}  // namespace

TEST_CASE("matmul of odd sizes equals three loops") {
  const int64_t m = 7, n = 5, k = 13;
  const auto program = matmul(m, n, k);
  const Inputs inputs = random_inputs(program, 1);
  const auto expected = evaluate_one(program, inputs);
  REQUIRE(expected.elements.size() == 35);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t r = 0; r < k; ++r) {
        const double product = double{inputs.at(0).as<float>()[i * k + r]} * inputs.at(1).as<float>()[r * n + j];
        sum += product;
        magnitude += std::abs(product);
      }
      const size_t p = static_cast<size_t>(i * n + j);
      CHECK(expected.elements[p] == i * n + j);
      CHECK(expected.values[p] == static_cast<float>(sum));
      CHECK(expected.tolerances[p] ==
            Approx(4 * std::sqrt(13.0) * 0x1p-23 * magnitude + 2 * 0x1p-23 * std::abs(sum)).epsilon(1e-6));
    }
}

TEST_CASE("mm as the seed types it is A(i,j) times the sum of a row of B") {
  Builder b;
  const int a = b.input(DType::F32, {2, 3}), w = b.input(DType::F32, {3, 2}), r = b.output(DType::F32, {2, 3});
  b.add(r, {at(0), at(1)}, {{0, 2}, {0, 3}, {0, 2}}, Aggregation::Sum,
        call(Op::Mul, {b.read(a, {at(0), at(1)}), b.read(w, {at(1), at(2)})}));
  const auto expected =
      evaluate_one(b.program(), {{a, f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {w, f32({3, 2}, {1, 10, -2, 20, 3, 30})}});
  CHECK(expected.values == Reals{11, 36, 99, 44, 90, 198});
}

TEST_CASE("convolution reads a window") {
  Builder b;
  const int in = b.input(DType::F32, {2, 3, 4}), w = b.input(DType::F32, {1, 2, 2, 2}),
            o = b.output(DType::F32, {1, 2, 3});
  // o(op, h, w) += in(ip, h + kh, w + kw) * w(op, ip, kh, kw); indices op h w ip kh kw
  b.add(o, {at(0), at(1), at(2)}, {{0, 1}, {0, 2}, {0, 3}, {0, 2}, {0, 2}, {0, 2}}, Aggregation::Sum,
        call(Op::Mul, {b.read(in, {at(3), affine({{1, 1}, {4, 1}}), affine({{2, 1}, {5, 1}})}),
                       b.read(w, {at(0), at(3), at(4), at(5)})}));
  std::vector<float> image(24);
  for (int i = 0; i < 24; ++i) image[i] = static_cast<float>(i);
  const auto expected =
      evaluate_one(b.program(), {{in, f32({2, 3, 4}, image)}, {w, f32({1, 2, 2, 2}, {1, 0, 0, -1, 0, 1, 0, 0})}});
  // in0[h][w] - in0[h+1][w+1] + in1[h][w+1] = -5 + 13 + 4h + w
  CHECK(expected.values == Reals{8, 9, 10, 12, 13, 14});
}

TEST_CASE("max over negative numbers is negative, and min and max are exact") {
  for (const bool maximum : {true, false}) {
    Builder b;
    const int a = b.input(DType::F32, {2, 3}), o = b.output(DType::F32, {2});
    b.add(o, {at(0)}, {{0, 2}, {0, 3}}, maximum ? Aggregation::Max : Aggregation::Min, b.read(a, {at(0), at(1)}));
    const auto expected = evaluate_one(b.program(), {{a, f32({2, 3}, {-3, -1, -2, -8, -9, -7})}});
    CHECK(expected.values == (maximum ? Reals{-1, -7} : Reals{-3, -9}));
    CHECK(expected.tolerances == Reals{0, 0});
  }
}

TEST_CASE("NaN wins in min and max, infinities add up") {
  const float nan = std::nanf(""), infinity = static_cast<float>(kInfinity);
  const auto reduce = [&](Aggregation op, std::vector<float> values) {
    Builder b;
    const auto n = static_cast<int64_t>(values.size());
    const int a = b.input(DType::F32, {n}), o = b.output(DType::F32, {});
    b.add(o, {}, {{0, n}}, op, b.read(a, {at(0)}));
    const auto expected = evaluate_one(b.program(), {{a, f32({n}, values)}});
    if (!std::isfinite(expected.values[0])) CHECK(expected.tolerances[0] == 0);
    return expected.values[0];
  };
  CHECK(std::isnan(reduce(Aggregation::Max, {1, nan, 2})));
  CHECK(std::isnan(reduce(Aggregation::Min, {nan, 1})));
  CHECK(std::isnan(reduce(Aggregation::Sum, {infinity, 1, -infinity})));
  CHECK(reduce(Aggregation::Sum, {1, infinity, 1}) == kInfinity);
  CHECK(reduce(Aggregation::Max, {-infinity}) == -kInfinity);
  CHECK(reduce(Aggregation::Product, {2, -3, 5}) == -30);
  CHECK(reduce(Aggregation::Sum, {3e38f, 3e38f}) == kInfinity);
}

TEST_CASE("what is beyond the type is stored as an infinity, however large its bound; the largest number as itself") {
  Builder b;
  const int a = b.input(DType::F32, {3}), o = b.output(DType::F32, {3});
  const auto power = call(Op::Exp, {call(Op::Neg, {b.read(a, {at(0)})})});
  b.add(o, {at(0)}, {{0, 3}}, Aggregation::Assign, call(Op::Div, {b.read(a, {at(0)}), power}));
  const auto expected = evaluate_one(b.program(), {{a, f32({3}, {200, 95, 1})}});
  const auto stored = to_array(b.program(), expected);
  CHECK(stored.as<float>()[0] == kInfinity);
  CHECK(stored.as<float>()[1] == kInfinity);
  CHECK(std::abs(stored.as<float>()[2] - std::exp(1.0)) < 1e-6);
  CHECK(compare(expected, stored).worst <= 1);

  Builder c;
  constexpr float kLargest = 0x1.fep127f;  // of bf16
  const int x = c.input(DType::F32, {2}), y = c.output(DType::BF16, {2});
  c.add(y, {at(0)}, {{0, 2}}, Aggregation::Max, c.read(x, {at(0)}));
  const auto largest = to_array(c.program(), evaluate_one(c.program(), {{x, f32({2}, {kLargest, -kLargest})}}));
  CHECK(tensor::load_real(DType::BF16, largest.data.data(), 0) == kLargest);
  CHECK(tensor::load_real(DType::BF16, largest.data.data(), 1) == -kLargest);
}

TEST_CASE("a term beyond the type makes a sum infinite whatever else there is in it") {
  Builder b;
  const int x = b.input(DType::F32, {2}), y = b.input(DType::F32, {2}), o = b.output(DType::F32, {});
  b.add(o, {}, {{0, 2}}, Aggregation::Sum, call(Op::Mul, {b.read(x, {at(0)}), b.read(y, {at(0)})}));
  // 4e38, which is inf, and -1e55.
  const auto expected = evaluate_one(b.program(), {{x, f32({2}, {2e19f, -1e30f})}, {y, f32({2}, {2e19f, 1e25f})}});
  const auto is_right = [&](float value) { return !compare(expected, f32({}, {value})).mismatch; };
  const float infinity = static_cast<float>(kInfinity);
  CHECK(is_right(infinity));
  CHECK(is_right(-infinity));
  CHECK(is_right(std::nanf("")));
  CHECK_FALSE(is_right(1e38f));

  Builder c;
  const int u = c.input(DType::F64, {2}), v = c.input(DType::F64, {2}), w = c.output(DType::F64, {});
  c.add(w, {}, {{0, 2}}, Aggregation::Sum, call(Op::Mul, {c.read(u, {at(0)}), c.read(v, {at(0)})}));
  const auto doubles = [](double first, double second) {
    auto array = tensor::Array::zeros(DType::F64, {2});
    array.as<double>()[0] = first;
    array.as<double>()[1] = second;
    return array;
  };
  const auto beyond = evaluate_one(c.program(), {{u, doubles(1e200, -1e200)}, {v, doubles(1e200, 1e200)}});
  const auto is_right_double = [&](double value) {
    auto got = tensor::Array::zeros(DType::F64, {});
    got.as<double>()[0] = value;
    return !compare(beyond, got).mismatch;
  };
  CHECK(is_right_double(kInfinity));  // a fused one is less than what is there
  CHECK(is_right_double(std::nan("")));
  CHECK_FALSE(is_right_double(0));
  // Infinities that were given are no such thing.
  const auto given = evaluate_one(c.program(), {{u, doubles(kInfinity, -1)}, {v, doubles(1, 2)}});
  auto got = tensor::Array::zeros(DType::F64, {});
  got.as<double>()[0] = -kInfinity;
  CHECK(compare(given, got).mismatch);
}

TEST_CASE("functions of f64 have all their digits where others lose them") {
  Builder b;
  const int x = b.input(DType::F64, {3}), o = b.output(DType::F64, {3}), p = b.output(DType::F64, {3});
  b.add(o, {at(0)}, {{0, 3}}, Aggregation::Assign, call(Op::Sigmoid, {b.read(x, {at(0)})}));
  b.add(p, {at(0)}, {{0, 3}}, Aggregation::Assign, call(Op::Cos, {b.read(x, {at(0)})}));
  auto arguments = tensor::Array::zeros(DType::F64, {3});
  const double hard = 6381956970095103 * 0x1p797;
  arguments.as<double>()[0] = -710;
  arguments.as<double>()[1] = hard;
  const auto expected = evaluate(b.program(), {{x, arguments}});
  REQUIRE(expected);
  CHECK(std::abs((*expected)[0].values[0] / 4.47628622567513e-309 - 1) < 1e-13);
  // The double nearest to a multiple of pi/2: its cosine to 17 digits.
  CHECK(std::abs((*expected)[1].values[1] - -4.687165924254628e-19) <= (*expected)[1].tolerances[1]);
  CHECK((*expected)[1].tolerances[1] < 1e-29);
}

TEST_CASE("sums are compensated") {
  Builder b;
  const int a = b.input(DType::F64, {4}), o = b.output(DType::F64, {});
  b.add(o, {}, {{0, 4}}, Aggregation::Sum, b.read(a, {at(0)}));
  CHECK(evaluate_one(b.program(), {{a, array<double>(DType::F64, {4}, {1, 1e100, 1, -1e100})}}).values[0] == 2);
}

// p = t * t, element by element; o(i,j) += sum_kl p(k,i,l) * b(j,l,k): strides of every kind, factors with errors of
// their own, two reduction indices. A constraint on both, which always holds, keeps the sum from being run as a
// contraction.
ir::Program contraction(DType type, bool constrained, bool in_out) {
  Builder b;
  const int t = b.input(type, {3, 5, 7}), w = b.input(type, {4, 7, 3});
  const int p = b.tensor(Role::Temporary, type, {3, 5, 7});
  b.add(p, {at(0), at(1), at(2)}, {{0, 3}, {0, 5}, {0, 7}}, Aggregation::Assign,
        call(Op::Mul, {b.read(t, {at(0), at(1), at(2)}), b.read(t, {at(0), at(1), at(2)})}));
  const int before = in_out ? b.tensor(Role::InOut, type, {5, 4}, "o") : -1;
  const int o = b.tensor(Role::Output, type, {5, 4}, "o");
  b.add(o, {at(0), at(1)}, {{0, 5}, {0, 4}, {0, 3}, {0, 7}}, Aggregation::Sum,
        call(Op::Mul, {b.read(p, {at(2), at(0), at(3)}), b.read(w, {at(1), at(3), at(2)})}));
  ir::Program program = b.program();
  program.outputs = {o};
  if (in_out) program.statements.back().previous = before;
  if (constrained) program.statements.back().constraints = {{affine({{2, 1}, {3, 1}}), 9}};
  return program;
}

// Bounds are added up in another order.
TEST_CASE("a contraction gives to the last bit what its terms give one by one") {
  for (const DType type : {DType::F32, DType::F64})
    for (const bool in_out : {false, true}) {
      const ir::Program program = contraction(type, false, in_out);
      Inputs inputs = random_inputs(program, 3);
      for (const float special : {0.5f, std::numeric_limits<float>::quiet_NaN(), INFINITY, 1e30f}) {
        tensor::store_real(type, inputs.at(0).data.data(), 17, special);
        const auto whole = evaluate_one(program, inputs);
        const auto single = evaluate_one(contraction(type, true, in_out), inputs);
        REQUIRE(whole.values.size() == 20);
        CHECK(std::memcmp(whole.values.data(), single.values.data(), 20 * sizeof(double)) == 0);
        for (size_t i = 0; i < 20; ++i)
          CHECK(std::abs(whole.tolerances[i] - single.tolerances[i]) <= 1e-14 * single.tolerances[i]);
        CHECK(std::any_of(whole.tolerances.begin(), whole.tolerances.end(), [](double t) { return t > 0; }));
      }
    }
}

TEST_CASE("a padded convolution gives to the last bit what its terms give one by one") {
  // o(f,x) += a(c, 2x + i - 1) * w(f,i,c), where 0 <= 2x + i - 1 < 6: rows of c, taps that the borders cut off
  const auto convolution = [](bool constrained) {
    Builder b;
    const int a = b.input(DType::F32, {5, 6}), w = b.input(DType::F32, {2, 3, 5}), o = b.output(DType::F32, {2, 4});
    const AffineExpr x = affine({{1, 2}, {2, 1}}, -1);
    auto& statement = b.add(o, {at(0), at(1)}, {{0, 2}, {0, 4}, {0, 3}, {0, 5}}, Aggregation::Sum,
                            call(Op::Mul, {b.read(a, {at(3), x}), b.read(w, {at(0), at(2), at(3)})}));
    statement.constraints = {{x, 6}};
    if (constrained) statement.constraints.push_back({affine({{2, 1}, {3, 1}}), 7});
    return b.program();
  };
  const Inputs inputs = random_inputs(convolution(false), 5);
  const auto whole = evaluate_one(convolution(false), inputs), single = evaluate_one(convolution(true), inputs);
  REQUIRE(whole.values.size() == 8);
  CHECK(std::memcmp(whole.values.data(), single.values.data(), 8 * sizeof(double)) == 0);
  CHECK(whole.tolerances == single.tolerances);
  CHECK(evaluation_seconds(convolution(false)) < evaluation_seconds(convolution(true)));
}

TEST_CASE("in/out outputs start from the caller's value") {
  Builder b;
  const int a = b.input(DType::F32, {2, 3}), before = b.tensor(Role::InOut, DType::F32, {2}, "o");
  const int o = b.tensor(Role::Output, DType::F32, {2}, "o");
  b.add(o, {at(0)}, {{0, 2}, {0, 3}}, Aggregation::Sum, b.read(a, {at(0), at(1)})).previous = before;
  const auto expected =
      evaluate_one(b.program(), {{a, f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {before, f32({2}, {100, -200})}});
  CHECK(expected.values == Reals{106, -185});
  // Four terms with the value it starts from.
  CHECK(expected.tolerances[0] == Approx(4 * 2 * 0x1p-23 * 106 + 2 * 0x1p-23 * 106).epsilon(1e-9));
}

TEST_CASE("elements outside of a narrower range keep the previous value, or are 0") {
  for (const bool has_previous : {true, false})
    for (const Aggregation op : {Aggregation::Assign, Aggregation::Max, Aggregation::Product}) {
      Builder b;
      const int a = b.input(DType::I32, {5}), before = b.tensor(Role::InOut, DType::I32, {5}, "o");
      const int o = b.tensor(Role::Output, DType::I32, {5}, "o");
      Statement& statement = b.add(o, {at(0)}, {{1, 4}}, op, b.read(a, {at(0)}));
      if (has_previous) statement.previous = before;
      const auto expected =
          evaluate_one(b.program(), {{a, i32({5}, {1, 2, 3, 4, 5})}, {before, i32({5}, {-7, 3, 3, 3, 9})}});
      if (!has_previous) {
        CHECK(expected.integers == Integers{0, 2, 3, 4, 0});
      } else if (op == Aggregation::Assign) {
        CHECK(expected.integers == Integers{-7, 2, 3, 4, 9});
      } else if (op == Aggregation::Max) {
        CHECK(expected.integers == Integers{-7, 3, 3, 4, 9});
      } else {
        CHECK(expected.integers == Integers{-7, 6, 9, 12, 9});
      }
    }
}

TEST_CASE("zero extents give empty outputs, and reductions over nothing the identity") {
  const auto empty = matmul(0, 5, 3);
  CHECK(evaluate_one(empty, random_inputs(empty, 1)).elements.empty());
  const auto program = matmul(2, 2, 0);
  const auto zeros = evaluate_one(program, random_inputs(program, 1));
  CHECK(zeros.values == Reals{0, 0, 0, 0});
  CHECK(zeros.tolerances == Reals{0, 0, 0, 0});
  const auto reduce = [](Aggregation op, DType type) {
    Builder b;
    const int a = b.input(type, {0}), o = b.output(type, {});
    b.add(o, {}, {{0, 0}}, op, b.read(a, {at(0)}));
    return evaluate_one(b.program(), random_inputs(b.program(), 1)).values[0];
  };
  CHECK(reduce(Aggregation::Max, DType::F16) == -kInfinity);
  CHECK(reduce(Aggregation::Min, DType::F32) == kInfinity);
  CHECK(reduce(Aggregation::Product, DType::F32) == 1);
  CHECK(reduce(Aggregation::Max, DType::I8) == -128);
  CHECK(reduce(Aggregation::Min, DType::U16) == 65535);
  CHECK(reduce(Aggregation::Max, DType::U64) == 0);
  CHECK(reduce(Aggregation::Min, DType::U64) == 0x1p64);
  CHECK(reduce(Aggregation::Product, DType::I16) == 1);
  Builder b;
  const int a = b.input(DType::F32, {2, 0}), before = b.tensor(Role::InOut, DType::F32, {2}, "o");
  const int o = b.tensor(Role::Output, DType::F32, {2}, "o");
  b.add(o, {at(0)}, {{0, 2}, {0, 0}}, Aggregation::Max, b.read(a, {at(0), at(1)})).previous = before;
  CHECK(evaluate_one(b.program(), {{a, f32({2, 0}, {})}, {before, f32({2}, {3, -4})}}).values == Reals{3, -4});
}

TEST_CASE("a reduction over nothing writes where constraints on the other indices let it") {
  const auto o = [](bool backwards, std::vector<ir::Constraint> constraints) {
    Builder b;
    const int a = b.input(DType::F32, {4, 0}), o = b.output(DType::F32, {4});
    // Indices i, k (nothing), j, l. Backwards is not gather form: all elements are then computed at once.
    auto& statement = b.add(o, {backwards ? affine({{0, -1}}, 3) : at(0)}, {{0, 4}, {0, 0}, {0, 3}, {0, 2}},
                            Aggregation::Min, b.read(a, {at(0), at(1)}));
    statement.constraints = std::move(constraints);
    auto values = evaluate_one(b.program(), random_inputs(b.program(), 1)).values;
    if (backwards) std::reverse(values.begin(), values.end());
    return values;
  };
  for (const bool backwards : {false, true}) {
    CAPTURE(backwards);
    CHECK(o(backwards, {{affine({{0, 1}, {1, 1}}), 2}}) == Reals(4, kInfinity));
    CHECK(o(backwards, {{affine({{0, 1}, {1, 1}}), 2}, {at(0), 3}}) == Reals{kInfinity, kInfinity, kInfinity, 0});
    // i - j - l in [0, 1) for some j, l.
    CHECK(o(backwards, {{affine({{0, 1}, {2, -1}, {3, -1}}, -1), 1}}) == Reals{0, kInfinity, kInfinity, kInfinity});
    CHECK(o(backwards, {{affine({{0, 1}, {2, 1}}, -1, 2), 1}, {at(1), 9}}) == Reals{kInfinity, kInfinity, 0, 0});
    CHECK(o(backwards, {{affine({{2, 1}}, -4), 3}}) == Reals{0, 0, 0, 0});
  }
}

TEST_CASE("integers wrap in the width of their sums and results") {
  const auto sum = [](DType type, DType accumulator, DType target, std::vector<int64_t> values) {
    Builder b;
    const auto n = static_cast<int64_t>(values.size());
    const int a = b.input(type, {n}), o = b.output(target, {});
    b.add(o, {}, {{0, n}}, Aggregation::Sum, b.read(a, {at(0)})).accumulator = accumulator;
    auto data = tensor::Array::zeros(type, {n});
    for (int64_t i = 0; i < n; ++i) tensor::store_integer(type, data.data.data(), i, values[i]);
    return evaluate_one(b.program(), {{a, data}}).integers.at(0);
  };
  CHECK(sum(DType::I8, DType::I32, DType::I32, {127, 127, 2}) == 256);
  CHECK(sum(DType::I8, DType::I32, DType::I8, {127, 1}) == -128);
  CHECK(sum(DType::I32, DType::I32, DType::I32, {INT32_MAX, 1}) == INT32_MIN);
  CHECK(sum(DType::I32, DType::I32, DType::I64, {INT32_MAX, 1}) == INT32_MIN);
  CHECK(sum(DType::I64, DType::I64, DType::I64, {INT64_MAX, 2}) == INT64_MIN + 1);
  CHECK(sum(DType::U32, DType::U32, DType::U32, {4294967295, 2}) == 1);
  CHECK(sum(DType::I64, DType::I64, DType::I64, {(int64_t{1} << 53) + 1, 0}) == (int64_t{1} << 53) + 1);
}

TEST_CASE("a statement reads what the one before has rounded") {
  for (const auto& [type, middle] : {std::pair{DType::F16, 2048.0}, {DType::BF16, 2048.0}, {DType::F32, 2049.0}}) {
    Builder b;
    const int a = b.input(DType::F32, {2}), t = b.tensor(Role::Temporary, type, {}), o = b.output(DType::F32, {});
    b.add(t, {}, {{0, 2}}, Aggregation::Sum, b.read(a, {at(0)}));
    b.add(o, {}, {}, Aggregation::Assign, call(Op::Sub, {cast(DType::F32, b.read(t, {})), number(2048)}));
    CHECK(evaluate_one(b.program(), {{a, f32({2}, {2048, 1})}}).values[0] == middle - 2048);
  }
}

TEST_CASE("constraints select points, triangles included") {
  Builder b;
  const int a = b.input(DType::F32, {5}), o = b.output(DType::F32, {5});
  // prefix sums: k <= i, that is 0 <= i - k < 5
  b.add(o, {at(0)}, {{0, 5}, {0, 5}}, Aggregation::Sum, b.read(a, {at(1)})).constraints = {
      {affine({{0, 1}, {1, -1}}), 5}};
  CHECK(evaluate_one(b.program(), {{a, f32({5}, {1, -2, 3, 4, 5})}}).values == Reals{1, -1, 2, 6, 11});
}

TEST_CASE("an element whose points are all excluded is 0, or keeps its value") {
  Builder b;
  const int a = b.input(DType::F32, {4}), o = b.output(DType::F32, {4});
  // max over k < i
  b.add(o, {at(0)}, {{0, 4}, {0, 4}}, Aggregation::Max, b.read(a, {at(1)})).constraints = {
      {affine({{0, 1}, {1, -1}}, -1), 4}};
  CHECK(evaluate_one(b.program(), {{a, f32({4}, {-5, -6, -1, 0})}}).values == Reals{0, -5, -5, -1});
}

TEST_CASE("reads that only constraints keep inside are read there only") {
  Builder b;
  const int a = b.input(DType::F32, {4}), o = b.output(DType::F32, {4});
  // a window of 3 around i, cut at the borders
  b.add(o, {at(0)}, {{0, 4}, {0, 3}}, Aggregation::Sum, b.read(a, {affine({{0, 1}, {1, 1}}, -1)})).constraints = {
      {affine({{0, 1}, {1, 1}}, -1), 4}};
  CHECK(evaluate_one(b.program(), {{a, f32({4}, {1, 2, 3, 4})}}).values == Reals{3, 6, 9, 7});
}

TEST_CASE("denominators leave out what is no integer") {
  Builder b;
  const int a = b.input(DType::I32, {3}), o = b.output(DType::I32, {6});
  b.add(o, {at(0)}, {{0, 6}}, Aggregation::Assign, b.read(a, {affine({{0, 1}}, 0, 2)}));
  CHECK(evaluate_one(b.program(), {{a, i32({3}, {7, 8, 9})}}).integers == Integers{7, 0, 8, 0, 9, 0});
}

TEST_CASE("left-hand sides may be any affine expressions") {
  Builder b;
  const int a = b.input(DType::I32, {6}), o = b.output(DType::I32, {8});
  SECTION("strided, over an initial value") {
    const int before = b.tensor(Role::InOut, DType::I32, {8}, "t1");
    b.add(o, {affine({{0, 2}}, 1)}, {{0, 3}}, Aggregation::Assign, b.read(a, {at(0)})).previous = before;
    CHECK(evaluate_one(b.program(), {{a, i32({6}, {1, 2, 3, 4, 5, 6})}, {before, i32({8}, {9, 9, 9, 9, 9, 9, 9, 9})}})
              .integers == Integers{9, 1, 9, 2, 9, 3, 9, 9});
  }
  SECTION("several points for one element") {
    b.add(o, {affine({{0, 1}, {1, 1}})}, {{0, 6}, {0, 3}}, Aggregation::Sum, b.read(a, {at(0)}));
    CHECK(evaluate_one(b.program(), {{a, i32({6}, {1, 2, 3, 4, 5, 6})}}).integers ==
          Integers{1, 3, 6, 9, 12, 15, 11, 6});
  }
  SECTION("halves, and a constant element") {
    b.add(o, {affine({{0, 1}}, 0, 2)}, {{0, 6}}, Aggregation::Assign, b.read(a, {at(0)}));
    CHECK(evaluate_one(b.program(), {{a, i32({6}, {1, 2, 3, 4, 5, 6})}}).integers == Integers{1, 3, 5, 0, 0, 0, 0, 0});
  }
  SECTION("one element by its number") {
    b.add(o, {affine({}, 3)}, {{0, 6}}, Aggregation::Max, b.read(a, {at(0)}));
    CHECK(evaluate_one(b.program(), {{a, i32({6}, {1, 2, 8, 4, 5, 6})}}).integers == Integers{0, 0, 0, 8, 0, 0, 0, 0});
  }
  SECTION("the diagonal of a square") {
    Builder d;
    const int x = d.input(DType::I32, {2}), square = d.output(DType::I32, {2, 2});
    d.add(square, {at(0), at(0)}, {{0, 2}}, Aggregation::Assign, d.read(x, {at(0)}));
    CHECK(evaluate_one(d.program(), {{x, i32({2}, {5, 6})}}).integers == Integers{5, 0, 0, 6});
  }
  SECTION("a reduction over nothing gives the identity where it writes") {
    Builder d;
    const int x = d.input(DType::F32, {0}), y = d.output(DType::F32, {4});
    d.add(y, {affine({{0, 2}})}, {{0, 2}, {0, 0}}, Aggregation::Max, d.read(x, {at(1)}));
    CHECK(evaluate_one(d.program(), {{x, f32({0}, {})}}).values == Reals{-kInfinity, 0, -kInfinity, 0});
  }
}

TEST_CASE("an output subscript with a constant shifts its element") {
  Builder b;
  const int a = b.input(DType::I32, {3}), o = b.output(DType::I32, {5});
  b.add(o, {affine({{0, 1}}, 2)}, {{0, 3}}, Aggregation::Assign, b.read(a, {at(0)}));
  CHECK(evaluate_one(b.program(), {{a, i32({3}, {4, 5, 6})}}).integers == Integers{0, 0, 4, 5, 6});
}

TEST_CASE("gathers follow their index and are checked against the extent") {
  Builder b;
  const int table = b.input(DType::F32, {3, 2}), index = b.input(DType::I32, {4}), o = b.output(DType::F32, {4, 2});
  b.add(o, {at(0), at(1)}, {{0, 4}, {0, 2}}, Aggregation::Assign, b.read(table, {b.read(index, {at(0)}), at(1)}));
  const auto t = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(evaluate_one(b.program(), {{table, t}, {index, i32({4}, {2, 0, 1, 2})}}).values ==
        Reals{5, 6, 1, 2, 3, 4, 5, 6});
  for (const int32_t bad : {3, -1, INT32_MIN}) {
    const auto result = evaluate(b.program(), {{table, t}, {index, i32({4}, {2, 0, bad, 2})}});
    REQUIRE(!result);
    CHECK(result.error().code == "gather-out-of-range");
    CHECK(result.error().error_class == ErrorClass::Mismatch);
    CHECK(result.error().message ==
          "index t1(i) of t0 is " + std::to_string(bad) + " at i = 2, i = 0, but dimension 0 of t0 has extent 3");
    const auto nearest =
        evaluate(b.program(), {{table, t}, {index, i32({4}, {2, 0, bad, 2})}}, OutsideIndices::BecomeNearest);
    REQUIRE(nearest);
    CHECK(nearest->front().values == (bad > 0 ? Reals{5, 6, 1, 2, 5, 6, 5, 6} : Reals{5, 6, 1, 2, 1, 2, 5, 6}));
  }
}

TEST_CASE("an index counts only in the branch that is taken") {
  Builder b;
  const int table = b.input(DType::F32, {3}), index = b.input(DType::U64, {4}), c = b.input(DType::F32, {4});
  const int o = b.output(DType::F32, {4});
  const auto condition = call(DType::Bool, Op::Gt, {b.read(c, {at(0)}), number(0)});
  const auto element = b.read(table, {b.read(index, {at(0)})});
  b.add(o, {at(0)}, {{0, 4}}, Aggregation::Assign, call(DType::F32, Op::Select, {condition, element, number(-1)}));
  const auto with = [&](std::vector<float> conditions) {
    const Inputs inputs = {{table, f32({3}, {1, 2, 3})},
                           {index, array<uint64_t>(DType::U64, {4}, {2, UINT64_MAX, 1, 3})},
                           {c, f32({4}, std::move(conditions))}};
    const auto checked = check_indices(b.program(), inputs, ir::index_checks(b.program()));
    const auto values = evaluate(b.program(), inputs);
    CHECK(checked.has_value() == values.has_value());
    if (!checked) CHECK(checked.error().message == values.error().message);
    return values;
  };
  CHECK(with({1, -1, 1, 0})->front().values == Reals{3, -1, 2, -1});
  CHECK(with({1, 1, 1, 0}).error().message ==
        "index t1(i) of t0 is 18446744073709551615 at i = 1, but dimension 0 of t0 has extent 3");
  CHECK(with({0, 0, 0, 1}).error().message == "index t1(i) of t0 is 3 at i = 3, but dimension 0 of t0 has extent 3");
}

TEST_CASE("a tensor without elements may be gathered from where nothing uses the index") {
  for (const int64_t count : {0, 2}) {
    Builder b;
    const int table = b.input(DType::F32, {0}), index = b.input(DType::I32, {count}), o = b.output(DType::F32, {count});
    b.add(o, {at(0)}, {{0, count}}, Aggregation::Assign, b.read(table, {b.read(index, {at(0)})}));
    const Inputs inputs = {{table, f32({0}, {})}, {index, i32({count}, std::vector<int32_t>(count))}};
    CHECK(evaluate(b.program(), inputs).has_value() == (count == 0));
    CHECK(check_indices(b.program(), inputs, ir::index_checks(b.program())).has_value() == (count == 0));
    CHECK(evaluate(b.program(), inputs, OutsideIndices::BecomeNearest)->front().values == Reals(count));
  }
}

TEST_CASE("an index made of floats is the one that the reference computes, whatever rounding might make of it") {
  for (const auto& [op, factor] : {std::pair{Op::Mul, 0.5}, {Op::Div, 2.0}, {Op::Mul, 1.0 / 7}, {Op::Div, 7.0}}) {
    Builder b;
    const int table = b.input(DType::F32, {10}), m = b.input(DType::F32, {3}), o = b.output(DType::F32, {3});
    const auto index = cast(DType::I32, call(op, {b.read(m, {at(0)}), number(factor)}));
    b.add(o, {at(0)}, {{0, 3}}, Aggregation::Assign, b.read(table, {index}));
    const float per_index = op == Op::Mul ? static_cast<float>(1 / factor) : static_cast<float>(factor);
    const auto with = [&](float value) {
      return check_indices(b.program(), {{table, f32({10}, std::vector<float>(10))}, {m, f32({3}, {0, value, 1})}},
                           ir::index_checks(b.program()));
    };
    CHECK(with(9.5F * per_index).has_value());
    CHECK(with(-0.5F * per_index).has_value());
    for (const int outside : {10, -1}) {
      const auto result = with(static_cast<float>(outside) * 1.0000002F * per_index);
      REQUIRE(!result);
      CHECK(result.error().message.find(" is " + std::to_string(outside) + " at i = 1, but") != std::string::npos);
    }
  }
}

TEST_CASE("every index that a statement uses counts, also where no output needs the element") {
  // t(i) = table(idx(i)); o = t(0)
  Builder b;
  const int table = b.input(DType::F32, {2}), idx = b.input(DType::I32, {3});
  const int t = b.tensor(Role::Temporary, DType::F32, {3}), o = b.output(DType::F32, {1});
  b.add(t, {at(0)}, {{0, 3}}, Aggregation::Assign, b.read(table, {b.read(idx, {at(0)})}));
  b.add(o, {at(0)}, {{0, 1}}, Aggregation::Assign, b.read(t, {at(0)}));
  const Inputs inputs = {{table, f32({2}, {1, 2})}, {idx, i32({3}, {1, 0, 2})}};
  CHECK(evaluate(b.program(), inputs));
  CHECK(check_indices(b.program(), inputs, ir::index_checks(b.program())).error().message ==
        "index t1(i) of t0 is 2 at i = 2, but dimension 0 of t0 has extent 2");
}

TEST_CASE("an access outside of its tensor is an error, not a crash") {
  Builder b;
  const int a = b.input(DType::F32, {4}), o = b.output(DType::F32, {4});
  SECTION("read") { b.add(o, {at(0)}, {{0, 4}}, Aggregation::Assign, b.read(a, {affine({{0, 1}}, 1)})); }
  SECTION("write") { b.add(o, {affine({{0, 1}, {1, 1}})}, {{0, 4}, {0, 4}}, Aggregation::Sum, b.read(a, {at(0)})); }
  const auto result = evaluate(b.program(), random_inputs(b.program(), 1));
  REQUIRE(!result);
  CHECK(result.error().code == "access-out-of-range");
}

TEST_CASE("arrays that do not fit the program are named") {
  const auto program = matmul(2, 3, 4);
  Inputs inputs = random_inputs(program, 1);
  const auto code = [&] { return evaluate(program, inputs).error().code; };
  SECTION("missing") {
    inputs.erase(1);
    CHECK(code() == "missing-input");
  }
  SECTION("type") {
    inputs.at(0) = tensor::Array::zeros(DType::F64, {2, 4});
    CHECK(code() == "input-type");
  }
  SECTION("shape") {
    inputs.at(0) = tensor::Array::zeros(DType::F32, {4, 2});
    CHECK(code() == "input-shape");
  }
  SECTION("data") {
    inputs.at(0).data.resize(3);
    CHECK(code() == "input-shape");
  }
}

TEST_CASE("a temporary that is never asked for outside of its range is 0 there") {
  Builder b;
  const int a = b.input(DType::F32, {3}), t = b.tensor(Role::Temporary, DType::F32, {5}), o = b.output(DType::F32, {5});
  b.add(t, {at(0)}, {{0, 3}}, Aggregation::Assign, call(Op::Neg, {b.read(a, {at(0)})}));
  b.add(o, {at(0)}, {{0, 5}}, Aggregation::Assign, call(Op::Add, {b.read(t, {at(0)}), number(1)}));
  CHECK(evaluate_one(b.program(), {{a, f32({3}, {1, 2, 3})}}).values == Reals{0, -1, -2, 1, 1});
}

TEST_CASE("to_array holds the values in the output's type") {
  const auto program = matmul(2, 2, 1, DType::BF16);
  Inputs inputs{{0, array<uint16_t>(DType::BF16, {2, 1}, {0x3f80, 0x4000})},
                {1, array<uint16_t>(DType::BF16, {1, 2}, {0x4040, 0xbf80})}};
  const auto result = to_array(program, evaluate_one(program, inputs));
  CHECK(result.type == DType::BF16);
  CHECK(result.shape == std::vector<int64_t>{2, 2});
  CHECK(tensor::load_real(DType::BF16, result.data.data(), 2) == 6);
  CHECK(tensor::load_real(DType::BF16, result.data.data(), 3) == -2);
}
