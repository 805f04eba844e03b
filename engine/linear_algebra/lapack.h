// The routines of the machine's LAPACK, found when they are first needed.
//
// Fortran's interface with 32-bit integers; the lengths of character arguments come last.
#pragma once

#include <tile_tune/expected.h>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace tile_tune::engine::lapack {

using Int = int;

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealOf<T>::type;
template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

/// Of one element type. Names are those of real types; complex ones have ungqr and heevd.
template <typename T>
struct Routines {
  using R = Real<T>;
  void (*potrf)(const char* uplo, const Int* n, T* a, const Int* lda, Int* info, size_t);
  void (*gesv)(const Int* n, const Int* nrhs, T* a, const Int* lda, Int* pivots, T* b, const Int* ldb, Int* info);
  void (*geqrf)(const Int* m, const Int* n, T* a, const Int* lda, T* tau, T* work, const Int* lwork, Int* info);
  void (*orgqr)(const Int* m, const Int* n, const Int* k, T* a, const Int* lda, const T* tau, T* work, const Int* lwork,
                Int* info);
  std::conditional_t<
      kIsComplex<T>,
      void (*)(const char* job, const Int* m, const Int* n, T* a, const Int* lda, R* s, T* u, const Int* ldu, T* vt,
               const Int* ldvt, T* work, const Int* lwork, R* rwork, Int* iwork, Int* info, size_t),
      void (*)(const char* job, const Int* m, const Int* n, T* a, const Int* lda, R* s, T* u, const Int* ldu, T* vt,
               const Int* ldvt, T* work, const Int* lwork, Int* iwork, Int* info, size_t)>
      gesdd;
  std::conditional_t<kIsComplex<T>,
                     void (*)(const char* job, const char* uplo, const Int* n, T* a, const Int* lda, R* w, T* work,
                              const Int* lwork, R* rwork, const Int* lrwork, Int* iwork, const Int* liwork, Int* info,
                              size_t, size_t),
                     void (*)(const char* job, const char* uplo, const Int* n, T* a, const Int* lda, R* w, T* work,
                              const Int* lwork, Int* iwork, const Int* liwork, Int* info, size_t, size_t)>
      syevd;
};

struct Library {
  Routines<float> f32;
  Routines<double> f64;
  Routines<std::complex<float>> c32;
  Routines<std::complex<double>> c64;
  /// OpenBLAS's; null in other libraries, which have no threads.
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;

  template <typename T>
  const Routines<T>& routines() const {
    if constexpr (std::is_same_v<T, float>) return f32;
    if constexpr (std::is_same_v<T, double>) return f64;
    if constexpr (std::is_same_v<T, std::complex<float>>) return c32;
    if constexpr (std::is_same_v<T, std::complex<double>>) return c64;
  }
};

/// Error: no-lapack.
Expected<const Library*> library();

/// As long as one of these lives, the library computes on the thread that calls it, alone.
class OneThread {
 public:
  explicit OneThread(const Library& library);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const Library& library_;
};

}  // namespace tile_tune::engine::lapack
