// Factorisations of matrices, one or a batch of them, by the machine's LAPACK.
//
//   const auto q_and_r = engine::qr(*a.view());           // a: [M, N] or [M, N, batch...]
//   if (!q_and_r) return complain(q_and_r.error().message);
//
// Matrices are the first two dimensions, the batch is what follows: [M, N, B1, B2, ...] are B1*B2*... matrices, each of
// which is contiguous where the tensor is compact. K is the smaller of M and N. Elements are F32, F64, C32 or C64, as
// are the results' (singular values and eigenvalues are real); a view of any strides is taken, and copied, since LAPACK
// works in place. Without elements there is nothing to do, and 1 x 1 is a matrix like any other.
//
// LAPACK is OpenBLAS's where that is installed (Debian's libopenblas0-pthread), else liblapack.so.3; it is loaded by
// the first call, so that programs that never call it need none. One matrix is computed by the library's own threads, a
// batch of as many matrices as threads or more with a matrix a thread; OpenBLAS's threads are switched off meanwhile,
// for the whole process. May be called from several threads at once. Part of the SDK: the standard library is all this
// header needs; link tile_tune::linear_algebra.
//
// Errors (docs/tensors.md): dtype-mismatch, rank-mismatch, shape-mismatch, too-large (more than 2^31 - 1 rows, columns
// or elements of work), no-lapack, out-of-memory, and those that functions name. Of these the first number is the batch
// entry, the batch's first index fastest; of several that fail it is the first.
#pragma once

#include <tile_tune/tensor.h>

namespace tile_tune::engine {

struct LinearAlgebraOptions {
  int threads = 0;  // for a batch; 0: the CPUs that this process may use
};

/// a = L L^H of Hermitian positive definite matrices [N, N, batch...], of which the lower triangles are read. L has
/// zeros above its diagonal. Error: not-positive-definite (numbers: batch entry, order of the leading minor that is
/// not).
Expected<tensor::Tensor> cholesky(const tensor::TensorView& a, const LinearAlgebraOptions& options = {});

/// x [N, M, batch...] of a x = b, with a [N, N, batch...] and b [N, M, batch...], by LU with partial pivoting. Error:
/// singular (numbers: batch entry, which pivot is exactly zero, counted from 1).
Expected<tensor::Tensor> solve(const tensor::TensorView& a, const tensor::TensorView& b,
                               const LinearAlgebraOptions& options = {});

/// a = q r: q [M, K, batch...] with orthonormal columns, r [K, N, batch...] upper triangular; the signs of r's diagonal
/// are LAPACK's.
struct QR {
  tensor::Tensor q, r;
};
Expected<QR> qr(const tensor::TensorView& a, const LinearAlgebraOptions& options = {});

/// a = u diag(s) vt: u [M, K, batch...], s [K, batch...] descending, vt [K, N, batch...]. Errors, numbers: the batch
/// entry: not-finite, not-converged.
struct SVD {
  tensor::Tensor u, s, vt;
};
Expected<SVD> svd(const tensor::TensorView& a, const LinearAlgebraOptions& options = {});

/// Of Hermitian matrices [N, N, batch...], of which the lower triangles are read: a v = v diag(values), values
/// [N, batch...] ascending, v [N, N, batch...] unitary. Errors, numbers: the batch entry: not-finite, not-converged.
struct Eigh {
  tensor::Tensor values, vectors;
};
Expected<Eigh> eigh(const tensor::TensorView& a, const LinearAlgebraOptions& options = {});

}  // namespace tile_tune::engine
