#include "codegen/emit/dispatch_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/emit/buffer_text.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/backend/kernel_abi.h"

namespace tile_tune::codegen {
namespace {

/// tile_tune_chosen(): the number of the first alternative that this CPU has. Threads that find out at the same time
/// find the same.
std::string choice_text(const std::vector<Alternative>& alternatives) {
  std::string text, choice;
  for (size_t i = 0; i + 1 < alternatives.size(); ++i) {
    text += fmt::format("static int tile_tune_has{}(void) {{\n  return {};\n}}\n\n", i,
                        cpu_condition(alternatives[i].cpu_features));
    choice += fmt::format("tile_tune_has{}() ? {} : ", i, i + 1);
  }
  return text + fmt::format(R"(static int tile_tune_chosen(void) {{
  static atomic_int known; /* 1 + number */
  int chosen = atomic_load_explicit(&known, memory_order_relaxed);
  if (chosen == 0) {{
    chosen = {}{};
    atomic_store_explicit(&known, chosen, memory_order_relaxed);
  }}
  return chosen - 1;
}}
)",
                            choice, alternatives.size());
}

/// What the packed operands of which alternative are for this CPU, the entries ask.
std::string chosen_text(const std::string& symbol) {
  return fmt::format("\nint {0}(void);\nint {0}(void) {{ return tile_tune_chosen(); }}\n", chosen_function(symbol));
}

/// The case of one alternative in a function over numbered buffers: `adapt` before the call.
std::string case_text(size_t number, bool last, const std::string& adapt, const std::string& call) {
  return fmt::format("    {}: {{\n{}      return {};\n    }}\n",
                     last ? std::string("default") : fmt::format("case {}", number), adapt, call);
}

/// A copy `packed{i}` of buffer i that shows the packed operand as this alternative has it.
std::string adapted_buffer(const Argument& argument, const std::string& from, const std::string& to) {
  const auto dimensions = halide_dimensions(argument);
  return fmt::format(
      "      static const struct tile_tune_dimension {0}_dimensions[] = {{{1}}};\n"
      "      struct tile_tune_buffer {0} = *{2};\n"
      "      {0}.type = (struct tile_tune_type){3};\n      {0}.dimensions = {4};\n"
      "      {0}.dim = (struct tile_tune_dimension*){0}_dimensions;\n",
      to, dimensions.empty() ? "{0, 1, 1, 0}" : fmt::format("{}", fmt::join(dimensions, ", ")), from,
      type_code(buffer_type(argument)).halide, dimensions.size());
}

std::string kernel_text(const std::string& symbol, const std::vector<Alternative>& alternatives) {
  const auto& buffers = alternatives.front().signature.buffers;
  const size_t count = buffers.size() + alternatives.front().signature.checks.size();
  std::vector<std::string> types(count, "struct tile_tune_buffer*"), parameters;
  for (size_t i = 0; i < count; ++i) parameters.push_back(fmt::format("struct tile_tune_buffer* b{}", i));
  std::string declarations, cases;
  for (size_t n = 0; n < alternatives.size(); ++n) {
    std::string adapt;
    std::vector<std::string> arguments;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Argument& argument = alternatives[n].signature.arguments[buffers[i]];
      arguments.push_back(argument.packed ? fmt::format("&packed{}", i) : fmt::format("b{}", i));
      if (argument.packed) adapt += adapted_buffer(argument, fmt::format("b{}", i), fmt::format("packed{}", i));
    }
    for (size_t i = buffers.size(); i < count; ++i) arguments.push_back(fmt::format("b{}", i));
    const std::string one = alternative_symbol(symbol, n);
    declarations += fmt::format("int {}(struct tile_tune_call*, {});\n", one, fmt::join(types, ", "));
    cases +=
        case_text(n, n + 1 == alternatives.size(), adapt, fmt::format("{}(call, {})", one, fmt::join(arguments, ", ")));
  }
  return fmt::format(
      "\n{1}int {0}(struct tile_tune_call* call, {2});\n"
      "int {0}(struct tile_tune_call* call, {2}) {{\n  switch (tile_tune_chosen()) {{\n{3}  }}\n}}\n",
      symbol, declarations, fmt::join(parameters, ", "), cases);
}

