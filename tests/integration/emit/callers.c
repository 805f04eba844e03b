/* Calls every kind of kernel of the package "many" and checks values and codes; prints the first failure and returns 1.
   With the argument "no-memory" scratch allocations fail (linked with --wrap=malloc); with "one-cpu" the process may
   use one CPU and must have one thread at the end. */
#define _GNU_SOURCE
#include <many.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "caller.h"

static int fail_malloc = 0;
void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_malloc(size_t size) { return fail_malloc ? NULL : __real_malloc(size); }

enum { M = accumulate_A_extent0, K = accumulate_A_extent1, N = accumulate_B_extent1 };

#define CHECK_COPY(name, type, dl_code, dl_bits)                                                             \
  do {                                                                                                       \
    type x[13], o[14];                                                                                       \
    memset(o, 0x5a, sizeof o);                                                                               \
    for (int i = 0; i < 13; ++i) x[i] = (type)(i % 2 ? 1 : (i * 7) % 2);                                     \
    if (dl_code != 6) x[12] = (type)-3, x[11] = (type)0x7b7b;                                                \
    CHECK(copy_##name(x, o) == MANY_OK && memcmp(x, o, sizeof x) == 0);                                      \
    CHECK(((unsigned char*)&o[13])[0] == 0x5a); /* nothing behind the end */                                 \
    memset(o, 0, sizeof o);                                                                                  \
    CHECK(copy_##name##_unchecked(x, o) == MANY_OK && memcmp(x, o, sizeof x) == 0);                          \
    int64_t shape[] = {13};                                                                                  \
    struct DLTensor in = {x, {1, 0}, 1, {dl_code, dl_bits, 1}, shape, NULL, 0}, out = in, *inputs[] = {&in}, \
                    *outputs[] = {&out};                                                                     \
    out.data = o;                                                                                            \
    memset(o, 0, sizeof o);                                                                                  \
    CHECK(copy_##name##_dl(inputs, outputs) == MANY_OK && memcmp(x, o, sizeof x) == 0);                      \
    in.dtype.code ^= 1;                                                                                      \
    CHECK(copy_##name##_dl(inputs, outputs) == MANY_ERROR_DTYPE);                                            \
  } while (0)

static void check_types(void) {
  CHECK_COPY(bool, uint8_t, 6, 8);
  CHECK_COPY(i8, int8_t, 0, 8);
  CHECK_COPY(u8, uint8_t, 1, 8);
  CHECK_COPY(i16, int16_t, 0, 16);
  CHECK_COPY(u16, uint16_t, 1, 16);
  CHECK_COPY(i32, int32_t, 0, 32);
  CHECK_COPY(u32, uint32_t, 1, 32);
  CHECK_COPY(i64, int64_t, 0, 64);
  CHECK_COPY(u64, uint64_t, 1, 64);
  CHECK_COPY(f16, uint16_t, 2, 16);
  CHECK_COPY(bf16, uint16_t, 4, 16);
  CHECK_COPY(f32, float, 2, 32);
  CHECK_COPY(f64, double, 2, 64);
}

/* Real and imaginary parts lie side by side. */
static void check_complex(void) {
  float x[26], o[27];
  for (int i = 0; i < 26; ++i) x[i] = (float)(i * 7 % 11 - 5);
  memset(o, 0x5a, sizeof o);
  CHECK(copy_c32(x, o) == MANY_OK && memcmp(x, o, sizeof x) == 0);
  CHECK(((unsigned char*)&o[26])[0] == 0x5a);
  int64_t shape[] = {13};
  struct DLTensor in = {x, {1, 0}, 1, {5, 64, 1}, shape, NULL, 0}, out = in, *inputs[] = {&in}, *outputs[] = {&out};
  out.data = o;
  memset(o, 0, sizeof o);
  CHECK(copy_c32_dl(inputs, outputs) == MANY_OK && memcmp(x, o, sizeof x) == 0);
  in.dtype.code = 2;
  CHECK(copy_c32_dl(inputs, outputs) == MANY_ERROR_DTYPE);
  double y[26], p[26];
  for (int i = 0; i < 26; ++i) y[i] = (double)(i * 5 % 13 - 6);
  CHECK(copy_c64(y, p) == MANY_OK && memcmp(y, p, sizeof y) == 0);
}

static void check_scalar(void) {
  const int32_t a = -3, x[] = {1, -2, 3, -4, 5, -6, 7};
  int32_t o[7];
  CHECK(scale(&a, x, o) == MANY_OK);
  for (int i = 0; i < 7; ++i) CHECK(o[i] == -3 * x[i]);
  CHECK(scale(NULL, x, o) == MANY_ERROR_NULL_POINTER);
}

/* C += A * B with B in column order; small integers, so that every sum is exact. */
static float storage[M * K + K * N + M * N + 1];
static float *A = storage + 1, *B = storage + 1 + M * K, *C = storage + 1 + M * K + K * N;

static void fill(void) {
  for (int i = 0; i < M * K; ++i) A[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < K * N; ++i) B[i] = (float)(i * 5 % 13 - 6);
  for (int i = 0; i < M * N; ++i) C[i] = (float)(i % 9 - 4);
}

static void check_accumulated(void) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = (float)((i * N + j) % 9 - 4);
      for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[j * K + k];
      CHECK(C[i * N + j] == sum);
    }
  }
}

static void check_in_out(void) {
  fill();
  CHECK(accumulate(A, B, C) == MANY_OK);
  check_accumulated();
}

static void check_pointers(void) {
  fill();
  CHECK(accumulate(NULL, B, C) == MANY_ERROR_NULL_POINTER);
  CHECK(accumulate(A, NULL, C) == MANY_ERROR_NULL_POINTER);
  CHECK(accumulate(A, B, NULL) == MANY_ERROR_NULL_POINTER);
  CHECK(accumulate((const float*)((const char*)A + 2), B, C) == MANY_ERROR_MISALIGNED);
  CHECK(accumulate(A, B, A) == MANY_ERROR_OVERLAP);
  CHECK(accumulate(A, B, B + K * N - 1) == MANY_ERROR_OVERLAP); /* C's first element is B's last */
  CHECK(accumulate(A, B, C) == MANY_OK);                        /* C follows B directly; nothing above wrote */
  check_accumulated();
  const int32_t x[7] = {1};
  int32_t o[7];
  CHECK(scale(x, x, o) == MANY_OK); /* inputs may overlap */
}

static int call_dl(int index, const struct DLTensor* changed) {
  int64_t a_shape[] = {M, K}, b_shape[] = {K, N}, b_strides[] = {1, K}, c_shape[] = {M, N};
  struct DLTensor t[] = {{A, {1, 0}, 2, {2, 32, 1}, a_shape, NULL, 0},
                         {storage, {1, 0}, 2, {2, 32, 1}, b_shape, b_strides, sizeof(float) * (1 + M * K)},
                         {C, {1, 0}, 2, {2, 32, 1}, c_shape, NULL, 0}};
  if (changed) t[index] = *changed;
  struct DLTensor *inputs[] = {&t[0], &t[1]}, *outputs[] = {&t[2]};
  return accumulate_dl(inputs, outputs);
}

static void check_dl(void) {
  int64_t shape[] = {M, N}, other_shape[] = {M, N + 1}, strides[] = {N, 1}, other_strides[] = {N + 1, 1};
  fill();
  CHECK(call_dl(0, NULL) == MANY_OK);
  check_accumulated();
  const struct DLTensor good = {C, {1, 0}, 2, {2, 32, 1}, shape, strides, 0};
  struct DLTensor bad = good;
  fill();
  CHECK(call_dl(2, &good) == MANY_OK);
  check_accumulated();
  bad.shape = other_shape;
  CHECK(call_dl(2, &bad) == MANY_ERROR_SHAPE);
  bad = good, bad.strides = other_strides;
  CHECK(call_dl(2, &bad) == MANY_ERROR_STRIDES);
  bad = good, bad.ndim = 1;
  CHECK(call_dl(2, &bad) == MANY_ERROR_RANK);
  bad = good, bad.dtype.bits = 64;
  CHECK(call_dl(2, &bad) == MANY_ERROR_DTYPE);
  bad = good, bad.dtype.lanes = 2;
  CHECK(call_dl(2, &bad) == MANY_ERROR_DTYPE);
  bad = good, bad.device.type = 2;
  CHECK(call_dl(2, &bad) == MANY_ERROR_DEVICE);
  bad = good, bad.data = NULL;
  CHECK(call_dl(2, &bad) == MANY_ERROR_NULL_POINTER);
  bad = good, bad.byte_offset = 1;
  CHECK(call_dl(2, &bad) == MANY_ERROR_MISALIGNED);
  bad = good, bad.shape = NULL;
  CHECK(call_dl(2, &bad) == MANY_ERROR_NULL_POINTER);
  int64_t b_shape[] = {K, N};
  const struct DLTensor row_order_b = {B, {1, 0}, 2, {2, 32, 1}, b_shape, NULL, 0};
  CHECK(call_dl(1, &row_order_b) == MANY_ERROR_STRIDES);
  CHECK(accumulate_dl(NULL, NULL) == MANY_ERROR_NULL_POINTER);
  struct DLTensor* nulls[] = {NULL, NULL};
  CHECK(accumulate_dl(nulls, nulls) == MANY_ERROR_NULL_POINTER);
}

/* B and C are blocks of columns of one matrix: side by side, and with a column in common. */
static void check_blocks(void) {
  enum { SIDE = blocks_A_extent0, PITCH = blocks_B_stride0 };
  float a[SIDE * SIDE], matrix[SIDE * PITCH];
  for (int i = 0; i < SIDE * SIDE; ++i) a[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < SIDE * PITCH; ++i) matrix[i] = (float)(i * 5 % 13 - 6);
  CHECK(blocks(a, matrix, matrix + SIDE - 1) == MANY_ERROR_OVERLAP);
  CHECK(blocks(a, matrix + SIDE - 1, matrix) == MANY_ERROR_OVERLAP);
  CHECK(blocks(a, matrix, matrix + SIDE) == MANY_OK);
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) {
      float sum = 0;
      for (int k = 0; k < SIDE; ++k) sum += a[SIDE * i + k] * matrix[PITCH * k + j];
      CHECK(matrix[PITCH * i + SIDE + j] == sum);
    }
  CHECK(blocks(a, matrix + SIDE, matrix) == MANY_OK);
}

