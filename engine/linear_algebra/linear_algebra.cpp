#include <tile_tune/linear_algebra.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/linear_algebra/batch.h"
#include "engine/linear_algebra/lapack.h"
#include "frontend/tensor/dtype.h"
#include "frontend/tensor/kept_memory.h"

namespace tile_tune::engine {
namespace {

using lapack::Int;
using lapack::kIsComplex;
using lapack::Library;
using lapack::Real;
using lapack::Routines;
using tensor::Shape;
using tensor::Tensor;
using tensor::TensorView;

Error error_of(const char* operation, const char* code, const std::string& message, std::vector<int64_t> numbers = {},
               std::string note = {}) {
  return {code, fmt::format("{}: {}", operation, message), std::move(note), operation, std::move(numbers)};
}

Error too_large(const char* operation, int64_t number) {
  return error_of(operation, "too-large", fmt::format("{} is more than LAPACK counts to", number), {number});
}

std::string of_entry(const Shape& batch, int64_t entry) {
  if (batch.empty()) return "the matrix";
  return fmt::format("matrix {} of the batch", entry);
}

/// A batch of matrices, as LAPACK counts.
struct Matrices {
  Int rows, columns;
  int64_t entries;
  Shape batch;

  Int smaller() const { return std::min(rows, columns); }
  int64_t size() const { return int64_t{rows} * columns; }
  bool is_empty() const { return rows == 0 || columns == 0 || entries == 0; }
  double cubic() const { return static_cast<double>(size()) * smaller(); }
  Shape shape(Int first, Int second) const { return with(batch, {first, second}); }
  Shape shape(Int first) const { return with(batch, {first}); }

 private:
  static Shape with(const Shape& batch, Shape core) {
    core.insert(core.end(), batch.begin(), batch.end());
    return core;
  }
};

Expected<Matrices> matrices_of(const char* operation, const TensorView& view) {
  const auto type = view.type();
  if (type != DType::F32 && type != DType::F64 && !is_complex(type))
    return error_of(operation, "dtype-mismatch",
                    fmt::format("the elements are {}, not f32, f64, c32 or c64", dtype_name(type)), {},
                    "convert() makes them floats");
  const Shape& shape = view.shape();
  if (shape.size() < 2)
    return error_of(operation, "rank-mismatch", fmt::format("{} dimensions are no matrix", shape.size()),
                    {static_cast<int64_t>(shape.size())});
  for (size_t d = 0; d < 2; ++d)
    if (shape[d] > std::numeric_limits<Int>::max()) return too_large(operation, shape[d]);
  Shape batch(shape.begin() + 2, shape.end());
  const bool is_empty = std::find(batch.begin(), batch.end(), 0) != batch.end();
  const int64_t entries = is_empty ? 0 : std::accumulate(batch.begin(), batch.end(), int64_t{1}, std::multiplies<>());
  return Matrices{static_cast<Int>(shape[0]), static_cast<Int>(shape[1]), entries, std::move(batch)};
}

Expected<Matrices> square_matrices_of(const char* operation, const TensorView& view) {
  auto matrices = matrices_of(operation, view);
  if (matrices && matrices->rows != matrices->columns)
    return error_of(operation, "shape-mismatch",
                    fmt::format("matrices of {} rows and {} columns are not square", matrices->rows, matrices->columns),
                    {matrices->rows, matrices->columns});
  return matrices;
}

template <typename T>
T* data_of(Tensor& tensor) {
  return tensor.elements<T>()->data();
}

/// How many elements of work a routine has asked for, in its first one. f32 may have rounded the number down.
template <typename T>
int64_t work_size(const T& answer) {
  const auto size = std::real(answer);
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(std::nextafter(size, std::numeric_limits<Real<T>>::infinity()))));
}

bool is_too_many(int64_t work) { return work > std::numeric_limits<Int>::max(); }

/// A piece of memory for each thread, written by nobody.
template <typename T>
class Work {
 public:
  Work(int threads, int64_t size)
      : size_(std::max<int64_t>(size, 1)), all_(tensor::take_memory(static_cast<size_t>(threads * size_) * sizeof(T))) {
    if (!all_) throw std::bad_alloc();
  }
  T* of(int thread) { return static_cast<T*>(all_.get()) + thread * size_; }
  Int size() const { return static_cast<Int>(size_); }

 private:
  int64_t size_;
  tensor::KeptMemory all_;
};

/// Which entry has a number that is none, or none that is finite.
template <typename T>
std::optional<int64_t> first_not_finite(Tensor& tensor, const Matrices& matrices) {
  const T* element = data_of<T>(tensor);
  for (int64_t n = 0; n < matrices.entries * matrices.size(); ++n)
    if (!std::isfinite(std::real(element[n])) || !std::isfinite(std::imag(element[n]))) return n / matrices.size();
  return std::nullopt;
}