/// What fills `to` with a packed operand; beyond its end, up to `room` bytes, zeros.
std::string packing_text(const std::string& symbol, const std::vector<Alternative>& alternatives, size_t argument,
                         int64_t room) {
  const int tensor = alternatives.front().signature.arguments[argument].packed->tensor;
  const std::string name = packing_function(symbol, tensor);
  constexpr const char* kBuffers = "struct tile_tune_buffer* from, struct tile_tune_buffer* to";
  std::string declarations, cases;
  for (size_t n = 0; n < alternatives.size(); ++n) {
    const Argument& constant = alternatives[n].signature.arguments[argument];
    const bool last = n + 1 == alternatives.size();
    const int64_t filled = constant.packed->filled;
    const std::string rest = fmt::format("      memset(to->host + {}, 0, {});\n", filled, room - filled);
    if (!constant.packed->form) {
      cases += case_text(n, last, rest + fmt::format("      memcpy(to->host, from->host, {});\n", filled), "0");
      continue;
    }
    const std::string one = packing_function(alternative_symbol(symbol, n), tensor);
    declarations += fmt::format("int {}(struct tile_tune_call* call, {});\n", one, kBuffers);
    cases += case_text(n, last, rest + adapted_buffer(constant, "to", "packed"),
                       fmt::format("{}(call, from, &packed)", one));
  }
  return fmt::format(
      "\n{1}int {0}(struct tile_tune_call* call, {2});\n"
      "int {0}(struct tile_tune_call* call, {2}) {{\n  switch (tile_tune_chosen()) {{\n{3}  }}\n}}\n",
      name, declarations, kBuffers, cases);
}

}  // namespace

std::string alternative_symbol(const std::string& symbol, size_t number) {
  return fmt::format("{}_{}", symbol, number);
}

std::string chosen_function(const std::string& symbol) { return "tile_tune_chosen_" + symbol; }

Signature with_room_for_all(const std::vector<Alternative>& alternatives) {
  Signature all = alternatives.back().signature;
  for (size_t i = 0; i < all.arguments.size(); ++i) {
    auto& packed = all.arguments[i].packed;
    if (!packed) continue;
    std::vector<std::string> digests;
    for (const auto& alternative : alternatives) {
      const PackedArgument& other = *alternative.signature.arguments[i].packed;
      digests.insert(digests.end(), other.digests.begin(), other.digests.end());
      // The form that fills most: what the entries take for the operand's end is then nobody's middle.
      if (other.form && (!packed->form || other.filled > packed->filled)) packed = other;
    }
    packed->digests = std::move(digests);
  }
  return all;
}

std::string cpu_dispatch_text(const std::string& symbol, const std::vector<Alternative>& alternatives) {
  std::vector<std::vector<std::string>> features;
  for (const auto& alternative : alternatives) features.push_back(alternative.cpu_features);
  std::string text = fmt::format("#include <stdatomic.h>\n#include <string.h>\n{}\n#include \"tile_tune_rt.h\"\n\n",
                                 cpu_preamble(features)) +
                     choice_text(alternatives) + kernel_text(symbol, alternatives);
  const Signature all = with_room_for_all(alternatives);
  bool has_constants = false;
  for (size_t i = 0; i < all.arguments.size(); ++i) {
    const auto& packed = all.arguments[i].packed;
    has_constants = has_constants || packed;
    if (packed && packed->form) text += packing_text(symbol, alternatives, i, packed->filled);
  }
  return has_constants ? text + chosen_text(symbol) : text;
}

}  // namespace tile_tune::codegen
