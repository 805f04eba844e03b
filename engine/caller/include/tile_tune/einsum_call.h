// Einsums on data: hand over arrays, get the result at the speed of a compiled kernel.
//
//   engine::einsum("ij,jk->ik", {{engine::array(a.data(), {M, K}), engine::array(b.data(), {K, N})}},
//                  engine::array(c.data(), {M, N}));
//
// The first call of a notation compiles (tile_tune/kernel.h); later ones, of any shapes, find its kernels in the
// process. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/kernel.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile_tune::engine {

/// What an einsum of such operands gives: what they promote to, and its shape. Errors: those of the notation
/// (docs/tensors.md, Einsum) and of operands that do not fit it.
Expected<ArrayType> einsum_type(std::string_view subscripts, std::span<const Array> operands);

/// Writes the einsum of the operands into `result`, which has the type and the shape of einsum_type() and any strides;
/// operands may be transposed, reversed, sliced or broadcast (a stride of 0), and are taken as they lie. May be called
/// from several threads at once. Errors: those of einsum_type(), compile() and Kernel.
Expected<void> einsum(std::string_view subscripts, std::span<const Array> operands, const Array& result);

/// The handle that einsum() calls for operands of these types and a result of this one (of notations with an ellipsis:
/// for operands of these shapes), for callers that look it up themselves.
Expected<Kernel> einsum_kernel(std::string_view subscripts, std::span<const Array> operands, DType result);

/// How kernels of einsum() are compiled from now on; what was compiled before is forgotten. Until then:
/// CompileOptions{}.
void set_einsum_options(CompileOptions options);

/// The sum over products along pairs of axes, as numpy's tensordot: `axes_a[i]` of `a` with `axes_b[i]` of `b`,
/// negative ones counted from the last. The result has the other axes of `a`, then those of `b`.
Expected<void> tensordot(const Array& a, const Array& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                         const Array& result);

/// XLA's dot_general in the trailing-batch convention of the tensors of this library: the result has the free axes of
/// `a`, those of `b`, then the batch axes.
struct DotDimensions {
  std::vector<int> contracting_a, contracting_b, batch_a, batch_b;
};
Expected<void> dot_general(const Array& a, const Array& b, const DotDimensions& dimensions, const Array& result);

}  // namespace tile_tune::engine
