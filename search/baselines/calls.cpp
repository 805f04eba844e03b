#include "search/baselines/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "codegen/schedule/loops.h"
#include "search/baselines/loop_nest.h"

namespace tile_tune::search {
namespace {

std::string axis_text(const Axis& axis) {
  return fmt::format("{{{}, {}, {}, {}}}", axis.extent, axis.a, axis.b, axis.c);
}

std::string axes_text(const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) parts.push_back(axis_text(axis));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string windows_text(const std::vector<Window>& windows) {
  std::vector<std::string> parts;
  for (const auto& w : windows)
    parts.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}", w.image, w.kernel, w.result, w.stride,
                                w.dilation, w.pad_before, w.pad_after, w.image_step, w.kernel_step, w.result_step));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

// oneDNN on a CPU: no products of f64, of f16 only with AVX512-FP16.
std::optional<std::string> onednn_type(DType type) {
  switch (type) {
    case DType::F32:
      return "onednn::Type::f32";
    case DType::BF16:
      return "onednn::Type::bf16";
    case DType::I8:
      return "onednn::Type::s8";
    case DType::U8:
      return "onednn::Type::u8";
    case DType::I32:
      return "onednn::Type::s32";
    default:
      return std::nullopt;
  }
}

std::string step_name(const Step& step) { return fmt::format("step{}", step.first); }

std::string bias_pointer(const Step& step) {
  return step.epilogue.bias < 0 ? "nullptr" : fmt::format("t{}", step.epilogue.bias);
}

// A bias along one dense axis is all that oneDNN takes.
bool is_dense_bias(const Epilogue& epilogue, const std::vector<int64_t>& dense) {
  return epilogue.bias < 0 || epilogue.bias_n == dense;
}

struct Types {
  std::string a, b, c, bias;
};
std::optional<Types> onednn_types(const ir::Program& program, int a, int b, int c, int bias) {
  const auto x = onednn_type(program.tensors[a].type);
  const auto y = b < 0 ? x : onednn_type(program.tensors[b].type);
  const auto z = onednn_type(program.tensors[c].type);
  const auto w = bias < 0 ? std::optional<std::string>("onednn::Type::f32") : onednn_type(program.tensors[bias].type);
  if (!x || !y || !z || !w) return std::nullopt;
  return Types{*x, *y, *z, *w};
}

std::string post_text(const Epilogue& epilogue) {
  return fmt::format("{{{}f, {}}}", fmt::format("{:.9e}", epilogue.scale), epilogue.relu);
}

std::optional<LibraryCall> onednn_product(const CallContext& context, const Product& product) {
  const auto& [program, step, constants, threads] = context;
  const auto types = onednn_types(program, product.a, product.b, step.target, step.epilogue.bias);
  if (!types) return std::nullopt;
  LibraryCall call;
  call.packs = constants.count(product.a) || constants.count(product.b);
  call.definition =
      fmt::format("static onednn::Product {}({{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}});\n", step_name(step),
                  types->a, types->b, types->c, constants.count(product.a) > 0, constants.count(product.b) > 0,
                  axes_text(product.batch), axes_text(product.m), axes_text(product.n), axes_text(product.k),
                  step.epilogue.bias >= 0, types->bias, post_text(step.epilogue));
  call.call = fmt::format("    {}(t{}, t{}, t{}, {});\n", step_name(step), product.a, product.b, step.target,
                          bias_pointer(step));
  return call;
}

std::optional<LibraryCall> onednn_convolution(const CallContext& context, const Convolution& one) {
  const auto& [program, step, constants, threads] = context;
  const auto types = onednn_types(program, one.image, one.kernel, step.target, step.epilogue.bias);
  if (!types || one.windows.size() > 3) return std::nullopt;
  // Groups and the channels of one are one dimension of oneDNN's images.
  const auto adjacent = [&](const Axis& inner, int64_t Axis::*side) {
    return one.groups.extent == 1 || inner.extent == 1 || one.groups.*side == inner.*side * inner.extent;
  };
  if (!adjacent(one.channels, &Axis::a) || !adjacent(one.features, &Axis::c)) return std::nullopt;
  LibraryCall call;
  call.packs = constants.count(one.kernel);
  call.definition =
      fmt::format("static onednn::Convolution {}({{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}});\n",
                  step_name(step), types->a, types->b, types->c, call.packs, axis_text(one.batch),
                  axis_text(one.groups), axis_text(one.features), axis_text(one.channels), windows_text(one.windows),
                  step.epilogue.bias >= 0, types->bias, post_text(step.epilogue));
  call.call = fmt::format("    {}(t{}, t{}, t{}, {});\n", step_name(step), one.image, one.kernel, step.target,
                          bias_pointer(step));
  return call;
}

