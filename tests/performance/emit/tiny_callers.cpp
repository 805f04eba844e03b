// Nanoseconds of a call of each tiny kernel (tiny_kernels.cpp), checked and unchecked, and of plain loops, as JSON:
// medians over rounds in which everybody runs in turn. Wrong results end the program.
#include <math.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tiny.h"

namespace {

constexpr int kRounds = 51, kCalls = 2000;

float a[4096], b[4096], c[4096], d[4096], out[4096], expected[4096];

template <int M, int N, int K>
[[gnu::noinline]] void plain_product(const float* A, const float* B, float* C) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) C[i * N + j] = 0;
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

[[gnu::noinline]] void plain_transposed(const float* A, const float* B, float* C) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += A[i * 8 + k] * B[j * 8 + k];
      C[i * 8 + j] = sum;
    }
}

[[gnu::noinline]] void plain_vector(const float* A, const float* x, float* y) {
  for (int i = 0; i < 16; ++i) {
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += A[i * 16 + k] * x[k];
    y[i] = sum;
  }
}

[[gnu::noinline]] void plain_dot(const float* x, const float* y, float* s) {
  float sum = 0;
  for (int i = 0; i < 300; ++i) sum += x[i] * y[i];
  *s = sum;
}

[[gnu::noinline]] void plain_rows(const float* A, float* s) {
  for (int i = 0; i < 16; ++i) {
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += A[i * 16 + j];
    s[i] = sum;
  }
}

[[gnu::noinline]] void plain_columns(const float* A, float* s) {
  for (int j = 0; j < 16; ++j) s[j] = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) s[j] += A[i * 16 + j];
}

[[gnu::noinline]] void plain_mlp(const float* I, const float* W1, const float* B1, const float* W2, float* R) {
  float G[2 * 8];
  plain_product<2, 8, 8>(I, W1, G);
  for (int i = 0; i < 2; ++i)
    for (int o = 0; o < 8; ++o) G[i * 8 + o] = fmaxf(G[i * 8 + o] + B1[o], 0);
  plain_product<2, 4, 8>(G, W2, R);
}

struct Case {
  const char* name;
  int outputs;
  std::function<void()> library, unchecked, plain;
};

double ns_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void verify(const Case& one) {
  for (const auto* call : {&one.library, &one.unchecked}) {
    std::fill(std::begin(out), std::end(out), NAN);
    (*call)();
    for (int i = 0; i < one.outputs; ++i) {
      if (fabsf(out[i] - expected[i]) <= 1e-3F) continue;
      fprintf(stderr, "%s: element %d is %g, expected %g\n", one.name, i, out[i], expected[i]);
      exit(1);
    }
  }
}

}  // namespace

int main() {
  for (int i = 0; i < 4096; ++i) {
    a[i] = static_cast<float>(i * 37 % 101 - 50) / 50;
    b[i] = static_cast<float>(i * 53 % 97 - 48) / 48;
    c[i] = static_cast<float>(i * 29 % 89 - 44) / 44;
    d[i] = static_cast<float>(i * 31 % 83 - 41) / 41;
  }
#define BINARY(name, outputs, plain)                                                                            \
  {                                                                                                             \
#name, outputs, [] { name(a, b, out); }, [] { name##_unchecked(a, b, out); }, [] { plain(a, b, expected); } \
  }
#define UNARY(name, outputs, plain)                                                                    \
  {                                                                                                    \
#name, outputs, [] { name(a, out); }, [] { name##_unchecked(a, out); }, [] { plain(a, expected); } \
  }
  const std::vector<Case> cases{BINARY(product4, 16, (plain_product<4, 4, 4>)),
                                BINARY(product8, 64, (plain_product<8, 8, 8>)),
                                BINARY(product7, 35, (plain_product<7, 5, 3>)),
                                BINARY(transposed8, 64, plain_transposed),
                                BINARY(vector16, 16, plain_vector),
                                BINARY(dot300, 1, plain_dot),
                                UNARY(rows16, 16, plain_rows),
                                UNARY(columns16, 16, plain_columns),
                                {"mlp", 8, [] { mlp(a, b, c, d, out); }, [] { mlp_unchecked(a, b, c, d, out); },
                                 [] { plain_mlp(a, b, c, d, expected); }}};
  printf("{");
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    one.plain();
    verify(one);
    std::vector<double> library, unchecked, plain;
    for (int round = 0; round < kRounds; ++round) {
      library.push_back(ns_of(one.library));
      unchecked.push_back(ns_of(one.unchecked));
      plain.push_back(ns_of(one.plain));
    }
    printf("%s\"%s\": {\"library\": %.1f, \"unchecked\": %.1f, \"plain\": %.1f}", i ? ", " : "", one.name,
           median(library), median(unchecked), median(plain));
  }
  printf("}\n");
}
