#include "codegen/emit/wrapper_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/emit/buffer_text.h"
#include "codegen/emit/check_text.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/device_text.h"
#include "codegen/emit/packed_text.h"
#include "codegen/emit/stride_text.h"

namespace tile_tune::codegen {
namespace {

/// Shape and strides of what the caller gives: the bytes of a packed constant, else the tensor.
std::pair<std::vector<int64_t>, std::vector<std::string>> seen_shape(const Argument& argument) {
  if (argument.packed) return {{argument.packed->bytes}, {"1"}};
  return {argument.shape, stride_words(argument, "TILE_TUNE_ANY_STRIDE")};
}

/// The constants of argument `i`: shape, strides and Halide's dimensions.
std::string argument_tables(const Argument& argument, size_t i) {
  std::string text;
  const auto [shape, strides] = seen_shape(argument);
  if (!shape.empty())
    text = fmt::format(
        "static const int64_t tile_tune_shape{0}[] = {{{1}}};\nstatic const int64_t tile_tune_strides{0}[] = "
        "{{{2}}};\n",
        i, fmt::join(shape, ", "), fmt::join(strides, ", "));
  const auto dimensions = halide_dimensions(argument);
  if (dimensions.empty() || takes_strides(argument)) return text;
  return text + fmt::format("static const struct tile_tune_dimension tile_tune_dimensions{}[] = {{{}}};\n", i,
                            fmt::join(dimensions, ", "));
}

std::string tables(const Signature& kernel) {
  std::string text, rows;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
    text += argument_tables(a, i);
    const size_t rank = seen_shape(a).first.size();
    rows += fmt::format(
        "  {{{}, {}, {}, {}, {}, {}, {}}},\n", a.packed ? a.packed->bytes : a.bytes(), a.packed ? 0 : a.before(),
        a.packed ? std::to_string(kPackedAlignment) : fmt::format("sizeof({})", c_type(a.type)),
        type_code(a.packed ? DType::U8 : a.type).dlpack, rank, rank == 0 ? "NULL" : fmt::format("tile_tune_shape{}", i),
        rank == 0 ? "NULL" : fmt::format("tile_tune_strides{}", i));
  }
  text += fmt::format("static const struct tile_tune_argument tile_tune_arguments[] = {{\n{}}};\n", rows);
  if (takes_strides(kernel)) return text;
  return text +
         fmt::format("static const struct tile_tune_signature tile_tune_signature = {{tile_tune_arguments, {}, {}}};\n",
                     kernel.inputs, kernel.arguments.size());
}

// The C library keeps what is asked for, so the check is a few loads.
std::string cpu_check(const std::vector<std::string>& features) {
  return fmt::format("\nstatic int tile_tune_cpu_supported(void) {{\n  return {};\n}}\n", cpu_condition(features));
}

/// Behind the beginning of a packed operand.
int64_t first_element(const Argument& a) { return kPackedHeader + (a.packed->form ? 0 : a.before()); }

/// run(): buffers on the stack, no checks but those that the kernel makes itself. Halide takes a null host for a bounds
/// query, so a tensor without elements gets an address of ours. Generated code never writes through `dim` outside one.
std::string run_text(const Signature& kernel) {
  const std::string symbol = kernel_symbol(kernel.function);
  std::vector<std::string> types(kernel.buffers.size() + kernel.checks.size(), "struct tile_tune_buffer*"), buffers,
      rows;
  for (size_t i : kernel.buffers) {
    const Argument& a = kernel.arguments[i];
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    const char* dimensions = takes_strides(a) ? "frame->dimensions{}" : "tile_tune_dimensions{}";
    const auto host = a.bytes() == 0 ? "(uint8_t*)&nothing"
                      : a.packed     ? fmt::format("(uint8_t*)pointers[{}] + {}", i, first_element(a))
                                     : fmt::format("(uint8_t*)pointers[{}]", i);
    rows.push_back(fmt::format("    {},\n", buffer_text(a, host, fmt::format(fmt::runtime(dimensions), i))));
  }
  for (const std::string& row : check_buffers(kernel)) {
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    rows.push_back(fmt::format("    {},\n", row));
  }
  return fmt::format(
      "\nint {0}(struct tile_tune_call*, {1});\n{6}\n"
      "static int tile_tune_run(const struct tile_tune_context* context, {7}void* const* pointers) {{\n"
      "  static const uint64_t nothing = 0;\n  (void)nothing;\n{4}"
      "  struct tile_tune_buffer buffers[] = {{\n{2}  }};\n"
      "  struct tile_tune_call call = {{context, 1}};\n"
      "  return {5};\n}}\n",
      symbol, fmt::join(types, ", "), fmt::join(rows, ""), fmt::join(buffers, ", "), check_variables(kernel),
      checked_call(kernel, fmt::format("{}(&call, {})", symbol, fmt::join(buffers, ", "))), check_function(kernel),
      takes_strides(kernel) ? "const struct tile_tune_frame* frame, " : "");
}

constexpr const char* kCheckConstants = "  if (status == TILE_TUNE_OK) status = tile_tune_check_constants(pointers);\n";

constexpr const char* kEntries = R"(
static int tile_tune_checked(const struct tile_tune_context* context, void* const* pointers) {{
  if (!tile_tune_cpu_supported()) return TILE_TUNE_ERROR_UNSUPPORTED_CPU;
  int status = tile_tune_rt4_check_pointers(&tile_tune_signature, pointers);
{constants}  return status != TILE_TUNE_OK ? status : tile_tune_run(context, pointers);
}}

static const struct tile_tune_context* tile_tune_defaults(void) {{
  return (const struct tile_tune_context*){library}_default_context();
}}

int {function}_unchecked({parameters}) {{
  void* const pointers[] = {{{pointers}}};
  return tile_tune_run(tile_tune_defaults(), pointers);
}}

int {function}({parameters}) {{
  void* const pointers[] = {{{pointers}}};
  return tile_tune_checked(tile_tune_defaults(), pointers);
}}

int {function}_ctx({library}_context* context, {parameters}) {{
  void* const pointers[] = {{{pointers}}};
  return context == NULL ? TILE_TUNE_ERROR_NULL_POINTER
                         : tile_tune_checked((const struct tile_tune_context*)context, pointers);
}}

int {function}_dl({library}_dl_tensor* const* inputs, {library}_dl_tensor* const* outputs) {{
  void* pointers[{count}];
  const int status = tile_tune_rt4_check_tensors(&tile_tune_signature, inputs, outputs, pointers);
  return status != TILE_TUNE_OK ? status : tile_tune_checked(tile_tune_defaults(), pointers);
}}
)";

