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

}  // namespace cblas
}  // namespace baseline
