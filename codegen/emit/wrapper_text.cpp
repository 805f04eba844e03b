#include "codegen/emit/wrapper_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/lower/compile.h"

namespace tile_tune::codegen {
namespace {

// Layouts of Halide 21's halide_buffer_t (HalideRuntime.h) and of DLPack's DLTensor (dlpack.h 1.0), under names of our
// own so that this source needs neither header; tests/integration/emit compares the first with the SDK's.
constexpr const char* kTypes = R"(
struct tile_tune_dimension { int32_t min, extent, stride; uint32_t flags; };
struct tile_tune_type { uint8_t code, bits; uint16_t lanes; };
struct tile_tune_buffer {
  uint64_t device;
  const void* device_interface;
  uint8_t* host;
  uint64_t flags;
  struct tile_tune_type type;
  int32_t dimensions;
  struct tile_tune_dimension* dim;
  void* padding;
};
struct DLTensor {
  void* data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct tile_tune_type dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct argument {
  uint64_t bytes;
  uint64_t alignment;
  struct tile_tune_type dtype; /* as DLPack has it */
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
};
)";

// Inputs may overlap each other; every pair with an output in it may not.
constexpr const char* kCheck = R"(
static int overlap(uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

static int check_pointers(void* const* pointers) {
  for (int i = 0; i < ARGUMENTS; ++i) {
    const uintptr_t p = (uintptr_t)pointers[i];
    if (arguments[i].bytes == 0) continue;
    if (p == 0) return FAIL(NULL_POINTER);
    if (p % arguments[i].alignment != 0) return FAIL(MISALIGNED);
    for (int j = 0; i >= INPUTS && j < i; ++j)
      if (arguments[j].bytes != 0 && overlap(p, arguments[i].bytes, (uintptr_t)pointers[j], arguments[j].bytes))
        return FAIL(OVERLAP);
  }
  return 0;
}

static int check_tensor(const struct DLTensor* t, const struct argument* a) {
  if (t->device.type != 1 /* kDLCPU */) return FAIL(DEVICE);
  if (t->dtype.code != a->dtype.code || t->dtype.bits != a->dtype.bits || t->dtype.lanes != 1) return FAIL(DTYPE);
  if (t->ndim != a->rank) return FAIL(RANK);
  if (a->rank > 0 && t->shape == NULL) return FAIL(NULL_POINTER);
  for (int d = 0; d < a->rank; ++d)
    if (t->shape[d] != a->shape[d]) return FAIL(SHAPE);
  /* Without strides a DLTensor is compact, last index fastest. A dimension of extent 1 or a tensor without elements may
     have any stride. */
  int64_t stride = 1;
  for (int d = a->rank - 1; d >= 0; --d) {
    const int64_t given = t->strides != NULL ? t->strides[d] : stride;
    if (a->bytes != 0 && a->shape[d] != 1 && given != a->strides[d]) return FAIL(STRIDES);
    stride *= a->shape[d];
  }
  return 0;
}

static int check_tensors(struct DLTensor* const* inputs, struct DLTensor* const* outputs, void** pointers) {
  for (int i = 0; i < ARGUMENTS; ++i) {
    struct DLTensor* const* list = i < INPUTS ? inputs : outputs;
    const struct DLTensor* t = list != NULL ? list[i < INPUTS ? i : i - INPUTS] : NULL;
    if (t == NULL) return FAIL(NULL_POINTER);
    const int status = check_tensor(t, &arguments[i]);
    if (status != 0) return status;
    pointers[i] = t->data != NULL ? (uint8_t*)t->data + t->byte_offset : NULL;
  }
  return 0;
}
)";

// -11 is halide_error_code_out_of_memory.
constexpr const char* kStatus = R"(
static int status_of(int halide) {
  return halide == 0 ? 0 : halide == -11 ? FAIL(OUT_OF_MEMORY) : FAIL(INTERNAL);
}
)";

struct TypeCode {
  std::string_view halide;  // halide_type_t: code, bits, lanes
  std::string_view dlpack;  // DLDataType: the same, where bool has code 6 and 8 bits
};

TypeCode type_code(DType type) {
  switch (type) {
    case DType::Bool:
      return {"{1, 1, 1}", "{6, 8, 1}"};
    case DType::I8:
      return {"{0, 8, 1}", "{0, 8, 1}"};
    case DType::I16:
      return {"{0, 16, 1}", "{0, 16, 1}"};
    case DType::I32:
      return {"{0, 32, 1}", "{0, 32, 1}"};
    case DType::I64:
      return {"{0, 64, 1}", "{0, 64, 1}"};
    case DType::U8:
      return {"{1, 8, 1}", "{1, 8, 1}"};
    case DType::U16:
      return {"{1, 16, 1}", "{1, 16, 1}"};
    case DType::U32:
      return {"{1, 32, 1}", "{1, 32, 1}"};
    case DType::U64:
      return {"{1, 64, 1}", "{1, 64, 1}"};
    case DType::F16:
      return {"{2, 16, 1}", "{2, 16, 1}"};
    case DType::F32:
      return {"{2, 32, 1}", "{2, 32, 1}"};
    case DType::F64:
      return {"{2, 64, 1}", "{2, 64, 1}"};
    case DType::BF16:
      return {"{4, 16, 1}", "{4, 16, 1}"};
    case DType::C32:
      return {"{2, 32, 1}", "{5, 64, 1}"};
    case DType::C64:
      return {"{2, 64, 1}", "{5, 128, 1}"};
  }
  return {};
}

/// Halide's dimensions of an argument, the fastest first; the parts of complex elements are one.
std::vector<std::string> halide_dimensions(const Argument& argument) {
  std::vector<std::string> dimensions;
  if (argument.packed && argument.packed->form) {
    int64_t stride = 1;
    for (const int64_t extent : argument.packed->form->extents) {
      dimensions.push_back(fmt::format("{{0, {}, {}, 0}}", extent, stride));
      stride *= extent;
    }
    return dimensions;
  }
  if (argument.parts() == 2) dimensions.push_back("{0, 2, 1, 0}");
  const size_t rank = argument.shape.size();
  for (size_t n = 0; n < rank; ++n) {
    const size_t d = argument.layout == ir::Layout::Row ? rank - 1 - n : n;
    dimensions.push_back(fmt::format("{{0, {}, {}, 0}}", argument.shape[d], argument.strides[d] * argument.parts()));
  }
  return dimensions;
}

/// Shape and strides of what the caller gives: the bytes of a packed constant, else the tensor.
std::pair<std::vector<int64_t>, std::vector<int64_t>> seen_shape(const Argument& argument) {
  if (argument.packed) return {{argument.packed->bytes}, {1}};
  return {argument.shape, argument.strides};
}

/// The constants of argument `i`: shape, strides and Halide's dimensions.
std::string argument_tables(const Argument& argument, size_t i) {
  std::string text;
  const auto [shape, strides] = seen_shape(argument);
  if (!shape.empty())
    text = fmt::format("static const int64_t shape{0}[] = {{{1}}};\nstatic const int64_t strides{0}[] = {{{2}}};\n", i,
                       fmt::join(shape, ", "), fmt::join(strides, ", "));
  const auto dimensions = halide_dimensions(argument);
  if (dimensions.empty()) return text;
  return text + fmt::format("static const struct tile_tune_dimension dimensions{}[] = {{{}}};\n", i,
                            fmt::join(dimensions, ", "));
}

std::string tables(const Signature& kernel) {
  std::string text, rows;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
    text += argument_tables(a, i);
    const size_t rank = seen_shape(a).first.size();
    rows +=
        fmt::format("  {{{}, {}, {}, {}, {}, {}}},\n", a.packed ? a.packed->bytes : a.bytes(),
                    a.packed ? std::to_string(kPackedAlignment) : fmt::format("sizeof({})", c_type(a.type)),
                    type_code(a.packed ? DType::U8 : a.type).dlpack, rank,
                    rank == 0 ? "NULL" : fmt::format("shape{}", i), rank == 0 ? "NULL" : fmt::format("strides{}", i));
  }
  return text +
         fmt::format("static const struct argument arguments[] = {{\n{}}};\nenum {{ INPUTS = {}, ARGUMENTS = {} }};\n",
                     rows, kernel.inputs, kernel.arguments.size());
}

