/* Programs, kernels and tensors for C, and for every language that calls C. No function throws, prints or ends the
 * process; all may be called from several threads at once. Link libtile_tune_kernels.
 *
 *   tt_kernel* kernel = NULL;
 *   tt_program* program = NULL;
 *   tt_error* error = tt_program_from_tc("def mm(float(M,K) A, float(K,N) B) -> (C) { ... }", NULL, &program);
 *   if (!error) error = tt_compile(program, NULL, &kernel);
 *   if (!error) error = tt_call(kernel, inputs, 2, &output, 1);
 *   if (error) fprintf(stderr, "%s\n", tt_error_message(error));
 *   tt_error_free(error);
 *
 * Functions that return a tt_error* return NULL where all went well, else what the caller frees. What they give through
 * their last pointer is the caller's, too, and is not touched where they fail. */
#ifndef TILE_TUNE_H
#define TILE_TUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes up when a program that was compiled with this header would no longer work. */
#define TT_ABI_VERSION 1
int tt_abi_version(void);
/* "0.1.0" */
const char* tt_version(void);

typedef struct tt_error tt_error;
typedef struct tt_program tt_program;
typedef struct tt_kernel tt_kernel;

/* Short and stable, for example "size-conflict"; a sentence, with its place in a text; how to mend it, or "". */
const char* tt_error_code(const tt_error* error);
const char* tt_error_message(const tt_error* error);
const char* tt_error_note(const tt_error* error);
/* The numbers of the sentence, in its order, as docs/tensors.md has them for each code: how many there are. */
size_t tt_error_numbers(const tt_error* error, const int64_t** numbers);
void tt_error_free(tt_error* error);

/* The numbers are part of the interface. Bool is a byte, 0 or 1; complex numbers are two floats. */
typedef enum {
  TT_BOOL = 0,
  TT_I8,
  TT_U8,
  TT_I16,
  TT_U16,
  TT_I32,
  TT_U32,
  TT_I64,
  TT_U64,
  TT_F16,
  TT_BF16,
  TT_F32,
  TT_F64,
  TT_C32, /* 2 x f32 */
  TT_C64  /* 2 x f64 */
} tt_dtype;

/* The caller's. `data` shows element (0, ..., 0); strides count elements, may be negative, and where they are NULL the
 * array is in C order. */
typedef struct {
  void* data;
  int32_t dtype; /* tt_dtype */
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
} tt_array;

/* All zero is the default of each. `size` is sizeof(tt_options), so that later versions can have more fields. */
typedef struct {
  size_t size;
  const char* database; /* a file; NULL: the one the command line uses */
  const char* target;   /* NULL: "host" */
  const char* tool;     /* tile-tune; NULL: the one installed with this library */
  const char* cache;    /* a folder for compiled kernels, "" for none; NULL: the user's */
  int threads;          /* of a kernel; 0: the CPUs this process may use */
  int default_schedule; /* not 0: whatever was tuned */
  int deterministic;
  double tune_seconds; /* of a program that was not tuned for this machine: search first */
} tt_options;

/* A program of Tensor Comprehensions text. `name`: which def; NULL where there is one. */
tt_error* tt_program_from_tc(const char* text, const char* name, tt_program** program);
/* "ij,jk->ik" on operands of these types; `count` 0: f32. */
tt_error* tt_program_from_einsum(const char* subscripts, const int32_t* dtypes, size_t count, tt_program** program);
/* The command line's FILE.json, as text. */
tt_error* tt_program_from_json(const char* text, tt_program** program);
void tt_program_free(tt_program* program);
size_t tt_program_inputs(const tt_program* program);
size_t tt_program_outputs(const tt_program* program);

/* A kernel for arrays of any shapes and strides (tile_tune/kernel.h). `options` may be NULL. */
tt_error* tt_compile(const tt_program* program, const tt_options* options, tt_kernel** kernel);
void tt_kernel_free(tt_kernel* kernel);
tt_error* tt_call(const tt_kernel* kernel, const tt_array* inputs, size_t input_count, const tt_array* outputs,
                  size_t output_count);