Error not_finite(const char* operation, const Matrices& matrices, int64_t entry) {
  return error_of(operation, "not-finite", of_entry(matrices.batch, entry) + " holds an infinity or NaN", {entry});
}

Error not_converged(const char* operation, const Matrices& matrices, int64_t entry) {
  return error_of(operation, "not-converged", "LAPACK finds no end with " + of_entry(matrices.batch, entry), {entry});
}

template <typename T>
Expected<Tensor> cholesky_of(const TensorView& a, const Matrices& matrices, const Library& library, int wanted) {
  auto result = to_contiguous(a);
  if (!result || matrices.is_empty()) return result;
  const Routines<T>& routines = library.routines<T>();
  const Int n = matrices.rows;
  T* const first = data_of<T>(*result);
  const auto failed = for_each_entry(matrices.entries, threads_for(matrices.entries, matrices.cubic() / 3, wanted),
                                     library, [&](int64_t entry, int) {
                                       T* const l = first + entry * matrices.size();
                                       Int info = 0;
                                       routines.potrf("L", &n, l, &n, &info, 1);
                                       for (Int column = 0; column < n; ++column) {
                                         // OpenBLAS's takes the root of NaN for one.
                                         if (info == 0 && std::isnan(std::real(l[column + int64_t{column} * n])))
                                           info = column + 1;
                                         std::fill_n(l + int64_t{column} * n, column, T{});
                                       }
                                       return info;
                                     });
  if (!failed) return result;
  return error_of("cholesky", "not-positive-definite",
                  fmt::format("the leading minor of order {} of {} is not positive definite", failed->info,
                              of_entry(matrices.batch, failed->entry)),
                  {failed->entry, failed->info});
}

template <typename T>
Expected<Tensor> solve_of(const TensorView& a, const TensorView& b, const Matrices& matrices, const Matrices& sides,
                          const Library& library, int wanted) {
  auto factors = to_contiguous(a);
  auto result = to_contiguous(b);
  if (!factors) return factors;
  if (!result || sides.is_empty()) return result;
  const Routines<T>& routines = library.routines<T>();
  const Int n = matrices.rows;
  const int threads =
      threads_for(matrices.entries, 2 * static_cast<double>(matrices.size()) * (n / 3.0 + sides.columns), wanted);
  Work<Int> pivots(threads, n);
  T* const of_factors = data_of<T>(*factors);
  T* const of_result = data_of<T>(*result);
  const auto failed = for_each_entry(matrices.entries, threads, library, [&](int64_t entry, int thread) {
    Int info = 0;
    routines.gesv(&n, &sides.columns, of_factors + entry * matrices.size(), &n, pivots.of(thread),
                  of_result + entry * sides.size(), &n, &info);
    return info;
  });
  if (!failed) return result;
  return error_of(
      "solve", "singular",
      fmt::format("{} is singular: pivot {} is zero", of_entry(matrices.batch, failed->entry), failed->info),
      {failed->entry, failed->info});
}

template <typename T>
Expected<QR> qr_of(const TensorView& a, const Matrices& matrices, const Library& library, int wanted) {
  const Int m = matrices.rows, n = matrices.columns, k = matrices.smaller();
  auto factors = to_contiguous(a);
  if (!factors) return factors.error();
  auto r = Tensor::zeros(a.type(), matrices.shape(k, n));
  if (!r) return r.error();
  if (matrices.is_empty()) {
    auto q = Tensor::zeros(a.type(), matrices.shape(m, k));
    if (!q) return q.error();
    return QR{std::move(*q), std::move(*r)};
  }
  const Routines<T>& routines = library.routines<T>();
  T answer{}, other{};
  Int info = 0;
  const Int ask = -1;
  routines.geqrf(&m, &n, nullptr, &m, nullptr, &answer, &ask, &info);
  routines.orgqr(&m, &k, &k, nullptr, &m, nullptr, &other, &ask, &info);
  const int64_t size = std::max(work_size(answer), work_size(other));
  if (is_too_many(size)) return too_large("qr", size);
  const int threads = threads_for(matrices.entries, 4 * matrices.cubic(), wanted);
  Work<T> work(threads, size), tau(threads, k);
  // The reflectors become q where they are; what of a wide matrix is right of them goes.
  T* const of_factors = data_of<T>(*factors);
  T* const of_r = data_of<T>(*r);
  for_each_entry(matrices.entries, threads, library, [&](int64_t entry, int thread) {
    T* const one = of_factors + entry * matrices.size();
    T* const upper = of_r + entry * k * n;
    const Int length = work.size();
    Int status = 0;
    routines.geqrf(&m, &n, one, &m, tau.of(thread), work.of(thread), &length, &status);
    for (Int column = 0; column < n; ++column)
      std::copy_n(one + int64_t{column} * m, std::min(column + 1, k), upper + int64_t{column} * k);
    routines.orgqr(&m, &k, &k, one, &m, tau.of(thread), work.of(thread), &length, &status);
    return 0;
  });
  if (m >= n) return QR{std::move(*factors), std::move(*r)};
  std::vector<tensor::Slice> all;
  for (const int64_t extent : factors->shape()) all.push_back({0, extent, 1});
  all[1].end = k;
  auto q = to_contiguous(*factors->view()->slice(all));
  if (!q) return q.error();
  return QR{std::move(*q), std::move(*r)};
}

