// Factorisations of f64 matrices through tensors, beside the same routines called by hand on a copy of the matrix, with
// work arrays that are there already. Interleaved rounds; of each pair the median times and the median of their ratios.
// Then batches on one thread and on all.
#include <tile_tune/linear_algebra.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "engine/linear_algebra/lapack.h"

using namespace tile_tune;
using engine::lapack::Int;
using tensor::Tensor;
using Clock = std::chrono::steady_clock;

namespace {

double microseconds_of(const std::function<void()>& work, int times) {
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / times;
}

double median(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  return figures[figures.size() / 2];
}

void compare(const char* what, int64_t n, const std::function<void()>& first, const std::function<void()>& second) {
  first();
  second();
  // Rounds of 5 ms at least.
  const int times = std::max(1, static_cast<int>(5000 / microseconds_of(first, 1)));
  std::vector<double> firsts, seconds, ratios;
  for (int round = 0; round < 31; ++round) {
    firsts.push_back(microseconds_of(first, times));
    seconds.push_back(microseconds_of(second, times));
    ratios.push_back(firsts.back() / seconds.back());
  }
  std::printf("%-22s %5ld %12.2f %12.2f %8.3f (least of each: %.3f)\n", what, static_cast<long>(n), median(firsts),
              median(seconds), median(ratios),
              *std::min_element(firsts.begin(), firsts.end()) / *std::min_element(seconds.begin(), seconds.end()));
}

/// Symmetric, its diagonal large: good for all of them.
Tensor matrices(const tensor::Shape& shape) {
  auto made = Tensor::zeros(DType::F64, shape);
  const auto elements = *made->elements<double>();
  const int64_t n = shape[0];
  std::mt19937 random(1);
  for (int64_t entry = 0; entry < made->element_count() / (n * n); ++entry)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        double* one = elements.data() + entry * n * n;
        one[i + j * n] = one[j + i * n] = static_cast<double>(random() % 1000) / 1000 + (i == j ? double(n) : 0);
      }
  return std::move(*made);
}

void check(bool done) {
  if (!done) std::abort();
}

void compare_with_lapack(const engine::lapack::Library& library, int64_t size) {
  const auto& f64 = library.f64;
  const Tensor a = matrices({size, size}), b = matrices({size, size});
  const auto view = *a.view(), side = *b.view();
  const auto n = static_cast<Int>(size);
  std::vector<double> copy(static_cast<size_t>(size * size)), other(copy), u(copy), vt(copy), values(copy.size());
  std::vector<double> work(1);
  std::vector<Int> integers(static_cast<size_t>(8 * size + 16));
  Int info = 0, ask = -1, integer_size = 0;
  const auto fill = [&](std::vector<double>& to, const Tensor& from) {
    const auto elements = *from.elements<double>();
    std::copy(elements.begin(), elements.end(), to.begin());
  };
  const auto grow = [&] {
    if (static_cast<size_t>(work[0]) > work.size()) work.resize(static_cast<size_t>(work[0]));
  };
  f64.geqrf(&n, &n, copy.data(), &n, values.data(), work.data(), &ask, &info);
  grow();
  f64.orgqr(&n, &n, &n, copy.data(), &n, values.data(), work.data(), &ask, &info);
  grow();
  f64.gesdd("S", &n, &n, copy.data(), &n, values.data(), u.data(), &n, vt.data(), &n, work.data(), &ask,
            integers.data(), &info, 1);
  grow();
  f64.syevd("V", "L", &n, copy.data(), &n, values.data(), work.data(), &ask, &integer_size, &ask, &info, 1, 1);
  grow();
  integers.resize(std::max(integers.size(), static_cast<size_t>(integer_size)));
  const auto length = static_cast<Int>(work.size()), integer_length = static_cast<Int>(integers.size());

  compare(
      "cholesky", size, [&] { check(static_cast<bool>(engine::cholesky(view))); },
      [&] {
        fill(copy, a);
        f64.potrf("L", &n, copy.data(), &n, &info, 1);
      });
  compare(
      "solve", size, [&] { check(static_cast<bool>(engine::solve(view, side))); },
      [&] {
        fill(copy, a);
        fill(other, b);
        f64.gesv(&n, &n, copy.data(), &n, integers.data(), other.data(), &n, &info);
      });
  compare(
      "qr", size, [&] { check(static_cast<bool>(engine::qr(view))); },
      [&] {
        fill(copy, a);
        f64.geqrf(&n, &n, copy.data(), &n, values.data(), work.data(), &length, &info);
        for (int64_t j = 0; j < size; ++j) std::copy_n(copy.data() + j * size, j + 1, other.data() + j * size);
        f64.orgqr(&n, &n, &n, copy.data(), &n, values.data(), work.data(), &length, &info);
      });
  compare(
      "svd", size, [&] { check(static_cast<bool>(engine::svd(view))); },
      [&] {
        fill(copy, a);
        f64.gesdd("S", &n, &n, copy.data(), &n, values.data(), u.data(), &n, vt.data(), &n, work.data(), &length,
                  integers.data(), &info, 1);
      });
  compare(
      "eigh", size, [&] { check(static_cast<bool>(engine::eigh(view))); },
      [&] {
        fill(copy, a);
        f64.syevd("V", "L", &n, copy.data(), &n, values.data(), work.data(), &length, integers.data(), &integer_length,
                  &info, 1, 1);
      });
}

}  // namespace

int main() {
  const auto library = engine::lapack::library();
  if (!library) {
    std::fprintf(stderr, "%s\n", library.error().message.c_str());
    return 1;
  }
  std::printf("%-22s %5s %12s %12s %8s\n", "", "n", "tensors, us", "LAPACK, us", "ratio");
  for (const int64_t size : {4, 16, 64, 256, 512}) compare_with_lapack(**library, size);
  std::printf("\n%-22s %5s %12s %12s %8s\n", "batch of 1000", "n", "threads, us", "one, us", "ratio");
  for (const int64_t size : {8, 32}) {
    const Tensor a = matrices({size, size, 1000});
    const auto view = *a.view();
    compare(
        "cholesky", size, [&] { check(static_cast<bool>(engine::cholesky(view))); },
        [&] { check(static_cast<bool>(engine::cholesky(view, {1}))); });
    compare(
        "eigh", size, [&] { check(static_cast<bool>(engine::eigh(view))); },
        [&] { check(static_cast<bool>(engine::eigh(view, {1}))); });
  }
}