std::optional<LibraryCall> onednn_pooling(const CallContext& context, const Pooling& one) {
  const auto types = onednn_types(context.program, one.image, -1, one.result, -1);
  if (!types || one.windows.size() > 3) return std::nullopt;
  const std::string name = step_name(context.step);
  return LibraryCall{
      fmt::format("static onednn::Pooling {}({{{}, {}, {}, false, {}, {{1, 0, 0, 0}}, {{1, 0, 0, 0}}, {}, {}}}, {});\n",
                  name, types->a, types->a, types->c, axis_text(one.batch), axis_text(one.channels),
                  windows_text(one.windows), one.is_mean),
      fmt::format("    {}(t{}, nullptr, t{});\n", name, one.image, one.result)};
}

std::optional<LibraryCall> onednn_elementwise(const CallContext& context, const char* kind, int a, int c,
                                              std::vector<Axis> axes, const Axis* along = nullptr) {
  const auto types = onednn_types(context.program, a, -1, c, -1);
  if (!types || axes.size() > 6) return std::nullopt;
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& x, const Axis& y) { return x.a > y.a; });
  const auto place = along ? std::find(axes.begin(), axes.end(), *along) - axes.begin() : -1;
  const std::string name = step_name(context.step);
  return LibraryCall{fmt::format("static onednn::Elementwise {}(onednn::Elementwise::Kind::{}, {}, {}, {}, {});\n",
                                 name, kind, types->a, types->c, axes_text(axes), place),
                     fmt::format("    {}(t{}, nullptr, t{});\n", name, a, c)};
}

std::optional<LibraryCall> onednn_call(const CallContext& context) {
  const Step& step = context.step;
  if (const auto* product = std::get_if<Product>(&step.operation)) return onednn_product(context, *product);
  if (const auto* convolution = std::get_if<Convolution>(&step.operation))
    return onednn_convolution(context, *convolution);
  if (const auto* pooling = std::get_if<Pooling>(&step.operation)) return onednn_pooling(context, *pooling);
  if (const auto* permutation = std::get_if<Permutation>(&step.operation))
    return onednn_elementwise(context, "Reorder", permutation->a, permutation->c, permutation->axes);
  if (const auto* softmax = std::get_if<Softmax>(&step.operation)) {
    auto axes = softmax->rows;
    axes.push_back(softmax->along);
    return onednn_elementwise(context, "Softmax", softmax->a, softmax->c, axes, &softmax->along);
  }
  if (const auto* reduction = std::get_if<Reduction>(&step.operation)) {
    auto axes = reduction->kept;
    axes.insert(axes.end(), reduction->reduced.begin(), reduction->reduced.end());
    const char* kind = reduction->op == ir::Aggregation::Sum   ? "Sum"
                       : reduction->op == ir::Aggregation::Max ? "Max"
                                                               : "Min";
    return onednn_elementwise(context, kind, reduction->a, reduction->c, axes);
  }
  return std::nullopt;
}

// A matrix as BLAS takes it: rows and columns of one stride each, one of them 1.
struct BlasMatrix {
  bool transposed;
  int64_t leading;
};
std::optional<BlasMatrix> blas_matrix(int64_t rows, int64_t row_step, int64_t columns, int64_t column_step) {
  if (columns == 1) return BlasMatrix{false, std::max<int64_t>(1, row_step)};
  if (rows == 1 && column_step == 1) return BlasMatrix{false, columns};
  if (rows == 1) return BlasMatrix{true, column_step};
  if (column_step == 1 && row_step >= columns) return BlasMatrix{false, row_step};
  if (row_step == 1 && column_step >= rows) return BlasMatrix{true, column_step};
  return std::nullopt;
}

struct BlasProduct {
  std::string spec;
  bool swapped;
};

