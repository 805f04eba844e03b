// Elements of one type as elements of another, in pieces: each is read into the widest type of its kind and written
// from there, so that there is a loop for each type and not for each pair of them.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tile_tune/tensor.h>

#include "frontend/tensor/convert.h"
#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor {
namespace {

// 4 KB of the widest type: well within the first cache.
constexpr int64_t kPiece = 256;

/// Some elements; which of the three holds them the source's type says.
struct Piece {
  std::array<int64_t, kPiece> integers;  // of U64 its bits
  std::array<double, kPiece> reals, imaginaries;
};

template <typename T>
void read_as(const std::byte* from, int64_t stride, int64_t count, auto* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<std::decay_t<decltype(*to)>>(load_as<T>(from, i * stride));
}

void read(DType type, const std::byte* from, int64_t stride, int64_t count, Piece& piece) {
  if (type == DType::F32) return read_as<float>(from, stride, count, piece.reals.data());
  if (type == DType::F64) return read_as<double>(from, stride, count, piece.reals.data());
  if (type == DType::I32) return read_as<int32_t>(from, stride, count, piece.integers.data());
  if (type == DType::I64) return read_as<int64_t>(from, stride, count, piece.integers.data());
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<size_t>(i);
    if (is_complex(type)) {
      const auto value = load_complex(type, from, i * stride);
      piece.reals[n] = value.real(), piece.imaginaries[n] = value.imag();
    } else if (is_float(type)) {
      piece.reals[n] = load_real(type, from, i * stride);
    } else {
      piece.integers[n] = load_integer(type, from, i * stride);
    }
  }
}

bool is_half(DType type) { return type == DType::F16 || type == DType::BF16; }

/// Halves by way of f32, as kernels round them.
double before_rounding(DType to, double value) { return is_half(to) ? static_cast<float>(value) : value; }

double real_of(DType from, DType to, int64_t integer) {
  const bool is_wide = to != DType::F64;  // to f32 and halves directly, without rounding to f64 first
  if (from == DType::U64) {
    const auto bits = static_cast<uint64_t>(integer);
    return is_wide ? static_cast<float>(bits) : static_cast<double>(bits);
  }
  return is_wide ? static_cast<float>(integer) : static_cast<double>(integer);
}

void write(DType from, DType type, const Piece& piece, int64_t count, std::byte* to) {
  const bool from_reals = is_float(from) || is_complex(from);
  const DType part = component_type(type);
  if (from_reals && type == DType::F32) {
    for (int64_t i = 0; i < count; ++i) {
      const auto rounded = static_cast<float>(piece.reals[static_cast<size_t>(i)]);
      std::memcpy(to + i * 4, &rounded, 4);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<size_t>(i);
    if (type == DType::Bool && is_complex(from)) {
      store_integer(type, to, i, piece.reals[n] != 0 || piece.imaginaries[n] != 0);
    } else if (!is_float(part)) {
      store_integer(type, to, i, from_reals ? to_integer(type, piece.reals[n]) : piece.integers[n]);
    } else {
      const double real = from_reals ? before_rounding(part, piece.reals[n]) : real_of(from, part, piece.integers[n]);
      if (is_complex(type))
        store_complex(type, to, i, {real, is_complex(from) ? piece.imaginaries[n] : 0.0});
      else
        store_real(type, to, i, real);
    }
  }
}

}  // namespace

Expected<Tensor> to_contiguous(const TensorView& view) { return cast(view, view.type()); }

Expected<Tensor> convert(const TensorView& view, DType type) {
  if (!can_convert(view.type(), type)) return errors::unsupported_conversion(view.type(), type);
  return cast(view, type);
}

Expected<Tensor> cast(const TensorView& view, DType type) {
  auto tensor = Tensor::uninitialized(type, view.shape());
  if (!tensor || view.element_count() == 0) return tensor;
  const auto target = tensor->mutable_view();
  if (type == view.type()) {
    if (const auto copied = copy(view, *target); !copied) return copied.error();
    return tensor;
  }
  const Shape& shape = view.shape();
  const Strides& strides = view.strides();
  const auto size = static_cast<int64_t>(element_size(view.type()));
  const auto* from = static_cast<const std::byte*>(view.data());
  auto* to = static_cast<std::byte*>(target->data());
  const int64_t length = shape.empty() ? 1 : shape[0], stride = shape.empty() ? 0 : strides[0];
  Piece piece;
  Shape index(shape.size(), 0);
  while (true) {
    for (int64_t at = 0; at < length; at += kPiece) {
      const int64_t count = std::min(kPiece, length - at);
      read(view.type(), from + at * stride * size, stride, count, piece);
      write(view.type(), type, piece, count, to);
      to += count * static_cast<int64_t>(element_size(type));
    }
    size_t d = 1;
    for (; d < shape.size(); ++d) {
      if (++index[d] < shape[d]) {
        from += strides[d] * size;
        break;
      }
      from -= strides[d] * (shape[d] - 1) * size;
      index[d] = 0;
    }
    if (d >= shape.size()) return tensor;
  }
}

}  // namespace tile_tune::tensor
