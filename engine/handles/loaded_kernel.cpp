#include "engine/handles/loaded_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tile_tune::engine {
namespace {

/// Of what kernels call to say that a buffer is none of theirs, which ours always are.
int internal_error() { return TILE_TUNE_ERROR_INTERNAL; }

void* runtime_symbol(const std::string& name) {
  if (name == "halide_malloc") return reinterpret_cast<void*>(&tile_tune_rt4_malloc);
  if (name == "halide_free") return reinterpret_cast<void*>(&tile_tune_rt4_free);
  if (name == "halide_do_par_for") return reinterpret_cast<void*>(&tile_tune_rt4_do_par_for);
  if (name == "halide_error_out_of_memory") return reinterpret_cast<void*>(&tile_tune_rt4_out_of_memory);
  if (name == "tile_tune_stream") return reinterpret_cast<void*>(&tile_tune_rt4_stream);
  if (name == "tile_tune_end_stream") return reinterpret_cast<void*>(&tile_tune_rt4_end_stream);
  if (name.starts_with("halide_error")) return reinterpret_cast<void*>(&internal_error);
  return dlsym(RTLD_DEFAULT, name.c_str());  // the C library's, such as memset
}

/// As halide_type_t has it.
tile_tune_type type_of(DType type) {
  const auto bits = static_cast<uint8_t>(8 * dtype_size(component_type(type)));
  constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4;
  if (type == DType::Bool) return {kUInt, 1, 1};
  if (type == DType::BF16) return {kBFloat, bits, 1};
  if (is_float(type) || is_complex(type)) return {kFloat, bits, 1};
  return {is_signed(type) ? kInt : kUInt, bits, 1};
}

bool has_elements(const std::vector<int64_t>& shape) { return std::find(shape.begin(), shape.end(), 0) == shape.end(); }

/// Whether elements lie where an argument has them: where a dimension has one element, no stride says anything. In one
/// pass without branches, as calls of small kernels take less than a hundred nanoseconds.
bool lies_as(const ImageArgument& argument, bool has_elements, const Array& array) {
  const size_t rank = argument.shape.size();
  const bool is_strided = !array.strides.empty();
  if (array.type != argument.type || array.shape.size() != rank || (is_strided && array.strides.size() != rank))
    return false;
  bool is_same = true, lies_same = true;
  int64_t next = 1;
  for (size_t d = rank; d-- > 0;) {
    const int64_t extent = array.shape[d], stride = is_strided ? array.strides[d] : next;
    is_same &= extent == argument.shape[d];
    lies_same &= extent == 1 || stride == argument.strides[d];
    next = static_cast<int64_t>(static_cast<uint64_t>(next) * static_cast<uint64_t>(extent));
  }
  return is_same && (lies_same || !has_elements);
}

Diagnostic mismatch(std::string code, std::string message) {
  return {ErrorClass::Mismatch, std::move(code), std::move(message)};
}

Diagnostic misfit_of(const ImageArgument& argument, const Array& array) {
  if (array.type != argument.type)
    return mismatch("dtype-mismatch", fmt::format("{} is {}, but its array is {}", argument.name,
                                                  dtype_name(argument.type), dtype_name(array.type)));
  if (array.shape != argument.shape)
    return mismatch("size-conflict", fmt::format("{} has the shape ({}), but its array ({})", argument.name,
                                                 fmt::join(argument.shape, ", "), fmt::join(array.shape, ", ")));
  return mismatch("bad-array", fmt::format("{} has the strides ({}), but its array others", argument.name,
                                           fmt::join(argument.strides, ", ")));
}

}  // namespace

Result<std::shared_ptr<const LoadedKernel>> LoadedKernel::load(KernelImage image) {
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->image_ = std::move(image);
  kernel->context_.threads = kernel->image_.threads;
  TILE_TUNE_CHECK(kernel->prepare());
  const KernelImage& of = kernel->image_;
  if (of.object.empty()) return kernel;
  TILE_TUNE_TRY(object, codegen::LoadedObject::load_bytes(of.object, runtime_symbol));
  kernel->entry_ = reinterpret_cast<int (*)(void**)>(object.find(of.function + "_argv"));
  if (!kernel->entry_) return failure("bad-kernel", "a compiled kernel lacks its function");
  kernel->object_ = std::move(object);
  kernel->image_.object.clear();
  return kernel;
}

