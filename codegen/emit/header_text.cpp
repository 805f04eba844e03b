#include "codegen/emit/header_text.h"
#include "codegen/emit/device_text.h"
#include "codegen/emit/stride_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace tile_tune::codegen {
namespace {

constexpr const char* kHead = R"(/* {name}.h: kernels made by tile-tune {version}, plain C11, also for C++.
 *
 * Target: {target}
 * {link}
 *
 * Every function returns {prefix}_OK (0) or a code of enum {name}_status; {name}_error_string says it in
 * words. Functions may be called from several threads at once, never print and never abort.
 *   KERNEL            checks its pointers and the CPU, then computes.
 *   KERNEL_unchecked  the same without any check: a bad pointer or a CPU without the target's features is
 *                     undefined behaviour.
 *   KERNEL_ctx        as KERNEL, with threads and scratch memory of a context of yours (see {name}_context).
 *   KERNEL_dl         takes DLPack tensors and checks device, element type, shape and strides first. In C++,
 *                     include <dlpack/dlpack.h> before this header if you include it at all.
 * C++20 programs may include {name}.hpp instead, whose functions check what spans and views say of themselves.
 * {constants}Arguments are inputs, then outputs. A pointer needs the alignment of its element type and no more; only a tensor
 * without elements may be null. An output must not overlap any other argument. Strides count elements.
 */
#ifndef TILE_TUNE_PACKAGE_{name}_H
#define TILE_TUNE_PACKAGE_{name}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#if defined(DLPACK_VERSION) || defined(DLPACK_MAJOR_VERSION)
typedef DLTensor {name}_dl_tensor;
#else
struct DLTensor;
typedef struct DLTensor {name}_dl_tensor;
#endif

)";

constexpr const char* kLinkArchives =
    R"(Link lib{name}.a, libtile_tune_rt.a, and the system's threads, dl and m:
 * find_package({name}) gives the target {name}::{name}, and {name}.pc says the same to pkg-config.)";

// Packages as objects and sources (source_package.h).
constexpr const char* kLinkSources =
    R"(Compile the sources of src/{name} and src/tile_tune_rt as C11, by GCC or Clang, with include and src/tile_tune_rt
 * to include from, and link them with the objects of lib/{name} and the system's threads:
 * find_package({name}) gives the target {name}::{name}, which does all of it.)";

constexpr const char* kContext = R"(const char* {name}_error_string(int code);

/* What a call works with besides its arguments. A context begins with the defaults: malloc and free, and one thread for
 * each CPU that the calling thread may use, the caller's own among them. The other threads are started by the first call
 * that needs them and serve every library of the program that was made by this version; no call takes more than its
 * context says. Set a context up before calls use it; then any number of them may, at once. Only the number of threads
 * may be changed at any time. All functions return a code of enum {name}_status. */
typedef struct {name}_context {name}_context;
{name}_context* {name}_context_create(void); /* null: out of memory */
void {name}_context_destroy({name}_context*); /* after its last call has returned; nothing if null */
{name}_context* {name}_default_context(void); /* of every entry but KERNEL_ctx; is never destroyed */

/* How many threads a call may use, the caller's included; 0: one for each CPU. Above 1024 is taken as 1024. */
int {name}_context_set_num_threads({name}_context*, int threads);
int {name}_set_num_threads(int threads); /* of the default context */

/* A thread pool of yours in place of the shared one: calls task(state, i) for each i from 0 to count - 1, on any threads
 * and in any order, and returns when these calls have returned. count is at most the number of threads (where that is 0
 * on Windows or WebAssembly, as many as find something to do). What it leaves out is done by the thread that called the
 * kernel. Null: the shared pool. `user` is the context's user data. */
typedef void (*{name}_parallel_for)(void* user, int count, void (*task)(void* state, int i), void* state);
int {name}_context_set_parallel_for({name}_context*, {name}_parallel_for);

/* Scratch memory from an allocator of yours, of any alignment; null from it makes the kernel return
 * {prefix}_ERROR_OUT_OF_MEMORY. Is called by all threads that work for a call, at once, and gets back all that it gave
 * before the call returns. Both null: malloc and free. */
typedef void* (*{name}_allocate)(void* user, size_t bytes);
typedef void (*{name}_release)(void* user, void* memory, size_t bytes);
int {name}_context_set_allocator({name}_context*, {name}_allocate, {name}_release);

/* What the functions above get as `user`; null until set. */
int {name}_context_set_user_data({name}_context*, void* user);
)";

