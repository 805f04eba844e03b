// The same from C++: vectors, and errors as text.
#include <matmul.h>

#include <cmath>
#include <cstddef>
#include <iostream>
#include <random>
#include <vector>

namespace {

const std::size_t M = matmul_A_extent0, K = matmul_A_extent1, N = matmul_B_extent1;

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 2001) / 1000.0f - 1.0f;
  return values;
}

double largest_error(const std::vector<float>& A, const std::vector<float>& B, const std::vector<float>& C) {
  double largest = 0;
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < N; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum += double(A[i * K + k]) * B[k * N + j];
      const double error = std::fabs(C[i * N + j] - sum);
      if (!(error <= largest)) largest = error;  // a NaN stays
    }
  return largest;
}

}  // namespace

int main() {
  const std::vector<float> A = random_values(M * K, 1), B = random_values(K * N, 2);
  std::vector<float> C(M * N);

  if (const int status = matmul(A.data(), B.data(), C.data())) {
    std::cerr << "matmul: " << matmul_error_string(status) << '\n';
    return 1;
  }
  const double error = largest_error(A, B, C);
  std::cout << "C++: " << M << " x " << N << " x " << K << ", largest error " << error << '\n';
  std::cout << "without an output: " << matmul_error_string(matmul(A.data(), B.data(), nullptr)) << '\n';
  // |terms| <= 1 and float rounds to 2^-24: K additions stay within K * K * 2^-24, mostly far below.
  return error <= double(K) * double(K) / (1 << 24) ? 0 : 1;
}
