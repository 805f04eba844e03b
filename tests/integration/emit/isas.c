/* Calls the kernel of the package "isas", which there is for three instruction sets, and prints which of them ran: each
 * packs B in a form of its own. Returns 1 if the product is wrong. */
#include <isas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = product_A_extent0, K = product_A_extent1, N = product_B_extent1 };

int main(void) {
  static float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) b[i] = (float)(i + 1); /* all different */
  const size_t bytes = product_pack_B_bytes();
  float* packed = aligned_alloc(64, bytes);
  memset(packed, 0x5a, bytes);
  if (product_pack_B(b, packed) != ISAS_OK || product(a, packed, c) != ISAS_OK) return 1;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0; /* of whole numbers below 2^24: exact in any order */
      for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
      if (c[m * N + n] != sum) return 1;
    }
  /* Behind the first row of the first block stands the second: the block's width. The plain form has no blocks. */
  int width = 1;
  while (packed[width] == b[width] && width < N) ++width;
  size_t used = (width == N ? K * N : (size_t)((N + width - 1) / width) * width * K) * sizeof(float);
  for (size_t i = used; i < bytes; ++i)
    if (((unsigned char*)packed)[i] != 0) return 1; /* what is left of the room for the largest form */
  printf("%d", width);
  free(packed);
  return 0;
}
