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

/* After tt_set_einsum_options(). */
static int tensors(void) {
  int checks = 1000;
  float a[6] = {1, -2, 3, -4, 5, -6}, all[6];
  const int64_t two_three[] = {2, 3}, backwards[] = {-3, 1}, four[] = {4, 3, 2};
  const int64_t* numbers = NULL;
  const tt_array rows = {a, TT_F32, 2, two_three, NULL}, upside_down = {a + 3, TT_F32, 2, two_three, backwards};
  tt_tensor *lent = NULL, *copy = NULL, *turned = NULL, *thin = NULL, *wide = NULL, *other = NULL, *product = NULL;
  CHECK(works(tt_tensor_borrow(&upside_down, &lent)));
  CHECK(tt_tensor_array(lent).data == a + 3 && tt_tensor_array(lent).strides[0] == -3);
  CHECK(works(tt_tensor_read(lent, all, sizeof all)));
  CHECK(all[0] == -4 && all[2] == -6 && all[3] == 1);
  CHECK(works(tt_tensor_copy(&rows, &copy)));
  a[1] = 7; /* not the copy's */
  const tt_array columns = tt_tensor_array(copy);
  CHECK(columns.rank == 2 && columns.dtype == TT_F32 && columns.strides[0] == 1 && columns.strides[1] == 2);
  CHECK(((float*)columns.data)[2] == -2);

  const int32_t swapped[] = {1, 0}, last_two[] = {1, 2};
  CHECK(works(tt_tensor_transpose(copy, swapped, 2, &turned)));
  tt_tensor_free(copy); /* its elements live on in the view */
  CHECK(works(tt_tensor_read(turned, all, sizeof all)));
  CHECK(all[0] == 1 && all[1] == -4 && all[2] == -2 && all[5] == -6);
  const tt_slice from_behind[] = {{-1, -1, -2}, {0, 2, 1}};
  CHECK(works(tt_tensor_slice(turned, from_behind, 2, &thin)));
  CHECK(works(tt_tensor_read(thin, all, 4 * sizeof *all)));
  CHECK(all[0] == 3 && all[1] == -6 && all[2] == 1 && all[3] == -4);
  CHECK(fails_with(tt_tensor_read(thin, all, sizeof all), "bad-array"));
  CHECK(works(tt_tensor_broadcast(turned, 3, four, last_two, 2, &wide)));
  CHECK(tt_tensor_array(wide).rank == 3 && tt_tensor_array(wide).strides[0] == 0);
  CHECK(fails_with(tt_tensor_transpose(turned, swapped, 1, &other), "rank-mismatch"));
  CHECK(fails_with(tt_tensor_reshape(turned, 2, two_three, &other), "not-contiguous"));
  CHECK(fails_with(tt_tensor_reshape(turned, -7, two_three, &other), "bad-array"));
  CHECK(fails_with(tt_tensor_broadcast(turned, -7, two_three, NULL, 0, &other), "bad-array"));
  tt_options threadless = {.size = sizeof threadless, .threads = -4};
  CHECK(fails_with(tt_set_einsum_options(&threadless), "bad-threads"));
  tt_error* outside = tt_tensor_diagonal(turned, 0, 2, &other);
  CHECK(tt_error_numbers(outside, &numbers) == 2 && numbers[0] == 2 && numbers[1] == 2);
  CHECK(fails_with(outside, "axis-out-of-range"));
  CHECK(fails_with(tt_tensor_convert(turned, TT_I32, &other), "lossy-conversion"));
  CHECK(fails_with(tt_tensor_cast(turned, 99, &other), "dtype-mismatch"));
  CHECK(fails_with(tt_tensor_new(TT_F32, 1, NULL, &other), "null-pointer"));
  CHECK(other == NULL);

  const tt_tensor* const both[] = {lent, turned};
  CHECK(works(tt_einsum_tensors("ij,jk->ik", both, 2, NULL, &product)));
  CHECK(works(tt_tensor_read(product, all, 4 * sizeof *all)));
  CHECK(all[0] == -4 * 1 + 5 * -2 + -6 * 3 && all[1] == -4 * -4 + 5 * 5 + -6 * -6);
  CHECK(all[3] == 1 * -4 + 7 * 5 + 3 * -6);
  const double half[2] = {0.5, 0}, minus_two[2] = {-2, 0}, imaginary[2] = {0, 1};
  CHECK(works(tt_einsum_into(minus_two, "ij,jk->ik", both, 2, half, product, NULL)));
  CHECK(works(tt_tensor_read(product, all, 4 * sizeof *all)));
  CHECK(all[0] == -1.5f * -32 && all[3] == -1.5f * 13);
  CHECK(fails_with(tt_einsum_into(imaginary, "ij,jk->ik", both, 2, half, product, NULL), "lossy-conversion"));
  CHECK(fails_with(tt_einsum_into(half, "ij->ji", both, 1, half, wide, NULL), "overlapping-elements"));
  const int32_t nowhere[] = {0, 2};
  const tt_einsum_request request = {.size = sizeof request, .path = nowhere, .path_steps = 1};
  CHECK(fails_with(tt_einsum_into(half, "ij,jk->ik", both, 2, half, product, &request), "bad-path"));
  CHECK(works(tt_tensor_read(product, all, 4 * sizeof *all)));
  CHECK(all[0] == -1.5f * -32 && all[3] == -1.5f * 13);

  float of_z[4] = {1, 2, -3, 4}, squares[2];
  const int64_t two[] = {2};
  const uint8_t first[] = {1, 0};
  const tt_array complex_array = {of_z, TT_C32, 1, two, NULL};
  const tt_einsum_request conjugate = {.size = sizeof conjugate, .conjugate = first};
  tt_tensor *z = NULL, *dot = NULL;
  CHECK(works(tt_tensor_borrow(&complex_array, &z)));
  const tt_tensor* const twice[] = {z, z};
  CHECK(works(tt_einsum_tensors("i,i->", twice, 2, &conjugate, &dot)));
  CHECK(works(tt_tensor_read(dot, squares, sizeof squares)));
  CHECK(squares[0] == 1 + 4 + 9 + 16 && squares[1] == 0);

  tt_tensor* const made[] = {lent, turned, thin, wide, product, z, dot};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i) tt_tensor_free(made[i]);
  tt_tensor_free(NULL);
  return 0;
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
  const int in_tensors = tensors();
  CHECK(works(tt_set_einsum_options(NULL)));
  return in_tensors;
}