/* A: rows upside down, 10 apart. B: one column, every other element, repeated. C: rows 24 apart, backwards. */
static void check_strided(void) {
  enum { ROWS = strided_A_extent0, TERMS = strided_A_extent1, COLUMNS = strided_B_extent1, PITCH = strided_C_stride0 };
  CHECK(strided_A_stride0 == -10 && strided_B_stride1 == 0 && strided_C_stride1 == -1 && PITCH == 24);
  float a[10 * ROWS], b[2 * TERMS], both[PITCH * ROWS];
  for (int i = 0; i < 10 * ROWS; ++i) a[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < 2 * TERMS; ++i) b[i] = (float)(i * 5 % 13 - 6);
  for (int i = 0; i < PITCH * ROWS; ++i) both[i] = 77;
  float *A = a + 10 * (ROWS - 1), *C = both + COLUMNS - 1;
  CHECK(strided(A, b, C) == MANY_OK);
  for (int i = 0; i < ROWS; ++i) {
    float sum = 0;
    for (int k = 0; k < TERMS; ++k) sum += A[k - 10 * i] * b[2 * k];
    for (int j = 0; j < PITCH; ++j) CHECK(both[PITCH * i + j] == (j < COLUMNS ? sum : 77));
  }
  CHECK(strided(A, both + PITCH * (ROWS - 1), C) == MANY_ERROR_OVERLAP);
  CHECK(strided(A, b, A) == MANY_ERROR_OVERLAP);
  CHECK(strided(both + 90, b, C) == MANY_ERROR_OVERLAP);
  int64_t shape_a[] = {ROWS, TERMS}, shape_b[] = {TERMS, COLUMNS}, shape_c[] = {ROWS, COLUMNS};
  int64_t strides_a[] = {-10, 1}, strides_b[] = {2, 0}, strides_c[] = {24, -1};
  struct DLTensor in_a = {A, {1, 0}, 2, {2, 32, 1}, shape_a, strides_a, 0},
                  in_b = {b, {1, 0}, 2, {2, 32, 1}, shape_b, strides_b, 0},
                  out = {C, {1, 0}, 2, {2, 32, 1}, shape_c, strides_c, 0}, *inputs[] = {&in_a, &in_b},
                  *outputs[] = {&out};
  CHECK(strided_dl(inputs, outputs) == MANY_OK);
  strides_a[0] = 10;
  CHECK(strided_dl(inputs, outputs) == MANY_ERROR_STRIDES);
  in_a.strides = NULL;
  CHECK(strided_dl(inputs, outputs) == MANY_ERROR_STRIDES);
  in_a.strides = strides_a, strides_a[0] = -10, strides_b[1] = 1;
  CHECK(strided_dl(inputs, outputs) == MANY_ERROR_STRIDES);
}

