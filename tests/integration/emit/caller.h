/* What the C programs of these tests share. */
#ifndef CALLER_H
#define CALLER_H

#ifndef _GNU_SOURCE
#error "nanosleep is POSIX's"
#endif

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dl_tensor.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* Threads of this process. */
static inline int threads(void) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Whether the process comes to that many threads: the kernel may still list one for a moment after it was joined. */
static inline int comes_to_threads(int expected) {
  for (int wait_us = 1; wait_us < 10000000 && threads() != expected; wait_us *= 2)
    nanosleep(&(struct timespec){wait_us / 1000000, wait_us % 1000000 * 1000L}, NULL);
  return threads() == expected;
}

#endif
