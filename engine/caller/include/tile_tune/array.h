// The caller's arrays. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tile_tune/dtype.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace tile_tune::engine {

/// An array of the caller's, which it keeps alive during the call.
struct Array {
  void* data = nullptr;  // element (0, ..., 0)
  DType type = DType::F32;
  std::vector<int64_t> shape;         // empty: one element
  std::vector<int64_t> strides = {};  // in elements, may be negative; empty: C order
};
/// By the names of the program's inputs and outputs. Inputs are only read.
using Arrays = std::map<std::string, Array>;

struct ArrayType {
  DType type = DType::F32;
  std::vector<int64_t> shape;
};

/// The element type that stands for T.
template <typename T>
constexpr DType dtype_of() {
  using U = std::remove_const_t<T>;
  static_assert(std::is_same_v<U, bool> || (std::is_integral_v<U> && sizeof(U) <= 8) || std::is_same_v<U, float> ||
                    std::is_same_v<U, double>,
                "write Array{data, DType::..., shape} for other element types");
  if constexpr (std::is_same_v<U, bool>) {
    return DType::Bool;
  } else if constexpr (std::is_floating_point_v<U>) {
    return sizeof(U) == 4 ? DType::F32 : DType::F64;
  } else {
    constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
    constexpr DType kUnsigned[] = {DType::U8, DType::U16, DType::U32, DType::U64};
    constexpr int place = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
    return std::is_signed_v<U> ? kSigned[place] : kUnsigned[place];
  }
}

template <typename T>
Array array(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
  return {const_cast<std::remove_const_t<T>*>(data), dtype_of<T>(), std::move(shape), std::move(strides)};
}

}  // namespace tile_tune::engine
