#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/ir/json_names.h"
#include "frontend/ir/validate.h"

namespace tile_tune::ir {
namespace {

using nlohmann::json;

// Size expressions people write have a handful of nodes; sums over them cost quadratic time.
constexpr size_t kMaxSizeOperands = 64;

tl::unexpected<Diagnostic> malformed(const std::string& path, const std::string& what) {
  return fail(ErrorClass::Program, "malformed-program",
              path.empty() ? fmt::format("a program {}", what) : fmt::format("{}: {}", path, what));
}

// A JSON value and where it is, as in "statements[0].value".
struct At {
  const json& value;
  std::string path;

  At item(size_t i) const { return {value[i], fmt::format("{}[{}]", path, i)}; }
  std::string under(std::string_view key) const {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }
};

// ---- plain values ----

template <typename T>
Result<T> read(const At& at);

Result<int64_t> read_integer(const At& at, int64_t lo, int64_t hi) {
  const auto& value = at.value;
  // Unsigned numbers beyond 2^63 would turn negative in get<int64_t>().
  const bool is_signed_64 =
      value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX});
  if (!is_signed_64 || value.get<int64_t>() < lo || value.get<int64_t>() > hi)
    return malformed(at.path, lo == INT64_MIN ? "must be a 64-bit integer"
                                              : fmt::format("must be an integer from {} to {}", lo, hi));
  return value.get<int64_t>();
}

template <>
Result<int64_t> read(const At& at) {
  return read_integer(at, INT64_MIN, INT64_MAX);
}

template <>
Result<int> read(const At& at) {
  TILE_TUNE_TRY(value, read_integer(at, 0, std::numeric_limits<int>::max()));
  return static_cast<int>(value);
}

template <>
Result<std::string> read(const At& at) {
  if (!at.value.is_string()) return malformed(at.path, "must be a string");
  return at.value.get<std::string>();
}

// A string that `parse` knows, as in read_name(at, "type", parse_dtype).
template <typename Parse>
auto read_name(const At& at, std::string_view what, const Parse& parse)
    -> Result<typename decltype(parse(std::string_view()))::value_type> {
  TILE_TUNE_TRY(name, read<std::string>(at));
  if (const auto parsed = parse(name)) return *parsed;
  return malformed(at.path, fmt::format("there is no {} '{}'", what, name));
}

template <>
Result<DType> read(const At& at) {
  return read_name(at, "element type", parse_dtype);
}
template <>
Result<Op> read(const At& at) {
  return read_name(at, "operation", parse_op);
}
template <>
Result<Aggregation> read(const At& at) {
  return read_name(at, "aggregation", parse_aggregation);
}

template <typename Names>
auto find_name(const Names& names) {
  return [&names](std::string_view name) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
    return found == names.end() ? std::nullopt : std::optional(found->first);
  };
}
template <>
Result<Role> read(const At& at) {
  return read_name(at, "role", find_name(kRoleNames));
}

Result<void> require_object(const At& at, std::initializer_list<std::string_view> fields) {
  if (!at.value.is_object()) return malformed(at.path, "must be an object");
  for (const auto& [key, value] : at.value.items())
    if (std::find(fields.begin(), fields.end(), key) == fields.end()) return malformed(at.under(key), "unknown field");
  return {};
}

Result<At> field(const At& at, const char* key) {
  const auto found = at.value.find(key);
  if (found == at.value.end()) return malformed(at.under(key), "is missing");
  return At{*found, at.under(key)};
}

template <typename T>
Result<T> read_field(const At& at, const char* key) {
  TILE_TUNE_TRY(value, field(at, key));
  return read<T>(value);
}

template <typename T>
Result<std::optional<T>> read_optional(const At& at, const char* key) {
  if (!at.value.contains(key)) return std::nullopt;
  TILE_TUNE_TRY(value, read_field<T>(at, key));
  return value;
}

template <typename T>
Result<std::vector<T>> read_list(const At& at, const char* key) {
  TILE_TUNE_TRY(list, field(at, key));
  if (!list.value.is_array()) return malformed(list.path, "must be an array");
  std::vector<T> items;
  for (size_t i = 0; i < list.value.size(); ++i) {
    TILE_TUNE_TRY(item, read<T>(list.item(i)));
    items.push_back(std::move(item));
  }
  return items;
}

// ---- size expressions ----

Result<SizeExpr> read_size(const At& at, size_t& operands_left);

Result<SizeExpr> combine(std::string_view operation, const std::vector<SizeExpr>& operands, const std::string& path) {
  SizeExpr result = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operation == "floor_div" && operands[i].constant() == 0) return malformed(path, "divides by zero");
    if (operation == "add") result = result + operands[i];
    if (operation == "mul") result = result * operands[i];
    if (operation == "floor_div") result = SizeExpr::floor_div(result, operands[i]);
    if (operation == "min") result = SizeExpr::min(result, operands[i]);
    if (operation == "max") result = SizeExpr::max(result, operands[i]);
  }
  return result;
}

