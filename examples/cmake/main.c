/* One layer of a network whose weights stay: packed once, used in every call. */
#include <layer.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = layer_x_extent0, I = layer_x_extent1, O = layer_y_extent1 };

/* Small values of both signs, the same on every machine. */
static void fill(float* values, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
}

static float x[B * I], W[I * O], b[O], y[B * O];

/* Largest difference to a plain loop in double precision. */
static double largest_error(void) {
  double largest = 0;
  for (int n = 0; n < B; ++n) {
    for (int o = 0; o < O; ++o) {
      double sum = b[o];
      for (int i = 0; i < I; ++i) sum += (double)x[n * I + i] * W[i * O + o];
      const double error = fabs(y[n * O + o] - (sum > 0 ? sum : 0));
      if (!(error <= largest)) largest = error; /* a NaN stays */
    }
  }
  return largest;
}

int main(void) {
  fill(W, I * O, 1);
  fill(b, O, 2);
  layer_packed_W* packed = aligned_alloc(64, layer_pack_W_bytes());
  if (!packed) return 1;
  int status = layer_pack_W(W, packed);
  double largest = 0;
  for (unsigned batch = 0; batch < 3 && status == LAYER_OK; ++batch) {
    fill(x, B * I, 3 + batch);
    status = layer(x, packed, b, y);
    const double error = largest_error();
    if (!(error <= largest)) largest = error;
  }
  free(packed);
  if (status != LAYER_OK) {
    fprintf(stderr, "layer: %s\n", layer_error_string(status));
    return 1;
  }
  printf("y: %d x %d, largest error %.1e\n", B, O, largest);
  /* |terms| <= 1 and float rounds to 2^-24: I additions stay within I * I * 2^-24, mostly far below. */
  return largest <= (double)I * I / (1 << 24) ? 0 : 1;
}
