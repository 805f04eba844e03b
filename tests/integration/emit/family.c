/* Calls the entry of the package "family" at many sizes; prints the first failure and returns 1. */
#include <family.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* As <dlpack/dlpack.h> lays it out. */
struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

enum { K = 19, MOST = 130 };
static float a[MOST * K + 1], b[K * MOST + 1], c[MOST * MOST + 1];

static void check_product(int m, int n, int by_tensors) {
  for (int i = 0; i < m * K; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * n; ++i) b[i] = (float)(i % 11 - 5);
  memset(c, 0x5a, sizeof c);
  if (by_tensors) {
    int64_t shape_a[] = {m, K}, shape_b[] = {K, n}, shape_c[] = {m, n};
    struct DLTensor ta = {a, {1, 0}, 2, {2, 32, 1}, shape_a, NULL, 0}, tb = ta, tc = ta;
    tb.data = b, tb.shape = shape_b, tc.data = c, tc.shape = shape_c;
    struct DLTensor *inputs[] = {&ta, &tb}, *outputs[] = {&tc};
    CHECK(product_dl(inputs, outputs) == FAMILY_OK);
    shape_b[0] = K + 1;
    CHECK(product_dl(inputs, outputs) == FAMILY_ERROR_SHAPE);
    shape_b[0] = K, shape_c[1] = n + 1;
    CHECK(product_dl(inputs, outputs) == FAMILY_ERROR_SHAPE);
    tc.ndim = 1;
    CHECK(product_dl(inputs, outputs) == FAMILY_ERROR_RANK);
    CHECK(product_dl(NULL, outputs) == FAMILY_ERROR_NULL_POINTER);
  } else {
    CHECK(product(m, n, a, b, c) == FAMILY_OK);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * n + j];
      CHECK(c[i * n + j] == sum);
    }
  CHECK(((unsigned char*)&c[m * n])[0] == 0x5a);
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 40, 41, 48, 64, 97, 129};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; ++j) check_product(sizes[i], sizes[j], (i + j) % 2);
  CHECK(product(0, 4, a, b, c) == FAMILY_ERROR_SHAPE);
  CHECK(product(4, -1, a, b, c) == FAMILY_ERROR_SHAPE);
  CHECK(product((int64_t)1 << 32, 4, a, b, c) == FAMILY_ERROR_SHAPE);
  CHECK(product(INT32_MAX, INT32_MAX, NULL, b, c) != FAMILY_OK);
  CHECK(product(4, 4, NULL, b, c) == FAMILY_ERROR_NULL_POINTER);
  CHECK(product(4, 4, a, b, a) == FAMILY_ERROR_OVERLAP);
  CHECK(product(4, 4, (const float*)((char*)a + 1), b, c) == FAMILY_ERROR_MISALIGNED);
  CHECK(product_unchecked(3, 5, a, b, c) == FAMILY_OK);
  family_context* context = family_context_create();
  CHECK(product_ctx(context, 33, 21, a, b, c) == FAMILY_OK);
  CHECK(product_ctx(NULL, 33, 21, a, b, c) == FAMILY_ERROR_NULL_POINTER);
  family_context_destroy(context);
  return 0;
}
