// What the adapters of BLAS-like libraries walk a batch of products with.
#pragma once

#include <vector>

#include "blas.h"

namespace baseline {
namespace blas {

struct Batch {
  explicit Batch(const ProductSpec& spec)
      : batch(spec.batch), m(spec.m), n(spec.n), k(spec.k), a(spec.a), b(spec.b), ldc(spec.ldc) {}

  int64_t count() const {
    int64_t product = 1;
    for (const auto& axis : batch) product *= axis.extent;
    return product;
  }
  /// From the first product of the batch to the one of that number.
  template <typename T>
  void go_to(int64_t number, const T*& x, const T*& y, T*& z) const {
    for (size_t i = batch.size(); i-- > 0;) {
      const auto& axis = batch[i];
      const int64_t place = number % axis.extent;
      number /= axis.extent;
      x += place * axis.a;
      y += place * axis.b;
      z += place * axis.c;
    }
  }

  std::vector<Axis> batch;
  int64_t m, n, k;
  Matrix a, b;
  int64_t ldc;
};

}  // namespace blas
}  // namespace baseline