std::optional<BlasProduct> blas_product(const Product& product) {
  if (product.m.size() > 1 || product.n.size() > 1 || product.k.size() > 1) return std::nullopt;
  const auto only = [](const std::vector<Axis>& axes) { return axes.empty() ? Axis{} : axes[0]; };
  Axis m = only(product.m), n = only(product.n), k = only(product.k);
  std::vector<Axis> batch = product.batch;
  // Row-major results only: where the columns are neighbours, the transposed product is computed.
  const bool swapped = (n.c != 1 && n.extent > 1) || (n.extent == 1 && m.extent == 1);
  if (swapped) {
    const auto swap = [](Axis& axis) { std::swap(axis.a, axis.b); };
    std::swap(m, n);
    for (auto* axis : {&m, &n, &k}) swap(*axis);
    for (auto& axis : batch) swap(axis);
  }
  const auto a = blas_matrix(m.extent, m.a, k.extent, k.a), b = blas_matrix(k.extent, k.b, n.extent, n.b);
  if (!a || !b || (n.extent > 1 && n.c != 1)) return std::nullopt;
  const int64_t ldc = m.extent == 1 ? n.extent : m.c;
  const auto text = [](const BlasMatrix& matrix) {
    return fmt::format("{{{}, {}}}", matrix.transposed ? "blas::kTransposed" : "blas::kPlain", matrix.leading);
  };
  return BlasProduct{fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}", axes_text(batch), m.extent, n.extent, k.extent,
                                 text(*a), text(*b), ldc),
                     swapped};
}

// Libraries of plain products leave epilogues to loops.
bool is_bare(const Step& step) { return step.first == step.last; }

/// `adapters`: by element type.
std::optional<LibraryCall> blas_call(const CallContext& context, const std::map<DType, const char*>& adapters) {
  const auto* product = std::get_if<Product>(&context.step.operation);
  if (!product) return std::nullopt;
  const DType type = context.program.tensors[product->a].type;
  if (type != context.program.tensors[product->b].type || type != context.program.tensors[product->c].type ||
      !adapters.contains(type))
    return std::nullopt;
  const char* const adapter = adapters.at(type);
  const auto blas = blas_product(*product);
  if (!blas) return std::nullopt;
  const std::string name = step_name(context.step);
  const std::string first = fmt::format("t{}", blas->swapped ? product->b : product->a),
                    second = fmt::format("t{}", blas->swapped ? product->a : product->b);
  return LibraryCall{fmt::format("static {} {}({}, kThreads);\n", adapter, name, blas->spec),
                     fmt::format("    {}({}, {}, t{});\n", name, first, second, product->c)};
}

// libxsmm's kernels are for small products: above 64^3 its own wrappers call BLAS (its documentation,
// LIBXSMM_MAX_MNK); twice that a side is given to it here.
bool is_small_product(const Step& step) {
  constexpr int64_t kLargest = 128 * 128 * 128;
  const auto* product = std::get_if<Product>(&step.operation);
  if (!product) return false;
  int64_t volume = 1;
  for (const auto* axes : {&product->m, &product->n, &product->k})
    for (const auto& axis : *axes) volume *= axis.extent;
  return volume <= kLargest;
}

// Axes as they lie in one operand's memory; Eigen takes dense tensors only.
std::optional<std::vector<Axis>> dense_order(std::vector<Axis> axes, int64_t Axis::*side) {
  std::stable_sort(axes.begin(), axes.end(), [&](const Axis& x, const Axis& y) { return x.*side > y.*side; });
  int64_t volume = 1;
  for (size_t x = axes.size(); x-- > 0;) {
    if (axes[x].*side != volume) return std::nullopt;
    volume *= axes[x].extent;
  }
  return axes;
}

std::vector<int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<int64_t> extents;
  for (const auto& axis : axes) extents.push_back(axis.extent);
  return extents;
}

/// One element more than there are: C++ has no arrays without elements.
template <typename T>
std::string array_text(const char* type, const char* name, const std::vector<T>& items, const char* one = "0") {
  std::string text = fmt::format("  static const {} {}{} = {{", type, name, *one == '{' ? "[][2]" : "[]");
  for (const auto& item : items) text += fmt::format("{}, ", item);
  return text + one + "};\n";
}

size_t place_of(const std::vector<Axis>& axes, const Axis& axis) {
  return static_cast<size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
}

