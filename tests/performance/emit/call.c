/* Prints the ns that calls take: the median of 101 batches. */
#define _GNU_SOURCE
#include <first.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tiny.h>

struct DLTensor {
  void* data;
  int32_t device[2];
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

static float A[16], B[16], C[16], P[16 * 97], Q[97 * 131], R[16 * 131];
static tiny_context* context;
static tiny_dl_tensor *inputs[2], *outputs[1];

static void checked(void) { tiny(A, B, C); }
static void unchecked(void) { tiny_unchecked(A, B, C); }
static void with_context(void) { tiny_ctx(context, A, B, C); }
static void tensors(void) { tiny_dl(inputs, outputs); }
static void product(void) { first_product(P, Q, R); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double nanoseconds(void (*call)(void), int batch) {
  double samples[101];
  for (int s = 0; s < 101; ++s) {
    const double start = now();
    for (int i = 0; i < batch; ++i) call();
    samples[s] = (now() - start) / batch;
  }
  qsort(samples, 101, sizeof samples[0], ascending);
  return samples[50];
}

int main(void) {
  int64_t shape[] = {4, 4};
  struct DLTensor a = {A, {1, 0}, 2, 2, 32, 1, shape, NULL, 0}, b = a, c = a;
  b.data = B, c.data = C;
  inputs[0] = &a, inputs[1] = &b, outputs[0] = &c;
  context = tiny_context_create();
  if (tiny(A, B, C) || tiny_ctx(context, A, B, C) || tiny_dl(inputs, outputs)) return 1;
  printf("%.1f %.1f %.1f %.1f", nanoseconds(checked, 10000), nanoseconds(unchecked, 10000),
         nanoseconds(with_context, 10000), nanoseconds(tensors, 10000));
  first_set_num_threads(1);
  printf(" %.0f", nanoseconds(product, 100));
  first_set_num_threads(2);
  printf(" %.0f\n", nanoseconds(product, 100));
  return 0;
}
