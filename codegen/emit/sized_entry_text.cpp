#include "codegen/emit/sized_entry_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/emit/buffer_text.h"
#include "codegen/emit/check_text.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/dispatch_text.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {
namespace {

constexpr const char* kLayOut = R"(
/* Strides and Halide's dimensions of a compact tensor; 0 if it is too large for them. */
static int tile_tune_lay_out(const int64_t* shape, int64_t* strides, struct tile_tune_dimension* dimensions, int rank,
                             int row, int parts, int64_t* count) {
  int64_t stride = 1;
  if (parts == 2) *dimensions++ = (struct tile_tune_dimension){0, 2, 1, 0};
  for (int n = 0; n < rank; ++n) {
    const int d = row ? rank - 1 - n : n;
    if (shape[d] < 0 || shape[d] > INT32_MAX || stride * parts > INT32_MAX) return 0;
    strides[d] = stride;
    dimensions[n] = (struct tile_tune_dimension){0, (int32_t)shape[d], (int32_t)(stride * parts), 0};
    stride *= shape[d];
  }
  *count = stride;
  return 1;
}
)";

size_t dimensions_before(const Signature& kernel, size_t argument, bool with_parts) {
  size_t count = 0;
  for (size_t i = 0; i < argument; ++i)
    count += kernel.arguments[i].shape.size() + (with_parts && kernel.arguments[i].parts() == 2 ? 1 : 0);
  return count;
}

std::string frame_text(const Signature& kernel, const SizedEntry& entry) {
  const size_t count = kernel.arguments.size();
  std::vector<std::string> spelled, first, last;
  for (size_t k = 0; k < entry.program.sizes.size(); ++k) {
    spelled.push_back(fmt::format("sizes[{}]", k));
    first.push_back(std::to_string(entry.program.sizes[k].first));
    last.push_back(std::to_string(entry.program.sizes[k].last));
  }
  const auto extents = entry_extents(entry, spelled);
  std::string body;
  for (size_t i = 0; i < count; ++i) {
    const Argument& a = kernel.arguments[i];
    const size_t first = dimensions_before(kernel, i, false), first_dimension = dimensions_before(kernel, i, true);
    for (size_t d = 0; d < extents[i].size(); ++d)
      body += fmt::format("  f->shape[{}] = {};\n", first + d, extents[i][d]);
    body += fmt::format(
        "  if (!tile_tune_lay_out(f->shape + {0}, f->strides + {0}, f->dimensions + {1}, {2}, {3}, {4}, &count))\n"
        "    return TILE_TUNE_ERROR_SIZE;\n"
        "  f->arguments[{5}] = (struct tile_tune_argument){{(uint64_t)count * {6}, 0, sizeof({7}), {8}, {2}, "
        "f->shape + {0}, f->strides + {0}}};\n",
        first, first_dimension, a.shape.size(), a.storage.is_row() ? 1 : 0, a.parts(), i, dtype_size(a.type),
        c_type(a.type), type_code(a.type).dlpack);
  }
  return fmt::format(R"(
struct tile_tune_frame {{
  int member;
  int64_t shape[{0}], strides[{0}];
  struct tile_tune_dimension dimensions[{1}];
  struct tile_tune_argument arguments[{2}];
}};
{3}
static int tile_tune_fill(const int64_t* sizes, struct tile_tune_frame* f) {{
  static const int64_t first[] = {{{4}}}, last[] = {{{5}}};
  for (int k = 0; k < {6}; ++k)
    if (sizes[k] < first[k] || sizes[k] > last[k]) return TILE_TUNE_ERROR_SIZE;
  f->member = tile_tune_choice(sizes);
  if (f->member < 0) return TILE_TUNE_ERROR_SIZE;
  int64_t count = 0;
{7}  return TILE_TUNE_OK;
}}
)",
                     std::max<size_t>(dimensions_before(kernel, count, false), 1),
                     std::max<size_t>(dimensions_before(kernel, count, true), 1), count, kLayOut,
                     fmt::join(first, ", "), fmt::join(last, ", "), spelled.size(), body);
}

/// The member for exactly these sizes, if there is one.
std::string exact_text(const SizedEntry& entry) {
  std::string text;
  const bool one_size = entry.program.sizes.size() == 1;
  for (size_t i = 0; i < entry.members.size(); ++i) {
    const auto& member = entry.members[i];
    if (!member.only) continue;
    std::vector<std::string> tests;
    for (size_t k = 0; k < member.at.size(); ++k) tests.push_back(fmt::format("sizes[{}] == {}", k, member.at[k]));
    text += one_size ? fmt::format("    case {}: return {};\n", member.at[0], i)
                     : fmt::format("  if ({}) return {};\n", fmt::join(tests, " && "), i);
  }
  if (!one_size || text.empty()) return text;
  return fmt::format("  switch (sizes[0]) {{\n{}    default: break;\n  }}\n", text);
}