/* Einsum on data; its kernels stay in the process. */
tt_error* tt_einsum(const char* subscripts, const tt_array* operands, size_t count, const tt_array* result);
/* Type and shape of its result, `rank` numbers in `shape`, which has room for 32. */
tt_error* tt_einsum_type(const char* subscripts, const tt_array* operands, size_t count, int32_t* dtype, int32_t* rank,
                         int64_t* shape);
/* How tt_einsum() compiles from now on. */
tt_error* tt_set_einsum_options(const tt_options* options);

/* Tensors: elements and where they lie (tile_tune/tensor.h). What a view is of lives as long as the view does, so that
 * they may be freed in any order; borrowed memory has to outlive all tensors over it. */
typedef struct tt_tensor tt_tensor;

/* Zeros, column-major. */
tt_error* tt_tensor_new(int32_t dtype, int32_t rank, const int64_t* shape, tt_tensor** tensor);
/* A copy of an array's elements, column-major. */
tt_error* tt_tensor_copy(const tt_array* array, tt_tensor** tensor);
/* The caller's memory, not copied. */
tt_error* tt_tensor_borrow(const tt_array* array, tt_tensor** tensor);
void tt_tensor_free(tt_tensor* tensor);

/* Element (0, ..., 0), type, shape, strides; its pointers hold as long as the tensor. A view shows memory of its own
 * only where no two of its elements share one. */
tt_array tt_tensor_array(const tt_tensor* tensor);
/* All elements in C order, `bytes` of them in all (else bad-array). */
tt_error* tt_tensor_read(const tt_tensor* tensor, void* to, size_t bytes);

/* From `start` on, before `end`, every `step`-th. Negative ones count from the end, but for an `end` of -1 with a
 * negative step: that is before element 0. */
typedef struct {
  int64_t start, end, step;
} tt_slice;

/* Views. Dimension d of the result is dimension axes[d] of the tensor; one slice for each dimension; another shape of
 * compact column-major elements; dimension d of the tensor becomes axes[d] of the shape; elements whose indices along
 * both dimensions are equal. */
tt_error* tt_tensor_transpose(const tt_tensor* tensor, const int32_t* axes, size_t count, tt_tensor** view);
tt_error* tt_tensor_slice(const tt_tensor* tensor, const tt_slice* slices, size_t count, tt_tensor** view);
tt_error* tt_tensor_reshape(const tt_tensor* tensor, int32_t rank, const int64_t* shape, tt_tensor** view);
tt_error* tt_tensor_broadcast(const tt_tensor* tensor, int32_t rank, const int64_t* shape, const int32_t* axes,
                              size_t count, tt_tensor** view);
tt_error* tt_tensor_diagonal(const tt_tensor* tensor, int32_t first, int32_t second, tt_tensor** view);

/* Elements of their own: as they are, in a type that holds every value, in any type (docs/meaning.md). */
tt_error* tt_tensor_to_contiguous(const tt_tensor* tensor, tt_tensor** result);
tt_error* tt_tensor_convert(const tt_tensor* tensor, int32_t dtype, tt_tensor** result);
tt_error* tt_tensor_cast(const tt_tensor* tensor, int32_t dtype, tt_tensor** result);

/* All zero is the default of each. `size` is sizeof(tt_einsum_request). */
typedef struct {
  size_t size;
  const uint8_t* conjugate; /* one for each operand, not 0: its conjugate is meant; NULL: of none */
  const int32_t* path; /* two places in what is left for each of `path_steps` steps; NULL: the best that is found */
  size_t path_steps;
  int64_t memory_limit; /* bytes of all that steps leave on the way; 0: none */
} tt_einsum_request;

/* tile_tune/tensor_einsum.h; `request` may be NULL. Factors are a real and an imaginary part. */
tt_error* tt_einsum_tensors(const char* subscripts, const tt_tensor* const* operands, size_t count,
                            const tt_einsum_request* request, tt_tensor** result);
tt_error* tt_einsum_into(const double alpha[2], const char* subscripts, const tt_tensor* const* operands, size_t count,
                         const double beta[2], tt_tensor* output, const tt_einsum_request* request);

#ifdef __cplusplus
}
#endif

#endif
