// Eigen's tensor contraction, on its thread pool, and its fixed-size matrices for many small products.
#pragma once

#define EIGEN_USE_THREADS
#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include "prelude.h"

namespace baseline {
namespace eigen {

inline Eigen::ThreadPoolDevice& device(int threads) {
  static Eigen::ThreadPool pool(threads);
  static Eigen::ThreadPoolDevice one(&pool, threads);
  return one;
}
inline void add_version_note() {
  add_note("Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION));
}

template <typename T, int Rank>
using View = Eigen::TensorMap<Eigen::Tensor<T, Rank, Eigen::RowMajor>>;
template <typename T, int Rank>
using ConstView = Eigen::TensorMap<Eigen::Tensor<const T, Rank, Eigen::RowMajor>>;

/// A tensor whose axes lie in memory in the order of `extents`.
template <typename T, size_t Rank>
ConstView<T, static_cast<int>(Rank)> view(const T* data, const std::array<Eigen::Index, Rank>& extents) {
  return ConstView<T, static_cast<int>(Rank)>(data, extents);
}

}  // namespace eigen
}  // namespace baseline
