#include <tile_tune/einsum_call.h>
#include <tile_tune/tensor_einsum.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "base/process/fork_safe_mutex.h"
#include "engine/programs/contraction_order.h"
#include "engine/handles/einsum_kernels.h"
#include "engine/handles/handle.h"
#include "engine/handles/scale.h"
#include "engine/handles/slicing.h"
#include "frontend/einsum/resolve.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::engine {
namespace {

using tensor::Tensor;
using tensor::TensorView;

Error error_from_diagnostic(const Diagnostic& diagnostic) {
  return {diagnostic.code, diagnostic.message, diagnostic.note, "einsum"};
}

std::vector<Array> arrays_of(std::span<const TensorView> operands) {
  std::vector<Array> arrays;
  for (const TensorView& operand : operands) arrays.push_back(array(operand));
  return arrays;
}

/// What einsums give, of operands that were seen before: finding that out orders a network's contractions.
class Types {
 public:
  Expected<ArrayType> find_or_make(std::string_view subscripts, std::span<const Array> operands) {
    const std::string key = key_of(subscripts, operands);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = types_.find(key); found != types_.end()) return found->second;
    }
    auto type = einsum_type(subscripts, operands);
    if (!type) return type;
    const std::unique_lock lock(mutex_);
    // Some hundred bytes each. A program that has so many shapes has new ones all the time.
    if (types_.size() >= 4096) types_.clear();
    types_.emplace(key, *type);
    return type;
  }

 private:
  static std::string key_of(std::string_view subscripts, std::span<const Array> operands) {
    std::string key(subscripts);
    const auto add = [&](int64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (const Array& operand : operands) {
      add(static_cast<int64_t>(operand.type));
      add(static_cast<int64_t>(operand.shape.size()));
      for (const int64_t extent : operand.shape) add(extent);
    }
    add(static_cast<int64_t>(operands.size()));
    return key;
  }

  base::ForkSafeMutex mutex_;
  std::unordered_map<std::string, ArrayType> types_;
};

Expected<ArrayType> type_of(std::string_view subscripts, std::span<const Array> operands) {
  static Types& all = *new Types;  // as long as fork() asks for its mutex
  return all.find_or_make(subscripts, operands);
}

/// An einsum of arrays, in an order if there is one.
struct Contraction {
  einsum::Einsum notation;
  std::vector<Array> operands;
  std::string variant = {};  // of the kernel's key
  bool has_order = false;    // by a path, or by parentheses
  std::vector<bool> conjugate = {};
};

Expected<Kernel> kernel_of(const Contraction& contraction, const Array& result, bool adds) {
  std::string variant = contraction.variant + (adds ? "+" : "");
  for (const bool is_conjugate : contraction.conjugate) variant += is_conjugate ? '*' : '.';
  const auto kernel = einsum_kernel({contraction.notation.text, variant}, contraction.operands, result.type,
                                    [&]() -> Result<EinsumForm> {
                                      return EinsumForm{contraction.notation, adds, contraction.conjugate};
                                    });
  if (!kernel) return error_from_diagnostic(kernel.error());
  return *kernel;
}

Expected<void> run(const Contraction& contraction, const Array& result, bool adds) {
  const auto kernel = kernel_of(contraction, result, adds);
  if (!kernel) return kernel.error();
  return (*kernel)(contraction.operands, {&result, 1});
}

Expected<void> make_ready(const Contraction& contraction, const Array& result, bool adds) {
  const auto kernel = kernel_of(contraction, result, adds);
  if (!kernel) return kernel.error();
  return make_ready(*kernel, contraction.operands, {&result, 1});
}

/// Without some dimensions, each at its `places` value or not at all (-1).
Array fixed(const Array& whole, const std::vector<int64_t>& places) {
  Array part{whole.data, whole.type, {}, {}};
  auto* data = static_cast<std::byte*>(whole.data);
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d] >= 0) {
      data += places[d] * whole.strides[d] * static_cast<int64_t>(dtype_size(whole.type));
    } else {
      part.shape.push_back(whole.shape[d]);
      part.strides.push_back(whole.strides[d]);
    }
  }
  part.data = data;
  return part;
}

