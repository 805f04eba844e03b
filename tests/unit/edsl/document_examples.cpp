// Every function of the user's document, typed as its author meant it.
#include <algorithm>
#include <limits>

#include "tests/unit/edsl/example.h"

namespace tile_tune::edsl::test {

namespace {

Tensor sum_over_axis(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(N);
  O(n) += I(m, n);  // contraction
  return O;
}

Tensor sum_over_axis_sized(const Tensor& I, int64_t more) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(N + more);
  O(n) += I(m, n);
  return O;
}

Tensor max_over_axis(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(N);
  O(n) >= I(m, n);
  return O;
}

Tensor matmul(const Tensor& A, const Tensor& B) {
  TensorDim I, J, K;
  TensorIndex i, j, k;
  A.bind_dims(I, K);
  B.bind_dims(K, J);
  auto C = TensorOutput(I, J);
  C(i, j) += A(i, k) * B(k, j);
  return C;
}

Tensor global_min(const Tensor& I) {
  TensorIndex i, j, k;
  auto Neg = -I;
  auto O_Neg = TensorOutput();
  O_Neg() >= Neg(i, j, k);
  auto O = -O_Neg;
  return O;
}

// The document declares TensorOutput() here and then writes Sum(y): errors_test.cpp has it as typed.
Tensor avg(const Tensor& I) {
  TensorDim X, Y;
  TensorIndex x, y;
  I.bind_dims(X, Y);
  auto Sum = TensorOutput(Y);
  Sum(y) += I(x, y);
  return Sum / X;
}

Tensor avg_stages(const Tensor& I) {
  TensorDim X, Y;
  TensorIndex x, y;
  I.bind_dims(X, Y);
  auto Sum = TensorOutput();
  Sum() += I(x, y);
  auto PartialMean = Sum / X;
  return PartialMean / Y;
}

Tensor avg_merge(const Tensor& I) {
  TensorDim X, Y;
  TensorIndex x, y;
  I.bind_dims(X, Y);
  auto Sum = TensorOutput();
  Sum() += I(x, y);
  return Sum / (X * Y);
}

Tensor wrong_max_pool_1d(const Tensor& I) {
  TensorDim N;
  TensorIndex i, j;
  I.bind_dims(N);
  auto O = TensorOutput(N / 2);
  O(i) >= I(2 * i + j);
  return O;
}

Tensor max_pool_1d_down(const Tensor& I) {
  TensorDim N;
  TensorIndex i, j;
  I.bind_dims(N);
  auto O = TensorOutput(N / 2);
  O(i) >= I(2 * i + j);
  O.add_constraint(j < 2);
  return O;
}

Tensor max_pool_1d(const Tensor& I) {
  TensorDim N;
  TensorIndex i, j;
  I.bind_dims(N);
  auto O = TensorOutput((N + 1) / 2);
  O(i) >= I(2 * i + j);
  O.add_constraint(j < 2);
  return O;
}

Tensor skip(const Tensor& I) {
  TensorDim M, N;
  TensorIndex i, j;
  I.bind_dims(M, N);
  auto O = TensorOutput(N);
  O(2 * i) += I(2 * i, j);
  return O;
}

Tensor csum(const Tensor& I) {
  TensorDim N;
  TensorIndex i, k;
  I.bind_dims(N);
  auto O = TensorOutput(N);
  O(i) += I(k);
  O.add_constraint(i - k < N);
  return O;
}

Tensor conv_1d(const Tensor& I, const Tensor& K) {
  TensorDim N, X, KX, CI, CO;
  TensorIndex n, x, k, ci, co;
  I.bind_dims(N, X, CI);
  K.bind_dims(KX, CI, CO);
  auto O = TensorOutput(N, X - KX + 1, CO);
  O(n, x, co) += I(n, x + k, ci) * K(k, ci, co);
  return O;
}

Tensor conv_2d(const Tensor& I, const Tensor& K) {
  TensorDim N, X, Y, KX, KY, CI, CO;
  TensorIndex n, x, y, kx, ky, ci, co;
  I.bind_dims(N, X, Y, CI);
  K.bind_dims(KX, KY, CI, CO);
  auto O = TensorOutput(N, X - 2 * (KX - 1), Y - 3 * (KY - 1), CO);
  O(n, x, y, co) += I(n, x + 2 * kx, y + 3 * ky, ci) * K(kx, ky, ci, co);
  return O;
}

// The document redeclares K, and uses Y0, Y1, k0 and k1 without declaring them.
Tensor complex_conv_2d(const Tensor& I, const Tensor& K,
                       const std::vector<size_t>& s,  // stride coeffs
                       const std::vector<size_t>& d   // dilation coeffs
) {
  TensorDim N, G, GCI, GCO;
  std::vector<TensorDim> X(2);
  std::vector<TensorDim> KS(2);
  TensorIndex n, g, gci, gco;
  std::vector<TensorIndex> x(2);
  std::vector<TensorIndex> k(2);
  I.bind_dims(N, X[0], X[1], G, GCI);
  K.bind_dims(KS[0], KS[1], G, GCI, GCO);
  // Compute output spatial dimensions
  std::vector<TensorDim> Y(2);
  for (size_t i = 0; i < Y.size(); ++i) {
    Y[i] = (X[i] + s[i] - 1) / s[i];
  }
  // Compute the effective kernel size after dilation
  std::vector<TensorDim> EK(2);
  for (size_t i = 0; i < EK.size(); ++i) {
    EK[i] = d[i] * (KS[i] - 1) + 1;
  }
  // Compute the padding offset
  std::vector<TensorDim> P(2);
  for (size_t i = 0; i < P.size(); ++i) {
    P[i] = ((Y[i] - 1) * s[i] + EK[i] - X[i]) / 2;
  }
  // Specify the output size
  auto O = TensorOutput(N, Y[0], Y[1], G, GCO);
  // Compute the convolution
  O(n, x[0], x[1], g, gco) +=
      I(n, s[0] * x[0] + d[0] * k[0] - P[0], s[1] * x[1] + d[1] * k[1] - P[1], g, gci) * K(k[0], k[1], g, gci, gco);
  return O;
}

// ---- the same by loops ----

Program of_one_output(const std::string& name, const std::vector<Tensor>& inputs, const Tensor& output) {
  return Program(name, inputs, {{"O", output}});
}

void add_sums(std::vector<Example>& examples) {
  constexpr int64_t M = 5, N = 7;
  Grid I = numbers({M, N});
  const auto A = input("I", {M, N});
  Grid sum({N}), padded({N + 1}), truncated({N - 1}), mean({N}), total({});
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) {
      sum(n) += I(m, n);
      padded(n) += I(m, n);
      if (n < N - 1) truncated(n) += I(m, n);
      total() += I(m, n);
    }
  for (int64_t n = 0; n < N; ++n) mean(n) = sum(n) / M;
  Grid global({}, total() / (M * N));
  examples.push_back({"sum", of_one_output("sum", {A}, sum_over_axis(A)), {{"I", I}}, {{"O", sum}}});
  examples.push_back(
      {"sum_padded", of_one_output("sum_padded", {A}, sum_over_axis_sized(A, 1)), {{"I", I}}, {{"O", padded}}});
  examples.push_back({"sum_truncated",
                      of_one_output("sum_truncated", {A}, sum_over_axis_sized(A, -1)),
                      {{"I", I}},
                      {{"O", truncated}}});
  examples.push_back({"avg", of_one_output("avg", {A}, avg(A)), {{"I", I}}, {{"O", mean}}, 1e-6});
  examples.push_back(
      {"avg_stages", of_one_output("avg_stages", {A}, avg_stages(A)), {{"I", I}}, {{"O", global}}, 1e-6});
  examples.push_back({"avg_merge", of_one_output("avg_merge", {A}, avg_merge(A)), {{"I", I}}, {{"O", global}}, 1e-6});
}