Result<SizeExpr> read_size(const At& at, size_t& operands_left) {
  if (at.value.is_number()) {
    TILE_TUNE_TRY(number, read<int64_t>(at));
    return SizeExpr(number);
  }
  TILE_TUNE_CHECK(require_object(at, {"name", "add", "mul", "floor_div", "min", "max"}));
  if (at.value.size() != 1) return malformed(at.path, "must be a number or an object with one field");
  const std::string operation = at.value.begin().key();
  if (operation == "name") {
    TILE_TUNE_TRY(name, read_field<std::string>(at, "name"));
    return SizeExpr::name(name);
  }
  TILE_TUNE_TRY(list, field(at, operation.c_str()));
  const bool any_number = operation == "add";
  if (!list.value.is_array() || (any_number ? list.value.empty() : list.value.size() != 2))
    return malformed(list.path, any_number ? "must be an array of operands" : "must be an array of two operands");
  if (list.value.size() > operands_left)
    return malformed(list.path, fmt::format("size expressions have at most {} operands", kMaxSizeOperands));
  operands_left -= list.value.size();
  std::vector<SizeExpr> operands;
  for (size_t i = 0; i < list.value.size(); ++i) {
    TILE_TUNE_TRY(operand, read_size(list.item(i), operands_left));
    operands.push_back(std::move(operand));
  }
  return combine(operation, operands, list.path);
}

template <>
Result<SizeExpr> read(const At& at) {
  size_t operands_left = kMaxSizeOperands;
  return read_size(at, operands_left);
}

// ---- expressions ----

template <>
Result<std::pair<int, int64_t>> read(const At& at) {
  if (!at.value.is_array() || at.value.size() != 2) return malformed(at.path, "must be [index, coefficient]");
  TILE_TUNE_TRY(index, read<int>(at.item(0)));
  TILE_TUNE_TRY(coefficient, read<int64_t>(at.item(1)));
  return std::pair{index, coefficient};
}

template <>
Result<AffineExpr> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"terms", "constant", "denominator"}));
  TILE_TUNE_TRY(terms, (read_list<std::pair<int, int64_t>>(at, "terms")));
  TILE_TUNE_TRY(constant, read_field<SizeExpr>(at, "constant"));
  TILE_TUNE_TRY(denominator, read_optional<int64_t>(at, "denominator"));
  return AffineExpr{std::move(terms), std::move(constant), denominator.value_or(1)};
}

// Integer literals of any width but uint64 are in the range of their type; floats take any number.
Result<Literal> read_literal(const At& at, DType type) {
  const auto& value = at.value;
  if (type == DType::Bool) {
    if (!value.is_boolean()) return malformed(at.path, "must be true or false");
    return Literal{value.get<bool>()};
  }
  if (type == DType::U64) {
    if (!value.is_number_unsigned()) return malformed(at.path, "must be an unsigned 64-bit integer");
    return Literal{static_cast<int64_t>(value.get<uint64_t>())};
  }
  if (is_integer(type)) {
    const int bits = static_cast<int>(8 * dtype_size(type));
    const int64_t hi = is_signed(type) ? INT64_MAX >> (64 - bits) : (int64_t{1} << bits) - 1;
    TILE_TUNE_TRY(integer, read_integer(at, is_signed(type) ? INT64_MIN >> (64 - bits) : 0, hi));
    return Literal{integer};
  }
  if (value.is_number_integer()) {
    TILE_TUNE_TRY(integer, read<int64_t>(at));
    return Literal{integer};
  }
  if (value.is_number_float()) return Literal{value.get<double>()};
  if (value == "inf") return Literal{std::numeric_limits<double>::infinity()};
  if (value == "-inf") return Literal{-std::numeric_limits<double>::infinity()};
  if (value == "nan") return Literal{std::numeric_limits<double>::quiet_NaN()};
  return malformed(at.path, "must be a number, \"inf\", \"-inf\" or \"nan\"");
}

Result<ExprPtr> read_expr(const At& at, int depth);

Result<Subscript> read_subscript(const At& at, int depth) {
  if (at.value.is_object() && at.value.contains("terms")) {
    TILE_TUNE_TRY(affine, read<AffineExpr>(at));
    return Subscript{std::move(affine)};
  }
  TILE_TUNE_TRY(expr, read_expr(at, depth));
  return Subscript{std::move(expr)};
}