OrderedNetwork network_of(const Contraction& contraction, const einsum::Resolved& resolved, DType type) {
  OrderedNetwork network;
  for (const auto& operand : resolved.operands) {
    plan::AxisSet axes(operand.begin(), operand.end());
    axes.erase(einsum::kRepeats);
    network.operands.push_back(std::move(axes));
  }
  network.result = {resolved.result.begin(), resolved.result.end()};
  for (const auto& axis : resolved.axes) network.extents.push_back(static_cast<double>(axis.value.value_or(1)));
  network.element_bytes = static_cast<double>(dtype_size(accumulator_type(type)));
  network.order = contraction.has_order ? order_of(contraction.notation.order, network.operands.size())
                                        : plan::best_order(network.operands, network.result, network.extents);
  return network;
}

/// Once for each value of the axes, of which the last runs fastest. False where `visit` ended it.
template <typename Visit>
bool for_each_value(const std::vector<int>& axes, const std::vector<double>& extents, std::map<int, int64_t>& values,
                    const Visit& visit, size_t next = 0) {
  if (next == axes.size()) return visit();
  const auto extent = static_cast<int64_t>(extents[static_cast<size_t>(axes[next])]);
  for (int64_t value = 0; value < extent; ++value) {
    values[axes[next]] = value;
    if (!for_each_value(axes, extents, values, visit, next + 1)) return false;
  }
  return true;
}

/// With no more than `limit` bytes of intermediates.
Expected<void> run_within(Contraction contraction, const Array& result, bool adds, int64_t limit) {
  einsum::Known known;
  for (const Array& operand : contraction.operands) known.operands.push_back({operand.type, operand.shape});
  const auto resolved = einsum::resolve(contraction.notation, known);
  if (!resolved) return error_from_diagnostic(resolved.error());
  const OrderedNetwork network = network_of(contraction, *resolved, result.type);
  // A label that is repeated in the result stands for its diagonal, beside which slices write nothing.
  plan::AxisSet candidates;
  for (size_t axis = 0; axis < resolved->axes.size(); ++axis)
    if (std::count(resolved->result.begin(), resolved->result.end(), static_cast<int>(axis)) < 2)
      candidates.insert(static_cast<int>(axis));
  const plan::AxisSet fix = axes_to_fix(network, candidates, static_cast<double>(limit));
  const double needed = cost_of(network, fix).bytes;
  if (needed > static_cast<double>(limit))
    return Error{
        "memory-limit",
        fmt::format("einsum: intermediates need {:.0f} bytes however it is sliced, more than {}", needed, limit),
        "another path may need less",
        "einsum",
        {static_cast<int64_t>(needed), limit}};
  contraction.notation.order = group_of(network.order, network.operands.size());
  contraction.variant = order_text(network.order);
  if (fix.empty()) return run(contraction, result, adds);

  // What is left of each tensor, and of its labels.
  std::vector<std::vector<int64_t>> labels;
  for (const auto& axes : resolved->operands) {
    labels.emplace_back();
    for (const int axis : axes)
      if (axis != einsum::kRepeats && !fix.contains(axis)) labels.back().push_back(axis);
  }
  std::vector<int64_t> result_labels;
  for (const int axis : resolved->result)
    if (!fix.contains(axis)) result_labels.push_back(axis);
  const auto subscripts = subscripts_of(labels, result_labels);
  if (!subscripts) return subscripts.error();
  auto notation = einsum::parse(*subscripts);
  if (!notation) return error_from_diagnostic(notation.error());
  notation->order = contraction.notation.order;

  std::vector<int> outer, inner;
  for (const int axis : fix) (network.result.contains(axis) ? outer : inner).push_back(axis);
  std::map<int, int64_t> values;
  const auto places = [&](const std::vector<int>& axes) {
    std::vector<int64_t> at;
    for (const int axis : axes) {
      const auto value = values.find(axis);
      at.push_back(axis == einsum::kRepeats ? 0 : value == values.end() ? -1 : value->second);
    }
    return at;
  };
  const auto slice = [&] {
    Contraction one{*notation, {}, contraction.variant, true, contraction.conjugate};
    for (size_t i = 0; i < contraction.operands.size(); ++i)
      one.operands.push_back(fixed(contraction.operands[i], places(resolved->operands[i])));
    return one;
  };
  const auto target = [&] { return fixed(result, places(resolved->result)); };
  // The kernels of all slices, before one of them writes.
  for (const int axis : fix) values[axis] = 0;
  for (const bool one_that_adds : {adds, adds || !inner.empty()})
    if (const auto ready = make_ready(slice(), target(), one_that_adds); !ready) return ready;
  Expected<void> done;
  for_each_value(outer, network.extents, values, [&] {
    bool is_first = true;
    return for_each_value(inner, network.extents, values, [&] {
      done = run(slice(), target(), adds || !is_first);
      is_first = false;
      return static_cast<bool>(done);
    });
  });
  return done;
}

