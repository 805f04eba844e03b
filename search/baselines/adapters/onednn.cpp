#include "onednn.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fastest.h"
#include "onednn_release.h"

namespace baseline {
namespace onednn {

using DnnlType = memory::data_type;

DnnlType dnnl_type(Type type) {
  switch (type) {
    case Type::f32:
      return DnnlType::f32;
    case Type::bf16:
      return DnnlType::bf16;
    case Type::s8:
      return DnnlType::s8;
    case Type::u8:
      return DnnlType::u8;
    case Type::s32:
      break;
  }
  return DnnlType::s32;
}

/// Whether work is queued for threads of SYCL's, which begin it only some microseconds later.
bool is_queued() { return dnnl_version()->cpu_runtime == DNNL_RUNTIME_SYCL; }

dnnl::engine& engine() {
#ifdef BASELINE_ONEDNN_DEVICE
  // SYCL finds the CPU as a device of OpenCL's, and starts as many threads as it is told. Where the system's oneDNN has
  // loaded the system's OpenCL already, that looks for the second name.
  setenv("OCL_ICD_FILENAMES", BASELINE_ONEDNN_DEVICE, 1);
  setenv("OCL_ICD_VENDORS", BASELINE_ONEDNN_DEVICE, 1);
  setenv("ONEAPI_DEVICE_SELECTOR", "opencl:cpu", 1);
  setenv("DPCPP_CPU_NUM_CUS", std::to_string(omp_get_max_threads()).c_str(), 1);
#endif
#ifdef BASELINE_ONEDNN_ISA
  // Ignored once somebody in the process has asked it for the CPU, who has said the same.
  static const auto told = dnnl::set_max_cpu_isa(dnnl::cpu_isa::BASELINE_ONEDNN_ISA);
#endif
  static dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}
dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}
void add_version_note() {
  const auto* version = dnnl_version();
  add_note("oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + (is_queued() ? ", queued calls" : ""));
#ifdef BASELINE_ONEDNN_ISA
  engine();
  const bool is_kept = dnnl::get_effective_cpu_isa() <= dnnl::cpu_isa::BASELINE_ONEDNN_ISA;
  add_note(is_kept ? "kept to the target's instructions" : "with all instructions");
#endif
}

/// A caller's tensor: memory objects of several shapes on one pointer, which may change from call to call.
class Operand {
 public:
  memory view(const memory::desc& desc) {
    views_.push_back(memory(desc, engine(), nullptr));
    return views_.back();
  }
  void point_to(const void* pointer) {
    if (pointer == pointer_) return;
    pointer_ = const_cast<void*>(pointer);
    for (auto& one : views_) one.set_data_handle(pointer_);
  }
  void refresh() {
    for (auto& one : views_) one.set_data_handle(pointer_);
  }
  void* pointer() const { return pointer_; }

 private:
  std::vector<memory> views_;
  void* pointer_ = nullptr;
};

/// Primitives run one after the other; those on constants alone only once for each set of pointers.
struct Chain {
  struct Link {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };
  std::vector<Link> once, links;
  void prepare() {
    for (auto& link : once) link.primitive.execute(stream(), link.arguments);
    stream().wait();
  }
  void enqueue() {
    for (auto& link : links) link.primitive.execute(stream(), link.arguments);
  }
  void reorder(const memory& from, const memory& to, bool constant) {
    const dnnl::reorder::primitive_desc desc(engine(), from.get_desc(), engine(), to.get_desc());
    (constant ? once : links).push_back({dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  }
};

dnnl::primitive_attr attributes(const Post& post) {
  dnnl::primitive_attr attr;
  dnnl::post_ops ops;
  if (post.scale != 1) scale_results(post.scale, attr, ops);
  if (post.relu) add_relu(ops);
  attr.set_post_ops(ops);
  return attr;
}

/// What all operations share: pointers, ways, the choice in the first call.
class Operation {
 public:
  void operator()(const void* a, const void* b, void* c, const void* bias = nullptr) {
    const bool moved = a_.pointer() != a || b_.pointer() != b || bias_.pointer() != bias;
    a_.point_to(a);
    b_.point_to(b);
    c_.point_to(c);
    bias_.point_to(bias);
    if (fastest_.empty()) {
      engine();  // may say why there is none
      make_ways();
      if (fastest_.empty()) throw std::runtime_error("oneDNN has no implementation of this");
      for (auto* operand : {&a_, &b_, &c_, &bias_}) operand->refresh();
    }
    if (moved)
      for (auto& chain : chains_) chain->prepare();
    if (!chosen_) {
      fastest_();
      add_note(fastest_.name());
      chosen_ = true;
    }
    chains_[fastest_.number()]->enqueue();
  }
  virtual ~Operation() = default;

 protected:
  virtual void make_ways() = 0;
  /// Ways that oneDNN refuses are passed over.
  template <typename Build>
  void try_way(const std::string& name, Build&& build) {
    try {
      auto chain = std::make_unique<Chain>();
      build(*chain);
      Chain* one = chain.get();
      chains_.push_back(std::move(chain));
      fastest_.add(name, [one] {
        one->enqueue();
        finish();
      });
    } catch (const dnnl::error&) {
    }
  }
  Operand a_, b_, c_, bias_;

 private:
  std::vector<std::unique_ptr<Chain>> chains_;
  Fastest fastest_;
  bool chosen_ = false;
};

struct ProductShape {
  DnnlType a, b, c;
  bool a_constant, b_constant;
  std::vector<Axis> batch, m, n, k;
  bool has_bias;
  DnnlType bias;
  Post post;
};

class ProductOperation : public Operation {
 public:
  explicit ProductOperation(ProductShape shape) : s_(std::move(shape)) { add_version_note(); }

 private:
  enum Side { kA, kB, kC };
  static int64_t stride(const Axis& axis, Side side) { return side == kA ? axis.a : side == kB ? axis.b : axis.c; }

  static std::vector<Axis> ordered(std::vector<Axis> axes, Side by) {
    std::stable_sort(axes.begin(), axes.end(),
                     [by](const Axis& x, const Axis& y) { return stride(x, by) > stride(y, by); });
    return axes;
  }
  static int64_t extent(const std::vector<Axis>& axes) {
    int64_t product = 1;
    for (const auto& axis : axes) product *= axis.extent;
    return product;
  }
  /// The stride of all axes walked as one, in their order; nullopt if they are none. 0 for no axes at all.
  static std::optional<int64_t> joint(const std::vector<Axis>& axes, Side side) {
    if (axes.empty()) return 0;
    for (size_t x = 0; x + 1 < axes.size(); ++x)
      if (stride(axes[x], side) != stride(axes[x + 1], side) * axes[x + 1].extent) return std::nullopt;
    return stride(axes.back(), side);
  }

  struct Matrix {
    memory::desc in_place;  // batches, rows, columns as they lie in the caller's memory
    bool direct = false;
    std::vector<const std::vector<Axis>*> axes;  // the same, axis by axis
    Side side;
    DnnlType type;
    int64_t rows, columns;
  };

  Matrix matrix(Side side, DnnlType type, const std::vector<Axis>& rows, const std::vector<Axis>& columns) const {
    Matrix result;
    result.side = side;
    result.type = type;
    result.axes = {&s_.batch, &rows, &columns};
    result.rows = extent(rows);
    result.columns = extent(columns);
    const auto r = joint(rows, side), c = joint(columns, side);
    if (!r || !c) return result;
    int64_t row_step = *r, column_step = *c;
    if (result.rows == 1) row_step = std::max<int64_t>(1, column_step * result.columns);
    if (result.columns == 1) column_step = result.rows == 1 || row_step != 1 ? 1 : result.rows;
    if (std::min(row_step, column_step) != 1) return result;
    Dims dims, strides;
    for (const auto& axis : s_.batch) {
      dims.push_back(axis.extent);
      strides.push_back(stride(axis, side));
    }
    dims.insert(dims.end(), {result.rows, result.columns});
    strides.insert(strides.end(), {row_step, column_step});
    result.in_place = memory::desc(dims, type, strides);
    result.direct = true;
    return result;
  }

  Dims matrix_dims(const Matrix& matrix) const {
    Dims dims;
    for (const auto& axis : s_.batch) dims.push_back(axis.extent);
    dims.insert(dims.end(), {matrix.rows, matrix.columns});
    return dims;
  }
  static memory::desc dense(const Dims& dims, DnnlType type) {
    Dims strides(dims.size(), 1);
    for (size_t d = dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * dims[d + 1];
    return memory::desc(dims, type, strides);
  }
  /// Axis by axis: the caller's memory, and the dense memory of the same order.
  std::pair<memory::desc, memory::desc> by_axes(const Matrix& matrix) const {
    Dims dims, strides;
    for (const auto* axes : matrix.axes)
      for (const auto& axis : *axes) {
        dims.push_back(axis.extent);
        strides.push_back(stride(axis, matrix.side));
      }
    if (dims.empty()) dims = strides = {1};
    return {memory::desc(dims, matrix.type, strides), dense(dims, matrix.type)};
  }

  Operand& operand(Side side) { return side == kA ? a_ : side == kB ? b_ : c_; }
  bool constant(Side side) const { return side == kA ? s_.a_constant : side == kB && s_.b_constant; }

  /// The matrix as memory of oneDNN's, transposed into dense memory first where it is none in place.
  memory source(Chain& chain, const Matrix& matrix) {
    if (matrix.direct) return operand(matrix.side).view(matrix.in_place);
    const auto [from, to] = by_axes(matrix);
    const memory copy(to, engine());
    chain.reorder(operand(matrix.side).view(from), copy, constant(matrix.side));
    return memory(dense(matrix_dims(matrix), matrix.type), engine(), copy.get_data_handle());
    // (oneDNN's memory objects share their handle; `copy` is kept by the chain's arguments.)
  }

  void add_way(const std::string& name, const Matrix& left, const Matrix& right, const Matrix& result) {
    try_way(name, [&](Chain& chain) {
      const memory x = source(chain, left), y = source(chain, right);
      const memory::desc plain = result.direct ? result.in_place : dense(matrix_dims(result), result.type);
      const bool packs = constant(right.side);
      const memory::desc weights =
          packs ? memory::desc(dims_of(y.get_desc()), right.type, memory::format_tag::any) : y.get_desc();
      memory::desc bias;
      if (s_.has_bias) {
        Dims dims(dims_of(plain).size(), 1);
        dims.back() = result.columns;
        bias = dense(dims, s_.bias);
      }
      const auto primitive =
          describe_product(x.get_desc(), weights, s_.has_bias ? &bias : nullptr, plain, attributes(s_.post), engine());
      if (std::string(primitive.impl_info_str()).find("ref") != std::string::npos)
        throw dnnl::error(dnnl_unimplemented, "only a reference implementation");
      memory packed = y;
      if (packs && primitive.weights_desc() != y.get_desc()) {
        packed = memory(primitive.weights_desc(), engine());
        chain.reorder(y, packed, true);
      }
      memory out = result.direct ? c_.view(result.in_place) : memory(plain, engine());
      std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, out}};
      if (s_.has_bias) arguments.emplace(DNNL_ARG_BIAS, bias_.view(bias));
      chain.links.push_back({dnnl::matmul(primitive), arguments});
      if (!result.direct) {
        const auto [to, from] = by_axes(result);
        kept_.push_back(out);
        chain.reorder(memory(from, engine(), out.get_data_handle()), c_.view(to), false);
      }
    });
  }

  void make_ways() override {
    std::set<std::array<bool, 4>> seen;
    for (const Side m_by : {kC, kA})
      for (const Side n_by : {kC, kB})
        for (const Side k_by : {kA, kB})
          for (const bool swapped : {false, true}) {
            // The result as rows of B's loops and columns of A's: the same product transposed.
            if (swapped && s_.has_bias) continue;
            const auto m = ordered(s_.m, m_by), n = ordered(s_.n, n_by), k = ordered(s_.k, k_by);
            const Matrix left = swapped ? matrix(kB, s_.b, n, k) : matrix(kA, s_.a, m, k);
            const Matrix right = swapped ? matrix(kA, s_.a, k, m) : matrix(kB, s_.b, k, n);
            const Matrix result = swapped ? matrix(kC, s_.c, n, m) : matrix(kC, s_.c, m, n);
            if (s_.has_bias && !result.direct) continue;
            if (!left.direct && !right.direct && !result.direct && seen.size() > 1) continue;
            const std::array<bool, 4> key{left.direct, right.direct, result.direct, swapped};
            if (!seen.insert(key).second) continue;
            std::string moved;
            for (const auto* one : {&left, &right, &result})
              if (!one->direct) moved += one->side == kA ? " a" : one->side == kB ? " b" : " c";
            add_way(moved.empty() ? "in place" : "transposing" + moved, left, right, result);
          }
  }

  ProductShape s_;
  std::vector<memory> kept_;
};

struct WindowedShape {
  explicit WindowedShape(const WindowedSpec& s)
      : image(dnnl_type(s.image)),
        kernel(dnnl_type(s.kernel)),
        result(dnnl_type(s.result)),
        kernel_constant(s.kernel_constant),
        batch(s.batch),
        groups(s.groups),
        features(s.features),
        channels(s.channels),
        windows(s.windows),
        has_bias(s.has_bias),
        bias(dnnl_type(s.bias)),
        post(s.post) {}
  DnnlType image, kernel, result;
  bool kernel_constant;
  Axis batch, groups, features, channels;
  std::vector<Window> windows;
  bool has_bias;
  DnnlType bias;
  Post post;
};

Dims window_dims(const std::vector<Window>& windows, int64_t Window::*member) {
  Dims dims;
  for (const auto& window : windows) dims.push_back(window.*member);
  return dims;
}
Sliding sliding(const std::vector<Window>& windows) {
  Dims dilations = window_dims(windows, &Window::dilation);
  for (auto& dilation : dilations) --dilation;  // oneDNN counts the elements left out
  return {window_dims(windows, &Window::stride), dilations, window_dims(windows, &Window::pad_before),
          window_dims(windows, &Window::pad_after)};
}
Dims joined(Dims front, const Dims& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}
memory::format_tag channels_last(size_t spatial) {
  return spatial == 1 ? memory::format_tag::nwc : spatial == 2 ? memory::format_tag::nhwc : memory::format_tag::ndhwc;
}
/// An axis of one element may have any stride: the one a dense tensor has there.
int64_t dense_step(const Axis& axis, int64_t step, int64_t otherwise) {
  return axis.extent == 1 || step == 0 ? otherwise : step;
}

class ConvolutionOperation : public Operation {
 public:
  explicit ConvolutionOperation(const WindowedSpec& spec) : s_(spec) { add_version_note(); }

 private:
  memory::desc image_desc(bool result) const {
    const int64_t channels = s_.groups.extent * (result ? s_.features.extent : s_.channels.extent);
    const Axis& inner = result ? s_.features : s_.channels;
    const int64_t inner_step = result ? inner.c : inner.a, group_step = result ? s_.groups.c : s_.groups.a;
    const Dims space = window_dims(s_.windows, result ? &Window::result : &Window::image);
    const Dims steps = window_dims(s_.windows, result ? &Window::result_step : &Window::image_step);
    int64_t channel_step = inner.extent > 1 ? inner_step : group_step;
    int64_t volume = channels;
    for (const auto extent : space) volume *= extent;
    if (channels == 1) channel_step = volume;
    const int64_t batch_step = dense_step(s_.batch, result ? s_.batch.c : s_.batch.a, volume);
    return memory::desc(joined({s_.batch.extent, channels}, space), result ? s_.result : s_.image,
                        joined({batch_step, channel_step}, steps));
  }
  memory::desc kernel_desc() const {
    const Dims space = window_dims(s_.windows, &Window::kernel);
    Dims steps = window_dims(s_.windows, &Window::kernel_step);
    int64_t volume = 1;
    for (size_t w = space.size(); w-- > 0;) {
      if (space[w] == 1) steps[w] = volume;
      volume *= space[w];
    }
    const int64_t c = dense_step(s_.channels, s_.channels.b, volume);
    const int64_t f = dense_step(s_.features, s_.features.b, volume * s_.channels.extent);
    const int64_t g = dense_step(s_.groups, s_.groups.b, volume * s_.channels.extent * s_.features.extent);
    if (s_.groups.extent == 1)
      return memory::desc(joined({s_.features.extent, s_.channels.extent}, space), s_.kernel, joined({f, c}, steps));
    return memory::desc(joined({s_.groups.extent, s_.features.extent, s_.channels.extent}, space), s_.kernel,
                        joined({g, f, c}, steps));
  }

  void add_way(const std::string& name, std::optional<memory::format_tag> layout, bool any_kernel) {
    try_way(name, [&](Chain& chain) {
      const memory::desc image = image_desc(false), kernel = kernel_desc(), result = image_desc(true);
      const auto with = [&](const memory::desc& plain) {
        return layout ? memory::desc(dims_of(plain), type_of(plain), *layout) : plain;
      };
      const memory::desc wanted =
          any_kernel ? memory::desc(dims_of(kernel), s_.kernel, memory::format_tag::any) : kernel;
      const memory::desc bias({s_.groups.extent * s_.features.extent}, s_.bias, memory::format_tag::a);
      const auto primitive = describe_convolution(with(image), wanted, s_.has_bias ? &bias : nullptr, with(result),
                                                  sliding(s_.windows), attributes(s_.post), engine());
      if (std::string(primitive.impl_info_str()).find("ref") != std::string::npos)
        throw dnnl::error(dnnl_unimplemented, "only a reference implementation");
      memory x = a_.view(image), w = b_.view(kernel), y = c_.view(result);
      if (primitive.src_desc() != image) {
        const memory copy(primitive.src_desc(), engine());
        chain.reorder(x, copy, false);
        x = copy;
      }
      if (primitive.weights_desc() != kernel) {
        const memory copy(primitive.weights_desc(), engine());
        chain.reorder(w, copy, s_.kernel_constant);
        w = copy;
      }
      const memory out = primitive.dst_desc() != result ? memory(primitive.dst_desc(), engine()) : y;
      std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, out}};
      if (s_.has_bias) arguments.emplace(DNNL_ARG_BIAS, bias_.view(bias));
      chain.links.push_back({dnnl::convolution_forward(primitive), arguments});
      if (primitive.dst_desc() != result) chain.reorder(out, y, false);
    });
  }

  void make_ways() override {
    add_way("in place", std::nullopt, true);
    if (!s_.kernel_constant) add_way("in place", std::nullopt, false);
    add_way("reordering to its own layout", memory::format_tag::any, true);
    add_way("reordering to channels last", channels_last(s_.windows.size()), true);
  }

  WindowedShape s_;
};

class PoolingOperation : public Operation {
 public:
  PoolingOperation(const WindowedSpec& spec, bool is_mean) : s_(spec), is_mean_(is_mean) { add_version_note(); }

