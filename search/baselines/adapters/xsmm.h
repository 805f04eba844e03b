// libxsmm's small matrix products, generated at run time: one kernel, called for each of many products.
#pragma once

#include "blas.h"

namespace baseline {
namespace xsmm {

class Product {
 public:
  Product(const blas::ProductSpec& spec, int threads);
  void operator()(const float* a, const float* b, float* c);

 private:
  struct Kernel;
  Kernel* kernel_;  // lives as long as the process
};

}  // namespace xsmm
}  // namespace baseline