std::vector<Axis> joined(std::vector<Axis> front, const std::vector<Axis>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

std::optional<LibraryCall> eigen_call(const CallContext& context) {
  const auto* product = std::get_if<Product>(&context.step.operation);
  if (!product || !product->batch.empty()) return std::nullopt;
  const DType type = context.program.tensors[product->a].type;
  if (type != context.program.tensors[product->b].type || type != context.program.tensors[product->c].type ||
      (type != DType::F32 && type != DType::F64))
    return std::nullopt;
  const auto a = dense_order(joined(product->m, product->k), &Axis::a);
  const auto b = dense_order(joined(product->n, product->k), &Axis::b);
  const auto c = dense_order(joined(product->m, product->n), &Axis::c);
  if (!a || !b || !c) return std::nullopt;
  std::vector<std::string> pairs;
  for (const auto& axis : product->k)
    pairs.push_back(fmt::format("{{{}, {}}}", place_of(*a, axis), place_of(*b, axis)));
  // The contraction gives what is left of a, then of b; the result wants its own order.
  std::vector<Axis> left;
  for (const auto& axis : *a)
    if (axis.c != 0) left.push_back(axis);
  for (const auto& axis : *b)
    if (axis.c != 0) left.push_back(axis);
  std::vector<size_t> order;
  for (const auto& axis : *c) order.push_back(place_of(left, axis));
  const bool shuffles = !std::is_sorted(order.begin(), order.end());
  const std::string name = step_name(context.step), scalar = c_type(type);
  const std::string function =
      fmt::format("contract<{}, {}, {}, {}, {}>", scalar, a->size(), b->size(), pairs.size(), shuffles);
  LibraryCall call;
  call.definition = fmt::format(
      "static void {0}(const {1}* a, const {1}* b, {1}* c) {{\n{2}{3}{4}{5}{6}"
      "  eigen::{7}(a, a_extents, b, b_extents, c, c_extents, pairs, order, kThreads);\n}}\n",
      name, scalar, array_text("int64_t", "a_extents", extents_of(*a)),
      array_text("int64_t", "b_extents", extents_of(*b)), array_text("int64_t", "c_extents", extents_of(*c)),
      array_text("int", "pairs", pairs, "{0, 0}"), array_text("int", "order", order), function);
  call.adapter = AdapterSource{
      fmt::format("eigen_{}_{}_{}_{}_{}.cpp", scalar, a->size(), b->size(), pairs.size(), int{shuffles}),
      fmt::format(
          "#include \"eigen_contract.h\"\ntemplate void baseline::eigen::{0}(const {1}*, const int64_t*, const {1}*, "
          "const int64_t*, {1}*, const int64_t*, const int (*)[2], const int*, int);\n",
          function, scalar),
      {"-isystem", "/usr/include/eigen3", "-pthread"}};  // the directory Debian puts it in
  call.call = fmt::format("    {}(t{}, t{}, t{});\n", name, product->a, product->b, product->c);
  return call;
}

bool fuses(const CallContext& context) {
  const Step& step = context.step;
  if (const auto* product = std::get_if<Product>(&step.operation)) {
    if (!is_bare(step) && product->n.size() > 1) return false;
    return is_dense_bias(step.epilogue, {1}) && (step.epilogue.bias < 0 || product->batch.empty());
  }
  if (const auto* one = std::get_if<Convolution>(&step.operation)) {
    const int64_t features = one->features.extent;
    return is_dense_bias(step.epilogue, {one->groups.extent == 1 ? 0 : features, features == 1 ? 0 : 1});
  }
  return true;
}

bool is_onednn(Baseline baseline) { return kind_of(baseline).library == Library::OneDnn; }

// A CPU's libraries have no products of f16. Those of f32 with conversions before and after are what their users would
// write.
std::optional<LibraryCall> converted_product(Baseline baseline, const CallContext& context) {
  const auto& [program, step, constants, threads] = context;
  const auto* product = std::get_if<Product>(&step.operation);
  if (!product || product->a == product->b || step.epilogue.bias >= 0 || !constants.empty()) return std::nullopt;
  int64_t results = 1;
  for (const auto* axes : {&product->batch, &product->m, &product->n})
    for (const auto& axis : *axes) results *= axis.extent;
  if (results != ir::element_count(program.tensors[step.target])) return std::nullopt;
  const int tensors[] = {product->a, product->b, step.target};
  ir::Program wide = program;
  LibraryCall call;
  std::vector<std::string> copies;
  for (const int tensor : tensors) {
    if (program.tensors[tensor].type != DType::F16) return std::nullopt;
    wide.tensors[tensor].type = DType::F32;
    copies.push_back(fmt::format("{}_t{}", step_name(step), tensor));
    call.definition += fmt::format("static float* {} = scratch<float>({});\n", copies.back(),
                                   ir::element_count(program.tensors[tensor]));
  }
  const auto in_f32 = library_call(baseline, {wide, step, {}, threads});
  if (!in_f32) return std::nullopt;
  call.definition += in_f32->definition;
  // Threads of OpenMP's would be in the way of a library's own, which wait for work with their cores busy: 512 x 512 x
  // 512 took OpenBLAS 3.8 ms so, of which the product is 1.5 (two Zen 4 cores).
  const bool has_own_threads = baseline == Baseline::OpenBlas || baseline == Baseline::ScipyOpenBlas ||
                               baseline == Baseline::OneDnnSycl || baseline == Baseline::Eigen;
  const char* converting = has_own_threads ? "1" : "kThreads";
  const auto widened = [&](int operand) {
    return fmt::format("convert(t{}, {}, {}, {})", tensors[operand], copies[operand],
                       ir::element_count(program.tensors[tensors[operand]]), converting);
  };
  call.call = fmt::format(
      "    [](float* t{}, float* t{}, float* t{}) {{\n  {}    }}({}, {}, {});\n{}    convert({}, t{}, {}, {});\n",
      tensors[0], tensors[1], tensors[2], in_f32->call, widened(0), widened(1), copies[2], waiting_for(baseline),
      copies[2], step.target, results, converting);
  return call;
}

AdapterSource adapter_source(const char* file, const char* name, std::vector<std::string> flags = {}) {
  return {name, adapters().at(file), std::move(flags)};
}

/// oneDNN 3 with the threads of a runtime.
Adapter fetched_onednn(const std::string& fetched, const std::string& runtime, std::vector<std::string> flags) {
  flags.insert(flags.end(), {"-isystem", fetched + "/include"});
  const std::string folder = fetched + "/lib";
  // In the old form of the entry what the library needs itself is looked for there, too.
  return {"onednn.h",
          adapter_source("onednn.cpp", runtime == "sycl" ? "onednn-sycl.cpp" : "onednn-gomp.cpp", std::move(flags)),
          {"-L" + folder, fmt::format("-l:libdnnl-{}.so", runtime),
           fmt::format("-Wl,--disable-new-dtags,-rpath,{0},-rpath-link,{0}", folder)}};
}

Adapter fetched_blas(const char* name, const std::string& library, std::vector<std::string> flags) {
  flags.push_back(fmt::format("-DBASELINE_BLAS_LIBRARY=\"{}\"", library));
  return {"cblas.h", adapter_source("cblas.cpp", name, std::move(flags)), {"-ldl"}};
}

}  // namespace