Result<std::shared_ptr<const LoadedKernel>> LoadedKernel::at(std::span<const Array> inputs,
                                                             std::span<const Array> outputs) const {
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->image_ = image_;
  for (auto& argument : kernel->image_.arguments) {
    if (argument.kind == ImageArgument::Kind::Check) continue;
    const auto position = static_cast<size_t>(argument.position);
    const Array& array = argument.kind == ImageArgument::Kind::Input ? inputs[position] : outputs[position];
    argument.shape = array.shape;
    std::vector<int64_t> in_order(array.shape.size());
    int64_t next = 1;
    for (size_t d = array.shape.size(); d-- > 0; next *= array.shape[d]) in_order[d] = next;
    if (image_.is_for_many_sizes && !argument.is_strided) argument.strides = in_order;
    for (const int d : argument.free) {
      const auto dimension = static_cast<size_t>(d);
      argument.strides[dimension] = array.strides.empty() ? in_order[dimension] : array.strides[dimension];
    }
  }
  kernel->context_.threads = image_.threads;
  kernel->object_ = object_;
  kernel->entry_ = entry_;
  TILE_TUNE_CHECK(kernel->prepare());
  return kernel;
}

tl::unexpected<Diagnostic> too_many_arguments(const std::string& program, size_t arguments) {
  return failure("too-many-arguments",
                 fmt::format("{} has {} arguments; a kernel takes {}", program, arguments, kMostArguments));
}

Result<void> LoadedKernel::prepare() {
  if (image_.arguments.size() > kMostArguments) return too_many_arguments(image_.program, image_.arguments.size());
  inputs_.resize(static_cast<size_t>(image_.inputs));
  outputs_.resize(static_cast<size_t>(image_.outputs));
  signature_.resize(inputs_.size() + outputs_.size());
  dimensions_.resize(image_.arguments.size());
  buffers_.resize(image_.arguments.size());
  for (size_t i = 0; i < image_.arguments.size(); ++i) {
    const ImageArgument& argument = image_.arguments[i];
    const tile_tune_type type = type_of(argument.type);
    const int32_t parts = is_complex(argument.type) ? 2 : 1;
    if (parts == 2) dimensions_[i].push_back({0, 2, 1, 0});
    uint64_t before = 0, reach = 0;
    for (const int d : argument.order) {
      const int64_t extent = argument.shape[static_cast<size_t>(d)], stride = argument.strides[static_cast<size_t>(d)];
      dimensions_[i].push_back({0, static_cast<int32_t>(extent), static_cast<int32_t>(stride) * parts, 0});
      const auto length = static_cast<uint64_t>(std::max<int64_t>(extent - 1, 0) * std::abs(stride));
      reach += length;
      if (stride < 0) before += length;
    }
    buffers_[i] = {
        0, nullptr, nullptr, 0, type, static_cast<int32_t>(dimensions_[i].size()), dimensions_[i].data(), nullptr};
    const auto position = static_cast<size_t>(argument.position);
    const bool is_input = argument.kind == ImageArgument::Kind::Input;
    if (!is_input && argument.kind != ImageArgument::Kind::Output) continue;
    (is_input ? inputs_ : outputs_)[position] = &argument;
    const uint64_t size = dtype_size(argument.type);
    const bool is_empty = !has_elements(argument.shape);
    // Two numbers of a complex one are a type for check_pointers(), which counts strides in them.
    signature_[is_input ? position : inputs_.size() + position] = {is_empty ? 0 : (reach + 1) * size,
                                                                   before * size,
                                                                   dtype_size(component_type(argument.type)),
                                                                   {type.code, static_cast<uint8_t>(8 * size), 1},
                                                                   static_cast<int32_t>(argument.shape.size()),
                                                                   argument.shape.data(),
                                                                   argument.strides.data()};
  }
  const auto is_missing = [](const ImageArgument* argument) { return argument == nullptr; };
  if (std::any_of(inputs_.begin(), inputs_.end(), is_missing) ||
      std::any_of(outputs_.begin(), outputs_.end(), is_missing))
    return failure("bad-kernel", "a compiled kernel has no argument for an array");
  return {};
}

