#include "xsmm.h"

#include <libxsmm.h>

#include <stdexcept>

#include "blas_batch.h"

namespace baseline {
namespace xsmm {

/// Row-major C = A B is column-major C' = B' A'. Its kernels take no transposed first operand: B is turned over into a
/// thread's own memory first.
struct Product::Kernel {
  void operator()(const float* a, const float* b, float* c) {
    if (!kernel_) make_kernel();
    const int64_t count = s_.count();
    const bool turn = s_.b.transposed == blas::kTransposed;
#pragma omp parallel num_threads(threads_) if (count > 1)
    {
      static thread_local std::vector<float> turned;
      if (turn) turned.resize(static_cast<size_t>(s_.k * s_.n));
#pragma omp for schedule(static)
      for (int64_t number = 0; number < count; ++number) {
        const float *x = a, *y = b;
        float* z = c;
        s_.go_to(number, x, y, z);
        if (turn) {
          for (int64_t n = 0; n < s_.n; ++n)
            for (int64_t k = 0; k < s_.k; ++k) turned[k * s_.n + n] = y[n * s_.b.leading + k];
          y = turned.data();
        }
        kernel_(y, x, z);
      }
    }
  }

  void make_kernel() {
    libxsmm_init();
#ifdef BASELINE_XSMM_ARCH
    libxsmm_set_target_arch(BASELINE_XSMM_ARCH);
#endif
    const int ldb = s_.b.transposed == blas::kTransposed ? static_cast<int>(s_.n) : s_.b.leading, lda = s_.a.leading,
              ldc = static_cast<int>(s_.ldc);
    const float one = 1, zero = 0;
    const int flags = s_.a.transposed == blas::kTransposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
    kernel_ = libxsmm_smmdispatch(static_cast<int>(s_.n), static_cast<int>(s_.m), static_cast<int>(s_.k), &ldb, &lda,
                                  &ldc, &one, &zero, &flags, nullptr);
    if (!kernel_) throw std::runtime_error("libxsmm generates no kernel for this");
  }

  blas::Batch s_;
  int threads_;
  libxsmm_smmfunction kernel_ = nullptr;
};

Product::Product(const blas::ProductSpec& spec, int threads) : kernel_(new Kernel{blas::Batch(spec), threads}) {
  add_note("libxsmm " LIBXSMM_VERSION);
}
void Product::operator()(const float* a, const float* b, float* c) { (*kernel_)(a, b, c); }

}  // namespace xsmm
}  // namespace baseline