constexpr const char* kFoot = R"(
#ifdef __cplusplus
}
#endif

#endif
)";

// Only where a kernel has one.
constexpr const char* kConstants =
    R"(Operand B of a kernel that was built with --constant B is taken in a form of the kernel's own, KERNEL_packed_B.
 * KERNEL_pack_B makes it from B's elements, as often as these change, in KERNEL_pack_B_bytes() bytes of memory at a
 * multiple of 64; the kernel then reads it in every call and never writes it. A file may hold these bytes, and as a
 * DLPack tensor they are uint8, one dimension. The first 64 say what they are, and all entries but KERNEL_unchecked
 * compare them: {prefix}_ERROR_NOT_PACKED, or {prefix}_ERROR_PACKED_FORM where they were made for another kernel, build
 * or instruction set, or are damaged. It is never null.
 * )";

std::string constants_text(const std::string& prefix) {
  return fmt::format(fmt::runtime(kConstants), fmt::arg("prefix", prefix));
}

std::string_view storage(DType type) {
  switch (type) {
    case DType::F16:
      return ", IEEE half as bit patterns";
    case DType::BF16:
      return ", bfloat16 as bit patterns";
    case DType::Bool:
      return ", 0 or 1";
    case DType::C32:
    case DType::C64:
      return ", real and imaginary part side by side";
    default:
      return "";
  }
}

/// Text of others inside a C comment: no end of comment, no control characters.
std::string comment(std::string text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) < ' ' || (text[i] == '/' && i > 0 && text[i - 1] == '*')) text[i] = '?';
  return text;
}

std::string describe(const Signature& kernel, const Argument& argument) {
  const std::string role = argument.packed      ? fmt::format("constant, packed by {}", packing_entry(kernel, argument))
                           : argument.is_in_out ? "in/out: holds the value to start from, then the result"
                           : argument.is_output ? "output"
                                                : "input";
  const std::string name = argument.tensor == argument.parameter
                               ? argument.tensor
                               : fmt::format("{} ({})", argument.parameter, comment(argument.tensor));
  if (argument.shape.empty())
    return fmt::format(" *   {}: {}, {}{}, one element\n", name, role, dtype_name(argument.type),
                       storage(argument.type));
  const char* order = argument.storage.is_row()   ? ", last index fastest"
                      : argument.storage.is_col() ? ", first index fastest"
                                                  : "";
  if (kernel.sizes)
    return fmt::format(
        " *   {}: {}, {}{}, extents {}, compact{}\n", name, role, dtype_name(argument.type), storage(argument.type),
        fmt::join(kernel.sizes->extents[static_cast<size_t>(&argument - kernel.arguments.data())], " x "), order);
  return fmt::format(" *   {}: {}, {}{}, extents {}, strides {}{}\n", name, role, dtype_name(argument.type),
                     storage(argument.type), fmt::join(argument.shape, " x "),
                     fmt::join(stride_words(argument, "any"), ", "), order);
}

/// " *   N: any from 1 to 512": what of sizes the entry takes.
std::string describe(const EntrySizes& sizes) {
  std::string text;
  for (size_t k = 0; k < sizes.names.size(); ++k) {
    const auto& [name, first, last, listed] = sizes.taken[k];
    const std::string list = fmt::format("{}", fmt::join(listed, ", "));
    text += fmt::format(" *   {}: {}; any other is an error\n", sizes.names[k],
                        listed.empty()      ? fmt::format("any size from {} to {}", first, last)
                        : sizes.listed_only ? fmt::format("one of {}", list)
                                            : fmt::format("any size from {} to {}, above all {}", first, last, list));
  }
  return text;
}

/// Of a kernel with indices that are known at run time only.
std::string indices_text(const Signature& kernel, const std::string& prefix) {
  if (!kernel.checks.empty())
    return fmt::format(
        " *   Indices among its arguments, or computed from them, are checked by all its entries: {}_ERROR_INDEX if "
        "one\n"
        " *   is outside its tensor. Nothing outside a tensor is read or written; what outputs then hold means "
        "nothing.\n",
        prefix);
  if (!kernel.has_unchecked_indices) return "";
  return " *   Indices among its arguments, or computed from them, are NOT checked: of one outside its tensor the "
         "results\n"
         " *   mean nothing. build --checked makes kernels that check them.\n";
}