/// Of which operands conjugates are meant and are others than the operands.
Expected<std::vector<bool>> conjugates(std::span<const TensorView> views, std::vector<bool> conjugate) {
  if (!conjugate.empty() && conjugate.size() != views.size())
    return Error{
        "operand-count",
        fmt::format("einsum: {} of {} operands are said to be conjugated or not", conjugate.size(), views.size()),
        "",
        "einsum",
        {static_cast<int64_t>(conjugate.size()), static_cast<int64_t>(views.size())}};
  for (size_t i = 0; i < conjugate.size(); ++i)
    if (!is_complex(views[i].type())) conjugate[i] = false;
  if (std::find(conjugate.begin(), conjugate.end(), true) == conjugate.end()) conjugate.clear();
  return conjugate;
}

/// First byte that elements take, and the first one behind them.
std::pair<const std::byte*, const std::byte*> bytes_of(const TensorView& view) {
  const auto reach = view.layout().reach();
  if (!reach) return {};
  const auto* data = static_cast<const std::byte*>(view.buffer());
  const auto size = static_cast<int64_t>(dtype_size(view.type()));
  return {data + reach->first * size, data + (reach->last + 1) * size};
}

/// An output is no operand's memory, whichever way it is computed.
Expected<void> check_apart(std::span<const TensorView> operands, const TensorView& output) {
  const auto [begin, end] = bytes_of(output);
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto [first, last] = bytes_of(operands[i]);
    if (std::less<>()(first, end) && std::less<>()(begin, last))
      return Error{"bad-array",
                   fmt::format("einsum_into: the output may lie over operand {}", i),
                   "write into memory of its own",
                   "einsum_into",
                   {static_cast<int64_t>(i)}};
  }
  return {};
}

/// Strides without gaps in the order of others.
std::vector<int64_t> compact_strides(const Array& array) {
  std::vector<size_t> order(array.shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(array.strides[a]) < std::abs(array.strides[b]); });
  std::vector<int64_t> strides(order.size());
  int64_t next = 1;
  for (const size_t d : order) {
    strides[d] = next;
    next *= array.shape[d];
  }
  return strides;
}

/// `alpha` times the einsum, to which `result` is added or not.
Expected<void> contract(std::string_view subscripts, std::vector<Array> operands, const Array& result,
                        const EinsumOptions& options, std::vector<bool> conjugate, std::complex<double> alpha,
                        bool adds) {
  const size_t count = operands.size();
  auto notation = einsum::parse(subscripts);
  if (!notation) return error_from_diagnostic(notation.error());
  Contraction contraction{std::move(*notation), std::move(operands)};
  contraction.conjugate = std::move(conjugate);
  contraction.has_order = plan::has_groups(contraction.notation.order);
  if (!options.path.empty()) {
    if (contraction.has_order)
      return Error{"bad-path", "einsum: its parentheses fix an order already", "give a path or parentheses", "einsum"};
    const auto order = order_of_path(options.path, count);
    if (!order) return order.error();
    contraction.notation.order = group_of(*order, count);
    contraction.variant = order_text(*order);
    contraction.has_order = true;
  }
  alignas(16) std::byte factor[16];
  if (alpha != 1.0) {
    // A factor more, without dimensions, which is multiplied where that costs least.
    const std::string text(subscripts);
    auto longer = einsum::parse(std::string_view(std::string(text).insert(text.find("->"), ",")));
    if (!longer) return error_from_diagnostic(longer.error());
    if (contraction.has_order)
      longer->order = {-1, {std::move(contraction.notation.order), {static_cast<int>(count), {}}}};
    contraction.notation = std::move(*longer);
    scalar_of(alpha, result.type, factor);
    contraction.operands.push_back({factor, result.type, {}, {}});
  }
  return options.memory_limit ? run_within(std::move(contraction), result, adds, *options.memory_limit)
                              : run(contraction, result, adds);
}

}  // namespace

Array array(const TensorView& view) {
  return {const_cast<void*>(view.data()), view.type(), view.shape(), view.strides()};
}

Array array(const tensor::MutableTensorView& view) { return array(view.view()); }