void add_extremes(std::vector<Example>& examples) {
  constexpr int64_t M = 5, N = 3, K = 2;
  Grid I = numbers({M, N});
  for (auto& value : I.values) value -= 7;  // all negative: a maximum that starts from 0 shows
  Grid largest({N}, -std::numeric_limits<double>::infinity());
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) largest(n) = std::max(largest(n), I(m, n));
  const auto A = input("I", {M, N});
  examples.push_back(
      {"max_negative", of_one_output("max_negative", {A}, max_over_axis(A)), {{"I", I}}, {{"O", largest}}});

  Grid cube = numbers({M, N, K}, 2);
  for (auto& value : cube.values) value += 9;  // all positive
  Grid smallest({}, *std::min_element(cube.values.begin(), cube.values.end()));
  const auto B = input("I", {M, N, K});
  examples.push_back({"global_min", of_one_output("global_min", {B}, global_min(B)), {{"I", cube}}, {{"O", smallest}}});
}

void add_matmul(std::vector<Example>& examples) {
  constexpr int64_t M = 5, N = 3, K = 7;
  Grid a = numbers({M, K}), b = numbers({K, N}, 2), c({M, N});
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < K; ++k) c(i, j) += a(i, k) * b(k, j);
  const auto A = input("A", {M, K}), B = input("B", {K, N});
  examples.push_back({"matmul", of_one_output("matmul", {A, B}, matmul(A, B)), {{"A", a}, {"B", b}}, {{"O", c}}});
}

