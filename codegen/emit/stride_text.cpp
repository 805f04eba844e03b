#include "codegen/emit/stride_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/emit/buffer_text.h"

namespace tile_tune::codegen {

bool takes_strides(const Argument& argument) { return argument.storage.has_strides_from_buffer(); }

bool takes_strides(const Signature& kernel) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [](const Argument& argument) { return takes_strides(argument); });
}

std::string strides_parameter(const Signature& kernel, const Argument& argument) {
  std::string name = argument.parameter + "_strides";
  while (std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [&](const Argument& other) { return other.parameter == name; }))
    name += "_";
  return name;
}

std::vector<std::string> stride_words(const Argument& argument, const std::string& any) {
  std::vector<std::string> words;
  for (size_t d = 0; d < argument.shape.size(); ++d) {
    const bool is_given =
        takes_strides(argument) && std::holds_alternative<ir::FromBuffer>(argument.storage.strides()[d]);
    words.push_back(is_given ? any : std::to_string(argument.strides[d]));
  }
  return words;
}

std::string frame_text(const Signature& kernel) {
  std::string members, orders, calls;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
    if (!takes_strides(a)) continue;
    members += fmt::format("  struct tile_tune_dimension dimensions{}[{}];\n", i, halide_dimensions(a).size());
    orders +=
        fmt::format("  static const int order{}[] = {{{}}};\n", i, fmt::join(a.storage.order(a.shape.size()), ", "));
    calls += fmt::format(
        "  if (status == TILE_TUNE_OK)\n"
        "    status = tile_tune_rt4_take_strides(strides[{0}], order{0}, {1}, {2}, &f->arguments[{0}], "
        "f->dimensions{0});\n",
        i, a.parts(), a.is_output ? 1 : 0);
  }
  return fmt::format(R"(
/* What this call knows of its arguments. */
struct tile_tune_frame {{
  struct tile_tune_argument arguments[{0}];
{1}}};

static int tile_tune_fill(const int64_t* const* strides, struct tile_tune_frame* f) {{
{2}  int status = TILE_TUNE_OK;
  memcpy(f->arguments, tile_tune_arguments, sizeof tile_tune_arguments);
{3}  return status;
}}
)",
                     kernel.arguments.size(), members, orders, calls);
}

namespace {

constexpr const char* kStridedEntries = R"(
static int tile_tune_checked(const struct tile_tune_context* context, const int64_t* const* strides,
                             void* const* pointers) {{
  if (!tile_tune_cpu_supported()) return TILE_TUNE_ERROR_UNSUPPORTED_CPU;
  struct tile_tune_frame frame;
  int status = tile_tune_fill(strides, &frame);
  if (status != TILE_TUNE_OK) return status;
  const struct tile_tune_signature signature = {{frame.arguments, {inputs}, {count}}};
  status = tile_tune_rt4_check_pointers(&signature, pointers);
{constants}  return status != TILE_TUNE_OK ? status : tile_tune_run(context, &frame, pointers);
}}

static const struct tile_tune_context* tile_tune_defaults(void) {{
  return (const struct tile_tune_context*){library}_default_context();
}}

int {function}_unchecked({parameters}) {{
  void* const pointers[] = {{{pointers}}};
  const int64_t* const strides[] = {{{strides}}};
  struct tile_tune_frame frame;
  const int status = tile_tune_fill(strides, &frame);
  return status != TILE_TUNE_OK ? status : tile_tune_run(tile_tune_defaults(), &frame, pointers);
}}

int {function}({parameters}) {{
  void* const pointers[] = {{{pointers}}};
  const int64_t* const strides[] = {{{strides}}};
  return tile_tune_checked(tile_tune_defaults(), strides, pointers);
}}

int {function}_ctx({library}_context* context, {parameters}) {{
  void* const pointers[] = {{{pointers}}};
  const int64_t* const strides[] = {{{strides}}};
  return context == NULL ? TILE_TUNE_ERROR_NULL_POINTER
                         : tile_tune_checked((const struct tile_tune_context*)context, strides, pointers);
}}

int {function}_dl({library}_dl_tensor* const* inputs, {library}_dl_tensor* const* outputs) {{
  static const unsigned char taken[] = {{{taken}}};
  const int64_t* strides[{count}] = {{NULL}};
  int64_t compact[{count}][{rank}];
  for (int i = 0; i < {count}; ++i) {{
    struct DLTensor* const* list = i < {inputs} ? inputs : outputs;
    const struct DLTensor* t = list != NULL ? list[i < {inputs} ? i : i - {inputs}] : NULL;
    if (t == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    if (!taken[i]) continue;
    if (t->ndim != tile_tune_arguments[i].rank) return TILE_TUNE_ERROR_RANK;
    strides[i] = t->strides;
    if (t->strides != NULL) continue;
    int64_t stride = 1;
    for (int d = t->ndim - 1; d >= 0; --d) {{
      compact[i][d] = stride;
      stride *= tile_tune_arguments[i].shape[d];
    }}
    strides[i] = compact[i];
  }}
  struct tile_tune_frame frame;
  int status = tile_tune_fill(strides, &frame);
  if (status != TILE_TUNE_OK) return status;
  const struct tile_tune_signature signature = {{frame.arguments, {inputs}, {count}}};
  void* pointers[{count}];
  status = tile_tune_rt4_check_tensors(&signature, inputs, outputs, pointers);
  return status != TILE_TUNE_OK ? status : tile_tune_checked(tile_tune_defaults(), strides, pointers);
}}
)";

}  // namespace

std::string strided_entries(const std::string& library, const Signature& kernel, const std::string& constants) {
  std::vector<std::string> parameters, pointers, strides, taken;
  size_t rank = 1;
  for (const Argument& a : kernel.arguments) {
    const std::string number = std::to_string(pointers.size());
    parameters.push_back(fmt::format("{}{}* p{}", a.is_output ? "" : "const ",
                                     a.packed ? "struct " + packed_type(kernel, a) : std::string(c_type(a.type)),
                                     number));
    if (takes_strides(a)) parameters.push_back("const int64_t* s" + number);
    pointers.push_back("(void*)p" + number);
    strides.push_back(takes_strides(a) ? "s" + number : "NULL");
    taken.push_back(takes_strides(a) ? "1" : "0");
    rank = std::max(rank, a.shape.size());
  }
  return fmt::format(kStridedEntries, fmt::arg("library", library), fmt::arg("function", kernel.function),
                     fmt::arg("constants", constants), fmt::arg("parameters", fmt::join(parameters, ", ")),
                     fmt::arg("pointers", fmt::join(pointers, ", ")), fmt::arg("strides", fmt::join(strides, ", ")),
                     fmt::arg("taken", fmt::join(taken, ", ")), fmt::arg("inputs", kernel.inputs),
                     fmt::arg("count", kernel.arguments.size()), fmt::arg("rank", rank));
}

}  // namespace tile_tune::codegen
