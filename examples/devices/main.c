/* A product on a GPU: once on memory of the device, in a stream of the program's own, and once on memory of the host,
 * which is copied. */
#include <math.h>
#include <matmul.h>
#include <stdio.h>

#include "cuda_driver.h"

enum { M = matmul_A_extent0, K = matmul_A_extent1, N = matmul_B_extent1 };

static _Alignas(16) float A[M][K], B[K][N], C[M][N];

static int report(const char* what, int status) {
  double largest = 0;
  for (int i = 0; i < M && status == MATMUL_OK; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += (double)A[i][k] * B[k][j];
      if (!(fabs(C[i][j] - sum) <= largest)) largest = fabs(C[i][j] - sum);
    }
  if (status != MATMUL_OK)
    printf("%s: %s: %s\n", what, matmul_error_string(status), matmul_device_message());
  else
    printf("%s: %d x %d x %d, largest error %.1e\n", what, M, N, K, largest);
  return status;
}

int main(void) {
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) A[i][k] = (float)(i % 7 - k % 5) / 8;
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) B[k][j] = (float)(k % 3 - j % 11) / 8;
  if (report("from the host", matmul(&A[0][0], &B[0][0], &C[0][0])) != MATMUL_OK) return 1;

  struct cuda_driver cuda;
  void* stream;
  uint64_t a, b, c;
  if (!cuda_open(&cuda, 0, &stream)) return 1;
  if (cuda.allocate(&a, sizeof A) != 0 || cuda.allocate(&b, sizeof B) != 0 || cuda.allocate(&c, sizeof C) != 0)
    return 1;
  cuda.to_device(a, A, sizeof A, stream);
  cuda.to_device(b, B, sizeof B, stream);
  /* It launches and returns. */
  const int status =
      matmul_device(stream, (const float*)(uintptr_t)a, (const float*)(uintptr_t)b, (float*)(uintptr_t)c);
  cuda.to_host(C, c, sizeof C, stream);
  if (cuda.wait(stream) != 0 || report("on the device", status) != MATMUL_OK) return 1;
  matmul_device_release(stream); /* what is kept for the stream, before it goes */
  cuda.release(a);
  cuda.release(b);
  cuda.release(c);
  return 0;
}
