#include "codegen/emit/packed_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "codegen/emit/buffer_text.h"
#include "codegen/emit/dispatch_text.h"
#include "codegen/emit/runtime/tile_tune_packed.h"
#include "codegen/emit/wrapper_text.h"
#include "codegen/backend/kernel_abi.h"

namespace tile_tune::codegen {
namespace {

using nlohmann::json;

static_assert(sizeof(tile_tune_packed) == kPackedHeader && kPackedHeader % kPackedAlignment == 0);

json describe(const PackedForm& form) {
  json result{{"type", dtype_name(form.type)}, {"extents", form.extents}, {"order", form.packing.order}};
  if (form.blocks)
    result["blocks"] = {{"width", form.blocks->width}, {"origin", form.blocks->origin}, {"count", form.blocks->count}};
  if (form.dot) result["dot"] = {{"dimension", form.dot->dimension}, {"width", form.dot->width}};
  return result;
}

/// "0x1f, 0x00, ..." of hex digits.
std::string byte_list(const std::string& digits) {
  std::vector<std::string> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) bytes.push_back("0x" + digits.substr(i, 2));
  return fmt::format("{}", fmt::join(bytes, ", "));
}

/// One row for each instruction set that the kernel is compiled for.
std::string header_table(const PackedArgument& packed, size_t argument) {
  std::string rows;
  for (const auto& digest : packed.digests)
    rows += fmt::format("  {{{{'T', 'T', 'p', 'a', 'c', 'k', 'e', 'd'}}, {}, 0, {},\n   {{{}}}, {{0}}}},\n",
                        TILE_TUNE_PACKED_VERSION, packed.bytes, byte_list(digest));
  return fmt::format("static const struct tile_tune_packed tile_tune_packed{}[] = {{\n{}}};\n", argument, rows);
}

/// The number of the row that is this CPU's.
std::string row_text(const Signature& kernel, const PackedArgument& packed) {
  return packed.digests.size() == 1 ? "0" : chosen_function(kernel_symbol(kernel.function)) + "()";
}

constexpr const char* kCompare = R"(
/* The pointer is not null and at a multiple of 64: these bytes can be read, whatever they are. */
static int tile_tune_check_packed(const void* memory, const struct tile_tune_packed* expected) {
  if (memcmp(memory, expected->magic, sizeof expected->magic) != 0) return TILE_TUNE_ERROR_NOT_PACKED;
  return memcmp(memory, expected, sizeof *expected) == 0 ? TILE_TUNE_OK : TILE_TUNE_ERROR_PACKED_FORM;
}

static int tile_tune_check_constants(void* const* pointers) {
)";

/// The pointer that a caller gives shows element (0, ..., 0).
std::string first_byte(const Argument& plain) {
  return plain.before() == 0 ? "elements" : fmt::format("(const uint8_t*)elements - {}", plain.before());
}

/// How the elements of a constant come into its packed form: by a function of the kernel's object, or as they are.
std::string packing_body(const Signature& kernel, const Argument& constant, const Argument& plain) {
  const auto copied =
      fmt::format("  memcpy((uint8_t*)packed + {}, {}, {});\n", kPackedHeader, first_byte(plain), plain.bytes());
  if (!constant.packed->form) return "  const int status = TILE_TUNE_OK;\n" + (plain.bytes() == 0 ? "" : copied);
  const std::string symbol = packing_function(kernel_symbol(kernel.function), constant.packed->tensor);
  const size_t argument = static_cast<size_t>(&constant - kernel.arguments.data());
  return fmt::format(
      "  static const struct tile_tune_dimension dimensions[] = {{{}}};\n"
      "  int {}(struct tile_tune_call*, struct tile_tune_buffer*, struct tile_tune_buffer*);\n"
      "  struct tile_tune_buffer from = {};\n  struct tile_tune_buffer to = {};\n"
      "  struct tile_tune_call call = {{tile_tune_defaults(), 1}};\n"
      "  const int status = {}(&call, &from, &to);\n",
      fmt::join(halide_dimensions(plain), ", "), symbol, buffer_text(plain, "(uint8_t*)elements", "dimensions"),
      buffer_text(constant, fmt::format("(uint8_t*)packed + {}", kPackedHeader),
                  fmt::format("tile_tune_dimensions{}", argument)),
      symbol);
}

/// What says that the operand is there is written when it is: an attempt that fails leaves nothing that passes for it.
constexpr const char* kPacking = R"(
size_t {entry}_bytes(void) {{ return {bytes}; }}

int {entry}(const {type}* elements, struct {packed_type}* packed) {{
  if (!tile_tune_cpu_supported()) return TILE_TUNE_ERROR_UNSUPPORTED_CPU;
  if ((elements == NULL && {elements} != 0) || packed == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  if ((uintptr_t)elements % sizeof({type}) != 0 || (uintptr_t)packed % {alignment} != 0)
    return TILE_TUNE_ERROR_MISALIGNED;
  if (tile_tune_rt4_overlap((uintptr_t)elements - {before}, {elements}, (uintptr_t)packed, {bytes})) return TILE_TUNE_ERROR_OVERLAP;
  memset(packed, 0, {header});
{body}  if (status != TILE_TUNE_OK) return status;
  memset((uint8_t*)packed + {filled}, 0, {bytes} - {filled});
  memcpy(packed, &tile_tune_packed{argument}[{row}], {header});
  return TILE_TUNE_OK;
}}
)";

std::string packing_text(const Signature& kernel, const Argument& constant) {
  Argument plain = constant;
  plain.packed.reset();
  return fmt::format(kPacking, fmt::arg("entry", packing_entry(kernel, constant)), fmt::arg("type", c_type(plain.type)),
                     fmt::arg("packed_type", packed_type(kernel, constant)), fmt::arg("elements", plain.bytes()),
                     fmt::arg("before", plain.before()), fmt::arg("bytes", constant.packed->bytes),
                     fmt::arg("alignment", kPackedAlignment), fmt::arg("header", kPackedHeader),
                     fmt::arg("body", packing_body(kernel, constant, plain)),
                     fmt::arg("filled", kPackedHeader + constant.packed->filled),
                     fmt::arg("argument", &constant - kernel.arguments.data()),
                     fmt::arg("row", row_text(kernel, *constant.packed)));
}

}  // namespace