// A list of parts one deeper than the expression they belong to.
template <typename T>
Result<std::vector<T>> read_parts(const At& at, const char* key, Result<T> (*read_part)(const At&, int), int depth) {
  TILE_TUNE_TRY(list, field(at, key));
  if (!list.value.is_array()) return malformed(list.path, "must be an array");
  std::vector<T> parts;
  for (size_t i = 0; i < list.value.size(); ++i) {
    TILE_TUNE_TRY(part, read_part(list.item(i), depth + 1));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<ExprPtr> read_expr(const At& at, int depth) {
  // Checked before descending: the stack must not depend on the file. The path of the whole value will do.
  if (depth > kMaxExprDepth)
    return malformed(at.path.substr(0, at.path.find(".value") + 6),
                     fmt::format("expressions nest more than {} deep", kMaxExprDepth));
  TILE_TUNE_CHECK(
      require_object(at, {"type", "literal", "index", "size", "read", "subscripts", "call", "arguments", "cast"}));
  TILE_TUNE_TRY(type, read_field<DType>(at, "type"));
  const auto has = [&](const char* key) { return at.value.contains(key); };
  const size_t wanted = has("read") || has("call") ? 3 : 2;
  if (at.value.size() != wanted) return malformed(at.path, "must be one of literal, index, size, read, call and cast");
  if (has("literal")) {
    TILE_TUNE_TRY(value, field(at, "literal"));
    TILE_TUNE_TRY(literal, read_literal(value, type));
    return make_expr(type, literal);
  }
  if (has("index")) {
    TILE_TUNE_TRY(index, read_field<int>(at, "index"));
    return make_expr(type, IndexValue{index});
  }
  if (has("size")) {
    TILE_TUNE_TRY(size, read_field<SizeExpr>(at, "size"));
    return make_expr(type, SizeValue{std::move(size)});
  }
  if (has("read")) {
    TILE_TUNE_TRY(tensor, read_field<int>(at, "read"));
    TILE_TUNE_TRY(subscripts, read_parts(at, "subscripts", read_subscript, depth));
    return make_expr(type, Read{tensor, std::move(subscripts)});
  }
  if (has("call")) {
    TILE_TUNE_TRY(op, read_field<Op>(at, "call"));
    TILE_TUNE_TRY(arguments, read_parts(at, "arguments", read_expr, depth));
    return make_expr(type, Call{op, std::move(arguments)});
  }
  TILE_TUNE_TRY(inner, field(at, "cast"));
  TILE_TUNE_TRY(argument, read_expr(inner, depth + 1));
  return make_expr(type, Cast{std::move(argument)});
}

template <>
Result<ExprPtr> read(const At& at) {
  return read_expr(at, 1);
}

// ---- the parts of a program ----

// A field that is true where it is there.
Result<bool> read_flag(const At& at, const char* key) {
  if (!at.value.contains(key)) return false;
  if (at.value.at(key) != json(true)) return malformed(at.under(key), "can only be true");
  return true;
}

template <>
Result<Stride> read(const At& at) {
  if (at.value == json("any")) return Stride(FromBuffer());
  if (!at.value.is_object()) {
    TILE_TUNE_TRY(number, read<int64_t>(at));
    return Stride(number);
  }
  TILE_TUNE_TRY(size, read<SizeExpr>(at));
  if (const auto number = size.constant()) return Stride(*number);
  return Stride(std::move(size));
}

template <>
Result<Storage> read(const At& at) {
  if (at.value == json("row")) return Storage::row();
  if (at.value == json("col")) return Storage::col();
  if (at.value.is_string())
    return malformed(at.path, fmt::format("there is no layout '{}'", at.value.get<std::string>()));
  TILE_TUNE_CHECK(require_object(at, {"strides", "order"}));
  TILE_TUNE_TRY(strides, read_list<Stride>(at, "strides"));
  if (strides.empty()) return malformed(at.under("strides"), "must not be empty");
  if (!at.value.contains("order")) return Storage::strided(std::move(strides));
  TILE_TUNE_TRY(order, read_list<int>(at, "order"));
  if (!is_order(order, strides.size())) return malformed(at.under("order"), "must have each dimension once");
  return Storage::strided(std::move(strides), std::move(order));
}

template <>
Result<Tensor> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"name", "type", "extents", "role", "layout", "constant"}));
  TILE_TUNE_TRY(name, read_field<std::string>(at, "name"));
  TILE_TUNE_TRY(type, read_field<DType>(at, "type"));
  TILE_TUNE_TRY(extents, read_list<SizeExpr>(at, "extents"));
  TILE_TUNE_TRY(role, read_field<Role>(at, "role"));
  TILE_TUNE_TRY(storage, read_field<Storage>(at, "layout"));
  TILE_TUNE_TRY(constant, read_flag(at, "constant"));
  return Tensor{std::move(name), type, std::move(extents), role, std::move(storage), constant};
}

