#include "engine/programs/einsum_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/programs/path_argument.h"
#include "frontend/einsum/einsum.h"

namespace tile_tune::engine {

namespace {

constexpr std::string_view kPrefix = "einsum:";
constexpr const char* kResult = "out";

struct OperandOptions {
  std::optional<DType> type;  // of every operand
  std::map<std::string, DType> types;
  std::map<std::string, std::vector<int64_t>> shapes;
};

std::string operand_name(size_t i) { return fmt::format("in{}", i); }

Result<DType> parse_type(const std::string& option, const std::string& name) {
  if (const auto type = parse_dtype(name)) return *type;
  return fail(ErrorClass::Program, "bad-dtype", fmt::format("--dtype {}: '{}' is not an element type", option, name),
              "it is one of bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 c32 c64");
}

Result<std::vector<int64_t>> parse_shape(const std::string& option, std::string_view text) {
  std::vector<int64_t> shape;
  const char *next = text.data(), *end = text.data() + text.size();
  while (next != end) {
    int64_t extent = 0;
    const auto [rest, error] = std::from_chars(next, end, extent);
    const bool more = rest != end && *rest == ',' && rest + 1 != end;
    if (error != std::errc() || extent < 0 || (rest != end && !more))
      return fail(ErrorClass::Program, "bad-shape", fmt::format("--shape {} is not a shape", option),
                  "write --shape in0=4,1,3, and nothing after '=' for a scalar");
    shape.push_back(extent);
    next = more ? rest + 1 : rest;
  }
  return shape;
}

tl::unexpected<Diagnostic> given_twice(const char* option, const std::string& name) {
  return fail(ErrorClass::Program, "command-line", fmt::format("{} of {} is given twice", option, name));
}

Result<OperandOptions> parse_options(const einsum::Einsum& einsum, const BindingOptions& options) {
  std::set<std::string> names;
  for (size_t i = 0; i < einsum.operands.size(); ++i) names.insert(operand_name(i));
  const auto unknown = [&](const char* option, const std::string& text, const std::string& name) {
    return fail(ErrorClass::Program, "unknown-tensor", fmt::format("{} {}: there is no '{}'", option, text, name),
                fmt::format("the operands are {}", fmt::join(names, ", ")));
  };
  OperandOptions result;
  for (const auto& text : options.dtypes) {
    const auto assignment = split_assignment(text);
    TILE_TUNE_TRY(type, parse_type(text, assignment ? assignment->second : text));
    if (!assignment) {
      if (result.type && *result.type != type) return given_twice("--dtype", "all operands");
      result.type = type;
      continue;
    }
    const auto& name = assignment->first;
    if (name != kResult && !names.contains(name)) return unknown("--dtype", text, name);
    if (!result.types.emplace(name, type).second) return given_twice("--dtype", name);
  }
  for (const auto& text : options.shapes) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    TILE_TUNE_TRY(shape, equals == std::string::npos ? parse_shape(text, "?")
                                                     : parse_shape(text, std::string_view(text).substr(equals + 1)));
    if (!names.contains(name)) return unknown("--shape", text, name);
    if (!result.shapes.emplace(name, std::move(shape)).second) return given_twice("--shape", name);
  }
  return result;
}

std::optional<DType> wanted_type(const OperandOptions& options, const std::string& name) {
  const auto single = options.types.find(name);
  return single != options.types.end() ? single->second : options.type;
}

Result<einsum::Operand> operand(const std::string& name, const OperandOptions& options, const NamedArrays& arrays) {
  const auto type = wanted_type(options, name);
  einsum::Operand result{type.value_or(DType::F32), std::nullopt};
  const auto shape = options.shapes.find(name);
  if (shape != options.shapes.end()) result.shape = shape->second;
  const auto array = arrays.find(name);
  if (array == arrays.end()) return result;
  if (type && *type != array->second.type)
    return fail(ErrorClass::Mismatch, "dtype-mismatch",
                fmt::format("{} is {} by --dtype, but its array is {}", name, dtype_name(*type),
                            dtype_name(array->second.type)));
  if (result.shape && *result.shape != array->second.shape)
    return fail(ErrorClass::Mismatch, "shape-mismatch",
                fmt::format("{} is ({}) by --shape, but its array is ({})", name, fmt::join(*result.shape, ", "),
                            fmt::join(array->second.shape, ", ")));
  return einsum::Operand{array->second.type, array->second.shape};
}

}  // namespace

bool is_einsum(const std::string& argument) { return argument.starts_with(kPrefix); }

Result<void> check_einsum_options(const std::vector<std::string>& arguments, const BindingOptions& options) {
  if (options.dtypes.empty() && options.shapes.empty() && options.path.empty()) return {};
  if (std::any_of(arguments.begin(), arguments.end(), is_einsum)) return {};
  return fail(ErrorClass::Program, "command-line",
              fmt::format("{} is for einsum programs", !options.dtypes.empty()   ? "--dtype"
                                                       : !options.shapes.empty() ? "--shape"
                                                                                 : "--path"),
              "other programs say their types and sizes themselves");
}

Result<std::vector<EinsumOperand>> einsum_operands(const std::string& argument, const BindingOptions& options) {
  TILE_TUNE_TRY(einsum, einsum::parse(std::string_view(argument).substr(kPrefix.size())));
  TILE_TUNE_TRY(given, parse_options(einsum, options));
  std::vector<EinsumOperand> operands;
  for (size_t i = 0; i < einsum.operands.size(); ++i)
    operands.push_back({operand_name(i), wanted_type(given, operand_name(i)).value_or(DType::F32)});
  return operands;
}

Result<LoadedProgram> load_einsum(const std::string& argument, const BindingOptions& options,
                                  const NamedArrays& arrays) {
  const auto subscripts = std::string_view(argument).substr(kPrefix.size());
  TILE_TUNE_TRY(einsum, einsum::parse(subscripts));
  TILE_TUNE_TRY(given, parse_options(einsum, options));
  einsum::Known known;
  for (size_t i = 0; i < einsum.operands.size(); ++i) {
    TILE_TUNE_TRY(one, operand(operand_name(i), given, arrays));
    known.operands.push_back(std::move(one));
  }
  if (const auto result = given.types.find(kResult); result != given.types.end()) known.result = result->second;
  TILE_TUNE_TRY(sizes, parse_sizes(options.sizes));
  known.sizes = std::move(sizes);
  if (!options.path.empty()) {
    TILE_TUNE_TRY(order, order_by_path(options.path, einsum));
    einsum.order = std::move(order);
  }
  TILE_TUNE_TRY(made, einsum::make_program(einsum, known));
  return LoadedProgram{std::move(made.program), "einsum", std::string(subscripts), std::move(made.sizes)};
}

}  // namespace tile_tune::engine
