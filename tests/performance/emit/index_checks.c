/* What checking indices costs: each kernel as it is and with its indices checked, interleaved. Prints, a line for each,
 * its name, the median of the plain one in microseconds, and the median of the ratios of neighbouring runs. */
#define _GNU_SOURCE
#include <checked.h>
#include <plain.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kRounds = 101, kRows = 200000, kLookups = 8192, kTable = 4096, kLarge = 1000000, kMany = 4000000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values) {
  qsort(values, kRounds, sizeof *values, by_value);
  return values[kRounds / 2];
}

static void* memory(size_t bytes) {
  void* result = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (result == NULL) exit(1);
  return result;
}

/* Several calls a sample where one is too short for the clock. */
#define COMPARE(name, calls, ...)                                              \
  do {                                                                         \
    double plain[kRounds], ratio[kRounds];                                     \
    for (int r = -3; r < kRounds; ++r) {                                       \
      const double start = now();                                              \
      for (int i = 0; i < (calls); ++i) failed |= name(__VA_ARGS__);           \
      const double middle = now();                                             \
      for (int i = 0; i < (calls); ++i) failed |= name##_checked(__VA_ARGS__); \
      const double end = now();                                                \
      if (r < 0) continue;                                                     \
      plain[r] = (middle - start) / (calls);                                   \
      ratio[r] = (end - middle) / (middle - start);                            \
    }                                                                          \
    printf(#name " %.2f", median(plain));                                      \
    printf(" %.3f\n", median(ratio));                                          \
  } while (0)

int main(void) {
  int failed = plain_set_num_threads(1) | checked_set_num_threads(1);
  float *table = memory(sizeof(float) * kRows * 512), *out = memory(sizeof(float) * kLookups * 512);
  int32_t *rows = memory(sizeof(int32_t) * kLookups), *idx = memory(sizeof(int32_t) * kMany);
  int32_t* far = memory(sizeof(int32_t) * kMany);
  int64_t* wide = memory(sizeof(int64_t) * kMany);
  float *values = memory(sizeof(float) * kMany), *numbers = memory(sizeof(float) * kMany);
  for (size_t i = 0; i < (size_t)kRows * 512; ++i) table[i] = (float)(i % 7);
  uint64_t state = 1;
  for (int i = 0; i < kMany; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    idx[i] = (int32_t)((state >> 33) % kTable);
    far[i] = (int32_t)((state >> 33) % kLarge);
    wide[i] = idx[i];
    numbers[i] = (float)idx[i] + 0.5f;
    if (i < kLookups) rows[i] = (int32_t)((state >> 33) % kRows);
  }
  COMPARE(rows64, 1, table, rows, out);
  COMPARE(rows512, 1, table, rows, out);
  COMPARE(scalars, 10, table, idx, values);
  COMPARE(few_scalars, 200, table, idx, values);
  COMPARE(many_scalars, 1, table, far, values);
  COMPARE(streamed, 1, table, idx, values);
  COMPARE(wide_scalars, 10, table, wide, values);
  COMPARE(computed, 10, table, numbers, values);
  return failed;
}
