/* The C interface as C uses it; returns the number of the first check that failed, or 0. */
#include <stdio.h>
#include <string.h>
#include <tile_tune/tile_tune.h>

static const char* const text =
    "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
    "def sum(float(N) A) -> (O) { O +=! A(n) }";

#define CHECK(condition)                                            \
  do {                                                              \
    ++checks;                                                       \
    if (!(condition)) {                                             \
      fprintf(stderr, "c_caller.c:%d: %s\n", __LINE__, #condition); \
      return checks;                                                \
    }                                                               \
  } while (0)

static int fails_with(tt_error* error, const char* code) {
  const int right = error != NULL && strcmp(tt_error_code(error), code) == 0 && tt_error_message(error)[0] != 0;
  if (!right) fprintf(stderr, "got %s: %s\n", tt_error_code(error), tt_error_message(error));
  tt_error_free(error);
  return right;
}

static int works(tt_error* error) {
  if (error) fprintf(stderr, "%s: %s\n", tt_error_code(error), tt_error_message(error));
  tt_error_free(error);
  return error == NULL;
}

int c_caller(const char* tool, const char* folder) {
  int checks = 0;
  const tt_options options = {.size = sizeof options, .tool = tool, .cache = folder, .default_schedule = 1};
  tt_program *mm = NULL, *other = NULL;
  tt_kernel* kernel = NULL;
  CHECK(tt_abi_version() == TT_ABI_VERSION);
  CHECK(fails_with(tt_program_from_tc(text, NULL, &other), "several-defs"));
  CHECK(fails_with(tt_program_from_tc(text, "mn", &other), "unknown-def"));
  CHECK(fails_with(tt_program_from_tc("def f(", NULL, &other), "syntax-error"));
  CHECK(other == NULL);
  CHECK(works(tt_program_from_tc(text, "mm", &mm)));
  CHECK(tt_program_inputs(mm) == 2 && tt_program_outputs(mm) == 1);
  CHECK(works(tt_compile(mm, &options, &kernel)));
  tt_program_free(mm);

  float a[6] = {1, -2, 3, -4, 5, -6}, b[6] = {7, 8, -9, 10, 11, -12}, c[4];
  const int64_t of_a[] = {2, 3}, of_b[] = {3, 2}, of_c[] = {2, 2}, turned[] = {1, 3};
  const tt_array inputs[] = {{a, TT_F32, 2, of_a, NULL}, {b, TT_F32, 2, of_b, NULL}};
  const tt_array output = {c, TT_F32, 2, of_c, NULL};
  CHECK(works(tt_call(kernel, inputs, 2, &output, 1)));
  CHECK(c[0] == 1 * 7 + -2 * -9 + 3 * 11 && c[3] == -4 * 8 + 5 * 10 + -6 * -12);
  const tt_array transposed[] = {inputs[0], {a, TT_F32, 2, of_b, turned}};
  CHECK(works(tt_call(kernel, transposed, 2, &output, 1)));
  CHECK(c[0] == 14 && c[1] == -32 && c[3] == 77);
  CHECK(fails_with(tt_call(kernel, inputs, 1, &output, 1), "array-count"));
  CHECK(fails_with(tt_call(kernel, NULL, 2, &output, 1), "null-pointer"));
  const tt_array wrong = {c, 99, 2, of_c, NULL};
  CHECK(fails_with(tt_call(kernel, inputs, 2, &wrong, 1), "dtype-mismatch"));
  tt_kernel_free(kernel);

  int32_t dtype = -1, rank = -1;
  int64_t shape[32];
  CHECK(works(tt_set_einsum_options(&options)));
  CHECK(works(tt_einsum_type("ij,jk->ki", inputs, 2, &dtype, &rank, shape)));
  CHECK(dtype == TT_F32 && rank == 2 && shape[0] == 2);
  CHECK(works(tt_einsum("ij,jk->ki", inputs, 2, &output)));
  CHECK(c[1] == -4 * 7 + 5 * -9 + -6 * 11);
  CHECK(tt_einsum("ij,jk", inputs, 2, &output) != NULL);
  CHECK(works(tt_set_einsum_options(NULL)));
  return 0;
}
