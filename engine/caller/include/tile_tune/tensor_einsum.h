// Einsums on tensors: hand over tensors or views, get a tensor.
//
//   const auto c = engine::einsum("ij,jk->ik", a, b);               // Expected<Tensor>
//   engine::einsum_into(-1, "ij,jk->ik", {{*a.view(), *b.view()}}, 1, *c_view);   // c -= a b, where c lies
//
// The notation is that of docs/libraries.md and tile_tune/einsum_call.h: repeated labels, hyper-edges, `...`,
// parentheses. Operands of different types meet in the type that holds both. Views are taken as they lie: transposed,
// reversed, sliced, broadcast. Kernels are those of tile_tune/einsum_call.h, compiled by the first call of a notation
// and kept; products of many tensors are taken in an order that is searched once. May be called from several threads at
// once. Part of the SDK: the standard library is all this header needs; link tile_tune::kernels.
//
// Errors: those of the notation and of operands that do not fit it, of compile() and Kernel, of tensors
// (out-of-memory), and those that functions name.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/host_tensor.h>
#include <tile_tune/tensor.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tile_tune::engine {

/// For calls that take arrays.
Array array(const tensor::TensorView& view);
Array array(const tensor::MutableTensorView& view);

struct EinsumOptions {
  /// For each operand, whether its conjugate is meant; none: no operand's. Kernels conjugate what they read: nothing is
  /// copied. Error: operand-count.
  std::vector<bool> conjugate = {};
  /// The order, as opt_einsum and JAX have it: each step contracts two operands, by their places in what is left, and
  /// what it gives comes last. Empty: the best that is found. Error: bad-path (numbers: the step, its two places, how
  /// many operands are left).
  std::vector<std::pair<int, int>> path = {};
  /// Of all that the steps leave before the result, at any time, in bytes. Where they would need more, the einsum is
  /// computed in slices: for each value of some labels, which costs the operations that slices share. Error:
  /// memory-limit (numbers: bytes, where nothing more can be sliced; the limit).
  std::optional<int64_t> memory_limit = std::nullopt;
};

/// "ij,jk->ik" on these.
Expected<tensor::Tensor> einsum(std::string_view subscripts, std::span<const tensor::TensorView> operands,
                                const EinsumOptions& options = {});

/// output = alpha * einsum + beta * output, where the output lies: any strides, and the type and shape of the einsum.
/// With a beta of 0 the output is not read; with one that is neither 0 nor 1 the einsum is computed beside it first,
/// which takes as much memory as the output has. Numbers that the output's type does not hold are lossy-conversion;
/// bool has only 0 and 1; an output over an operand is bad-array (numbers: the operand). Where the call fails the
/// output is as it was; only a kernel that finds no memory for its own intermediates, with a beta of 0 or 1, may have
/// written some of it (out-of-memory).
Expected<void> einsum_into(std::complex<double> alpha, std::string_view subscripts,
                           std::span<const tensor::TensorView> operands, std::complex<double> beta,
                           const tensor::MutableTensorView& output, const EinsumOptions& options = {});

/// The elements of a view in a tensor of their own, rearranged by a compiled kernel, as einsum() has them; by a plain
/// loop (tensor::to_contiguous) where they are few, lie in order, or no kernel can be made.
Expected<tensor::Tensor> to_contiguous(const tensor::TensorView& view);

/// Labels as whole numbers: one list for each operand, one for the result; -1 stands for `...`. The subscripts that say
/// the same. Error: bad-label.
Expected<std::string> subscripts_of(const std::vector<std::vector<int64_t>>& operands,
                                    const std::vector<int64_t>& result);

namespace detail {
inline Expected<tensor::TensorView> view_of(const tensor::TensorView& view) { return view; }
inline Expected<tensor::TensorView> view_of(const tensor::Tensor& tensor) { return tensor.view(); }
template <tensor::Element T, int rank>
Expected<tensor::TensorView> view_of(const tensor::HostTensor<T, rank>& tensor) {
  return tensor.view();
}
template <typename T>
concept Operand = requires(const T& operand) {
  view_of(operand);
};
}  // namespace detail

/// The same, with tensors and views one after the other.
template <detail::Operand... Operands>
requires(sizeof...(Operands) > 0) Expected<tensor::Tensor> einsum(std::string_view subscripts,
                                                                  const Operands&... operands) {
  std::vector<tensor::TensorView> views;
  std::optional<Error> error;
  const auto add = [&](Expected<tensor::TensorView> view) {
    if (view)
      views.push_back(std::move(*view));
    else if (!error)
      error = view.error();
  };
  (add(detail::view_of(operands)), ...);
  if (error) return *error;
  return einsum(subscripts, std::span<const tensor::TensorView>(views));
}

}  // namespace tile_tune::engine