std::string choice_text(const SizedEntry& entry) {
  if (entry.table.empty())
    return fmt::format("\nstatic int tile_tune_choice(const int64_t* sizes) {{\n{}  return -1;\n}}\n",
                       exact_text(entry));
  const size_t sizes = entry.program.sizes.size();
  const int bits = bits_for(sizes);
  std::string place = "tile_tune_cell(sizes[0])";
  for (size_t k = 1; k < sizes; ++k)
    place = fmt::format("({}) * {} + tile_tune_cell(sizes[{}])", place, cell_count(bits), k);
  return fmt::format(R"(
/* Of a size of at least 1: {0} bits behind the leading one. */
static size_t tile_tune_cell(int64_t size) {{
  const int doubling = 63 - __builtin_clzll((unsigned long long)size);
  if (doubling < {0}) return (size_t)size;
  const size_t cell = ((size_t)(doubling - {0} + 1) << {0}) + (size_t)(size >> (doubling - {0})) - ((size_t)1 << {0});
  return cell < {1} ? cell : {1};
}}

static int tile_tune_choice(const int64_t* sizes) {{
  static const unsigned char table[] = {{{2}}};
{3}  return table[{4}];
}}
)",
                     bits, cell_count(bits) - 1, fmt::join(entry.table, ","), exact_text(entry), place);
}

std::string run_text(const Signature& kernel, const SizedEntry& entry) {
  const std::string symbol = kernel_symbol(kernel.function);
  std::vector<std::string> types(kernel.buffers.size() + kernel.checks.size(), "struct tile_tune_buffer*"), buffers,
      rows;
  for (const size_t i : kernel.buffers) {
    const Argument& a = kernel.arguments[i];
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    rows.push_back(fmt::format(
        "    {{0, NULL, f->arguments[{0}].bytes == 0 ? (uint8_t*)&nothing : (uint8_t*)pointers[{0}], 0, {1}, {2}, "
        "(struct tile_tune_dimension*)f->dimensions + {3}, NULL}},\n",
        i, type_code(a.type).halide, a.shape.size() + (a.parts() == 2 ? 1 : 0), dimensions_before(kernel, i, true)));
  }
  for (const std::string& row : check_buffers(kernel)) {
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    rows.push_back(fmt::format("    {},\n", row));
  }
  std::string declarations, cases;
  for (size_t i = 0; i < entry.members.size(); ++i) {
    const std::string name = alternative_symbol(symbol, i);
    declarations += fmt::format("int {}(struct tile_tune_call*, {});\n", name, fmt::join(types, ", "));
    cases += fmt::format("    {}: return {};\n", i + 1 == entry.members.size() ? "default" : fmt::format("case {}", i),
                         checked_call(kernel, fmt::format("{}(&call, {})", name, fmt::join(buffers, ", "))));
  }
  return fmt::format(
      "\n{0}{3}\nstatic int tile_tune_run(const struct tile_tune_context* context, const struct tile_tune_frame* f,\n"
      "                         void* const* pointers) {{\n"
      "  static const uint64_t nothing = 0;\n  (void)nothing;\n{4}"
      "  struct tile_tune_buffer buffers[] = {{\n{1}  }};\n"
      "  struct tile_tune_call call = {{context, 1}};\n"
      "  switch (f->member) {{\n{2}  }}\n}}\n",
      declarations, fmt::join(rows, ""), cases, check_function(kernel), check_variables(kernel));
}

constexpr const char* kChoosingEntries = R"(
static int tile_tune_checked(const struct tile_tune_context* context, const int64_t* sizes, void* const* pointers) {{
  if (!tile_tune_cpu_supported()) return TILE_TUNE_ERROR_UNSUPPORTED_CPU;
  struct tile_tune_frame frame;
  int status = tile_tune_fill(sizes, &frame);
  if (status != TILE_TUNE_OK) return status;
  const struct tile_tune_signature signature = {{frame.arguments, {inputs}, {count}}};
  status = tile_tune_rt4_check_pointers(&signature, pointers);
  return status != TILE_TUNE_OK ? status : tile_tune_run(context, &frame, pointers);
}}

static const struct tile_tune_context* tile_tune_defaults(void) {{
  return (const struct tile_tune_context*){library}_default_context();
}}

int {function}_unchecked({parameters}) {{
  const int64_t sizes[] = {{{sizes}}};
  void* const pointers[] = {{{pointers}}};
  struct tile_tune_frame frame;
  const int status = tile_tune_fill(sizes, &frame);
  return status != TILE_TUNE_OK ? status : tile_tune_run(tile_tune_defaults(), &frame, pointers);
}}

int {function}({parameters}) {{
  const int64_t sizes[] = {{{sizes}}};
  void* const pointers[] = {{{pointers}}};
  return tile_tune_checked(tile_tune_defaults(), sizes, pointers);
}}

