/* Multiplies two matrices with an emitted library and compares the result with a plain loop. */
#include <math.h>
#include <matmul.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = matmul_A_extent0, K = matmul_A_extent1, N = matmul_B_extent1 };

/* Small values of both signs, the same on every machine. */
static void fill(float* values, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
}

/* Largest difference to a plain loop in double precision. */
static double largest_error(const float* A, const float* B, const float* C) {
  double largest = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += (double)A[i * K + k] * B[k * N + j];
      const double error = fabs(C[i * N + j] - sum);
      if (!(error <= largest)) largest = error; /* a NaN stays */
    }
  }
  return largest;
}

int main(void) {
  float* A = malloc(sizeof(float) * M * K);
  float* B = malloc(sizeof(float) * K * N);
  float* C = malloc(sizeof(float) * M * N);
  if (!A || !B || !C) return 1;
  fill(A, M * K, 1);
  fill(B, K * N, 2);

  const int status = matmul(A, B, C);
  if (status != MATMUL_OK) {
    fprintf(stderr, "matmul: %s\n", matmul_error_string(status));
    return 1;
  }
  const double error = largest_error(A, B, C);
  printf("C: %d x %d x %d, largest error %.1e\n", M, N, K, error);
  free(A);
  free(B);
  free(C);
  /* |terms| <= 1 and float rounds to 2^-24: K additions stay within K * K * 2^-24, mostly far below. */
  return error <= (double)K * K / (1 << 24) ? 0 : 1;
}
