/* Calls the kernel of the package "isas", which there is for three instruction sets, and prints which of them ran: each
 * packs B in a form of its own. Returns 1 if the product is wrong. With "write" FILE the packed operand goes there;
 * with "read" FILE it comes from there, and what the kernel says to it is printed. */
#include <isas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = product_A_extent0, K = product_A_extent1, N = product_B_extent1 };

static float a[M * K], b[K * N], c[M * N];

static int write_to(const char* name, const product_packed_B* packed) {
  FILE* file = fopen(name, "wb");
  const size_t bytes = product_pack_B_bytes();
  return file == NULL || fwrite(packed, 1, bytes, file) != bytes || fclose(file) != 0;
}

static int read_from(const char* name, product_packed_B* packed) {
  FILE* file = fopen(name, "rb");
  const size_t bytes = product_pack_B_bytes();
  if (file == NULL || fread(packed, 1, bytes, file) != bytes || fclose(file) != 0) return 1;
  printf("%d", product(a, packed, c));
  return 0;
}

int main(int count, char** arguments) {
  for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) b[i] = (float)(i + 1); /* all different */
  const size_t bytes = product_pack_B_bytes();
  product_packed_B* operand = aligned_alloc(64, bytes);
  memset(operand, 0x5a, bytes);
  if (count == 3 && strcmp(arguments[1], "read") == 0) return read_from(arguments[2], operand);
  if (product_pack_B(b, operand) != ISAS_OK || product(a, operand, c) != ISAS_OK) return 1;
  if (count == 3) return write_to(arguments[2], operand);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0; /* of whole numbers below 2^24: exact in any order */
      for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
      if (c[m * N + n] != sum) return 1;
    }
  /* Behind the first row of the first block stands the second: the block's width. The plain form has no blocks. */
  const float* packed = (const float*)((const char*)operand + 64);
  int width = 1;
  while (packed[width] == b[width] && width < N) ++width;
  size_t used = (width == N ? K * N : (size_t)((N + width - 1) / width) * width * K) * sizeof(float);
  for (size_t i = used; i < bytes - 64; ++i)
    if (((unsigned char*)packed)[i] != 0) return 1; /* what is left of the room for the largest form */
  printf("%d", width);
  free(operand);
  return 0;
}
