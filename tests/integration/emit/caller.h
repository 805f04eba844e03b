/* What the C programs of these tests share. */
#ifndef CALLER_H
#define CALLER_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* As <dlpack/dlpack.h> lays it out. */
struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

/* Threads of this process. */
static inline int threads(void) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

#endif