int {function}_ctx({library}_context* context, {parameters}) {{
  const int64_t sizes[] = {{{sizes}}};
  void* const pointers[] = {{{pointers}}};
  return context == NULL ? TILE_TUNE_ERROR_NULL_POINTER
                         : tile_tune_checked((const struct tile_tune_context*)context, sizes, pointers);
}}

int {function}_dl({library}_dl_tensor* const* inputs, {library}_dl_tensor* const* outputs) {{
  static const struct {{ int argument, dimension, rank; }} sources[] = {{{sources}}};
  int64_t sizes[{number}];
  for (int k = 0; k < {number}; ++k) {{
    const struct DLTensor* t = inputs != NULL ? inputs[sources[k].argument] : NULL;
    if (t == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    if (t->ndim != sources[k].rank) return TILE_TUNE_ERROR_RANK;
    if (t->shape == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    sizes[k] = t->shape[sources[k].dimension];
  }}
  struct tile_tune_frame frame;
  int status = tile_tune_fill(sizes, &frame);
  if (status != TILE_TUNE_OK) return status;
  const struct tile_tune_signature signature = {{frame.arguments, {inputs}, {count}}};
  void* pointers[{count}];
  status = tile_tune_rt4_check_tensors(&signature, inputs, outputs, pointers);
  return status != TILE_TUNE_OK ? status : tile_tune_checked(tile_tune_defaults(), sizes, pointers);
}}
)";

std::string entry_parameters(const Signature& kernel) {
  std::vector<std::string> list;
  for (size_t k = 0; k < kernel.sizes->names.size(); ++k) list.push_back(fmt::format("int64_t n{}", k));
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    list.push_back(
        fmt::format("{}{}* p{}", kernel.arguments[i].is_output ? "" : "const ", c_type(kernel.arguments[i].type), i));
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string entries(const std::string& library, const Signature& kernel, const SizedEntry& entry) {
  std::vector<std::string> pointers, sizes, sources;
  const auto& inputs = entry.members.back().program.inputs;
  // Where a tensor says how large each size is: argument, dimension, rank.
  for (size_t i = 0; i < kernel.arguments.size(); ++i) pointers.push_back(fmt::format("(void*)p{}", i));
  for (size_t k = 0; k < kernel.sizes->names.size(); ++k) {
    sizes.push_back(fmt::format("n{}", k));
    const auto& source = entry.runtime[k];
    const auto argument = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), source.tensor) - inputs.begin());
    sources.push_back(
        fmt::format("{{{}, {}, {}}}", argument, source.dimension, kernel.arguments[argument].shape.size()));
  }
  return fmt::format(kChoosingEntries, fmt::arg("library", library), fmt::arg("function", kernel.function),
                     fmt::arg("parameters", entry_parameters(kernel)), fmt::arg("sizes", fmt::join(sizes, ", ")),
                     fmt::arg("pointers", fmt::join(pointers, ", ")), fmt::arg("inputs", kernel.inputs),
                     fmt::arg("count", kernel.arguments.size()), fmt::arg("number", sizes.size()),
                     fmt::arg("sources", fmt::join(sources, ", ")));
}

}  // namespace

std::vector<std::vector<std::string>> entry_extents(const SizedEntry& entry, const std::vector<std::string>& names) {
  const ir::Program& program = entry.members.back().program;
  const ir::Program named = with_names(program, {entry.runtime, false});
  std::vector<std::vector<std::string>> result;
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const int tensor : *list) {
      result.emplace_back();
      for (const auto& extent : named.tensors[tensor].extents) {
        std::string text;
        for (const auto& [coefficient, atom] : extent.terms())
          for (size_t k = 0; k < names.size(); ++k)
            if (atom->name == runtime_name(k))
              text += fmt::format("{}{}{}", text.empty() ? "" : " + ",
                                  coefficient == 1 ? "" : fmt::format("{} * ", coefficient), names[k]);
        if (extent.offset() != 0 || text.empty())
          text += fmt::format("{}{}", text.empty() ? "" : " + ", extent.offset());
        result.back().push_back(text);
      }
    }
  return result;
}

std::string sized_entry_text(const std::string& library, const Signature& kernel, const SizedEntry& entry,
                             const std::vector<std::string>& cpu_features) {
  return fmt::format("#include \"{}.h\"\n\n#include <string.h>\n{}\n#include \"tile_tune_rt.h\"\n\n", library,
                     cpu_preamble({cpu_features})) +
         fmt::format("static int tile_tune_cpu_supported(void) {{\n  return {};\n}}\n", cpu_condition(cpu_features)) +
         choice_text(entry) + frame_text(kernel, entry) + run_text(kernel, entry) + entries(library, kernel, entry);
}

}  // namespace tile_tune::codegen