 private:
  memory::desc desc(bool result) const {
    const Dims space = window_dims(s_.windows, result ? &Window::result : &Window::image);
    const Dims steps = window_dims(s_.windows, result ? &Window::result_step : &Window::image_step);
    int64_t volume = s_.channels.extent;
    for (const auto extent : space) volume *= extent;
    return memory::desc(joined({s_.batch.extent, s_.channels.extent}, space), result ? s_.result : s_.image,
                        joined({dense_step(s_.batch, result ? s_.batch.c : s_.batch.a, volume),
                                dense_step(s_.channels, result ? s_.channels.c : s_.channels.a, volume)},
                               steps));
  }
  void add_way(const std::string& name, std::optional<memory::format_tag> layout) {
    try_way(name, [&](Chain& chain) {
      const memory::desc image = desc(false), result = desc(true);
      const auto with = [&](const memory::desc& plain, memory::format_tag tag) {
        return layout ? memory::desc(dims_of(plain), type_of(plain), tag) : plain;
      };
      const auto algorithm = is_mean_ ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_max;
      const auto primitive = describe_pooling(algorithm, with(image, layout.value_or(memory::format_tag::any)),
                                              with(result, memory::format_tag::any),
                                              window_dims(s_.windows, &Window::kernel), sliding(s_.windows), engine());
      if (std::string(primitive.impl_info_str()).find("ref") != std::string::npos && layout)
        throw dnnl::error(dnnl_unimplemented, "only a reference implementation");
      memory x = a_.view(image), y = c_.view(result);
      if (primitive.src_desc() != image) {
        const memory copy(primitive.src_desc(), engine());
        chain.reorder(x, copy, false);
        x = copy;
      }
      const memory out = primitive.dst_desc() != result ? memory(primitive.dst_desc(), engine()) : y;
      chain.links.push_back({PoolingForward(primitive), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, out}}});
      if (primitive.dst_desc() != result) chain.reorder(out, y, false);
    });
  }
  void make_ways() override {
    add_way("in place", std::nullopt);
    add_way("reordering to 16 channels a block", s_.windows.size() == 1   ? memory::format_tag::nCw16c
                                                 : s_.windows.size() == 2 ? memory::format_tag::nChw16c
                                                                          : memory::format_tag::nCdhw16c);
    add_way("reordering to channels last", channels_last(s_.windows.size()));
  }

  WindowedShape s_;
  bool is_mean_;
};