void add_pools(std::vector<Example>& examples) {
  for (const int64_t N : {6, 7}) {
    const std::string size = std::to_string(N);
    Grid I = numbers({N}, static_cast<int>(N));
    for (auto& value : I.values) value -= 8;
    const double largest = *std::max_element(I.values.begin(), I.values.end());
    Grid down({N / 2}), up({(N + 1) / 2}), wrong({N / 2}, largest);
    for (int64_t i = 0; i < (N + 1) / 2; ++i) {
      up(i) = 2 * i + 1 < N ? std::max(I(2 * i), I(2 * i + 1)) : I(2 * i);
      if (i < N / 2) down(i) = up(i);
    }
    const auto A = input("I", {N});
    examples.push_back(
        {"wrong_max_pool_" + size, of_one_output("pool", {A}, wrong_max_pool_1d(A)), {{"I", I}}, {{"O", wrong}}});
    examples.push_back(
        {"max_pool_down_" + size, of_one_output("pool", {A}, max_pool_1d_down(A)), {{"I", I}}, {{"O", down}}});
    examples.push_back({"max_pool_up_" + size, of_one_output("pool", {A}, max_pool_1d(A)), {{"I", I}}, {{"O", up}}});
  }
}

void add_skip_and_csum(std::vector<Example>& examples) {
  constexpr int64_t M = 6, N = 7;
  Grid I = numbers({M, N});
  Grid even({N});
  for (int64_t i = 0; 2 * i < M && 2 * i < N; ++i)
    for (int64_t j = 0; j < N; ++j) even(2 * i) += I(2 * i, j);
  const auto A = input("I", {M, N});
  examples.push_back({"skip", of_one_output("skip", {A}, skip(A)), {{"I", I}}, {{"O", even}}});

  Grid line = numbers({11}, 3), running({11});
  for (int64_t i = 0; i < 11; ++i) running(i) = line(i) + (i > 0 ? running(i - 1) : 0);
  const auto B = input("I", {11});
  examples.push_back({"csum", of_one_output("csum", {B}, csum(B)), {{"I", line}}, {{"O", running}}});
}

