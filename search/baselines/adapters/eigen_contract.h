// The definition that instantiations of eigen::contract need.
#pragma once

#define EIGEN_USE_THREADS
#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include <array>
#include <string>

#include "eigen.h"

namespace baseline {
namespace eigen {

inline Eigen::ThreadPoolDevice& device(int threads) {
  static Eigen::ThreadPool pool(threads);
  static Eigen::ThreadPoolDevice one(&pool, threads);
  return one;
}

template <typename T, int Rank>
Eigen::TensorMap<Eigen::Tensor<T, Rank, Eigen::RowMajor>> view(T* data, const int64_t* extents) {
  std::array<Eigen::Index, Rank> dimensions;
  for (int d = 0; d < Rank; ++d) dimensions[d] = extents[d];
  return {data, dimensions};
}

template <typename T, int RankA, int RankB, int Pairs, bool Shuffles>
void contract(const T* a, const int64_t* a_extents, const T* b, const int64_t* b_extents, T* c,
              const int64_t* c_extents, const int (*pairs)[2], const int* order, int threads) {
  add_note(("Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
            std::to_string(EIGEN_MINOR_VERSION))
               .c_str());
  constexpr int kRank = RankA + RankB - 2 * Pairs;
  std::array<Eigen::IndexPair<int>, Pairs> summed;
  for (int p = 0; p < Pairs; ++p) summed[p] = Eigen::IndexPair<int>(pairs[p][0], pairs[p][1]);
  auto result = view<T, kRank>(c, c_extents);
  const auto product = view<const T, RankA>(a, a_extents).contract(view<const T, RankB>(b, b_extents), summed);
  if constexpr (Shuffles) {
    std::array<int, kRank> places;
    for (int d = 0; d < kRank; ++d) places[d] = order[d];
    result.device(device(threads)) = product.shuffle(places);
  } else {
    result.device(device(threads)) = product;
  }
}

}  // namespace eigen
}  // namespace baseline