std::string packed_digest(const Argument& constant, const std::string& instruction_set) {
  json described{
      {"instruction_set", instruction_set}, {"type", dtype_name(constant.type)}, {"extents", constant.shape}};
  if (constant.packed->form)
    described["form"] = describe(*constant.packed->form);
  else
    described["strides"] = constant.strides;
  return base::sha256_hex(described.dump());
}

std::string packed_check_text(const Signature& kernel) {
  std::string tables, checks;
  bool several = false;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const auto& packed = kernel.arguments[i].packed;
    if (!packed) continue;
    tables += header_table(*packed, i);
    several = packed->digests.size() > 1;
    checks += fmt::format("  {}status = tile_tune_check_packed(pointers[{}], &tile_tune_packed{}[{}]);\n",
                          checks.empty() ? "int " : "if (status == TILE_TUNE_OK) ", i, i, row_text(kernel, *packed));
  }
  if (checks.empty()) return "";
  const std::string chosen =
      several ? fmt::format("\nint {}(void);\n", chosen_function(kernel_symbol(kernel.function))) : "";
  return "\n#include \"tile_tune_packed.h\"\n\n" + tables + chosen + kCompare + checks + "  return status;\n}\n";
}

std::string packing_texts(const Signature& kernel) {
  std::string text;
  for (const Argument& argument : kernel.arguments)
    if (argument.packed) text += packing_text(kernel, argument);
  return text;
}

}  // namespace tile_tune::codegen
