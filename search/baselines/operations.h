// Which operations of numerical libraries a program is made of, read off its IR.
//
// Pure: nothing here knows a library. A program becomes a list of steps, each one operation that libraries have, with
// strides in elements instead of subscripts, or a statement that none has. Programs must be canonical and bound.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// One loop of a product and how far apart its neighbours lie in both operands and the result (0: it has no such loop).
struct Axis {
  int64_t extent = 1;
  int64_t a = 0, b = 0, c = 0;
  bool operator==(const Axis&) const = default;
};

/// c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. Axes that a single one can walk are merged; of each
/// list the axis with the largest stride stands first.
struct Product {
  int a = -1, b = -1, c = -1;  // tensors
  std::vector<Axis> batch, m, n, k;
};

/// One spatial dimension of a window sliding over an image.
struct Window {
  int64_t image = 1, kernel = 1, result = 1;
  int64_t stride = 1, dilation = 1;
  int64_t pad_before = 0, pad_after = 0;                     // positions outside of the image that are skipped
  int64_t image_step = 0, kernel_step = 0, result_step = 0;  // strides in elements
  bool operator==(const Window&) const = default;
};

/// result[n, g, f, x...] = sum over c, k... of image[n, g, c, stride*x + dilation*k - pad...] * kernel[g, f, c, k...].
struct Convolution {
  int image = -1, kernel = -1, result = -1;
  Axis batch, groups, features, channels;  // strides: a in the image, b in the kernel, c in the result
  std::vector<Window> windows;
};

/// The same without kernel: the largest element, or the mean of all, of each window.
struct Pooling {
  int image = -1, result = -1;
  bool is_mean = false;
  Axis batch, channels;
  std::vector<Window> windows;
};

/// c[kept] = op over reduced of a[kept, reduced].
struct Reduction {
  int a = -1, c = -1;
  ir::Aggregation op = ir::Aggregation::Sum;
  std::vector<Axis> kept, reduced;
};

/// c = a with its elements in another order.
struct Permutation {
  int a = -1, c = -1;
  std::vector<Axis> axes;
};

/// c[rows, :] = exp(a - max a) / sum of that, along one axis.
struct Softmax {
  int a = -1, c = -1;
  std::vector<Axis> rows;
  Axis along;
};

/// c[i] = sum of a[0 ... i].
struct Scan {
  int a = -1, c = -1;
  Axis axis;
};

/// A statement that is none of these; the generated loops run it.
struct Nest {};

/// What is done with an operation's result before it is stored, in this order.
struct Epilogue {
  double scale = 1;
  int bias = -1;                // tensor that is added; -1: none
  std::vector<int64_t> bias_n;  // its strides along Product::n, or along {groups, features}
  bool relu = false;
};

struct Step {
  std::variant<Product, Convolution, Pooling, Reduction, Permutation, Softmax, Scan, Nest> operation;
  Epilogue epilogue;        // of a Product or Convolution
  int target = -1;          // tensor that holds the result, epilogue included
  int first = 0, last = 0;  // statements it stands for; the first alone is the operation without its epilogue, and
                            // a Softmax stands for all of them
  bool is(const Step& other) const { return first == other.first && last == other.last; }
};

std::vector<Step> steps_of(const ir::Program& program);

/// Whether the steps hold an operation that libraries have at all.
bool has_operation(const std::vector<Step>& steps);

}  // namespace tile_tune::search
