#include "cblas.h"

#include <dlfcn.h>

#include <complex>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "blas_batch.h"
#include "fastest.h"

namespace baseline {
namespace cblas {
namespace {

using blas::kPlain;
using blas::kRowMajor;

// Debian's OpenBLAS by its name; another release, or MKL, by its path.
#ifdef BASELINE_BLAS_LIBRARY
const char* const kFiles[] = {BASELINE_BLAS_LIBRARY};
#else
const char* const kFiles[] = {"libopenblas.so.0", "libopenblas.so"};
#endif
#ifndef BASELINE_BLAS_PREFIX
#define BASELINE_BLAS_PREFIX ""
#endif

using ComplexGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                             void*, int);
using ComplexGemv = void (*)(int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*,
                             int);

struct Library {
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  void (*dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  void (*sgemv)(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  void (*dgemv)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  ComplexGemm cgemm, zgemm;
  ComplexGemv cgemv, zgemv;
  void (*set_num_threads)(int);
};

template <typename Function>
void find(void* handle, Function& function, const std::string& name) {
  function = reinterpret_cast<std::decay_t<Function>>(dlsym(handle, name.c_str()));
  if (!function) throw std::runtime_error("the library lacks " + name);
}

#ifdef BASELINE_BLAS_IS_MKL

const char* const kSetThreads = "MKL_Set_Num_Threads";
// It may use the threads of OpenMP that the others use.
void choose_core() {
  setenv("MKL_THREADING_LAYER", "GNU", 1);
#ifdef BASELINE_MKL_INSTRUCTIONS
  setenv("MKL_ENABLE_INSTRUCTIONS", BASELINE_MKL_INSTRUCTIONS, 1);
#endif
}
std::string version(void* handle) {
  void (*get)(char*, int);
  find(handle, get, "MKL_Get_Version_String");
  char text[200] = "";
  get(text, sizeof text);
  const std::string all = text;  // "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build ..."
  const size_t at = all.find("Version ");
  return at == std::string::npos ? "MKL" : "MKL " + all.substr(at + 8, all.find_first_of("- ", at + 8) - at - 8);
}

#else

const char* const kSetThreads = BASELINE_BLAS_PREFIX "openblas_set_num_threads";
void choose_core() {
#ifdef BASELINE_OPENBLAS_CORE
  setenv("OPENBLAS_CORETYPE", BASELINE_OPENBLAS_CORE, 1);
#else
  // On AMD it picks its AVX2 core by itself and is then half as fast. A user's own choice stands.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
}
std::string version(void* handle) {
  char* (*config)();
  char* (*core)();
  find(handle, config, BASELINE_BLAS_PREFIX "openblas_get_config");
  find(handle, core, BASELINE_BLAS_PREFIX "openblas_get_corename");
  const std::string text = config();
  return text.substr(0, text.find(' ', text.find(' ') + 1)) + " (" + core() + ")";
}

#endif

const Library& library() {
  static const Library one = [] {
    choose_core();
    void* handle = nullptr;
    for (const char* name : kFiles)
      if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw std::runtime_error("BLAS is not installed");
    Library found;
    find(handle, found.sgemm, BASELINE_BLAS_PREFIX "cblas_sgemm");
    find(handle, found.dgemm, BASELINE_BLAS_PREFIX "cblas_dgemm");
    find(handle, found.sgemv, BASELINE_BLAS_PREFIX "cblas_sgemv");
    find(handle, found.dgemv, BASELINE_BLAS_PREFIX "cblas_dgemv");
    find(handle, found.cgemm, BASELINE_BLAS_PREFIX "cblas_cgemm");
    find(handle, found.zgemm, BASELINE_BLAS_PREFIX "cblas_zgemm");
    find(handle, found.cgemv, BASELINE_BLAS_PREFIX "cblas_cgemv");
    find(handle, found.zgemv, BASELINE_BLAS_PREFIX "cblas_zgemv");
    find(handle, found.set_num_threads, kSetThreads);
    add_note(version(handle));
    return found;
  }();
  return one;
}

template <typename T>
constexpr T kOne = 1;
template <typename T>
constexpr T kZero = 0;

template <typename T>
class TypedProduct {
 public:
  TypedProduct(const blas::ProductSpec& spec, int threads) : s_(spec), threads_(threads) {}
  void operator()(const T* a, const T* b, T* c) {
    a_ = a;
    b_ = b;
    c_ = c;
    if (fastest_.empty()) {
      library();
      fastest_.add("all threads in each product", [this] {
        library().set_num_threads(threads_);
        for (int64_t number = 0; number < count(); ++number) multiply(number);
      });
      // Many small products: each thread takes some of them, the library's own threads sleep.
      if (count() > 1)
        fastest_.add("a product a thread", [this] {
          library().set_num_threads(1);
#pragma omp parallel for num_threads(threads_) schedule(static)
          for (int64_t number = 0; number < count(); ++number) multiply(number);
        });
    }
    fastest_();
    if (count() > 1) add_note(fastest_.name());
  }

 private:
  int64_t count() const { return s_.count(); }
  void multiply(int64_t number) const {
    const T *a = a_, *b = b_;
    T* c = c_;
    s_.go_to(number, a, b, c);
    gemm(a, b, c);
  }
  void gemm(const T* a, const T* b, T* c) const {
    const int m = static_cast<int>(s_.m), n = static_cast<int>(s_.n), k = static_cast<int>(s_.k);
    if (n == 1 && s_.ldc == 1) {
      const int rows = s_.a.transposed == kPlain ? m : k, columns = s_.a.transposed == kPlain ? k : m;
      const int step = s_.b.transposed == kPlain ? s_.b.leading : 1;
      if constexpr (std::is_same_v<T, float>)
        library().sgemv(kRowMajor, s_.a.transposed, rows, columns, 1, a, s_.a.leading, b, step, 0, c, 1);
      else if constexpr (std::is_same_v<T, double>)
        library().dgemv(kRowMajor, s_.a.transposed, rows, columns, 1, a, s_.a.leading, b, step, 0, c, 1);
      else
        (sizeof(T) == 8 ? library().cgemv : library().zgemv)(kRowMajor, s_.a.transposed, rows, columns, &kOne<T>, a,
                                                             s_.a.leading, b, step, &kZero<T>, c, 1);
      return;
    }
    const int ldc = static_cast<int>(s_.ldc);
    if constexpr (std::is_same_v<T, float>)
      library().sgemm(kRowMajor, s_.a.transposed, s_.b.transposed, m, n, k, 1, a, s_.a.leading, b, s_.b.leading, 0, c,
                      ldc);
    else if constexpr (std::is_same_v<T, double>)
      library().dgemm(kRowMajor, s_.a.transposed, s_.b.transposed, m, n, k, 1, a, s_.a.leading, b, s_.b.leading, 0, c,
                      ldc);
    else
      (sizeof(T) == 8 ? library().cgemm : library().zgemm)(kRowMajor, s_.a.transposed, s_.b.transposed, m, n, k,
                                                           &kOne<T>, a, s_.a.leading, b, s_.b.leading, &kZero<T>, c,
                                                           ldc);
  }

  blas::Batch s_;
  int threads_;
  const T *a_ = nullptr, *b_ = nullptr;
  T* c_ = nullptr;
  Fastest fastest_;
};

}  // namespace

struct Product::Either {
  TypedProduct<float> singles;
  TypedProduct<double> doubles;
};

Product::Product(const blas::ProductSpec& spec, int threads) : either_(new Either{{spec, threads}, {spec, threads}}) {}
void Product::operator()(const float* a, const float* b, float* c) { either_->singles(a, b, c); }
void Product::operator()(const double* a, const double* b, double* c) { either_->doubles(a, b, c); }

struct ComplexProduct::Either {
  TypedProduct<std::complex<float>> singles;
  TypedProduct<std::complex<double>> doubles;
};

ComplexProduct::ComplexProduct(const blas::ProductSpec& spec, int threads)
    : either_(new Either{{spec, threads}, {spec, threads}}) {}
void ComplexProduct::run(const void* a, const void* b, void* c, size_t bytes) {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  if (bytes == sizeof(Single))
    either_->singles(static_cast<const Single*>(a), static_cast<const Single*>(b), static_cast<Single*>(c));
  else
    either_->doubles(static_cast<const Double*>(a), static_cast<const Double*>(b), static_cast<Double*>(c));
}

}  // namespace cblas
}  // namespace baseline