void add_convolutions(std::vector<Example>& examples) {
  {
    constexpr int64_t N = 2, X = 9, KX = 3, CI = 2, CO = 3;
    Grid I = numbers({N, X, CI}), K = numbers({KX, CI, CO}, 2), O({N, X - KX + 1, CO});
    for (int64_t n = 0; n < N; ++n)
      for (int64_t x = 0; x < X - KX + 1; ++x)
        for (int64_t co = 0; co < CO; ++co)
          for (int64_t k = 0; k < KX; ++k)
            for (int64_t ci = 0; ci < CI; ++ci) O(n, x, co) += I(n, x + k, ci) * K(k, ci, co);
    const auto A = input("I", I.shape), B = input("K", K.shape);
    examples.push_back({"conv_1d", of_one_output("conv_1d", {A, B}, conv_1d(A, B)), {{"I", I}, {"K", K}}, {{"O", O}}});
  }
  {
    constexpr int64_t N = 1, X = 9, Y = 11, KX = 3, KY = 2, CI = 2, CO = 3;
    Grid I = numbers({N, X, Y, CI}, 3), K = numbers({KX, KY, CI, CO}, 4);
    Grid O({N, X - 2 * (KX - 1), Y - 3 * (KY - 1), CO});
    for (int64_t x = 0; x < O.shape[1]; ++x)
      for (int64_t y = 0; y < O.shape[2]; ++y)
        for (int64_t co = 0; co < CO; ++co)
          for (int64_t kx = 0; kx < KX; ++kx)
            for (int64_t ky = 0; ky < KY; ++ky)
              for (int64_t ci = 0; ci < CI; ++ci)
                O(0, x, y, co) += I(0, x + 2 * kx, y + 3 * ky, ci) * K(kx, ky, ci, co);
    const auto A = input("I", I.shape), B = input("K", K.shape);
    examples.push_back(
        {"conv_2d_dilated", of_one_output("conv_2d_dilated", {A, B}, conv_2d(A, B)), {{"I", I}, {"K", K}}, {{"O", O}}});
  }
}

void add_complex_convolution(std::vector<Example>& examples, const std::vector<size_t>& strides,
                             const std::vector<size_t>& dilations, int64_t X0, int64_t X1) {
  constexpr int64_t N = 1, G = 2, GCI = 2, GCO = 3;
  const int64_t X[] = {X0, X1}, KS[] = {3, 2};
  const int64_t s[] = {static_cast<int64_t>(strides[0]), static_cast<int64_t>(strides[1])};
  const int64_t d[] = {static_cast<int64_t>(dilations[0]), static_cast<int64_t>(dilations[1])};
  int64_t Y[2], P[2];
  for (int i = 0; i < 2; ++i) {
    Y[i] = (X[i] + s[i] - 1) / s[i];
    P[i] = ((Y[i] - 1) * s[i] + d[i] * (KS[i] - 1) + 1 - X[i]) / 2;
  }
  Grid I = numbers({N, X[0], X[1], G, GCI}, 5), K = numbers({KS[0], KS[1], G, GCI, GCO}, 6);
  Grid O({N, Y[0], Y[1], G, GCO});
  for (int64_t x0 = 0; x0 < Y[0]; ++x0)
    for (int64_t x1 = 0; x1 < Y[1]; ++x1)
      for (int64_t k0 = 0; k0 < KS[0]; ++k0)
        for (int64_t k1 = 0; k1 < KS[1]; ++k1) {
          const int64_t at0 = s[0] * x0 + d[0] * k0 - P[0], at1 = s[1] * x1 + d[1] * k1 - P[1];
          if (at0 < 0 || at0 >= X[0] || at1 < 0 || at1 >= X[1]) continue;
          for (int64_t g = 0; g < G; ++g)
            for (int64_t ci = 0; ci < GCI; ++ci)
              for (int64_t co = 0; co < GCO; ++co) O(0, x0, x1, g, co) += I(0, at0, at1, g, ci) * K(k0, k1, g, ci, co);
        }
  const auto A = input("I", I.shape), B = input("K", K.shape);
  const std::string name = "complex_conv_2d_" + std::to_string(s[0]) + std::to_string(d[0]);
  examples.push_back({name,
                      of_one_output("complex_conv_2d", {A, B}, complex_conv_2d(A, B, strides, dilations)),
                      {{"I", I}, {"K", K}},
                      {{"O", O}}});
}

}  // namespace

std::vector<Example> document_examples() {
  std::vector<Example> examples;
  add_sums(examples);
  add_extremes(examples);
  add_matmul(examples);
  add_pools(examples);
  add_skip_and_csum(examples);
  add_convolutions(examples);
  add_complex_convolution(examples, {1, 1}, {1, 1}, 5, 4);
  add_complex_convolution(examples, {2, 3}, {2, 1}, 9, 7);
  add_complex_convolution(examples, {1, 2}, {3, 2}, 7, 8);
  return examples;
}

}  // namespace tile_tune::edsl::test
