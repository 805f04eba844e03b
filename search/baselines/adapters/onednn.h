// oneDNN's primitives (2.x, 3.x) for the operations of search/baselines/operations.h.
//
// Primitives are made in the first call. Where plain strides are not what a primitive is fastest with, several ways are
// tried then: directly, and with tensors reordered to and from another layout inside the timed call; the fastest stays.
// Constant operands are reordered once, outside of it. Calls are queued: finish() waits for them.
#pragma once

#include "prelude.h"

namespace baseline {
namespace onednn {

enum class Type { f32, bf16, s8, u8, s32 };

struct Post {
  float scale = 1;
  bool relu = false;
};

/// Until all that was called is done.
void finish();

class Operation;

/// Runs on whatever tensors a call names; a second one or a bias only where the operation has them.
class Call {
 public:
  void operator()(const void* a, const void* b, void* c, const void* bias = nullptr);

 protected:
  Operation* operation_ = nullptr;  // lives as long as the process
};

struct ProductSpec {
  Type a, b, c;
  bool a_constant, b_constant;
  Axes batch, m, n, k;
  bool has_bias;
  Type bias;
  Post post;
};
/// C = A B by oneDNN's matmul, batches included. Where the axes of a side are no matrix as they lie in memory, they are
/// brought into one (transpose, transpose, matrix product, transpose), in every order that saves a transposition.
struct Product : Call {
  explicit Product(const ProductSpec& spec);
};

struct WindowedSpec {
  Type image, kernel, result;
  bool kernel_constant;
  Axis batch, groups, features, channels;
  std::initializer_list<Window> windows;
  bool has_bias = false;
  Type bias = Type::f32;
  Post post = {};
};
struct Convolution : Call {
  explicit Convolution(const WindowedSpec& spec);
};
/// Pooling, with WindowedSpec's features as channels of image and result alike.
struct Pooling : Call {
  Pooling(const WindowedSpec& spec, bool is_mean);
};

/// Reduction, permutation and softmax: one tensor in, one out, axes with strides `a` and `c`; a reduced axis has c = 0.
struct Elementwise : Call {
  enum class Kind { Sum, Max, Min, Reorder, Softmax };
  Elementwise(Kind kind, Type from, Type to, Axes axes, int along = -1);
};

}  // namespace onednn
}  // namespace baseline