std::string constants(const Signature& kernel) {
  if (kernel.sizes) return "";
  std::vector<std::string> list;  // without a comma at the end, which C++98 refuses
  for (const Argument& argument : kernel.arguments) {
    for (size_t d = 0; d < argument.shape.size(); ++d) {
      const std::string name = fmt::format("{}_{}", kernel.function, argument.parameter);
      list.push_back(fmt::format("  {}_extent{} = {}", name, d, argument.shape[d]));
      if (const auto word = stride_words(argument, "")[d]; !word.empty())
        list.push_back(fmt::format("  {}_stride{} = {}", name, d, word));
    }
  }
  return list.empty() ? "" : fmt::format("enum {{\n{}\n}};\n", fmt::join(list, ",\n"));
}

std::string parameters(const Signature& kernel) {
  std::vector<std::string> list;
  if (kernel.sizes)
    for (const std::string& name : kernel.sizes->names) list.push_back("int64_t " + name);
  for (const Argument& a : kernel.arguments) {
    list.push_back(fmt::format("{}{}* {}", a.is_output ? "" : "const ",
                               a.packed ? "struct " + packed_type(kernel, a) : std::string(c_type(a.type)),
                               a.parameter));
    if (takes_strides(a)) list.push_back("const int64_t* " + strides_parameter(kernel, a));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string kernel_text(const std::string& library, const Signature& kernel, const Provenance& provenance) {
  std::string text = fmt::format("\n/* {}, {} schedule, program {}\n", kernel.function, comment(provenance.text),
                                 provenance.content_hash);
  if (kernel.sizes) text += describe(*kernel.sizes);
  for (const Argument& argument : kernel.arguments) text += describe(kernel, argument);
  if (takes_strides(kernel))
    text += " *   Strides that may be any are given for each call, as many as there are dimensions, in elements.\n";
  text += indices_text(kernel, status_prefix(library));
  text += " */\n" + constants(kernel);
  for (const Argument& a : kernel.arguments)
    if (a.packed)
      text +=
          fmt::format("typedef struct {0} {0};\nsize_t {1}_bytes(void);\nint {1}(const {2}* elements, {0}* packed);\n",
                      packed_type(kernel, a), packing_entry(kernel, a), c_type(a.type));
  const std::string list = parameters(kernel);
  text += fmt::format("int {0}({1});\nint {0}_unchecked({1});\nint {0}_ctx({2}_context*, {1});\n", kernel.function,
                      list, library);
  text += fmt::format("int {0}_dl({1}_dl_tensor* const* inputs, {1}_dl_tensor* const* outputs);\n", kernel.function,
                      library);
  if (kernel.driver != Driver::None)
    text += fmt::format(
        "int {0}_device(void* queue, {2});\n"
        "int {0}_device_dl(void* queue, {1}_dl_tensor* const* inputs, {1}_dl_tensor* const* outputs);\n",
        kernel.function, library, fmt::join(device_parameters(kernel), ", "));
  return text;
}

}  // namespace

std::string header_text(const PackageOptions& options, const std::vector<Signature>& kernels,
                        const std::vector<Provenance>& provenances, bool as_sources) {
  const std::string link =
      fmt::format(fmt::runtime(as_sources ? kLinkSources : kLinkArchives), fmt::arg("name", options.name));
  const std::string prefix = status_prefix(options.name);
  const bool has_constants = std::any_of(kernels.begin(), kernels.end(), [](const Signature& kernel) {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                       [](const Argument& argument) { return argument.packed.has_value(); });
  });
  std::string text =
      fmt::format(kHead, fmt::arg("name", options.name), fmt::arg("version", options.tool_version),
                  fmt::arg("target", options.target.text()), fmt::arg("prefix", prefix), fmt::arg("link", link),
                  fmt::arg("constants", has_constants ? constants_text(prefix) : ""));
  text += fmt::format("enum {}_status {{\n", options.name);
  for (const Status& s : kStatuses)
    text += fmt::format("  {}_{} = {}{} /* {} */\n", prefix, s.suffix, s.code, &s + 1 == std::end(kStatuses) ? "" : ",",
                        s.text);
  text += "};\n" + fmt::format(kContext, fmt::arg("name", options.name), fmt::arg("prefix", prefix));
  if (const Driver driver = driver_of(options.target); driver != Driver::None)
    text += device_header_text(options.name, driver);
  for (size_t i = 0; i < kernels.size(); ++i) text += kernel_text(options.name, kernels[i], provenances[i]);
  return text + kFoot;
}

}  // namespace tile_tune::codegen