bool LoadedKernel::takes_what(const LoadedKernel& other) const {
  const auto same = [](const ImageArgument* a, const ImageArgument* b) {
    return a->type == b->type && a->shape == b->shape && a->strides == b->strides;
  };
  return std::equal(inputs_.begin(), inputs_.end(), other.inputs_.begin(), other.inputs_.end(), same) &&
         std::equal(outputs_.begin(), outputs_.end(), other.outputs_.begin(), other.outputs_.end(), same);
}

bool LoadedKernel::fits(std::span<const Array> inputs, std::span<const Array> outputs) const {
  if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!lies_as(*inputs_[i], signature_[i].bytes > 0, inputs[i])) return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!lies_as(*outputs_[i], signature_[inputs.size() + i].bytes > 0, outputs[i])) return false;
  return true;
}

Diagnostic LoadedKernel::misfit(std::span<const Array> inputs, std::span<const Array> outputs) const {
  if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size())
    return mismatch("array-count", fmt::format("{} takes {} inputs and {} outputs, not {} and {}", image_.program,
                                               inputs_.size(), outputs_.size(), inputs.size(), outputs.size()));
  for (size_t i = 0; i < signature_.size(); ++i) {
    const ImageArgument& argument = i < inputs.size() ? *inputs_[i] : *outputs_[i - inputs.size()];
    const Array& array = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    if (!lies_as(argument, signature_[i].bytes > 0, array)) return misfit_of(argument, array);
  }
  return mismatch("bad-array", "the arrays fit");
}

Result<void> LoadedKernel::check_pointers(std::span<const Array> inputs, std::span<const Array> outputs) const {
  std::array<void*, kMostArguments> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers[i] = inputs[i].data;
  for (size_t i = 0; i < outputs.size(); ++i) pointers[inputs.size() + i] = outputs[i].data;
  const tile_tune_signature signature{signature_.data(), image_.inputs, image_.inputs + image_.outputs};
  const int status = tile_tune_rt4_check_pointers(&signature, pointers.data());
  if (status == TILE_TUNE_OK) return {};
  return tl::unexpected(
      mismatch("bad-array", fmt::format("{}: {}", image_.program, tile_tune_rt4_error_string(status))));
}

Result<void> LoadedKernel::call(std::span<const Array> inputs, std::span<const Array> outputs) const {
  TILE_TUNE_CHECK(check_pointers(inputs, outputs));
  if (!entry_) return {};
  std::array<tile_tune_buffer, kMostArguments> buffers;
  std::array<uint64_t, kMostArguments> outside;
  std::array<void*, kMostArguments + 1> arguments;
  tile_tune_call call{&context_, 1};
  void* user_context = &call;
  arguments[0] = &user_context;
  static uint64_t none[8];  // where an array without elements lies: Halide takes a null pointer for a question
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const ImageArgument& argument = image_.arguments[i];
    const auto position = static_cast<size_t>(argument.position);
    void* data = nullptr;
    if (argument.kind == ImageArgument::Kind::Check)
      data = &(outside[position] = 0);
    else
      data = argument.kind == ImageArgument::Kind::Input ? inputs[position].data : outputs[position].data;
    buffers[i] = buffers_[i];
    buffers[i].host = static_cast<uint8_t*>(data ? data : none);
    arguments[i + 1] = &buffers[i];
  }
  const int status = entry_(arguments.data());
  if (status == TILE_TUNE_ERROR_OUT_OF_MEMORY)
    return failure("out-of-memory", fmt::format("there is no memory for what {} computes on the way", image_.program));
  if (status != TILE_TUNE_OK)
    return failure("kernel-failed", fmt::format("{} failed: code {}", image_.program, status));
  for (const ImageArgument& argument : image_.arguments)
    if (argument.kind == ImageArgument::Kind::Check && outside[static_cast<size_t>(argument.position)] != 0)
      return tl::unexpected(
          mismatch("gather-out-of-range", fmt::format("index {} is outside its tensor", argument.name)));
  return {};
}

}  // namespace tile_tune::engine
