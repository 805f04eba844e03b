#include "frontend/ir/validate.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <set>

#include "frontend/ir/operation_type.h"

namespace tile_tune::ir {
namespace {

using Check = Result<void>;

tl::unexpected<Diagnostic> invalid(const std::string& path, const std::string& what) {
  return fail(ErrorClass::Program, "malformed-program", fmt::format("{}: {}", path, what));
}

// Names of programs and arguments become C identifiers of emitted libraries.
bool is_identifier(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) { return letter(c) || std::isdigit(c); });
}

Check check_size(const Program& program, const SizeExpr& size, const std::string& path) {
  if (size.overflowed()) return invalid(path, "exceeds 64 bits");
  for (const auto& name : size.names())
    if (std::find(program.sizes.begin(), program.sizes.end(), name) == program.sizes.end())
      return invalid(path, fmt::format("'{}' is not among the sizes", name));
  return {};
}

// ---- expressions ----

bool is_logic(Op op) { return op == Op::And || op == Op::Or || op == Op::Not; }

Check check_call_types(const Call& call, DType type, const std::string& path) {
  const auto argument_type = [&](size_t i) { return call.arguments[i]->type; };
  const auto name = op_name(call.op);
  const bool gives_bool = is_comparison(call.op) || is_logic(call.op) || call.op == Op::IsNan;
  if (gives_bool && type != DType::Bool) return invalid(path, fmt::format("'{}' gives bool", name));
  DType wanted = type;
  if (is_comparison(call.op) || call.op == Op::IsNan) wanted = argument_type(0);
  if (is_logic(call.op)) wanted = DType::Bool;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const DType expected = call.op == Op::Select && i == 0 ? DType::Bool : wanted;
    if (argument_type(i) != expected)
      return invalid(
          fmt::format("{}.arguments[{}]", path, i),
          fmt::format("is {}, but '{}' needs {} here", dtype_name(argument_type(i)), name, dtype_name(expected)));
  }
  if (operation_type(wanted) != wanted)
    return invalid(
        path, fmt::format("operations on {} are done in {}", dtype_name(wanted), dtype_name(operation_type(wanted))));
  if (is_complex(wanted) && !works_on_complex(call.op))
    return invalid(path, fmt::format("complex numbers have no '{}'", name));
  if (call.op == Op::Conj && !is_complex(type)) return invalid(path, "'conj' is of complex numbers");
  return {};
}

class StatementValidator {
 public:
  StatementValidator(const Program& program, const Statement& statement, const std::set<int>& readable)
      : program_(program), statement_(statement), readable_(readable) {}

  Check affine(const AffineExpr& expr, const std::string& path) const {
    int previous = -1;
    for (size_t i = 0; i < expr.terms.size(); ++i) {
      const auto term_path = fmt::format("{}.terms[{}]", path, i);
      const auto [index, coefficient] = expr.terms[i];
      TILE_TUNE_CHECK(index_number(index, term_path));
      if (index <= previous) return invalid(term_path, "terms must be sorted by index number, each at most once");
      if (coefficient == 0) return invalid(term_path, "a coefficient must not be 0");
      previous = index;
    }
    if (expr.denominator < 1) return invalid(path + ".denominator", "must be at least 1");
    return check_size(program_, expr.constant, path + ".constant");
  }

  Check expr(const Expr& expr, const std::string& path, int depth) const {
    if (depth > kMaxExprDepth)
      return invalid(path.substr(0, path.find(".value") + 6),
                     fmt::format("expressions nest more than {} deep", kMaxExprDepth));
    return std::visit([&](const auto& node) { return check(node, expr.type, path, depth); }, expr.node);
  }

  Check readable(int tensor, const std::string& path) const {
    if (tensor < 0 || tensor >= static_cast<int>(program_.tensors.size()))
      return invalid(path, fmt::format("there is no tensor {}", tensor));
    if (!readable_.count(tensor))
      return invalid(path,
                     fmt::format("tensor {} ({}) is read before it is written", tensor, program_.tensors[tensor].name));
    return {};
  }

 private:
  Check index_number(int index, const std::string& path) const {
    if (index >= 0 && index < static_cast<int>(statement_.indices.size())) return {};
    return invalid(path, fmt::format("there is no index {}", index));
  }

