#include "codegen/emit/cpp_header_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/emit/stride_text.h"

namespace tile_tune::codegen {
namespace {

constexpr const char* kCppHead =
    R"(// {name}.hpp: the kernels of {name}.h for C++20. What each computes and how its tensors lie is said there.
//
//   std::vector<float> a(...), b(...), c(...);
//   if (const {name}_status status = {name}_cpp::KERNEL(a, b, c)) std::cerr << {name}_error_string(status);
//
// An operand is anything contiguous that a std::span can show, in the kernel's own order of elements, whose number is
// checked; or a view such as std::mdspan (data_handle(), extent(d), stride(d)), whose extents and strides are. Where the
// kernel has strides that are not compact only a view says enough. With a {name}_cpp::Context as first argument a call
// has threads and scratch memory of its own.
#ifndef TILE_TUNE_PACKAGE_{name}_HPP
#define TILE_TUNE_PACKAGE_{name}_HPP

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "{name}.h"

namespace {name}_cpp {{

struct DestroyContext {{
  void operator()({name}_context* context) const noexcept {{ {name}_context_destroy(context); }}
}};
/// Is set up by the functions of {name}.h: {name}_context_set_num_threads(context.get(), 2), ...
using Context = std::unique_ptr<{name}_context, DestroyContext>;
/// Null if there is no memory for it.
inline Context make_context() {{ return Context({name}_context_create()); }}

/// What a kernel is given, until it is checked: elements and, of a view, their extents and strides.
template <class T, std::size_t Rank>
class Operand {{
 public:
  template <class Elements>
    requires std::convertible_to<Elements&&, std::span<T>>
  Operand(Elements&& elements) {{
    const std::span<T> span = std::forward<Elements>(elements);
    data_ = span.data();
    count_ = span.size();
  }}

  template <class View>
    requires(!std::convertible_to<const View&, std::span<T>> && View::rank() == Rank &&
             requires(const View& view, std::size_t d) {{
               {{ view.data_handle() }} -> std::convertible_to<T*>;
               {{ view.extent(d) }} -> std::convertible_to<std::size_t>;
               {{ view.stride(d) }} -> std::convertible_to<std::ptrdiff_t>;
             }})
  Operand(const View& view) : data_(view.data_handle()), is_view_(true) {{
    for (std::size_t d = 0; d < Rank; ++d) {{
      extents_[d] = static_cast<std::size_t>(view.extent(d));
      strides_[d] = static_cast<std::ptrdiff_t>(view.stride(d));
    }}
  }}

  T* data() const noexcept {{ return data_; }}
  /// Of a view.
  std::array<std::int64_t, Rank> strides() const noexcept {{
    std::array<std::int64_t, Rank> result{{}};
    for (std::size_t d = 0; d < Rank; ++d) result[d] = strides_[d];
    return result;
  }}

