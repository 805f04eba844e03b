#include "engine/handles/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/tensor/convert.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::engine {
namespace {

/// `visit` of the place of each element, in elements after the first, and of its place in an array of these strides.
template <typename Visit>
void for_each_element(const Array& array, const std::vector<int64_t>& others, const Visit& visit) {
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return;
  // Neighbours one after the other.
  std::vector<size_t> order(array.shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::abs(array.strides[a]) < std::abs(array.strides[b]); });
  const int64_t length = order.empty() ? 1 : array.shape[order[0]],
                stride = order.empty() ? 0 : array.strides[order[0]],
                other_stride = order.empty() ? 0 : others[order[0]];
  std::vector<int64_t> index(order.size(), 0);
  for (int64_t place = 0, other = 0;;) {
    if (stride == 1 && other_stride == 1)  // compilers make vectors of it
      for (int64_t i = 0; i < length; ++i) visit(place + i, other + i);
    else
      for (int64_t i = 0; i < length; ++i) visit(place + i * stride, other + i * other_stride);
    size_t d = 1;
    for (; d < order.size(); ++d) {
      const size_t dimension = order[d];
      place += array.strides[dimension];
      other += others[dimension];
      if (++index[d] < array.shape[dimension]) break;
      place -= array.strides[dimension] * array.shape[dimension];
      other -= others[dimension] * array.shape[dimension];
      index[d] = 0;
    }
    if (d >= order.size()) return;
  }
}

template <typename T>
void scale_as(const Array& array, T factor, const Array* term) {
  T* const elements = static_cast<T*>(array.data);
  if (!term)
    return for_each_element(array, array.strides, [&](int64_t place, int64_t) {
      elements[place] = factor == T{} ? T{} : elements[place] * factor;
    });
  const T* const terms = static_cast<const T*>(term->data);
  for_each_element(array, term->strides,
                   [&](int64_t place, int64_t other) { elements[place] = elements[place] * factor + terms[other]; });
}

/// Narrow floats in double, integers as they wrap.
void scale_narrow(const Array& array, double factor, const Array* term) {
  auto* const elements = static_cast<std::byte*>(array.data);
  const auto* const terms = term ? static_cast<const std::byte*>(term->data) : nullptr;
  for_each_element(array, term ? term->strides : array.strides, [&](int64_t place, int64_t other) {
    if (is_float(array.type)) {
      const double scaled = factor == 0 ? 0 : tensor::load_real(array.type, elements, place) * factor;
      const double added = terms ? tensor::load_real(array.type, terms, other) : 0;
      tensor::store_real(array.type, elements, place, terms ? scaled + added : scaled);
    } else {
      const auto scaled = static_cast<uint64_t>(tensor::load_integer(array.type, elements, place)) *
                          static_cast<uint64_t>(static_cast<int64_t>(factor));
      const auto added = terms ? static_cast<uint64_t>(tensor::load_integer(array.type, terms, other)) : 0;
      tensor::store_integer(array.type, elements, place, static_cast<int64_t>(scaled + added));
    }
  });
}

void scale_elements(const Array& array, std::complex<double> factor, const Array* term) {
  if (array.type == DType::F32) return scale_as(array, static_cast<float>(factor.real()), term);
  if (array.type == DType::F64) return scale_as(array, factor.real(), term);
  if (array.type == DType::C32) return scale_as(array, std::complex<float>(factor), term);
  if (array.type == DType::C64) return scale_as(array, factor, term);
  scale_narrow(array, factor.real(), term);
}

}  // namespace

tensor::Expected<void> check_scalar(std::complex<double> number, DType type) {
  const auto wrong = [&](const char* why) {
    return tensor::Error{"lossy-conversion",
                         fmt::format("einsum_into: the number {} + {}i {}", number.real(), number.imag(), why), "",
                         "einsum_into"};
  };
  if (!is_complex(type) && number.imag() != 0) return wrong("is not real, as the output is");
  if (type == DType::Bool && number.real() != 0 && number.real() != 1) return wrong("is neither 0 nor 1, as bool is");
  // Beyond 2^53 doubles have no units; no caller can mean one.
  if (is_integer(type) && (number.real() != std::trunc(number.real()) || std::abs(number.real()) > 0x1p53))
    return wrong("is no whole number, as the output's are");
  return {};
}

void scalar_of(std::complex<double> number, DType type, std::byte* to) {
  if (is_complex(type)) return tensor::store_complex(type, to, 0, number);
  if (is_float(type)) return tensor::store_real(type, to, 0, number.real());
  tensor::store_integer(type, to, 0, static_cast<int64_t>(number.real()));
}

void scale(const Array& array, std::complex<double> factor) { scale_elements(array, factor, nullptr); }

void scale_and_add(const Array& array, std::complex<double> factor, const Array& term) {
  scale_elements(array, factor, &term);
}

}  // namespace tile_tune::engine