/// Elements of real work of complex gesdd with job S (LAPACK 3.11, zgesdd.f).
int64_t svd_real_work(int64_t m, int64_t n) {
  const int64_t small = std::min(m, n), large = std::max(m, n);
  return std::max(5 * small * small + 5 * small, 2 * large * small + 2 * small * small + small);
}

template <typename T>
Expected<SVD> svd_of(const TensorView& a, const Matrices& matrices, const Library& library, int wanted) {
  using R = Real<T>;
  const Int m = matrices.rows, n = matrices.columns, k = matrices.smaller();
  auto copy = to_contiguous(a);
  auto u = Tensor::zeros(a.type(), matrices.shape(m, k));
  auto s = Tensor::zeros(component_type(a.type()), matrices.shape(k));
  auto vt = Tensor::zeros(a.type(), matrices.shape(k, n));
  for (const auto* made : {&copy, &u, &s, &vt})
    if (!*made) return made->error();
  if (matrices.is_empty()) return SVD{std::move(*u), std::move(*s), std::move(*vt)};
  if (const auto entry = first_not_finite<T>(*copy, matrices)) return not_finite("svd", matrices, *entry);
  const Routines<T>& routines = library.routines<T>();
  const int threads = threads_for(matrices.entries, 10 * matrices.cubic(), wanted);
  Work<Int> integers(threads, 8 * int64_t{k});
  Work<R> reals(threads, kIsComplex<T> ? svd_real_work(m, n) : 0);
  const auto call = [&](int thread, T* one, R* values, T* left, T* right, T* work, Int length) {
    Int info = 0;
    if constexpr (kIsComplex<T>)
      routines.gesdd("S", &m, &n, one, &m, values, left, &m, right, &k, work, &length, reals.of(thread),
                     integers.of(thread), &info, 1);
    else
      routines.gesdd("S", &m, &n, one, &m, values, left, &m, right, &k, work, &length, integers.of(thread), &info, 1);
    return info;
  };
  T answer{};
  call(0, data_of<T>(*copy), data_of<R>(*s), data_of<T>(*u), data_of<T>(*vt), &answer, -1);
  if (is_too_many(work_size(answer))) return too_large("svd", work_size(answer));
  Work<T> work(threads, work_size(answer));
  const auto failed = for_each_entry(matrices.entries, threads, library, [&](int64_t entry, int thread) {
    return call(thread, data_of<T>(*copy) + entry * matrices.size(), data_of<R>(*s) + entry * k,
                data_of<T>(*u) + entry * m * k, data_of<T>(*vt) + entry * k * n, work.of(thread), work.size());
  });
  if (failed) return not_converged("svd", matrices, failed->entry);
  return SVD{std::move(*u), std::move(*s), std::move(*vt)};
}