  Check check(const Literal& literal, DType type, const std::string& path, int) const {
    const bool fits = std::holds_alternative<bool>(literal.value)      ? type == DType::Bool
                      : std::holds_alternative<int64_t>(literal.value) ? type != DType::Bool
                                                                       : is_float(type) || is_complex(type);
    return fits ? Check{} : invalid(path + ".literal", fmt::format("is no {}", dtype_name(type)));
  }
  Check check(const IndexValue& value, DType type, const std::string& path, int) const {
    if (type == DType::Bool || is_complex(type)) return invalid(path, "an index is a number");
    return index_number(value.index, path + ".index");
  }
  Check check(const SizeValue& value, DType type, const std::string& path, int) const {
    if (type == DType::Bool || is_complex(type)) return invalid(path, "a size is a number");
    return check_size(program_, value.size, path + ".size");
  }

  Check check(const Read& read, DType type, const std::string& path, int depth) const {
    TILE_TUNE_CHECK(readable(read.tensor, path + ".read"));
    const Tensor& tensor = program_.tensors[read.tensor];
    if (tensor.type != type)
      return invalid(path + ".type", fmt::format("{} holds {}", tensor.name, dtype_name(tensor.type)));
    if (read.subscripts.size() != tensor.extents.size())
      return invalid(path + ".subscripts", fmt::format("{} has {} dimensions, not {}", tensor.name,
                                                       tensor.extents.size(), read.subscripts.size()));
    for (size_t d = 0; d < read.subscripts.size(); ++d) {
      const auto subscript_path = fmt::format("{}.subscripts[{}]", path, d);
      if (const auto* affine_expr = std::get_if<AffineExpr>(&read.subscripts[d])) {
        TILE_TUNE_CHECK(affine(*affine_expr, subscript_path));
        continue;
      }
      const auto& nested = *std::get<ExprPtr>(read.subscripts[d]);
      if (!is_integer(nested.type)) return invalid(subscript_path, "a subscript must be an integer");
      TILE_TUNE_CHECK(expr(nested, subscript_path, depth + 1));
    }
    return {};
  }

  Check check(const Call& call, DType type, const std::string& path, int depth) const {
    if (call.arguments.size() != op_arity(call.op))
      return invalid(path + ".arguments", fmt::format("'{}' takes {} arguments, not {}", op_name(call.op),
                                                      op_arity(call.op), call.arguments.size()));
    TILE_TUNE_CHECK(check_call_types(call, type, path));
    for (size_t i = 0; i < call.arguments.size(); ++i)
      TILE_TUNE_CHECK(expr(*call.arguments[i], fmt::format("{}.arguments[{}]", path, i), depth + 1));
    return {};
  }

  Check check(const Cast& cast, DType, const std::string& path, int depth) const {
    return expr(*cast.argument, path + ".cast", depth + 1);
  }

  const Program& program_;
  const Statement& statement_;
  const std::set<int>& readable_;
};

// ---- statements ----

Check check_target(const Program& program, const Statement& statement, const std::set<int>& readable,
                   const std::string& path) {
  if (statement.target < 0 || statement.target >= static_cast<int>(program.tensors.size()))
    return invalid(path + ".target", fmt::format("there is no tensor {}", statement.target));
  const Tensor& target = program.tensors[statement.target];
  if (target.role == Role::Input || target.role == Role::InOut)
    return invalid(path + ".target", fmt::format("{} is an input and must not be written", target.name));
  if (readable.count(statement.target))
    return invalid(path + ".target", fmt::format("{} is written twice", target.name));
  if (statement.subscripts.size() != target.extents.size())
    return invalid(path + ".subscripts", fmt::format("{} has {} dimensions, not {}", target.name, target.extents.size(),
                                                     statement.subscripts.size()));
  return {};
}

// `previous` or `unwritten`: elements are taken from it as they are.
Check check_source(const Program& program, const Statement& statement, std::optional<int> source,
                   const StatementValidator& validator, const std::string& path) {
  if (!source) return {};
  TILE_TUNE_CHECK(validator.readable(*source, path));
  const Tensor& tensor = program.tensors[*source];
  const Tensor& target = program.tensors[statement.target];
  if (tensor.type != target.type || tensor.extents != target.extents)
    return invalid(path, fmt::format("{} has another shape or type than {}", tensor.name, target.name));
  return {};
}

