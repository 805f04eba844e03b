#include "search/baselines/operations.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "codegen/schedule/loops.h"
#include "search/baselines/views.h"

namespace tile_tune::search {
namespace {

// Merges neighbours that one axis can walk: in every tensor the outer's stride is the inner's whole length.
std::vector<Axis> merged(std::vector<Axis> axes) {
  const auto largest = [](const Axis& axis) { return std::max({axis.a, axis.b, axis.c}); };
  std::stable_sort(axes.begin(), axes.end(), [&](const Axis& x, const Axis& y) { return largest(x) > largest(y); });
  std::vector<Axis> result;
  for (const auto& inner : axes) {
    const auto outer = std::find_if(result.begin(), result.end(), [&](const Axis& axis) {
      return axis.a == inner.a * inner.extent && axis.b == inner.b * inner.extent && axis.c == inner.c * inner.extent;
    });
    if (outer == result.end())
      result.push_back(inner);
    else
      *outer = {outer->extent * inner.extent, inner.a, inner.b, inner.c};
  }
  return result;
}

// One axis for all, which a missing one is with extent 1; nullopt where several remain.
std::optional<Axis> single(const std::vector<Axis>& axes) {
  const auto all = merged(axes);
  if (all.size() > 1) return std::nullopt;
  return all.empty() ? Axis{} : all.front();
}

std::optional<Product> product_of(const StatementView& view) {
  if (view.op != ir::Aggregation::Sum || view.reads.size() != 2 || !view.is_product || view.factor != 1 ||
      !view.constraints.empty())
    return std::nullopt;
  const AccessView &a = view.reads[0], &b = view.reads[1], &c = view.target;
  if (!a.is_plain() || !b.is_plain() || !c.is_plain()) return std::nullopt;
  Product product{a.tensor, b.tensor, c.tensor, {}, {}, {}, {}};
  for (const auto& [index, range] : view.ranges) {
    const Axis axis{range.extent(), a.stride(index), b.stride(index), c.stride(index)};
    const bool in_a = axis.a != 0, in_b = axis.b != 0, in_c = axis.c != 0;
    if (in_a && in_b)
      (in_c ? product.batch : product.k).push_back(axis);
    else if (in_c && (in_a || in_b))
      (in_a ? product.m : product.n).push_back(axis);
    else
      return std::nullopt;
  }
  if (product.k.empty()) return std::nullopt;
  for (auto* axes : {&product.batch, &product.m, &product.n, &product.k}) *axes = merged(*axes);
  return product;
}

constexpr int kNoIndex = -1;

struct Windows {
  std::vector<Window> windows;
  std::vector<int> output_indices, reduction_indices;  // kNoIndex: the window is one element
};

bool by_image_step(const Window& x, const Window& y) { return x.image_step > y.image_step; }

// One axis of those that only the image and the result have; the others become windows of one element, as rows are to
// windows that slide along columns alone. All windows as they lie in the image.
Axis taken_as_windows(const std::vector<Axis>& axes, std::vector<Window>& windows) {
  auto all = merged(axes);
  const auto by_image = [](const Axis& x, const Axis& y) { return x.a > y.a; };
  std::stable_sort(all.begin(), all.end(), by_image);
  for (size_t i = 1; i < all.size(); ++i)
    windows.push_back({.image = all[i].extent,
                       .result = all[i].extent,
                       .image_step = all[i].a,
                       .kernel_step = 1,
                       .result_step = all[i].c});
  std::stable_sort(windows.begin(), windows.end(), by_image_step);
  return all.empty() ? Axis{} : all.front();
}

// The dimensions of `image` that a window slides over. Every constraint must be what keeps one of them inside.
std::optional<Windows> windows_of(const ir::Program& program, const StatementView& view, const AccessView& image) {
  Windows result;
  const auto shape = ir::shape(program.tensors[image.tensor]);
  size_t padded = 0;
  for (const auto& dimension : image.dimensions) {
    if (dimension.terms.size() < 2) {
      if (dimension.constant != 0) return std::nullopt;
      if (dimension.terms.empty() || dimension.terms[0].second == 1) continue;
      // A window of one element that moves in steps.
      const auto [x, stride] = dimension.terms[0];
      if (!view.is_output(x) || stride < 1 || image.stride(x) != stride * dimension.step) return std::nullopt;
      result.windows.push_back({.image = (view.ranges.at(x).extent() - 1) * stride + 1,
                                .result = view.ranges.at(x).extent(),
                                .stride = stride,
                                .image_step = dimension.step,
                                .kernel_step = 1,
                                .result_step = view.target.stride(x)});
      result.output_indices.push_back(x);
      result.reduction_indices.push_back(kNoIndex);
      continue;
    }
    if (dimension.terms.size() != 2) return std::nullopt;
    auto [x, stride] = dimension.terms[0];
    auto [k, dilation] = dimension.terms[1];
    if (!view.is_output(x)) {
      std::swap(x, k);
      std::swap(stride, dilation);
    }
    if (!view.is_output(x) || view.is_output(k) || stride < 1 || dilation < 1) return std::nullopt;
    Window window;
    window.image = shape[dimension.number];
    window.kernel = view.ranges.at(k).extent();
    window.result = view.ranges.at(x).extent();
    window.stride = stride;
    window.dilation = dilation;
    window.pad_before = -dimension.constant;
    window.pad_after = std::max<int64_t>(
        0, (window.result - 1) * stride + (window.kernel - 1) * dilation + dimension.constant - (window.image - 1));
    window.image_step = dimension.step;
    window.result_step = view.target.stride(x);
    if (window.pad_before < 0) return std::nullopt;
    const bool guarded = std::any_of(view.constraints.begin(), view.constraints.end(), [&](const auto& constraint) {
      return constraint.terms == dimension.terms && constraint.constant == dimension.constant &&
             constraint.bound == window.image;
    });
    if ((window.pad_before > 0 || window.pad_after > 0) != guarded) return std::nullopt;
    padded += guarded;
    result.windows.push_back(window);
    result.output_indices.push_back(x);
    result.reduction_indices.push_back(k);
  }
  if (result.windows.empty() || padded != view.constraints.size()) return std::nullopt;
  return result;
}

bool contains(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::optional<Convolution> convolution_of(const ir::Program& program, const StatementView& view) {
  if (view.op != ir::Aggregation::Sum || view.reads.size() != 2 || !view.is_product || view.factor != 1 ||
      !view.target.is_plain())
    return std::nullopt;
  const bool image_first = !view.reads[0].is_plain();
  const AccessView &image = view.reads[image_first ? 0 : 1], &kernel = view.reads[image_first ? 1 : 0];
  if (image.is_plain() || !kernel.is_plain()) return std::nullopt;
  auto windows = windows_of(program, view, image);
  if (!windows) return std::nullopt;
  for (const int x : windows->output_indices)
    if (kernel.stride(x) != 0) return std::nullopt;
  for (size_t w = 0; w < windows->windows.size(); ++w)
    if (const int index = windows->reduction_indices[w]; index != kNoIndex)
      windows->windows[w].kernel_step = kernel.stride(index);
  std::vector<Axis> batch, groups, features, channels;
  for (const auto& [index, range] : view.ranges) {
    if (contains(windows->output_indices, index) || contains(windows->reduction_indices, index)) continue;
    const Axis axis{range.extent(), image.stride(index), kernel.stride(index), view.target.stride(index)};
    const bool in_image = axis.a != 0, in_kernel = axis.b != 0, in_result = axis.c != 0;
    if (in_image && in_kernel)
      (in_result ? groups : channels).push_back(axis);
    else if (in_result && in_image)
      batch.push_back(axis);
    else if (in_result && in_kernel)
      features.push_back(axis);
    else
      return std::nullopt;
  }
  const auto g = single(groups), f = single(features), c = single(channels);
  if (!g || !f || !c) return std::nullopt;
  const Axis n = taken_as_windows(batch, windows->windows);
  return Convolution{image.tensor, kernel.tensor, view.target.tensor, n, *g, *f, *c, windows->windows};
}

std::optional<Pooling> pooling_of(const ir::Program& program, const StatementView& view) {
  if (view.reads.size() != 1 || !view.target.is_plain() || view.reads[0].is_plain()) return std::nullopt;
  const AccessView& image = view.reads[0];
  auto windows = windows_of(program, view, image);
  if (!windows) return std::nullopt;
  int64_t points = 1;
  for (const auto& window : windows->windows) points *= window.kernel;
  const bool is_mean =
      view.op == ir::Aggregation::Sum && std::abs(view.factor * static_cast<double>(points) - 1) < 1e-6;
  if (!is_mean && (view.op != ir::Aggregation::Max || view.factor != 1)) return std::nullopt;
  // Libraries divide by the number of all points of a window, or of those inside; the second is not a mean of ours.
  if (is_mean && !view.constraints.empty()) return std::nullopt;
  std::vector<Axis> others;
  for (const auto& [index, range] : view.ranges) {
    if (contains(windows->output_indices, index) || contains(windows->reduction_indices, index)) continue;
    if (image.stride(index) == 0 || !view.is_output(index)) return std::nullopt;
    others.push_back({range.extent(), image.stride(index), 0, view.target.stride(index)});
  }
  std::stable_sort(others.begin(), others.end(), [](const Axis& x, const Axis& y) { return x.a > y.a; });
  // Rows that a window does not slide along, beside images and their channels: next to the columns, or to the channels
  // where these lie last.
  if (others.size() == 3) {
    const auto rows = others.begin() + (others[2].a == 1 ? 1 : 2);
    windows->windows.push_back({.image = rows->extent,
                                .result = rows->extent,
                                .image_step = rows->a,
                                .kernel_step = 1,
                                .result_step = rows->c});
    others.erase(rows);
  }
  if (others.size() > 2) return std::nullopt;
  std::stable_sort(windows->windows.begin(), windows->windows.end(), by_image_step);
  Pooling pooling{image.tensor, view.target.tensor, is_mean, {}, {}, windows->windows};
  if (!others.empty()) pooling.channels = others.back();
  if (others.size() == 2) pooling.batch = others.front();
  return pooling;
}

std::optional<std::variant<Reduction, Permutation>> single_read_of(const StatementView& view) {
  if (view.reads.size() != 1 || view.factor != 1 || !view.constraints.empty() || !view.reads[0].is_plain() ||
      !view.target.is_plain())
    return std::nullopt;
  const AccessView& a = view.reads[0];
  std::vector<Axis> kept, reduced;
  for (const auto& [index, range] : view.ranges) {
    const Axis axis{range.extent(), a.stride(index), 0, view.target.stride(index)};
    if (axis.a == 0) return std::nullopt;
    (axis.c == 0 ? reduced : kept).push_back(axis);
  }
  if (reduced.empty()) return Permutation{a.tensor, view.target.tensor, merged(kept)};
  if (view.op == ir::Aggregation::Product || view.op == ir::Aggregation::Assign) return std::nullopt;
  return Reduction{a.tensor, view.target.tensor, view.op, merged(kept), merged(reduced)};
}

std::optional<Scan> scan_of(const StatementView& view) {
  if (view.op != ir::Aggregation::Sum || view.reads.size() != 1 || view.factor != 1 || view.ranges.size() != 2 ||
      view.constraints.size() != 1 || !view.reads[0].is_plain() || !view.target.is_plain())
    return std::nullopt;
  const auto& constraint = view.constraints[0];
  if (constraint.terms.size() != 2 || constraint.constant != 0) return std::nullopt;
  auto [i, plus] = constraint.terms[0];
  auto [k, minus] = constraint.terms[1];
  if (!view.is_output(i)) {
    std::swap(i, k);
    std::swap(plus, minus);
  }
  if (plus != 1 || minus != -1 || !view.is_output(i) || view.is_output(k)) return std::nullopt;
  const int64_t extent = view.ranges.at(i).extent();
  if (view.ranges.at(k).extent() != extent || constraint.bound < extent || view.reads[0].stride(i) != 0)
    return std::nullopt;
  return Scan{view.reads[0].tensor, view.target.tensor, {extent, view.reads[0].stride(k), 0, view.target.stride(i)}};
}

Step step_of(const ir::Program& program, int number) {
  const auto& statement = program.statements[number];
  Step step{Nest{}, {}, statement.target, number, number};
  const auto view = view_of(program, statement);
  if (!view) return step;
  if (const auto product = product_of(*view))
    step.operation = *product;
  else if (const auto convolution = convolution_of(program, *view))
    step.operation = *convolution;
  else if (const auto pooling = pooling_of(program, *view))
    step.operation = *pooling;
  else if (const auto scan = scan_of(*view))
    step.operation = *scan;
  else if (const auto one = single_read_of(*view))
    std::visit([&](const auto& operation) { step.operation = operation; }, *one);
  return step;
}

// The one statement that reads what `number` writes, if it is the next one and the tensor is seen nowhere else.
bool feeds_next_only(const ir::Program& program, int number) {
  const int tensor = program.statements[number].target;
  if (program.tensors[tensor].role != ir::Role::Temporary) return false;
  bool next = false;
  for (size_t s = number + 1; s < program.statements.size(); ++s) {
    const bool reads = codegen::takes_up(program.statements[s], tensor);
    if (reads && s != static_cast<size_t>(number) + 1) return false;
    next |= reads;
  }
  return next;
}

// Strides of the bias along `axes` of the result; nullopt where it moves along anything else.
std::optional<std::vector<int64_t>> bias_strides(const StatementView& view, const AccessView& bias,
                                                 const std::vector<Axis>& axes) {
  std::vector<int64_t> strides(axes.size(), 0);
  for (const auto& [index, range] : view.ranges) {
    const int64_t step = bias.stride(index);
    if (step == 0) continue;
    // An axis may be several indices merged: the innermost has its stride, the others must continue it.
    bool found = false;
    for (size_t x = 0; x < axes.size() && !found; ++x) {
      const int64_t place = view.target.stride(index);
      if (axes[x].extent <= 1 || place < axes[x].c || place % axes[x].c != 0 ||
          place / axes[x].c * range.extent() > axes[x].extent)
        continue;
      const int64_t unit = step / (place / axes[x].c);
      if (unit * (place / axes[x].c) != step || (strides[x] != 0 && strides[x] != unit)) return std::nullopt;
      strides[x] = unit;
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return strides;
}

// Takes up as many of the following statements as an epilogue can stand for.
void take_epilogue(const ir::Program& program, Step& step) {
  std::vector<Axis> features;
  if (const auto* product = std::get_if<Product>(&step.operation))
    features = product->n;
  else if (const auto* convolution = std::get_if<Convolution>(&step.operation))
    features = {convolution->groups, convolution->features};
  else
    return;
  if (program.statements[step.first].previous || program.statements[step.first].unwritten) return;
  while (feeds_next_only(program, step.last)) {
    const auto& next = program.statements[step.last + 1];
    const auto stage = epilogue_of(program, next, step.target);
    if (!stage || step.epilogue.relu) return;
    // What is fused is stored in one layout: that of the operation's own result.
    if (ir::strides(program.tensors[next.target]) != ir::strides(program.tensors[step.target])) return;
    if (program.tensors[next.target].type != program.tensors[step.target].type) return;
    Epilogue epilogue = step.epilogue;
    if (stage->scale != 1) {
      if (epilogue.bias >= 0) return;
      epilogue.scale *= stage->scale;
    }
    if (stage->bias) {
      if (epilogue.bias >= 0) return;
      const auto strides = bias_strides(stage->view, *stage->bias, features);
      if (!strides) return;
      epilogue.bias = stage->bias->tensor;
      epilogue.bias_n = *strides;
    }
    epilogue.relu = stage->relu;
    step.epilogue = epilogue;
    step.target = next.target;
    ++step.last;
  }
}

// Four statements: the maximum along an axis, the exponentials of differences to it, their sum, the quotient.
std::optional<Step> softmax_at(const ir::Program& program, int first) {
  if (static_cast<size_t>(first) + 4 > program.statements.size()) return std::nullopt;
  const auto largest = view_of(program, program.statements[first]);
  const auto sum = view_of(program, program.statements[first + 2]);
  if (!largest || !sum || largest->op != ir::Aggregation::Max || sum->op != ir::Aggregation::Sum) return std::nullopt;
  const auto along = single_read_of(*largest), total = single_read_of(*sum);
  if (!along || !total || !std::holds_alternative<Reduction>(*along) || !std::holds_alternative<Reduction>(*total))
    return std::nullopt;
  const auto& reduction = std::get<Reduction>(*along);
  const auto& added = std::get<Reduction>(*total);
  const int maximum = program.statements[first].target, exponentials = program.statements[first + 1].target,
            denominator = program.statements[first + 2].target, result = program.statements[first + 3].target;
  if (reduction.reduced.size() != 1 || reduction.reduced != added.reduced || reduction.kept != added.kept ||
      added.a != exponentials)
    return std::nullopt;
  if (!is_exp_of_difference(program, program.statements[first + 1], reduction.a, maximum) ||
      !is_quotient(program, program.statements[first + 3], exponentials, denominator))
    return std::nullopt;
  for (const int temporary : {maximum, exponentials, denominator})
    if (program.tensors[temporary].role != ir::Role::Temporary || read_after(program, temporary, first + 3))
      return std::nullopt;
  Softmax softmax{reduction.a, result, {}, {reduction.reduced[0].extent, reduction.reduced[0].a, 0, 0}};
  if (ir::strides(program.tensors[reduction.a]) != ir::strides(program.tensors[result])) return std::nullopt;
  softmax.along.c = softmax.along.a;
  for (const auto& axis : reduction.kept) softmax.rows.push_back({axis.extent, axis.a, 0, axis.a});
  return Step{softmax, {}, result, first, first + 3};
}

}  // namespace

std::vector<Step> steps_of(const ir::Program& program) {
  std::vector<Step> steps;
  for (int number = 0; number < static_cast<int>(program.statements.size());) {
    Step step;
    if (const auto softmax = softmax_at(program, number)) {
      step = *softmax;
    } else {
      step = step_of(program, number);
      take_epilogue(program, step);
    }
    number = step.last + 1;
    steps.push_back(std::move(step));
  }
  return steps;
}

bool has_operation(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return !std::holds_alternative<Nest>(step.operation) && !std::holds_alternative<Scan>(step.operation);
  });
}

}  // namespace tile_tune::search
