// One program for each rule: which indices are valid, what is aggregated, what broadcasts, which types come out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/edsl/example.h"

namespace tile_tune::edsl::test {

namespace {

Example one(const std::string& name, const std::vector<Tensor>& inputs, const Tensor& output,
            std::map<std::string, Grid> given, Grid expected, double tolerance = 0) {
  return {name, Program(name, inputs, {{"O", output}}), std::move(given), {{"O", std::move(expected)}}, tolerance};
}

// The vectors published with rule 2: "/" is exact.
void add_exact_division(std::vector<Example>& examples) {
  Grid I = numbers({3});
  const auto A = input("I", {3});
  {
    TensorIndex i;
    auto O = TensorOutput(6);
    O(i) += A((i - 1) / 2);
    examples.push_back(one("divided", {A}, O, {{"I", I}}, Grid({6}, {0, I(0), 0, I(1), 0, I(2)})));
  }
  {
    TensorIndex i, j;
    const auto K = input("K", {3});
    auto O = TensorOutput(5);
    O(i) += A((i - j + 1) / 2) * K(j);
    const Grid ones({3}, {1, 2, 3});
    examples.push_back(one("funky_sum", {A, K}, O, {{"I", ones}, {"K", ones}}, Grid({5}, {2, 5, 4, 9, 6})));
  }
}

void add_joint_bounds(std::vector<Example>& examples) {
  {
    // Neither read bounds i or j alone.
    TensorIndex i, j;
    Grid a = numbers({4, 3});
    Grid total({});
    for (int u = 0; u < 4; ++u)
      for (int v = 0; v < 3; ++v)
        if ((u + v) % 2 == 0) total() += a(u, v);
    const auto A = input("A", {4, 3});
    auto O = TensorOutput();
    O() += A(i + j, i - j);
    examples.push_back(one("joint", {A}, O, {{"A", a}}, total));
  }
  {
    // A scatter: what conv_1d transposed does.
    TensorIndex i, j;
    Grid a = numbers({4}), b = numbers({3}, 2), o({6});
    for (int u = 0; u < 4; ++u)
      for (int v = 0; v < 3; ++v) o(u + v) += a(u) * b(v);
    const auto A = input("A", {4}), B = input("B", {3});
    auto O = TensorOutput(6);
    O(i + j) += A(i) * B(j);
    examples.push_back(one("scatter", {A, B}, O, {{"A", a}, {"B", b}}, o));
  }
  {
    // Indices may be negative, coefficients too: a padded, mirrored kernel.
    TensorIndex x, k;
    Grid a = numbers({5}), b = numbers({3}, 2), o({5});
    for (int u = 0; u < 5; ++u)
      for (int v = -1; v <= 1; ++v)
        if (u + v >= 0 && u + v < 5) o(u) += a(u + v) * b(1 - v);
    const auto A = input("A", {5}), B = input("B", {3});
    auto O = TensorOutput(5);
    O(x) += A(x + k) * B(1 - k);
    examples.push_back(one("mirrored", {A, B}, O, {{"A", a}, {"B", b}}, o));
  }
  {
    // Diagonals on both sides; a number and a dim as subscripts.
    TensorDim N;
    TensorIndex i;
    Grid a = numbers({3, 3, 4}), o({3, 3});
    for (int u = 0; u < 3; ++u) o(u, u) = a(u, u, 0) * a(u, u, 3);
    const auto A = input("A", {3, 3, 4});
    A.bind_dims(N, N, 4);
    auto O = TensorOutput(N, N);
    O(i, i) += A(i, i, 0) * A(i, i, N);
    examples.push_back(one("diagonal", {A}, O, {{"A", a}}, o));
  }
  {
    // One index that only a constraint mentions counts as any other: every product three times.
    TensorIndex i, j;
    Grid a = numbers({4}), o({4});
    for (int u = 0; u < 4; ++u) o(u) = 3 * a(u);
    const auto A = input("A", {4});
    auto O = TensorOutput(4);
    O(i) += A(i);
    O.add_constraint(j < 3);
    examples.push_back(one("counted", {A}, O, {{"A", a}}, o));
  }
}

// Each aggregation over the even elements of all-negative, then all-positive data; odd ones stay 0.
void add_aggregations(std::vector<Example>& examples) {
  for (const double shift : {-7.0, 7.0}) {
    TensorIndex i, j;
    Grid a = numbers({3, 4});
    for (auto& value : a.values) value = std::copysign(std::abs(value) + 1, shift);
    const auto A = input("A", {3, 4});
    Grid sum({6}), product({6}), largest({6}), smallest({6});
    for (int u = 0; u < 3; ++u) {
      product(2 * u) = 1;
      largest(2 * u) = smallest(2 * u) = a(u, 0);
      for (int v = 0; v < 4; ++v) {
        sum(2 * u) += a(u, v);
        product(2 * u) *= a(u, v);
        largest(2 * u) = std::max(largest(2 * u), a(u, v));
        smallest(2 * u) = std::min(smallest(2 * u), a(u, v));
      }
    }
    auto S = TensorOutput(6), P = TensorOutput(6), L = TensorOutput(6), M = TensorOutput(6), X = TensorOutput(6);
    S(2 * i).sum(A(i, j));
    P(2 * i).product(A(i, j));
    L(2 * i).max(A(i, j));
    M(2 * i).min(A(i, j));
    X(2 * i).assign(A(i, 3));
    Grid assigned({6});
    for (int u = 0; u < 3; ++u) assigned(2 * u) = a(u, 3);
    examples.push_back({shift < 0 ? "aggregations_negative" : "aggregations_positive",
                        Program("aggregations", {A}, {{"S", S}, {"P", P}, {"L", L}, {"M", M}, {"X", X}}),
                        {{"A", a}},
                        {{"S", sum}, {"P", product}, {"L", largest}, {"M", smallest}, {"X", assigned}}});
  }
  {
    TensorIndex i, j, k;
    Grid a = numbers({4, 3}), o({3, 12});
    for (int u = 0; u < 4; ++u)
      for (int v = 0; v < 3; ++v)
        for (int w = 0; w < 3; ++w) o(v, 3 * u + w) = a(u, v);
    const auto A = input("A", {4, 3});
    auto O = TensorOutput(3, 12);
    O(j, 3 * i + k) = A(i, j);  // copies each element three times, and transposes
    O.add_constraint(k < 3);
    examples.push_back(one("repeat_elements", {A}, O, {{"A", a}}, o));
  }
  {
    TensorIndex i, k;
    Grid a = numbers({4, 1}), o({4});
    for (int u = 0; u < 4; ++u) o(u) = a(u, 0);
    const auto A = input("A", {4, 1});
    auto O = TensorOutput(4);
    O(i) = A(i, k);  // k has one value: no collision
    examples.push_back(one("assign_of_one", {A}, O, {{"A", a}}, o));
  }
}

void add_combinations(std::vector<Example>& examples) {
  TensorIndex i, j;
  Grid a = numbers({3}), b = numbers({4}, 2), c = numbers({3, 4}, 3), product({3}), sum({3}), largest({3});
  for (int u = 0; u < 3; ++u) {
    largest(u) = -std::numeric_limits<double>::infinity();
    for (int v = 0; v < 4; ++v) {
      product(u) += a(u) * b(v) * c(u, v) * a(u);
      sum(u) += a(u) + b(v) + c(u, v);
      largest(u) = std::max(largest(u), a(u) + b(v));
    }
  }
  const auto A = input("A", {3}), B = input("B", {4}), C = input("C", {3, 4});
  auto P = TensorOutput(3), S = TensorOutput(3), L = TensorOutput(3);
  P(i) += A(i) * B(j) * (C(i, j) * A(i));
  S(i) += A(i) + B(j) + C(i, j);
  L(i) >= A(i) + B(j);
  examples.push_back({"combinations",
                      Program("combinations", {A, B, C}, {{"P", P}, {"S", S}, {"L", L}}),
                      {{"A", a}, {"B", b}, {"C", c}},
                      {{"P", product}, {"S", sum}, {"L", largest}}});
}

void add_defaults(std::vector<Example>& examples) {
  TensorIndex i;
  Grid a = numbers({3}), d = numbers({6}, 2), o = d, filled({6}, -1);
  for (int u = 0; u < 3; ++u) o(2 * u) = filled(2 * u) = a(u);
  const auto A = input("A", {3}), D = input("D", {6});
  auto O = TensorOutput(6), F = TensorOutput(6), E = TensorOutput(6);
  O(2 * i) = A(i);
  O.use_default(D);
  F.use_default(-1);
  F(2 * i) = A(i);
  E(i) += A(i);
  E.add_constraints({i - 3 < 4}).use_default(D);  // nothing is valid
  examples.push_back({"defaults",
                      Program("defaults", {A, D}, {{"O", O}, {"F", F}, {"E", E}}),
                      {{"A", a}, {"D", d}},
                      {{"O", o}, {"F", filled}, {"E", d}}});
  auto Z = TensorOutput(6);
  Z(i) >= A(i);
  Z.add_constraint(i - 5 < 2);
  examples.push_back(one("empty", {A}, Z, {{"A", a}}, Grid({6})));
}

void add_broadcasting(std::vector<Example>& examples) {
  Grid a = numbers({2, 1, 3}), b = numbers({4, 1}, 2), c = numbers({3}, 3), o({2, 4, 3}), chosen({2, 4, 3});
  for (int u = 0; u < 2; ++u)
    for (int v = 0; v < 4; ++v)
      for (int w = 0; w < 3; ++w) {
        o(u, v, w) = a(u, 0, w) * b(v, 0) - (c(w) + c(w)) * 2;
        chosen(u, v, w) = b(v, 0) < c(w) ? a(u, 0, w) : -1;
      }
  const auto A = input("A", {2, 1, 3}), B = input("B", {4, 1}), C = input("C", {3});
  const auto twice = C + C;
  examples.push_back({"broadcasting",
                      Program("broadcasting", {A, B, C},
                              {{"O", A * B - twice * 2}, {"S", select(B < C, A, -1)}, {"T", twice}, {"I", C}}),
                      {{"A", a}, {"B", b}, {"C", c}},
                      {{"O", o}, {"S", chosen}, {"T", Grid({3}, {2 * c(0), 2 * c(1), 2 * c(2)})}, {"I", c}}});
}

template <typename F>
Grid map(const Grid& a, F f) {
  Grid result = a;
  for (auto& value : result.values) value = f(value);
  return result;
}

template <typename F>
Grid zip(const Grid& a, const Grid& b, F f) {
  Grid result = a;
  for (size_t i = 0; i < a.values.size(); ++i) result.values[i] = f(a.values[i], b.values[i]);
  return result;
}

void add_elementwise(std::vector<Example>& examples) {
  const Grid a = numbers({13}), b = map(numbers({13}, 2), [](double v) { return v == 0 ? 5.0 : v; });
  const Grid p = map(a, [](double v) { return std::abs(v) / 4 + 0.5; });
  const auto A = input("A", {13}), B = input("B", {13}), P = input("P", {13});
  examples.push_back({"arithmetic",
                      Program("arithmetic", {A, B},
                              {{"add", A + B},
                               {"sub", A - B},
                               {"mul", A * B},
                               {"quotient", A / B},
                               {"neg", -A},
                               {"from", 2 - A},
                               {"eq", A == B},
                               {"ne", A != B},
                               {"lt", A < B},
                               {"le", A <= B},
                               {"gt", A > B},
                               {"ge", A >= 1}}),
                      {{"A", a}, {"B", b}},
                      {{"add", zip(a, b, std::plus<>())},
                       {"sub", zip(a, b, std::minus<>())},
                       {"mul", zip(a, b, std::multiplies<>())},
                       {"quotient", zip(a, b, std::divides<>())},
                       {"neg", map(a, std::negate<>())},
                       {"from", map(a, [](double v) { return 2 - v; })},
                       {"eq", zip(a, b, std::equal_to<>())},
                       {"ne", zip(a, b, std::not_equal_to<>())},
                       {"lt", zip(a, b, std::less<>())},
                       {"le", zip(a, b, std::less_equal<>())},
                       {"gt", zip(a, b, std::greater<>())},
                       {"ge", map(a, [](double v) { return v >= 1 ? 1.0 : 0.0; })}},
                      1e-6});
  examples.push_back({"functions",
                      Program("functions", {A, B, P},
                              {{"exp_", exp(P)},
                               {"log_", log(P)},
                               {"pow_", pow(P, B)},
                               {"square", pow(A, 2)},
                               {"sin_", sin(A)},
                               {"cos_", cos(A)},
                               {"tan_", tan(P)},
                               {"tanh_", tanh(A)},
                               {"sqrt_", sqrt(P)},
                               {"abs_", abs(A)},
                               {"floor_", floor(P)},
                               {"ceil_", ceil(P)},
                               {"sigmoid_", sigmoid(A)},
                               {"relu_", relu(A)},
                               {"min_", min(A, B)},
                               {"max_", max(A, 0.5)},
                               {"select_", select(A > B, A, B)}}),
                      {{"A", a}, {"B", b}, {"P", p}},
                      {{"exp_", map(p, [](double v) { return std::exp(v); })},
                       {"log_", map(p, [](double v) { return std::log(v); })},
                       {"pow_", zip(p, b, [](double v, double w) { return std::pow(v, w); })},
                       {"square", map(a, [](double v) { return v * v; })},
                       {"sin_", map(a, [](double v) { return std::sin(v); })},
                       {"cos_", map(a, [](double v) { return std::cos(v); })},
                       {"tan_", map(p, [](double v) { return std::tan(v); })},
                       {"tanh_", map(a, [](double v) { return std::tanh(v); })},
                       {"sqrt_", map(p, [](double v) { return std::sqrt(v); })},
                       {"abs_", map(a, [](double v) { return std::abs(v); })},
                       {"floor_", map(p, [](double v) { return std::floor(v); })},
                       {"ceil_", map(p, [](double v) { return std::ceil(v); })},
                       {"sigmoid_", map(a, [](double v) { return 1 / (1 + std::exp(-v)); })},
                       {"relu_", map(a, [](double v) { return std::max(v, 0.0); })},
                       {"min_", zip(a, b, [](double v, double w) { return std::min(v, w); })},
                       {"max_", map(a, [](double v) { return std::max(v, 0.5); })},
                       {"select_", zip(a, b, [](double v, double w) { return v > w ? v : w; })}},
                      1e-5});
}

void add_types(std::vector<Example>& examples) {
  TensorDim N;
  TensorIndex i, k;
  Grid a({1, 4}, {100, 100, 100, -50}), b({4}, {3, 3, 3, 1});
  const auto A = input("A", {1, 4}, DType::I8), B = input("B", {4}, DType::I8);
  B.bind_dims(N);
  auto S = TensorOutput(1), M = TensorOutput(1);
  S(i) += A(i, k) * B(k);  // in int32
  M(i) >= A(i, k) * B(k);  // in int8: 300 wraps to 44
  const Grid floors({4}, {50, 50, 50, -25}), shares({4}, {0, 0, 0, 0});
  const auto I = input("I", {4}, DType::I32);
  const Grid odd({4}, {7, -7, 8, -8});
  examples.push_back({"types",
                      Program("types", {A, B, I},
                              {{"S", S},
                               {"M", M},
                               {"halves", I / 2},
                               {"quarters", I / N},
                               {"reals", I * 0.5},
                               {"whole", cast(I * 0.5, DType::I32)},
                               {"both", (I > 0) * (I < 8)},
                               {"either", (I > 7) + (I < -7)}}),
                      {{"A", a}, {"B", b}, {"I", odd}},
                      {{"S", Grid({1}, {850})},
                       {"M", Grid({1}, {44})},
                       {"halves", Grid({4}, {3, -4, 4, -4})},
                       {"quarters", Grid({4}, {1, -2, 2, -2})},
                       {"reals", Grid({4}, {3.5, -3.5, 4, -4})},
                       {"whole", Grid({4}, {3, -3, 4, -4})},
                       {"both", Grid({4}, {1, 0, 0, 0})},
                       {"either", Grid({4}, {0, 0, 1, 1})}}});
}

// Circular shifts, sums over residues, every second element; of a negative number it is what is left to the next lower
// multiple.
void add_remainders(std::vector<Example>& examples) {
  TensorIndex i, j;
  Grid a = numbers({7}), k = numbers({3}, 2), circular({7}), residues({3}), even({7}), shifted({2, 7});
  for (int u = 0; u < 7; ++u) {
    for (int v = 0; v < 3; ++v) circular(u) += a((u + v) % 7) * k(v);
    residues(u % 3) += a(u);
    if (u % 2 == 0) even(u) = a(u);
    for (int v = 0; v < 2; ++v) shifted(v, u) = a((u - 3 * v + 7) % 7);
  }
  const auto A = input("A", {7}), K = input("K", {3});
  auto C = TensorOutput(7), R = TensorOutput(3), E = TensorOutput(7), S = TensorOutput(2, 7);
  C(i) += A((i + j) % 7) * K(j);
  R(i % 3) += A(i);
  E(i) += A(i);
  E.add_constraint(i % 2 < 1);
  S(j, i) = A((i - 3 * j) % 7);
  examples.push_back({"remainders",
                      Program("remainders", {A, K}, {{"C", C}, {"R", R}, {"E", E}, {"S", S}}),
                      {{"A", a}, {"K", k}},
                      {{"C", circular}, {"R", residues}, {"E", even}, {"S", shifted}}});
}

// Softmax: a reduction feeds an elementwise chain that feeds a reduction.
void add_chain(std::vector<Example>& examples) {
  TensorIndex i, j;
  Grid a = numbers({3, 5}), o({3, 5});
  for (int u = 0; u < 3; ++u) {
    double total = 0;
    for (int v = 0; v < 5; ++v) total += std::exp(a(u, v));
    for (int v = 0; v < 5; ++v) o(u, v) = std::exp(a(u, v)) / total;
  }
  const auto A = input("A", {3, 5});
  auto M = TensorOutput(3, 1), S = TensorOutput(3, 1);
  M(i, 0) >= A(i, j);
  const auto E = exp(A - M);
  S(i, 0) += E(i, j);
  examples.push_back(one("softmax", {A}, E / S, {{"A", a}}, o, 1e-5));
}

}  // namespace

std::vector<Example> rule_examples() {
  std::vector<Example> examples;
  add_exact_division(examples);
  add_remainders(examples);
  add_joint_bounds(examples);
  add_aggregations(examples);
  add_combinations(examples);
  add_defaults(examples);
  add_broadcasting(examples);
  add_elementwise(examples);
  add_types(examples);
  add_chain(examples);
  return examples;
}

}  // namespace tile_tune::edsl::test