template <>
Result<Index> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"name", "lo", "hi", "reason"}));
  TILE_TUNE_TRY(name, read_field<std::string>(at, "name"));
  TILE_TUNE_TRY(lo, read_field<SizeExpr>(at, "lo"));
  TILE_TUNE_TRY(hi, read_field<SizeExpr>(at, "hi"));
  TILE_TUNE_TRY(reason, read_field<std::string>(at, "reason"));
  return Index{std::move(name), std::move(lo), std::move(hi), std::move(reason)};
}

template <>
Result<Constraint> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"expr", "bound"}));
  TILE_TUNE_TRY(expr, read_field<AffineExpr>(at, "expr"));
  TILE_TUNE_TRY(bound, read_field<SizeExpr>(at, "bound"));
  return Constraint{std::move(expr), std::move(bound)};
}

template <>
Result<Place> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"file", "line", "column", "length", "source_line", "skipped"}));
  TILE_TUNE_TRY(file, read_field<std::string>(at, "file"));
  TILE_TUNE_TRY(line, read_field<int>(at, "line"));
  TILE_TUNE_TRY(column, read_field<int>(at, "column"));
  TILE_TUNE_TRY(length, read_field<int>(at, "length"));
  TILE_TUNE_TRY(source_line, read_field<std::string>(at, "source_line"));
  TILE_TUNE_TRY(skipped, read_optional<int>(at, "skipped"));
  return Place{std::move(file), line, column, length, std::move(source_line), skipped.value_or(0)};
}

template <>
Result<Statement> read(const At& at) {
  TILE_TUNE_CHECK(require_object(at, {"target", "subscripts", "indices", "constraints", "op", "previous", "unwritten",
                                      "accumulator", "value", "place"}));
  TILE_TUNE_TRY(target, read_field<int>(at, "target"));
  TILE_TUNE_TRY(subscripts, read_list<AffineExpr>(at, "subscripts"));
  TILE_TUNE_TRY(indices, read_list<Index>(at, "indices"));
  TILE_TUNE_TRY(constraints, read_list<Constraint>(at, "constraints"));
  TILE_TUNE_TRY(op, read_field<Aggregation>(at, "op"));
  TILE_TUNE_TRY(previous, read_optional<int>(at, "previous"));
  TILE_TUNE_TRY(unwritten, read_optional<int>(at, "unwritten"));
  TILE_TUNE_TRY(accumulator, read_field<DType>(at, "accumulator"));
  TILE_TUNE_TRY(value, read_field<ExprPtr>(at, "value"));
  TILE_TUNE_TRY(place, read_optional<Place>(at, "place"));
  return Statement{target,    std::move(subscripts), std::move(indices), std::move(constraints), op, previous,
                   unwritten, accumulator,           std::move(value),   std::move(place)};
}

}  // namespace

Result<Program> program_from_json(const json& root) {
  const At at{root, ""};
  if (!root.is_object()) return malformed("", "must be an object");
  TILE_TUNE_TRY(kind, read_field<std::string>(at, "kind"));
  if (kind != "program") return malformed("kind", fmt::format("must be \"program\", not \"{}\"", kind));
  if (!root.contains("format"))
    return malformed("format", fmt::format("is missing, and this version reads format {}", kProgramFormat));
  TILE_TUNE_TRY(format, read_field<int>(at, "format"));
  if (format != kProgramFormat)
    return malformed("format", fmt::format("this version reads format {}, not {}", kProgramFormat, format));
  TILE_TUNE_CHECK(require_object(
      at, {"kind", "format", "name", "sizes", "tensors", "inputs", "outputs", "statements", "cold", "free_order"}));
  Program program;
  TILE_TUNE_TRY(name, read_field<std::string>(at, "name"));
  TILE_TUNE_TRY(sizes, read_list<std::string>(at, "sizes"));
  TILE_TUNE_TRY(tensors, read_list<Tensor>(at, "tensors"));
  TILE_TUNE_TRY(inputs, read_list<int>(at, "inputs"));
  TILE_TUNE_TRY(outputs, read_list<int>(at, "outputs"));
  TILE_TUNE_TRY(statements, read_list<Statement>(at, "statements"));
  TILE_TUNE_TRY(cold, read_flag(at, "cold"));
  TILE_TUNE_TRY(free_order, read_flag(at, "free_order"));
  program = {std::move(name),
             std::move(sizes),
             std::move(tensors),
             std::move(inputs),
             std::move(outputs),
             std::move(statements),
             cold,
             free_order};
  TILE_TUNE_CHECK(validate(program));
  return program;
}

}  // namespace tile_tune::ir
