// Matrix products as BLAS has them, one or many.
#pragma once

#include "prelude.h"

namespace baseline {
namespace blas {

enum { kRowMajor = 101, kPlain = 111, kTransposed = 112 };

/// A matrix in row-major terms: plain, or the transpose of one.
struct Matrix {
  int transposed;
  int leading;
};

struct ProductSpec {
  Axes batch;
  int64_t m, n, k;
  Matrix a, b;
  int64_t ldc;
};

}  // namespace blas
}  // namespace baseline
