/* Compiled kernels in a folder, each beside the text that it was made of, so that a driver compiles a text once for a
 * device. Whatever is wrong with the folder or a file in it, a kernel is compiled as if there were none. */
#ifndef TILE_TUNE_DEVICE_CUBIN_H
#define TILE_TUNE_DEVICE_CUBIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a binary is good for: text, compute capability (80 for 8.0) and driver. */
struct tile_tune_device_cubin_key {
  const char* text;
  int capability, driver;
};

/* The folder that the environment names (TILE_TUNE_CUBINS), or null: nothing is kept. */
const char* tile_tune_device2_cubin_folder(void);
/* A binary that was kept, to be freed; null: there is none, or it is damaged. */
void* tile_tune_device2_find_cubin(const char* folder, const struct tile_tune_device_cubin_key* key, size_t* size);
/* Beside its place first, then renamed: others see all of it or nothing. */
void tile_tune_device2_keep_cubin(const char* folder, const struct tile_tune_device_cubin_key* key, const void* binary,
                                  size_t size);

#ifdef __cplusplus
}
#endif

#endif