std::string entries(const std::string& library, const Signature& kernel) {
  std::vector<std::string> parameters, pointers;
  for (const Argument& a : kernel.arguments) {
    parameters.push_back(fmt::format("{}{}* p{}", a.is_output ? "" : "const ",
                                     a.packed ? "struct " + packed_type(kernel, a) : std::string(c_type(a.type)),
                                     pointers.size()));
    pointers.push_back(fmt::format("(void*)p{}", pointers.size()));
  }
  const bool has_constants = std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                                         [](const Argument& argument) { return argument.packed.has_value(); });
  const std::string constants = has_constants ? kCheckConstants : "";
  if (takes_strides(kernel)) return strided_entries(library, kernel, constants);
  return fmt::format(kEntries, fmt::arg("library", library), fmt::arg("function", kernel.function),
                     fmt::arg("constants", constants), fmt::arg("parameters", fmt::join(parameters, ", ")),
                     fmt::arg("pointers", fmt::join(pointers, ", ")), fmt::arg("count", pointers.size()));
}

}  // namespace

std::string kernel_symbol(const std::string& function) { return "tile_tune_kernel_" + function; }

std::string wrapper_text(const std::string& library, const Signature& kernel,
                         const std::vector<std::string>& cpu_features) {
  const bool on_device = kernel.driver != Driver::None;
  return fmt::format("#include \"{}.h\"\n\n#include <string.h>\n{}\n#include \"tile_tune_rt.h\"\n{}\n", library,
                     cpu_preamble({cpu_features}), on_device ? "#include \"tile_tune_device.h\"\n" : "") +
         tables(kernel) + cpu_check(cpu_features) + packed_check_text(kernel) +
         (takes_strides(kernel) ? frame_text(kernel) : "") +
         (on_device ? device_run_text(library, kernel) : run_text(kernel)) + entries(library, kernel) +
         (on_device ? device_entries(library, kernel) : "") + packing_texts(kernel);
}

}  // namespace tile_tune::codegen
