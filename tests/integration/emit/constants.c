/* Calls the kernels of the package "weights", whose operand B is constant; prints the first failure and returns 1. */
#include <string.h>
#include <weights.h>

#include "caller.h"

/* Whole numbers, so that sums are exact in any order. */
#define CHECK_PRODUCT(name, type, start)                                                                         \
  do {                                                                                                           \
    enum { M = name##_A_extent0, K = name##_A_extent1, N = name##_B_extent1 };                                   \
    type a[M * K + 1], b[K * N + 1], c[M * N], before[K * N + 1];                                                \
    for (int i = 0; i < M * K; ++i) a[i] = (type)(i % 7 - 3);                                                    \
    for (int i = 0; i < K * N; ++i) b[i] = (type)(i % 11 - 5);                                                   \
    memcpy(before, b, sizeof b);                                                                                 \
    const size_t bytes = name##_pack_B_bytes();                                                                  \
    CHECK(bytes % 64 == 0 && bytes >= K * N * sizeof(type));                                                     \
    unsigned char* packed = aligned_alloc(64, bytes + 64);                                                       \
    memset(packed, 0x5a, bytes + 64);                                                                            \
    CHECK(name##_pack_B(b, packed) == WEIGHTS_OK);                                                               \
    CHECK(packed[bytes] == 0x5a && memcmp(before, b, sizeof b) == 0);                                            \
    memset(b, 0, sizeof b); /* the kernel does not look at it any more */                                        \
    for (int call = 0; call < 3; ++call) {                                                                       \
      for (int i = 0; i < M * N; ++i) c[i] = (type)(start);                                                      \
      CHECK((call == 1 ? name##_unchecked : name)(a, packed, c) == WEIGHTS_OK);                                  \
      for (int m = 0; m < M; ++m)                                                                                \
        for (int n = 0; n < N; ++n) {                                                                            \
          type sum = (type)(start);                                                                              \
          for (int k = 0; k < K; ++k) sum += a[m * K + k] * before[k * name##_B_stride0 + n * name##_B_stride1]; \
          CHECK(c[m * N + n] == sum);                                                                            \
        }                                                                                                        \
    }                                                                                                            \
    free(packed);                                                                                                \
  } while (0)

static void check_codes(void) {
  static float a[5 * 3], b[3 * 40 + 1], c[5 * 40];
  unsigned char* packed = aligned_alloc(64, whole_pack_B_bytes() + 64);
  CHECK(whole_pack_B(NULL, packed) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole_pack_B(b, NULL) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole_pack_B((const float*)((const char*)b + 1), packed) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole_pack_B(b, packed + 4) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole_pack_B((const float*)(packed + 4), packed) == WEIGHTS_ERROR_OVERLAP);
  CHECK(whole(a, packed + 4, c) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole(a, NULL, c) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole(a, packed, (float*)packed) == WEIGHTS_ERROR_OVERLAP);
  CHECK(empty_pack_B_bytes() == 0 && empty_pack_B(NULL, NULL) == WEIGHTS_OK);
  float nothing[2 * 9];
  CHECK(empty(NULL, NULL, nothing) == WEIGHTS_OK && nothing[17] == 0);
  free(packed);
}

static void check_tensors(void) {
  float a[5 * 3], b[3 * 40], c[5 * 40];
  for (int i = 0; i < 15; ++i) a[i] = 1;
  for (int i = 0; i < 120; ++i) b[i] = (float)i;
  void* packed = aligned_alloc(64, whole_pack_B_bytes());
  CHECK(whole_pack_B(b, packed) == WEIGHTS_OK);
  int64_t of_a[] = {5, 3}, of_c[] = {5, 40}, bytes[] = {(int64_t)whole_pack_B_bytes()}, of_b[] = {3, 40};
  struct DLTensor tensors[] = {{a, {1, 0}, 2, {2, 32, 1}, of_a, NULL, 0},
                               {packed, {1, 0}, 1, {1, 8, 1}, bytes, NULL, 0},
                               {c, {1, 0}, 2, {2, 32, 1}, of_c, NULL, 0}};
  struct DLTensor *inputs[] = {&tensors[0], &tensors[1]}, *outputs[] = {&tensors[2]};
  CHECK(whole_dl(inputs, outputs) == WEIGHTS_OK && c[0] == 120 && c[199] == 237);
  /* The unpacked operand is not what it takes. */
  struct DLTensor unpacked = {b, {1, 0}, 2, {2, 32, 1}, of_b, NULL, 0};
  inputs[1] = &unpacked;
  CHECK(whole_dl(inputs, outputs) == WEIGHTS_ERROR_DTYPE);
  free(packed);
}

int main(void) {
  CHECK_PRODUCT(whole, float, 0);
  CHECK_PRODUCT(in_part, float, 2);
  CHECK_PRODUCT(plain, float, 0);
  CHECK_PRODUCT(columns, double, 0);
  check_codes();
  check_tensors();
  return 0;
}