  /// OK, ERROR_SHAPE or ERROR_STRIDES; of a stride PTRDIFF_MIN any will do. A dimension of extent 1 or a tensor without elements may have any stride.
  {name}_status check(const std::array<std::size_t, Rank>& extents,
                      const std::array<std::ptrdiff_t, Rank>& strides, bool is_compact = true) const noexcept {{
    if (!is_view_ && !is_compact) return {prefix}_ERROR_STRIDES;
    std::size_t count = 1;
    for (const std::size_t extent : extents) count *= extent;
    if (!is_view_) return count_ == count ? {prefix}_OK : {prefix}_ERROR_SHAPE;
    if (extents_ != extents) return {prefix}_ERROR_SHAPE;
    for (std::size_t d = 0; count != 0 && d < Rank; ++d)
      if (extents[d] != 1 && strides[d] != PTRDIFF_MIN && strides_[d] != strides[d]) return {prefix}_ERROR_STRIDES;
    return {prefix}_OK;
  }}

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
  bool is_view_ = false;
  std::array<std::size_t, Rank> extents_{{}};
  std::array<std::ptrdiff_t, Rank> strides_{{}};
}};
)";

std::string element_type(const Argument& argument) {
  if (argument.packed) return "unsigned char";
  if (argument.parts() == 2) return fmt::format("std::complex<{}>", c_type(argument.type));
  return std::string(c_type(argument.type));
}

/// What the caller gives: the bytes of a packed constant, else the tensor. Qualified, as all names below are, since
/// parameters have the tensors' names, whatever these are.
std::string operand_type(const std::string& library, const Argument& argument) {
  return fmt::format("{}_cpp::Operand<{}{}, {}>", library, argument.is_output ? "" : "const ", element_type(argument),
                     argument.packed ? 1 : argument.shape.size());
}

/// Of an argument whose extents are these texts: they, and its strides, over the sizes that the entry takes.
std::string check_text(const Argument& argument, const std::vector<std::string>& extents) {
  std::vector<std::string> shape, strides(extents.size());
  std::string stride = "1";
  for (const int d : argument.storage.order(extents.size())) {
    strides[d] = fmt::format("static_cast<std::ptrdiff_t>({})", stride);
    stride += fmt::format(" * ({})", extents[d]);
  }
  for (const auto& extent : extents) shape.push_back(fmt::format("static_cast<std::size_t>({})", extent));
  return fmt::format("  if (const auto arg_status = {}.check({{{}}}, {{{}}})) return arg_status;\n", argument.parameter,
                     fmt::join(shape, ", "), fmt::join(strides, ", "));
}

std::string check_text(const Argument& argument) {
  const auto shape = argument.packed ? std::vector{argument.packed->bytes} : argument.shape;
  const auto strides = argument.packed ? std::vector<std::string>{"1"} : stride_words(argument, "PTRDIFF_MIN");
  const bool is_compact = argument.packed || argument.storage.is_compact();
  return fmt::format("  if (const auto arg_status = {}.check({{{}}}, {{{}}}{})) return arg_status;\n",
                     argument.parameter, fmt::join(shape, ", "), fmt::join(strides, ", "), is_compact ? "" : ", false");
}

/// The pointer that the C entry takes.
std::string pointer_text(const Signature& kernel, const Argument& argument) {
  if (argument.packed)
    return fmt::format("reinterpret_cast<const ::{}*>({}.data())", packed_type(kernel, argument), argument.parameter);
  if (argument.parts() == 1) return argument.parameter + ".data()";
  return fmt::format("reinterpret_cast<{}{}*>({}.data())", argument.is_output ? "" : "const ", c_type(argument.type),
                     argument.parameter);
}

std::string kernel_text(const std::string& library, const Signature& kernel) {
  std::vector<std::string> parameters, pointers;
  std::string checks;
  for (size_t k = 0; kernel.sizes && k < kernel.sizes->names.size(); ++k) {
    const auto& name = kernel.sizes->names[k];
    parameters.push_back("std::int64_t " + name);
    pointers.push_back(name);
    checks += fmt::format("  if ({0} < {1} || {0} > {2}) return ::{3}_ERROR_SIZE;\n", name,
                          kernel.sizes->taken[k].first, kernel.sizes->taken[k].last, status_prefix(library));
  }
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& argument = kernel.arguments[i];
    parameters.push_back(operand_type(library, argument) + " " + argument.parameter);
    pointers.push_back(pointer_text(kernel, argument));
    if (takes_strides(argument)) pointers.push_back(argument.parameter + ".strides().data()");
    checks += kernel.sizes ? check_text(argument, kernel.sizes->extents[i]) : check_text(argument);
  }
  // Names of parameters that begin with arg are arg0, arg1, ... (parameter_names).
  return fmt::format(
      "\n[[nodiscard]] inline {0}_status {1}({2}) {{\n{3}  return static_cast<::{0}_status>(::{1}({4}));\n}}\n"
      "[[nodiscard]] inline {0}_status {1}(const Context& arg_context, {2}) {{\n"
      "{3}  return static_cast<::{0}_status>(::{1}_ctx(arg_context.get(), {4}));\n}}\n",
      library, kernel.function, fmt::join(parameters, ", "), checks, fmt::join(pointers, ", "));
}

std::string packing_text(const std::string& library, const Signature& kernel, const Argument& constant) {
  Argument elements = constant;
  elements.packed.reset();
  elements.is_output = false;
  return fmt::format(
      "\n/// `arg_packed`: {1}_bytes() bytes at a multiple of 64.\n"
      "[[nodiscard]] inline {0}_status {1}({2} {3}, std::span<unsigned char> arg_packed) {{\n{4}"
      "  if (arg_packed.size() != ::{1}_bytes()) return ::{5}_ERROR_SHAPE;\n"
      "  return static_cast<::{0}_status>(::{1}({6}, reinterpret_cast<::{7}*>(arg_packed.data())));\n}}\n",
      library, packing_entry(kernel, constant), operand_type(library, elements), constant.parameter,
      check_text(elements), status_prefix(library), pointer_text(kernel, elements), packed_type(kernel, constant));
}

}  // namespace

std::string cpp_header_text(const std::string& library, const std::vector<Signature>& kernels) {
  std::string text = fmt::format(kCppHead, fmt::arg("name", library), fmt::arg("prefix", status_prefix(library)));
  for (const Signature& kernel : kernels) {
    text += kernel_text(library, kernel);
    for (const Argument& argument : kernel.arguments)
      if (argument.packed) text += packing_text(library, kernel, argument);
  }
  return text + fmt::format("\n}}  // namespace {}_cpp\n\n#endif\n", library);
}

}  // namespace tile_tune::codegen
