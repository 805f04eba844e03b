/* Calls the kernels of the package "weights", whose operand B is constant; prints the first failure and returns 1. */
#define _GNU_SOURCE
#include <stdio.h>
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
    CHECK(bytes % 64 == 0 && bytes >= 64 + K * N * sizeof(type));                                                \
    name##_packed_B* packed = aligned_alloc(64, bytes + 64);                                                     \
    memset(packed, 0x5a, bytes + 64);                                                                            \
    CHECK(name##_pack_B(b, packed) == WEIGHTS_OK);                                                               \
    CHECK(((unsigned char*)packed)[bytes] == 0x5a && memcmp(before, b, sizeof b) == 0);                          \
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
  whole_packed_B* packed = aligned_alloc(64, whole_pack_B_bytes() + 64);
  whole_packed_B* beside = (void*)((char*)packed + 4);
  CHECK(whole_pack_B(NULL, packed) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole_pack_B(b, NULL) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole_pack_B((const float*)((const char*)b + 1), packed) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole_pack_B(b, beside) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole_pack_B((const float*)beside, packed) == WEIGHTS_ERROR_OVERLAP);
  CHECK(whole(a, beside, c) == WEIGHTS_ERROR_MISALIGNED);
  CHECK(whole(a, NULL, c) == WEIGHTS_ERROR_NULL_POINTER);
  CHECK(whole(a, packed, (float*)packed) == WEIGHTS_ERROR_OVERLAP);
  free(packed);
  /* Without elements there are still the bytes that say so. */
  CHECK(empty_pack_B_bytes() == 64);
  empty_packed_B* none = aligned_alloc(64, 64);
  memset(none, 0, 64);
  float nothing[2 * 9];
  CHECK(empty(NULL, none, nothing) == WEIGHTS_ERROR_NOT_PACKED);
  CHECK(empty_pack_B(NULL, none) == WEIGHTS_OK);
  CHECK(empty(NULL, none, nothing) == WEIGHTS_OK && nothing[17] == 0);
  free(none);
}

/* What is no packed operand, or another's, is refused by every checked entry, before anything is written. */
static void check_forms(void) {
  static float a[5 * 3], b[3 * 43], c[5 * 40];
  for (int i = 0; i < 15; ++i) a[i] = 1;
  for (int i = 0; i < 3 * 43; ++i) b[i] = (float)i;
  const size_t bytes = whole_pack_B_bytes();
  float* unpacked = aligned_alloc(64, bytes); /* more of it than B has, and at a multiple of 64 */
  memset(unpacked, 0, bytes);
  memcpy(unpacked, b, sizeof(float) * 3 * 40);
  memset(c, 0x5a, sizeof c);
  weights_context* context = weights_context_create();
  CHECK(whole(a, (void*)unpacked, c) == WEIGHTS_ERROR_NOT_PACKED);
  CHECK(whole_ctx(context, a, (void*)unpacked, c) == WEIGHTS_ERROR_NOT_PACKED);
  for (size_t i = 0; i < sizeof c; ++i) CHECK(((unsigned char*)c)[i] == 0x5a);
  CHECK(strstr(weights_error_string(WEIGHTS_ERROR_NOT_PACKED), "not in packed form") != NULL);
  CHECK(strstr(weights_error_string(WEIGHTS_ERROR_PACKED_FORM), "another kernel") != NULL);

  in_part_packed_B* other = aligned_alloc(64, in_part_pack_B_bytes());
  CHECK(in_part_pack_B(b, other) == WEIGHTS_OK);
  CHECK(whole(a, (void*)other, c) == WEIGHTS_ERROR_PACKED_FORM);
  columns_packed_B* wide = aligned_alloc(64, columns_pack_B_bytes());
  CHECK(columns_pack_B((const double*)unpacked, wide) == WEIGHTS_OK);
  CHECK(whole_ctx(context, a, (void*)wide, c) == WEIGHTS_ERROR_PACKED_FORM);

  whole_packed_B* packed = aligned_alloc(64, bytes);
  CHECK(whole_pack_B(b, packed) == WEIGHTS_OK && whole(a, packed, c) == WEIGHTS_OK && c[199] == 237);
  for (int i = 0; i < 64; ++i) {
    unsigned char* byte = (unsigned char*)packed + i;
    *byte ^= 1;
    CHECK(whole(a, packed, c) == (i < 8 ? WEIGHTS_ERROR_NOT_PACKED : WEIGHTS_ERROR_PACKED_FORM));
    memset(c, 0, sizeof c);
    CHECK(whole_unchecked(a, packed, c) == WEIGHTS_OK && c[199] == 237); /* as it says */
    *byte ^= 1;
  }
  /* An attempt to pack that failed has not spoilt what was there; one that succeeds makes it of whatever is. */
  CHECK(whole_pack_B((const float*)packed, packed) == WEIGHTS_ERROR_OVERLAP && whole(a, packed, c) == WEIGHTS_OK);
  memcpy(packed, other, 64);
  CHECK(whole_pack_B(b, packed) == WEIGHTS_OK && whole(a, packed, c) == WEIGHTS_OK);
  weights_context_destroy(context);
  free(packed), free(wide), free(other), free(unpacked);
}

/* Weights packed by one run of a program and loaded by the next. */
static void check_file(void) {
  float a[5 * 3], b[3 * 43], c[5 * 43] = {0};
  for (int i = 0; i < 15; ++i) a[i] = 1;
  for (int i = 0; i < 3 * 43; ++i) b[i] = (float)i;
  const size_t bytes = in_part_pack_B_bytes();
  in_part_packed_B* packed = aligned_alloc(64, bytes);
  CHECK(in_part_pack_B(b, packed) == WEIGHTS_OK);
  FILE* file = fopen("weights.packed", "wb");
  CHECK(file != NULL && fwrite(packed, 1, bytes, file) == bytes && fclose(file) == 0);
  memset(packed, 0, bytes);
  CHECK(in_part(a, packed, c) == WEIGHTS_ERROR_NOT_PACKED);
  file = fopen("weights.packed", "rb");
  CHECK(file != NULL && fread(packed, 1, bytes, file) == bytes && fgetc(file) == EOF && fclose(file) == 0);
  CHECK(in_part(a, packed, c) == WEIGHTS_OK && c[0] == 43 + 86 && c[5 * 43 - 1] == 42 + 85 + 128);
  /* The file says how long it is. */
  uint64_t said;
  memcpy(&said, (char*)packed + 16, sizeof said);
  CHECK(said == bytes);
  free(packed);
}

static void check_tensors(void) {
  float a[5 * 3], b[3 * 40], c[5 * 40];
  for (int i = 0; i < 15; ++i) a[i] = 1;
  for (int i = 0; i < 120; ++i) b[i] = (float)i;
  whole_packed_B* packed = aligned_alloc(64, whole_pack_B_bytes());
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
  /* Nor are fewer bytes, or as many that were not packed. */
  inputs[1] = &tensors[1];
  bytes[0] -= 64;
  CHECK(whole_dl(inputs, outputs) == WEIGHTS_ERROR_SHAPE);
  bytes[0] += 64;
  memset(packed, 0, 64);
  CHECK(whole_dl(inputs, outputs) == WEIGHTS_ERROR_NOT_PACKED);
  free(packed);
}

int main(void) {
  CHECK_PRODUCT(whole, float, 0);
  CHECK_PRODUCT(in_part, float, 2);
  CHECK_PRODUCT(plain, float, 0);
  CHECK_PRODUCT(columns, double, 0);
  check_codes();
  check_forms();
  check_file();
  check_tensors();
  return 0;
}
