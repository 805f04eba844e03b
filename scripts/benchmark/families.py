"""One entry for many sizes against a kernel tuned for each: sizes drawn by a committed seed, the C that times, and what to
make of its times."""

import math
import random
import statistics

SEED = 20261122  # of the sizes; another one would be another comparison
UNSEEN = 20


def unseen(first, last, tuned, count=UNSEEN):
    """Log-uniform, half of them multiples of 8, none of `tuned`; ascending."""
    generator = random.Random(f"{SEED} {first} {last}")
    sizes = []
    while len(sizes) < count:
        value = round(math.exp(generator.uniform(math.log(first), math.log(last))))
        if len(sizes) < count // 2:
            value = max(8 * round(value / 8), 8)
        elif value % 8 == 0:
            value += 1
        if first <= value <= last and value not in tuned and value not in sizes:
            sizes.append(value)
    return sorted(sizes)


DRIVER = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <family.h>
#include <generic.h>
#include <listed.h>
{includes}
enum {{ M = {m}, K = {k}, N = {n}, ROUNDS = {rounds} }};
static float *a, *b, *c;

static double now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}}

typedef int (*kernel)(int64_t, const float*, const float*, float*);
{adapters}
/* Mean time of a call in a sample of at least 200 us. */
static double sample(kernel f, int64_t n) {{
  for (long calls = 1;; calls *= 2) {{
    const double start = now();
    for (long i = 0; i < calls; ++i)
      if (f(n, a, b, c) != 0) exit(1);
    const double ns = now() - start;
    if (ns >= 200e3) return ns / (double)calls;
  }}
}}

static void round_of(kernel* kernels, int count, int64_t n, int shift, double* ns) {{
  for (int i = 0; i < count; ++i) {{
    const int one = (i + shift) % count;
    sample(kernels[one], n);
    ns[one] = sample(kernels[one], n);
  }}
}}

static void compare(const char* name, kernel* kernels, int count, int64_t n) {{
  for (int round = 0; round < ROUNDS; ++round) {{
    double ns[3];
    round_of(kernels, count, n, round, ns);
    printf("%s %ld", name, (long)n);
    for (int i = 0; i < count; ++i) printf(" %.3f", ns[i]);
    printf("\n");
  }}
}}

int main(void) {{
  a = aligned_alloc(64, sizeof(float) * M * K);
  b = aligned_alloc(64, sizeof(float) * K * N);
  c = aligned_alloc(64, sizeof(float) * M * N);
  for (long i = 0; i < (long)M * K; ++i) a[i] = (float)(i % 7 - 3);
  for (long i = 0; i < (long)K * N; ++i) b[i] = (float)(i % 11 - 5);
{calls}  return 0;
}}
"""


def driver(m, k, n, sizes, rounds):
    """Prints lines "size N family generic tuned" and "dispatch 4 entry kernel", nanoseconds a call in one round each.
    `listed` and `one_4` run the same kernel for N = 4, behind an entry for many sizes and for that one."""
    includes, adapters, calls = [], [], []
    for size in [4, *sizes]:
        includes.append(f"#include <one_{size}.h>")
        adapters.append(f"static int only_{size}(int64_t n, const float* x, const float* y, float* z) "
                        f"{{ return (void)n, one_{size}_unchecked(x, y, z); }}")
    for size in sizes:
        calls.append(f"  compare(\"size\", (kernel[]){{family_unchecked, generic_unchecked, only_{size}}}, 3, {size});")
    calls.append("  compare(\"dispatch\", (kernel[]){listed_unchecked, only_4}, 2, 4);")
    return DRIVER.format(includes="\n".join(includes), adapters="\n".join(adapters), calls="\n".join(calls) + "\n", m=m,
                         k=k, n=n, rounds=rounds)


def summary(lines):
    """Of the driver's lines: by size the medians over rounds of the speed of the entry over the tuned kernel's and over
    the generic one's, their geometric mean and least, and the dispatch in ns."""
    rounds, dispatch = {}, []
    for line in lines:
        kind, size, *times = line.split()
        times = [float(time) for time in times]
        if kind == "dispatch":
            dispatch.append(times[0] - times[1])
        else:
            rounds.setdefault(int(size), []).append(times)
    rows = []
    for size, all_times in rounds.items():
        rows.append({"size": size,
                     "over_tuned": statistics.median(tuned / entry for entry, _, tuned in all_times),
                     "over_generic": statistics.median(generic / entry for entry, generic, _ in all_times)})
    values = [row["over_tuned"] for row in rows]
    return {"rows": rows,
            "geometric_mean": math.exp(sum(map(math.log, values)) / len(values)) if values else None,
            "least_over_generic": min((row["over_generic"] for row in rows), default=None),
            "dispatch_ns": statistics.median(dispatch) if dispatch else None}