Expected<Tensor> einsum(std::string_view subscripts, std::span<const TensorView> operands,
                        const EinsumOptions& options) {
  auto conjugate = conjugates(operands, options.conjugate);
  if (!conjugate) return conjugate.error();
  auto arrays = arrays_of(operands);
  const auto type = type_of(subscripts, arrays);
  if (!type) return type.error();
  auto result = Tensor::uninitialized(type->type, type->shape);
  if (!result) return result;
  const Array output = array(*result->mutable_view());
  const auto done = options.path.empty() && !options.memory_limit && conjugate->empty()
                        ? einsum(subscripts, arrays, output)
                        : contract(subscripts, std::move(arrays), output, options, std::move(*conjugate), 1, false);
  if (!done) return done.error();
  return result;
}

Expected<void> einsum_into(std::complex<double> alpha, std::string_view subscripts,
                           std::span<const TensorView> operands, std::complex<double> beta,
                           const tensor::MutableTensorView& output, const EinsumOptions& options) {
  for (const auto number : {alpha, beta})
    if (const auto fits = check_scalar(number, output.type()); !fits) return fits;
  auto conjugate = conjugates(operands, options.conjugate);
  if (!conjugate) return conjugate.error();
  auto arrays = arrays_of(operands);
  const auto type = type_of(subscripts, arrays);
  if (!type) return type.error();
  if (type->shape != output.shape())
    return Error{"size-conflict", "einsum_into: the output has another shape than the einsum", "", "einsum_into"};
  if (const auto apart = check_apart(operands, output.view()); !apart) return apart;
  const Array result = array(output);
  if (alpha == 0.0) return scale(result, beta), Expected<void>();
  if (beta == 0.0 || beta == 1.0)
    return contract(subscripts, std::move(arrays), result, options, std::move(*conjugate), alpha, beta != 0.0);
  // Beside the output, which is touched when nothing can fail any more.
  auto term = Tensor::uninitialized(result.type, result.shape);
  if (!term) return term.error();
  Array sum = array(*term->mutable_view());
  sum.strides = compact_strides(result);
  const auto done = contract(subscripts, std::move(arrays), sum, options, std::move(*conjugate), alpha, false);
  if (done) scale_and_add(result, beta, sum);
  return done;
}

Expected<Tensor> to_contiguous(const TensorView& view) {
  // Less is copied sooner than a kernel is called, and what is compact is no faster by one.
  constexpr int64_t kFewElements = 4096;
  if (view.element_count() < kFewElements || view.layout().is_column_major()) return tensor::to_contiguous(view);
  std::vector<int64_t> labels(view.rank());
  std::iota(labels.begin(), labels.end(), 0);
  const auto subscripts = subscripts_of({labels}, labels);
  if (!subscripts) return subscripts.error();
  auto copied = einsum(*subscripts, {&view, 1});
  if (copied || copied.error().code == "out-of-memory") return copied;
  return tensor::to_contiguous(view);
}

Expected<std::string> subscripts_of(const std::vector<std::vector<int64_t>>& operands,
                                    const std::vector<int64_t>& result) {
  // Letters, then from the first of 20,992 characters that each are a letter of their own (CJK).
  std::map<int64_t, std::string> spelling;
  const auto spell = [&](int64_t label) -> const std::string& {
    auto& text = spelling[label];
    if (!text.empty()) return text;
    const size_t number = spelling.size() - 1;
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (number < kLetters.size()) return text = kLetters[number];
    const auto point = static_cast<uint32_t>(0x4e00 + number - kLetters.size());
    text = {static_cast<char>(0xe0 | point >> 12), static_cast<char>(0x80 | (point >> 6 & 0x3f)),
            static_cast<char>(0x80 | (point & 0x3f))};
    return text;
  };
  constexpr size_t kMostLabels = 52 + 20992;
  std::string text;
  const auto add = [&](const std::vector<int64_t>& labels) -> Expected<void> {
    for (const int64_t label : labels) {
      if (label < einsum::kEllipsis || spelling.size() >= kMostLabels)
        return Error{"bad-label",
                     fmt::format("einsum: {} is no label", label),
                     "labels are 0 and more, -1 is `...`",
                     "subscripts_of",
                     {label}};
      text += label == einsum::kEllipsis ? "..." : spell(label);
    }
    return {};
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text += ',';
    if (const auto done = add(operands[i]); !done) return done.error();
  }
  text += "->";
  if (const auto done = add(result); !done) return done.error();
  return text;
}

}  // namespace tile_tune::engine