Check check_statement(const Program& program, const Statement& statement, const std::set<int>& readable,
                      const std::string& path) {
  TILE_TUNE_CHECK(check_target(program, statement, readable, path));
  const StatementValidator validator(program, statement, readable);
  TILE_TUNE_CHECK(check_source(program, statement, statement.previous, validator, path + ".previous"));
  TILE_TUNE_CHECK(check_source(program, statement, statement.unwritten, validator, path + ".unwritten"));
  if (statement.previous && statement.unwritten)
    return invalid(path + ".unwritten", "elements already start from another tensor");
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto index_path = fmt::format("{}.indices[{}]", path, i);
    TILE_TUNE_CHECK(check_size(program, statement.indices[i].lo, index_path + ".lo"));
    TILE_TUNE_CHECK(check_size(program, statement.indices[i].hi, index_path + ".hi"));
  }
  for (size_t d = 0; d < statement.subscripts.size(); ++d)
    TILE_TUNE_CHECK(validator.affine(statement.subscripts[d], fmt::format("{}.subscripts[{}]", path, d)));
  for (size_t i = 0; i < statement.constraints.size(); ++i) {
    const auto constraint_path = fmt::format("{}.constraints[{}]", path, i);
    TILE_TUNE_CHECK(validator.affine(statement.constraints[i].expr, constraint_path + ".expr"));
    TILE_TUNE_CHECK(check_size(program, statement.constraints[i].bound, constraint_path + ".bound"));
  }
  TILE_TUNE_CHECK(validator.expr(*statement.value, path + ".value", 1));
  if (is_complex(statement.value->type) && !is_complex(statement.accumulator))
    return invalid(path + ".accumulator", "complex values need a complex accumulator");
  if (is_complex(statement.accumulator) && !is_complex(program.tensors[statement.target].type))
    return invalid(path + ".accumulator", "a complex sum needs a complex target");
  if (is_complex(statement.accumulator) && (statement.op == Aggregation::Min || statement.op == Aggregation::Max))
    return invalid(path + ".op", "complex numbers have no order");
  return {};
}

// ---- tensors ----

// What can be said of strides before extents are numbers.
Check check_storage(const Program& program, const Tensor& tensor, const std::string& path) {
  if (tensor.storage.is_compact()) return {};
  if (tensor.role == Role::Temporary) return invalid(path, "only arguments have strides");
  if (tensor.storage.strides().size() != tensor.extents.size())
    return invalid(path, fmt::format("{} needs a stride for each dimension", tensor.name));
  for (const auto& stride : tensor.storage.strides())
    if (const auto* size = std::get_if<SizeExpr>(&stride)) TILE_TUNE_CHECK(check_size(program, *size, path));
  return {};
}

Check check_tensor(const Program& program, const Tensor& tensor, const std::string& path) {
  if (tensor.name.empty() || (tensor.role != Role::Temporary && !is_identifier(tensor.name)))
    return invalid(path + ".name", fmt::format("'{}' is no identifier", tensor.name));
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    const auto extent_path = fmt::format("{}.extents[{}]", path, d);
    TILE_TUNE_CHECK(check_size(program, tensor.extents[d], extent_path));
    if (tensor.extents[d].constant().value_or(0) < 0) return invalid(extent_path, "must not be negative");
  }
  TILE_TUNE_CHECK(check_storage(program, tensor, path + ".layout"));
  auto checked = check_tensor_size(tensor);
  if (!checked) checked.error().message = path + ": " + checked.error().message;
  return checked;
}

// `listed` names every tensor of the role exactly once.
Check check_list(const Program& program, const std::vector<int>& listed, Role role, const std::string& path) {
  std::set<int> seen;
  for (size_t i = 0; i < listed.size(); ++i) {
    const auto entry = fmt::format("{}[{}]", path, i);
    if (listed[i] < 0 || listed[i] >= static_cast<int>(program.tensors.size()))
      return invalid(entry, fmt::format("there is no tensor {}", listed[i]));
    if (program.tensors[listed[i]].role != role) return invalid(entry, "the tensor has another role");
    if (!seen.insert(listed[i]).second) return invalid(entry, "is listed twice");
  }
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (program.tensors[i].role == role && !seen.count(static_cast<int>(i)))
      return invalid(path, fmt::format("tensor {} ({}) is missing", i, program.tensors[i].name));
  return {};
}