template <typename T>
Expected<Eigh> eigh_of(const TensorView& a, const Matrices& matrices, const Library& library, int wanted) {
  using R = Real<T>;
  const Int n = matrices.rows;
  auto vectors = to_contiguous(a);
  auto values = Tensor::zeros(component_type(a.type()), matrices.shape(n));
  for (const auto* made : {&vectors, &values})
    if (!*made) return made->error();
  if (matrices.is_empty()) return Eigh{std::move(*values), std::move(*vectors)};
  if (const auto entry = first_not_finite<T>(*vectors, matrices)) return not_finite("eigh", matrices, *entry);
  const Routines<T>& routines = library.routines<T>();
  const auto call = [&](T* one, R* of_values, T* work, Int length, R* reals, Int real_length, Int* integers,
                        Int integer_length) {
    Int info = 0;
    if constexpr (kIsComplex<T>)
      routines.syevd("V", "L", &n, one, &n, of_values, work, &length, reals, &real_length, integers, &integer_length,
                     &info, 1, 1);
    else
      routines.syevd("V", "L", &n, one, &n, of_values, work, &length, integers, &integer_length, &info, 1, 1);
    return info;
  };
  T answer{};
  R real_answer{};
  Int integer_answer = 0;
  call(data_of<T>(*vectors), data_of<R>(*values), &answer, -1, &real_answer, -1, &integer_answer, -1);
  for (const int64_t size : {work_size(answer), work_size(real_answer)})
    if (is_too_many(size)) return too_large("eigh", size);
  const int threads = threads_for(matrices.entries, 9 * matrices.cubic(), wanted);
  Work<T> work(threads, work_size(answer));
  Work<R> reals(threads, work_size(real_answer));
  Work<Int> integers(threads, integer_answer);
  const auto failed = for_each_entry(matrices.entries, threads, library, [&](int64_t entry, int thread) {
    return call(data_of<T>(*vectors) + entry * matrices.size(), data_of<R>(*values) + entry * n, work.of(thread),
                work.size(), reals.of(thread), reals.size(), integers.of(thread), integers.size());
  });
  if (failed) return not_converged("eigh", matrices, failed->entry);
  return Eigh{std::move(*values), std::move(*vectors)};
}

/// `compute` of the element type, as a value of it. What the standard library throws ends here.
template <typename Result, typename Compute>
Expected<Result> by_type(const char* operation, DType type, const Compute& compute) {
  const auto library = lapack::library();
  if (!library) return library.error();
  try {
    if (type == DType::F32) return compute(float(), **library);
    if (type == DType::F64) return compute(double(), **library);
    if (type == DType::C32) return compute(std::complex<float>(), **library);
    return compute(std::complex<double>(), **library);
  } catch (const std::exception&) {  // of memory, and of lengths beyond all of it
    return error_of(operation, "out-of-memory", "there is no memory for LAPACK's work");
  }
}

}  // namespace

Expected<Tensor> cholesky(const TensorView& a, const LinearAlgebraOptions& options) {
  const auto matrices = square_matrices_of("cholesky", a);
  if (!matrices) return matrices.error();
  return by_type<Tensor>("cholesky", a.type(), [&](auto zero, const Library& library) {
    return cholesky_of<decltype(zero)>(a, *matrices, library, options.threads);
  });
}

Expected<Tensor> solve(const TensorView& a, const TensorView& b, const LinearAlgebraOptions& options) {
  const auto matrices = square_matrices_of("solve", a);
  if (!matrices) return matrices.error();
  const auto sides = matrices_of("solve", b);
  if (!sides) return sides.error();
  if (a.type() != b.type())
    return error_of("solve", "dtype-mismatch",
                    fmt::format("the matrices are {}, the right sides {}", dtype_name(a.type()), dtype_name(b.type())));
  if (sides->rows != matrices->rows)
    return error_of("solve", "shape-mismatch",
                    fmt::format("matrices of {} rows with right sides of {}", matrices->rows, sides->rows),
                    {matrices->rows, sides->rows});
  if (sides->batch != matrices->batch)
    return error_of("solve", "shape-mismatch",
                    fmt::format("a batch of {} matrices with one of {} right sides, or of another shape",
                                matrices->entries, sides->entries),
                    {matrices->entries, sides->entries});
  return by_type<Tensor>("solve", a.type(), [&](auto zero, const Library& library) {
    return solve_of<decltype(zero)>(a, b, *matrices, *sides, library, options.threads);
  });
}

Expected<QR> qr(const TensorView& a, const LinearAlgebraOptions& options) {
  const auto matrices = matrices_of("qr", a);
  if (!matrices) return matrices.error();
  return by_type<QR>("qr", a.type(), [&](auto zero, const Library& library) {
    return qr_of<decltype(zero)>(a, *matrices, library, options.threads);
  });
}

Expected<SVD> svd(const TensorView& a, const LinearAlgebraOptions& options) {
  const auto matrices = matrices_of("svd", a);
  if (!matrices) return matrices.error();
  return by_type<SVD>("svd", a.type(), [&](auto zero, const Library& library) {
    return svd_of<decltype(zero)>(a, *matrices, library, options.threads);
  });
}

Expected<Eigh> eigh(const TensorView& a, const LinearAlgebraOptions& options) {
  const auto matrices = square_matrices_of("eigh", a);
  if (!matrices) return matrices.error();
  return by_type<Eigh>("eigh", a.type(), [&](auto zero, const Library& library) {
    return eigh_of<decltype(zero)>(a, *matrices, library, options.threads);
  });
}

}  // namespace tile_tune::engine
