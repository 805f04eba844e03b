// What tests ask of the driver that they pretend to have (fake_cuda.c).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The calls since the last fake_cuda_reset(), one a line: "cuLaunchKernel kernel 4x2x1 16x8x1 shared 0 stream 0x1". */
const char* fake_cuda_calls(void);
/* Forgets the calls and the failures, but nothing that a driver keeps. */
void fake_cuda_reset(void);
/* From now on calls of the function return `error`. */
void fake_cuda_fail(const char* function, int error);
/* 80 for 8.0, which devices have to begin with. */
void fake_cuda_set_capability(int capability);
/* From now on a stream is being captured, as far as a driver then refuses what is no work for a graph: memory, modules,
 * waiting, copies of host memory that is not pinned. */
void fake_cuda_capture(int is_capturing);
/* From now on a launch writes a byte at so many bytes from its first argument, memory of the device; 0: it does not. */
void fake_cuda_write_at(long offset);
/* What a launch takes on the device, by its clock. */
void fake_cuda_set_kernel_ns(double ns);
/* The text of the last module. */
const char* fake_cuda_module(void);

#ifdef __cplusplus
}
#endif
