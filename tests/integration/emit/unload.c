/* Loads ./libwrapped.so, which the package "first" is part of, calls it and unloads it; returns 1 at a failure. */
#include <dlfcn.h>
#include <string.h>

#include "caller.h"

enum { M = 16, K = 97, N = 131 };
static float A[M * K], B[K * N], C[M * N];

int main(void) {
  for (int i = 0; i < M * K; ++i) A[i] = 1;
  for (int i = 0; i < K * N; ++i) B[i] = 2;
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen("./libwrapped.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    CHECK(threads() == 1); /* loading starts nothing */
    int (*set_num_threads)(int);
    int (*product)(const float*, const float*, float*);
    *(void**)&set_num_threads = dlsym(library, "first_set_num_threads");
    *(void**)&product = dlsym(library, "first_product");
    CHECK(set_num_threads(4) == 0);
    memset(C, 0, sizeof C);
    CHECK(product(A, B, C) == 0 && C[0] == 2 * K && C[M * N - 1] == 2 * K);
    CHECK(threads() == 4);
    CHECK(dlclose(library) == 0);
    CHECK(threads() == 1); /* and unloading leaves nothing that would run on */
  }
  return 0;
}
