/* A matrix product from C. */
#include <stdio.h>
#include <tile_tune/tile_tune.h>

int main(void) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 1, 1, 1};
  float c[4];
  const int64_t of_a[] = {2, 3}, of_b[] = {3, 2}, of_c[] = {2, 2};
  const tt_array operands[] = {{(void*)a, TT_F32, 2, of_a, NULL}, {(void*)b, TT_F32, 2, of_b, NULL}};
  const tt_array result = {c, TT_F32, 2, of_c, NULL};
  tt_error* error = tt_einsum("ij,jk->ik", operands, 2, &result);
  if (error != NULL) {
    fprintf(stderr, "%s\n", tt_error_message(error));
    tt_error_free(error);
    return 1;
  }
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  return 0;
}