// Libgcc keeps what __builtin_cpu_supports tests, so the check is a few loads.
std::string cpu_check(const std::vector<std::string>& features) {
  std::string text = "\nstatic int cpu_supported(void) {\n";
  if (!features.empty()) text += "  __builtin_cpu_init();\n";
  std::vector<std::string> tests;
  for (const auto& feature : features) tests.push_back(fmt::format("__builtin_cpu_supports(\"{}\")", feature));
  return text +
         fmt::format("  return {};\n}}\n", tests.empty() ? "1" : fmt::format("{}", fmt::join(tests, " &&\n         ")));
}

/// Of the elements that a kernel reads or writes there.
DType buffer_type(const Argument& argument) {
  return argument.packed && argument.packed->form ? argument.packed->form->type : argument.type;
}

/// A buffer on the stack that shows `host`, with the dimensions of table `dimensions`.
std::string buffer_text(const Argument& argument, const std::string& host, const std::string& dimensions) {
  const size_t count = halide_dimensions(argument).size();
  return fmt::format("{{0, NULL, {}, 0, {}, {}, {}, NULL}}", host, type_code(buffer_type(argument)).halide, count,
                     count == 0 ? "NULL" : fmt::format("(struct tile_tune_dimension*){}", dimensions));
}

/// run(): buffers on the stack, no checks. Halide takes a null host for a bounds query, so a tensor without elements
/// gets an address of ours. Generated code never writes through `dim` outside a bounds query.
std::string run_text(const Signature& kernel) {
  const std::string symbol = kernel_symbol(kernel.function);
  std::vector<std::string> types(kernel.buffers.size(), "struct tile_tune_buffer*"), buffers, rows;
  for (size_t i : kernel.buffers) {
    const Argument& a = kernel.arguments[i];
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    const auto host = a.bytes() == 0 ? "(uint8_t*)&nothing" : fmt::format("(uint8_t*)pointers[{}]", i);
    rows.push_back(fmt::format("    {},\n", buffer_text(a, host, fmt::format("dimensions{}", i))));
  }
  return fmt::format(
      "\nint {0}({1});\n\nstatic int run(void* const* pointers) {{\n"
      "  static const uint64_t nothing = 0;\n  (void)nothing;\n"
      "  struct tile_tune_buffer buffers[] = {{\n{2}  }};\n"
      "  return status_of({0}({3}));\n}}\n",
      symbol, fmt::join(types, ", "), fmt::join(rows, ""), fmt::join(buffers, ", "));
}