/* One kernel for rows of any distance and B of any strides. */
static void check_any(void) {
  enum { ROWS = any_A_extent0, TERMS = any_A_extent1, COLUMNS = any_B_extent1, SPACE = 200 };
  CHECK(any_A_stride1 == 1 && any_C_stride1 == 1);
  const struct {
    int64_t a[2], b[2], c[2];
    int first_a, first_b, first_c;
  } cases[] = {{{5, 1}, {9, 1}, {9, 1}, 0, 0, 0},
               {{17, 1}, {1, 5}, {20, 1}, 3, 1, 2},
               {{-8, 1}, {-2, -11}, {-12, 1}, 100, 120, 90},
               {{0, 1}, {1, 0}, {13, 1}, 9, 8, 1},
               {{1, 1}, {0, 0}, {9, 1}, 0, 5, 0}};
  float a[SPACE], b[SPACE], c[SPACE];
  for (int i = 0; i < SPACE; ++i) a[i] = (float)(i * 7 % 11 - 5), b[i] = (float)(i * 5 % 13 - 6);
  for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
    const int64_t *sa = cases[n].a, *sb = cases[n].b, *sc = cases[n].c;
    float *A = a + cases[n].first_a, *B = b + cases[n].first_b, *C = c + cases[n].first_c;
    int64_t shape_a[] = {ROWS, TERMS}, shape_b[] = {TERMS, COLUMNS}, shape_c[] = {ROWS, COLUMNS};
    struct DLTensor in_a = {A, {1, 0}, 2, {2, 32, 1}, shape_a, (int64_t*)sa, 0},
                    in_b = {B, {1, 0}, 2, {2, 32, 1}, shape_b, (int64_t*)sb, 0},
                    out = {C, {1, 0}, 2, {2, 32, 1}, shape_c, (int64_t*)sc, 0}, *inputs[] = {&in_a, &in_b},
                    *outputs[] = {&out};
    for (int way = 0; way < 3; ++way) {
      for (int i = 0; i < SPACE; ++i) c[i] = 77;
      if (n == 0) in_a.strides = in_b.strides = out.strides = NULL;
      CHECK((way == 0   ? any(A, sa, B, sb, C, sc)
             : way == 1 ? any_unchecked(A, sa, B, sb, C, sc)
                        : any_dl(inputs, outputs)) == MANY_OK);
      float expected[SPACE];
      for (int i = 0; i < SPACE; ++i) expected[i] = 77;
      for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) {
          float sum = 0;
          for (int k = 0; k < TERMS; ++k) sum += A[i * sa[0] + k] * B[k * sb[0] + j * sb[1]];
          expected[C - c + i * sc[0] + j] = sum;
        }
      CHECK(memcmp(c, expected, sizeof c) == 0);
    }
  }
  const int64_t rows[] = {9, 1}, apart[] = {9, 2}, near[] = {8, 1}, same[] = {0, 1}, far[] = {INT64_C(1) << 31, 1},
                farther[] = {INT64_MIN, 1};
  CHECK(any(a, rows, b, rows, c, rows) == MANY_OK);
  CHECK(any(a, NULL, b, rows, c, rows) == MANY_ERROR_NULL_POINTER);
  CHECK(any(a, apart, b, rows, c, rows) == MANY_ERROR_STRIDES);
  CHECK(any(a, far, b, rows, c, rows) == MANY_ERROR_STRIDES);
  CHECK(any(a, farther, b, rows, c, rows) == MANY_ERROR_STRIDES);
  CHECK(any(a, rows, b, rows, c, apart) == MANY_ERROR_STRIDES);
  CHECK(any(a, rows, b, rows, c, near) == MANY_ERROR_STRIDES);
  CHECK(any(a, rows, b, rows, c, same) == MANY_ERROR_STRIDES);
  CHECK(any_unchecked(a, rows, b, rows, c, same) == MANY_ERROR_STRIDES);
  CHECK(any(a, rows, b, rows, a, rows) == MANY_ERROR_OVERLAP);
  const int64_t backwards[] = {-9, 1};
  CHECK(any(a, rows, c, rows, c + 60, backwards) == MANY_ERROR_OVERLAP);
}