// Arguments have names of their own, but for an in/out value, which shares its output's, and for an integer
// input without dimensions that is a size as well, because it bounds a range (decision 5).
Check check_arguments(const Program& program) {
  const std::set<std::string> sizes(program.sizes.begin(), program.sizes.end());
  std::set<std::string> names;
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const int number : *list) {
      const Tensor& tensor = program.tensors[number];
      const bool may_be_size = tensor.role == Role::Input && tensor.extents.empty() && is_integer(tensor.type);
      if (!names.insert(tensor.name).second || (sizes.count(tensor.name) && !may_be_size))
        return invalid(fmt::format("tensors[{}].name", number), fmt::format("'{}' names two things", tensor.name));
    }
  std::set<std::string> initial;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    if (tensor.role != Role::InOut) continue;
    const auto path = fmt::format("tensors[{}]", i);
    if (!initial.insert(tensor.name).second) return invalid(path, fmt::format("'{}' names two things", tensor.name));
    const bool shares = std::any_of(program.outputs.begin(), program.outputs.end(), [&](int output) {
      const Tensor& other = program.tensors[output];
      return other.name == tensor.name && other.type == tensor.type && other.extents == tensor.extents &&
             other.storage == tensor.storage;
    });
    if (!shares) return invalid(path, fmt::format("no output of this shape and type is named '{}'", tensor.name));
  }
  return {};
}

Check check_sizes(const Program& program) {
  std::set<std::string> seen;
  for (size_t i = 0; i < program.sizes.size(); ++i) {
    const auto path = fmt::format("sizes[{}]", i);
    if (!is_identifier(program.sizes[i])) return invalid(path, fmt::format("'{}' is no identifier", program.sizes[i]));
    if (!seen.insert(program.sizes[i]).second)
      return invalid(path, fmt::format("'{}' is listed twice", program.sizes[i]));
  }
  return {};
}

}  // namespace

Result<void> check_tensor_size(const Tensor& tensor) {
  int64_t bytes = static_cast<int64_t>(dtype_size(tensor.type));
  for (const auto& extent : tensor.extents)
    if (const auto value = extent.constant(); !value || *value == 0) return {};
  for (const auto& extent : tensor.extents) {
    const auto value = extent.constant();
    if (__builtin_mul_overflow(bytes, *value, &bytes))
      return fail(ErrorClass::Mismatch, "tensor-too-large",
                  fmt::format("{} would not fit a 64-bit address space", tensor.name));
  }
  return {};
}

Result<void> validate(const Program& program) {
  if (!is_identifier(program.name)) return invalid("name", fmt::format("'{}' is no identifier", program.name));
  TILE_TUNE_CHECK(check_sizes(program));
  std::set<int> readable;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    TILE_TUNE_CHECK(check_tensor(program, program.tensors[i], fmt::format("tensors[{}]", i)));
    const Role role = program.tensors[i].role;
    if (program.tensors[i].constant && role != Role::Input)
      return invalid(fmt::format("tensors[{}]", i), "only an input can be constant");
    if (role == Role::Input || role == Role::InOut) readable.insert(static_cast<int>(i));
  }
  TILE_TUNE_CHECK(check_list(program, program.inputs, Role::Input, "inputs"));
  TILE_TUNE_CHECK(check_list(program, program.outputs, Role::Output, "outputs"));
  if (program.outputs.empty()) return invalid("outputs", "a program needs at least one output");
  TILE_TUNE_CHECK(check_arguments(program));
  for (size_t i = 0; i < program.statements.size(); ++i) {
    TILE_TUNE_CHECK(check_statement(program, program.statements[i], readable, fmt::format("statements[{}]", i)));
    readable.insert(program.statements[i].target);
  }
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (!readable.count(static_cast<int>(i)))
      return invalid(fmt::format("tensors[{}]", i), fmt::format("{} is never written", program.tensors[i].name));
  return {};
}

}  // namespace tile_tune::ir