std::string entries(const std::string& library, const Signature& kernel) {
  std::vector<std::string> parameters, pointers;
  for (const Argument& a : kernel.arguments) {
    parameters.push_back(
        fmt::format("{}{}* p{}", a.is_output ? "" : "const ", a.packed ? "void" : c_type(a.type), pointers.size()));
    pointers.push_back(fmt::format("(void*)p{}", pointers.size()));
  }
  return fmt::format(
      R"(
static int checked(void* const* pointers) {{
  if (!cpu_supported()) return FAIL(UNSUPPORTED_CPU);
  const int status = check_pointers(pointers);
  return status != 0 ? status : run(pointers);
}}

int {0}_unchecked({1}) {{
  void* const pointers[] = {{{2}}};
  return run(pointers);
}}

int {0}({1}) {{
  void* const pointers[] = {{{2}}};
  return checked(pointers);
}}

int {0}_dl({3}_dl_tensor* const* inputs, {3}_dl_tensor* const* outputs) {{
  void* pointers[ARGUMENTS];
  const int status = check_tensors(inputs, outputs, pointers);
  return status != 0 ? status : checked(pointers);
}}
)",
      kernel.function, fmt::join(parameters, ", "), fmt::join(pointers, ", "), library);
}

/// How the elements of a constant come into its packed form: by a function of the kernel's object, or as they are.
std::string packing_body(const Signature& kernel, const Argument& constant, const Argument& plain) {
  if (!constant.packed->form)
    return fmt::format("  const int status = 0;\n  memcpy(packed, elements, {});\n", plain.bytes());
  const std::string symbol = packing_function(kernel_symbol(kernel.function), constant.packed->tensor);
  const size_t argument = static_cast<size_t>(&constant - kernel.arguments.data());
  return fmt::format(
      "  static const struct tile_tune_dimension dimensions[] = {{{}}};\n"
      "  int {}(struct tile_tune_buffer*, struct tile_tune_buffer*);\n"
      "  struct tile_tune_buffer from = {};\n  struct tile_tune_buffer to = {};\n"
      "  const int status = status_of({}(&from, &to));\n",
      fmt::join(halide_dimensions(plain), ", "), symbol, buffer_text(plain, "(uint8_t*)elements", "dimensions"),
      buffer_text(constant, "(uint8_t*)packed", fmt::format("dimensions{}", argument)), symbol);
}