static void check_empty(void) {
  const float b[6] = {1, 2, 3, 4, 5, 6};
  float c[15];
  CHECK(no_rows(NULL, b, NULL) == MANY_OK); /* tensors without elements may be null */
  for (int i = 0; i < 15; ++i) c[i] = 42;
  CHECK(no_terms(NULL, NULL, c) == MANY_OK);
  for (int i = 0; i < 15; ++i) CHECK(c[i] == 0);
  for (int i = 0; i < 15; ++i) c[i] = 42;
  CHECK(no_terms_unchecked(NULL, NULL, c) == MANY_OK);
  for (int i = 0; i < 15; ++i) CHECK(c[i] == 0);
}

static float packed_a[packed_A_extent0 * packed_A_extent1], packed_b[packed_B_extent0 * packed_B_extent1],
    packed_c[packed_A_extent0 * packed_B_extent1];

/* A thread keeps the memory of its calls: this one has made none. */
static void* call_without_memory(void* status) {
  fail_malloc = 1;
  *(int*)status = packed(packed_a, packed_b, packed_c);
  fail_malloc = 0;
  return NULL;
}

static void check_packed(int no_memory) {
  enum { m = packed_A_extent0, k = packed_A_extent1, n = packed_B_extent1 };
  float *a = packed_a, *b = packed_b, *c = packed_c;
  for (int i = 0; i < m * k; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < k * n; ++i) b[i] = (float)(i % 5 - 2);
  CHECK(packed(a, b, c) == MANY_OK); /* the thread pool is up now */
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      CHECK(c[i * n + j] == sum);
    }
  }
  if (!no_memory) return;
  int status = MANY_OK;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, call_without_memory, &status) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(status == MANY_ERROR_OUT_OF_MEMORY);
  CHECK(packed(a, b, c) == MANY_OK);
}

static void use_one_cpu(void) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

int main(int count, char** arguments) {
  const int one_cpu = count > 1 && strcmp(arguments[1], "one-cpu") == 0;
  if (one_cpu) use_one_cpu();
  check_types();
  check_complex();
  check_scalar();
  check_in_out();
  check_pointers();
  check_dl();
  check_strided();
  check_blocks();
  check_any();
  check_empty();
  check_packed(count > 1 && strcmp(arguments[1], "no-memory") == 0);
  CHECK(!one_cpu || threads() == 1);
  CHECK(strcmp(many_error_string(MANY_OK), "success") == 0);
  CHECK(strcmp(many_error_string(MANY_ERROR_OVERLAP), "an output overlaps another argument") == 0);
  CHECK(strcmp(many_error_string(-1), "unknown code") == 0);
  return 0;
}
