// Matrix products of libraries with the C interface to BLAS, one or many.
#pragma once

#include "blas.h"

namespace baseline {
namespace cblas {

/// f32 or f64, as the first call tells.
class Product {
 public:
  Product(const blas::ProductSpec& spec, int threads);
  void operator()(const float* a, const float* b, float* c);
  void operator()(const double* a, const double* b, double* c);

 private:
  struct Either;
  Either* either_;  // lives as long as the process
};

/// Of std::complex<float> or <double>, which few programs have: its header is theirs.
class ComplexProduct {
 public:
  ComplexProduct(const blas::ProductSpec& spec, int threads);
  template <typename T>
  void operator()(const T* a, const T* b, T* c) {
    static_assert(sizeof(T) == 8 || sizeof(T) == 16, "a complex number");
    run(a, b, c, sizeof(T));
  }

 private:
  void run(const void* a, const void* b, void* c, size_t bytes);
  struct Either;
  Either* either_;  // lives as long as the process
};

}  // namespace cblas
}  // namespace baseline