std::string packing_text(const Signature& kernel, const Argument& constant) {
  Argument plain = constant;
  plain.packed.reset();
  const int64_t filled = constant.packed->form ? constant.packed->form->bytes() : plain.bytes();
  return fmt::format(R"(
size_t {0}_bytes(void) {{ return {1}; }}

int {0}(const {2}* elements, void* packed) {{
  if (!cpu_supported()) return FAIL(UNSUPPORTED_CPU);
  if ({3} == 0) return 0;
  if (elements == NULL || packed == NULL) return FAIL(NULL_POINTER);
  if ((uintptr_t)elements % sizeof({2}) != 0 || (uintptr_t)packed % {4} != 0) return FAIL(MISALIGNED);
  if (overlap((uintptr_t)elements, {3}, (uintptr_t)packed, {1})) return FAIL(OVERLAP);
{5}  memset((uint8_t*)packed + {6}, 0, {7});
  return status;
}}
)",
                     packing_entry(kernel, constant), constant.packed->bytes, c_type(constant.type), plain.bytes(),
                     kPackedAlignment, packing_body(kernel, constant, plain), filled, constant.packed->bytes - filled);
}

std::string packing_texts(const Signature& kernel) {
  std::string text;
  for (const Argument& argument : kernel.arguments)
    if (argument.packed) text += packing_text(kernel, argument);
  return text;
}

}  // namespace

std::string kernel_symbol(const std::string& function) { return "tile_tune_kernel_" + function; }

std::string wrapper_text(const std::string& library, const Signature& kernel,
                         const std::vector<std::string>& cpu_features) {
  return fmt::format("#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n#include \"{}.h\"\n\n",
                     library) +
         fmt::format("#define FAIL(name) {}_ERROR_##name\n", status_prefix(library)) + kTypes + tables(kernel) +
         kCheck + kStatus + cpu_check(cpu_features) + run_text(kernel) + entries(library, kernel) +
         packing_texts(kernel);
}

std::string error_string_text(const std::string& library) {
  std::string cases;
  for (const Status& s : kStatuses) cases += fmt::format("    case {}: return \"{}\";\n", s.code, s.text);
  return fmt::format(
      "#include \"{0}.h\"\n\nconst char* {0}_error_string(int code) {{\n  switch (code) {{\n{1}"
      "    default: return \"unknown code\";\n  }}\n}}\n",
      library, cases);
}

std::string runtime_hooks_text() {
  return R"(#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

void halide_error(void* user_context, const char* message) { (void)user_context; (void)message; }
void halide_print(void* user_context, const char* message) { (void)user_context; (void)message; }

int halide_host_cpu_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}
)";
}

}  // namespace tile_tune::codegen
