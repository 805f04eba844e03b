/* Programs and kernels for C, and for every language that calls C. No function throws, prints or ends the process; all
 * may be called from several threads at once. Link libtile_tune_kernels.
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

#ifdef __cplusplus
}
#endif

#endif