bool can_fuse(Baseline baseline, const CallContext& context) {
  if (is_bare(context.step) || std::holds_alternative<Softmax>(context.step.operation)) return true;
  return is_onednn(baseline) && fuses(context);
}

std::optional<LibraryCall> library_call(Baseline baseline, const CallContext& context) {
  if (auto call = converted_product(baseline, context)) return call;
  switch (kind_of(baseline).library) {
    case Library::OneDnn:
      return onednn_call(context);
    case Library::Blas:
      return blas_call(context, {{DType::F32, "cblas::Product"},
                                 {DType::F64, "cblas::Product"},
                                 {DType::C32, "cblas::ComplexProduct"},
                                 {DType::C64, "cblas::ComplexProduct"}});
    case Library::Libxsmm:
      return is_small_product(context.step) ? blas_call(context, {{DType::F32, "xsmm::Product"}}) : std::nullopt;
    case Library::Eigen:
      return eigen_call(context);
    case Library::None:
      break;
  }
  return std::nullopt;
}

const char* waiting_for(Baseline baseline) { return is_onednn(baseline) ? "    onednn::finish();\n" : ""; }

Adapter adapter_of(Baseline baseline, const std::string& fetched) {
  switch (baseline) {
    case Baseline::OneDnn:
    case Baseline::OneDnnPacked:
      return {"onednn.h", adapter_source("onednn.cpp", "onednn.cpp"), {"-ldnnl"}};
    case Baseline::OneDnnGomp:
    case Baseline::OneDnnGompPacked:
      return fetched_onednn(fetched, "gomp", {});
    case Baseline::OneDnnSycl:
    case Baseline::OneDnnSyclPacked:
      return fetched_onednn(fetched, "sycl",
                            {fmt::format("-DBASELINE_ONEDNN_DEVICE=\"{}/lib/libintelocl.so\"", fetched)});
    case Baseline::OpenBlas:
      return {"cblas.h", adapter_source("cblas.cpp", "cblas.cpp"), {"-ldl"}};
    case Baseline::ScipyOpenBlas:
      return fetched_blas("scipy-openblas.cpp", fetched + "/lib/libscipy_openblas.so",
                          {"-DBASELINE_BLAS_PREFIX=\"scipy_\""});
    case Baseline::Mkl:
      return fetched_blas("mkl.cpp", fetched + "/lib/libmkl_rt.so.3", {"-DBASELINE_BLAS_IS_MKL"});
    case Baseline::Libxsmm:
      return {"xsmm.h", adapter_source("xsmm.cpp", "xsmm.cpp"), {"-lxsmm", "-lxsmmnoblas", "-ldl"}};
    case Baseline::Eigen:
      return {"eigen.h", std::nullopt, {"-pthread"}};
    case Baseline::OpenMp:
      break;
  }
  return {"prelude.h", std::nullopt, {}};
}

}  // namespace tile_tune::search
