// The same in C++20 by matmul.hpp: spans, whose number of elements is checked, and a context of one's own.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <matmul.hpp>
#include <span>
#include <vector>

namespace {

constexpr std::size_t M = matmul_A_extent0, K = matmul_A_extent1, N = matmul_B_extent1;

// Small whole numbers, whose sums of products a float holds exactly.
float a(std::size_t i, std::size_t k) { return float((i + 3 * k) % 7); }
float b(std::size_t k, std::size_t j) { return float((2 * k + j) % 5) - 2; }

double expected(std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t k = 0; k < K; ++k) sum += double(a(i, k)) * b(k, j);
  return sum;
}

double largest_error(std::span<const float> C) {
  double largest = 0;
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < N; ++j)
      if (const double error = std::fabs(C[i * N + j] - expected(i, j)); !(error <= largest)) largest = error;
  return largest;
}

}  // namespace

int main() {
  std::vector<float> A(M * K), B(K * N), C(M * N);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t k = 0; k < K; ++k) A[i * K + k] = a(i, k);
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t j = 0; j < N; ++j) B[k * N + j] = b(k, j);

  const matmul_cpp::Context context = matmul_cpp::make_context();
  if (!context) return 1;
  matmul_context_set_num_threads(context.get(), 2);
  if (const matmul_status status = matmul_cpp::matmul(context, A, B, C)) {
    std::cerr << "matmul: " << matmul_error_string(status) << '\n';
    return 1;
  }

  const double error = largest_error(C);
  std::cout << "spans: " << M << " x " << N << " x " << K << ", largest error " << error << '\n';
  const auto too_short = std::span<const float>(A).first(A.size() - 1);
  std::cout << "an element too few: " << matmul_error_string(matmul_cpp::matmul(too_short, B, C)) << '\n';
  return error == 0 ? 0 : 1;
}
