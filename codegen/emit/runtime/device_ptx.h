/* What is done to the PTX of a kernel before a driver compiles it. */
#ifndef TILE_TUNE_DEVICE_PTX_H
#define TILE_TUNE_DEVICE_PTX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Halide's PTX says nothing of the size of blocks, so that a driver has to leave registers for 1,024 threads. Of `size`
 * bytes of PTX, a copy that has the function `entry` alone of those that are launched, for blocks of so many threads,
 * of which at least `resident` fit a multiprocessor (0: any number); ends with a zero, to be freed. Null: there is no
 * such function, or no memory. */
char* tile_tune_device2_bounded_ptx(const char* text, int size, const char* entry, const int* threads, int resident);

/* 80 where the text is for sm_80; 0: it does not say. */
int tile_tune_device2_ptx_capability(const char* text, int size);

#ifdef __cplusplus
}
#endif

#endif