class ElementwiseOperation : public Operation {
 public:
  ElementwiseOperation(Elementwise::Kind kind, Type from, Type to, Axes axes, int along)
      : kind_(kind), from_(dnnl_type(from)), to_(dnnl_type(to)), axes_(axes), along_(along) {
    add_version_note();
  }

 private:
  using Kind = Elementwise::Kind;

  void make_ways() override {
    // Kept axes in the order of the source: what oneDNN calls a plain layout.
    Dims extents, results, a, c;
    int64_t dense = 1;
    for (size_t x = axes_.size(); x-- > 0;) {
      const auto& axis = axes_[x];
      extents.insert(extents.begin(), axis.extent);
      results.insert(results.begin(), axis.c == 0 ? 1 : axis.extent);
      a.insert(a.begin(), axis.a);
      c.insert(c.begin(), axis.c == 0 ? dense : axis.c);
      if (axis.c != 0) dense = std::max(dense, axis.c * axis.extent);
    }
    try_way("", [&](Chain& chain) {
      const memory::desc from(extents, from_, a), to(results, to_, c);
      const memory x = a_.view(from), y = c_.view(to);
      const std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}};
      if (kind_ == Kind::Reorder) {
        chain.reorder(x, y, false);
      } else if (kind_ == Kind::Softmax) {
        chain.links.push_back({SoftmaxForward(describe_softmax(from, to, along_, engine())), arguments});
      } else {
        const auto algorithm = kind_ == Kind::Sum   ? dnnl::algorithm::reduction_sum
                               : kind_ == Kind::Max ? dnnl::algorithm::reduction_max
                                                    : dnnl::algorithm::reduction_min;
        chain.links.push_back({dnnl::reduction(describe_reduction(algorithm, from, to, engine())), arguments});
      }
    });
  }

  Kind kind_;
  DnnlType from_, to_;
  std::vector<Axis> axes_;
  int along_;
};

void Call::operator()(const void* a, const void* b, void* c, const void* bias) { (*operation_)(a, b, c, bias); }

Product::Product(const ProductSpec& s) {
  operation_ = new ProductOperation({dnnl_type(s.a), dnnl_type(s.b), dnnl_type(s.c), s.a_constant, s.b_constant,
                                     s.batch, s.m, s.n, s.k, s.has_bias, dnnl_type(s.bias), s.post});
}
Convolution::Convolution(const WindowedSpec& spec) { operation_ = new ConvolutionOperation(spec); }
Pooling::Pooling(const WindowedSpec& spec, bool is_mean) { operation_ = new PoolingOperation(spec, is_mean); }
Elementwise::Elementwise(Kind kind, Type from, Type to, Axes axes, int along) {
  operation_ = new ElementwiseOperation(kind, from, to, axes, along);
}

void finish() { stream().wait(); }

}  // namespace onednn
}  // namespace baseline

TILE_TUNE_EXPORT int tile_tune_kernel_finish() { return baseline::guarded(baseline::onednn::finish); }
