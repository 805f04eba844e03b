#include "frontend/ir/program.h"

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <numeric>

#include "frontend/ir/domain.h"
#include "frontend/ir/path_condition.h"
#include "frontend/ir/requirement.h"
#include "frontend/ir/validate.h"

namespace tile_tune::ir {
namespace {

// Rebuilds an expression with every size expression bound.
Result<ExprPtr> bind_expr(const ExprPtr& expr, const Sizes& sizes);

Result<AffineExpr> bind_affine(AffineExpr expr, const Sizes& sizes) {
  TILE_TUNE_TRY(constant, expr.constant.bind(sizes));
  expr.constant = constant;
  return expr;
}

Result<Subscript> bind_subscript(const Subscript& subscript, const Sizes& sizes) {
  if (const auto* affine = std::get_if<AffineExpr>(&subscript)) {
    TILE_TUNE_TRY(bound, bind_affine(*affine, sizes));
    return Subscript{bound};
  }
  TILE_TUNE_TRY(bound, bind_expr(std::get<ExprPtr>(subscript), sizes));
  return Subscript{bound};
}

Result<ExprPtr> bind_expr(const ExprPtr& expr, const Sizes& sizes) {
  Expr result = *expr;
  if (auto* size = std::get_if<SizeValue>(&result.node)) {
    TILE_TUNE_TRY(bound, size->size.bind(sizes));
    size->size = bound;
  } else if (auto* read = std::get_if<Read>(&result.node)) {
    for (auto& subscript : read->subscripts) {
      TILE_TUNE_TRY(bound, bind_subscript(subscript, sizes));
      subscript = bound;
    }
  } else if (auto* call = std::get_if<Call>(&result.node)) {
    for (auto& argument : call->arguments) {
      TILE_TUNE_TRY(bound, bind_expr(argument, sizes));
      argument = bound;
    }
  } else if (auto* cast = std::get_if<Cast>(&result.node)) {
    TILE_TUNE_TRY(bound, bind_expr(cast->argument, sizes));
    cast->argument = bound;
  }
  return std::make_shared<const Expr>(std::move(result));
}

Result<Statement> bind_statement(Statement statement, const Sizes& sizes) {
  for (auto& subscript : statement.subscripts) {
    TILE_TUNE_TRY(bound, bind_affine(subscript, sizes));
    subscript = bound;
  }
  for (auto& index : statement.indices) {
    TILE_TUNE_TRY(lo, index.lo.bind(sizes));
    TILE_TUNE_TRY(hi, index.hi.bind(sizes));
    index.lo = lo;
    index.hi = hi;
  }
  for (auto& constraint : statement.constraints) {
    TILE_TUNE_TRY(expr, bind_affine(constraint.expr, sizes));
    TILE_TUNE_TRY(bound, constraint.bound.bind(sizes));
    constraint = {expr, bound};
  }
  TILE_TUNE_TRY(value, bind_expr(statement.value, sizes));
  statement.value = value;
  return statement;
}

Result<void> check_sizes(const Program& program, const Sizes& sizes) {
  std::string missing;
  for (const auto& name : program.sizes) {
    const auto found = sizes.find(name);
    if (found == sizes.end()) {
      missing += (missing.empty() ? "" : ", ") + name;
    } else if (found->second < 0) {
      return fail(ErrorClass::Mismatch, "negative-size", fmt::format("size {} = {} is negative", name, found->second));
    }
  }
  if (!missing.empty())
    return fail(ErrorClass::Mismatch, "missing-size",
                fmt::format("no value for size{} {} of '{}'", missing.find(',') == std::string::npos ? "" : "s",
                            missing, program.name),
                fmt::format("give each with -s NAME=N"));
  for (const auto& [name, value] : sizes) {
    if (std::find(program.sizes.begin(), program.sizes.end(), name) == program.sizes.end())
      return fail(
          ErrorClass::Mismatch, "unknown-size", fmt::format("'{}' has no size named {}", program.name, name),
          program.sizes.empty() ? "it has no sizes" : fmt::format("its sizes are {}", fmt::join(program.sizes, ", ")));
  }
  return {};
}

// Negative extents become 0 here: where nothing is of size 0 they are an error all the same, but an empty range
// that explains it is told first.
Result<void> bind_extents(Tensor& tensor, const Sizes& sizes, bool& zero_sized) {
  for (auto& extent : tensor.extents) {
    TILE_TUNE_TRY(value, extent.bind(sizes));
    if (value.constant() == 0 && (tensor.role == Role::Input || tensor.role == Role::InOut)) zero_sized = true;
    extent = SizeExpr::max(value, 0);
  }
  return check_tensor_size(tensor);
}

Result<void> check_extents(const Program& program, const Sizes& sizes) {
  for (const auto& tensor : program.tensors)
    for (const auto& extent : tensor.extents)
      if (const auto value = extent.bind(sizes)->constant(); *value < 0)
        return fail(
            ErrorClass::Mismatch, "negative-extent",
            fmt::format("a dimension of {}, {}, would be {} for these sizes", tensor.name, extent.str(), *value));
  return {};
}

// Of what `written` requires of the sizes; `bound` is the same statement with numbers, and keeps its other constraints.
Result<void> check_requirements(const Statement& written, Statement& bound) {
  // Sizes that are 0 elsewhere excuse nothing.
  const bool is_empty = std::any_of(bound.indices.begin(), bound.indices.end(),
                                    [](const Index& index) { return range(index).extent() == 0; });
  std::vector<Constraint> others;
  for (size_t c = 0; c < written.constraints.size(); ++c) {
    const auto& [expr, limit] = written.constraints[c];
    if (!is_requirement(written.constraints[c])) {
      others.push_back(bound.constraints[c]);
      continue;
    }
    const int64_t value = *bound.constraints[c].expr.constant.constant(), most = *bound.constraints[c].bound.constant();
    if (is_empty || (value >= 0 && value < most)) continue;
    return tl::unexpected(
        Diagnostic{ErrorClass::Mismatch, "out-of-bounds",
                   fmt::format("an element that must exist does not: 0 <= {} < {} is 0 <= {} < {} for these sizes",
                               expr.constant.str(), limit.str(), value, most),
                   written.place});
  }
  bound.constraints = std::move(others);
  return {};
}

double box_size(const Statement& statement) {
  double size = 1;
  for (const auto& index : statement.indices) size *= static_cast<double>(range(index).extent());
  return size;
}

double count_operations(const Expr& expr, const Statement& statement) {
  double count = 0;
  if (const auto* select = std::get_if<Call>(&expr.node); select && select->op == Op::Select) {
    const auto of = [&](size_t i) { return count_operations(*select->arguments[i], statement); };
    // Borders are no arithmetic, and in the interior one branch is left.
    if (formula_of(*select->arguments[0], true, &statement)) return std::max(of(1), of(2));
    return of(0) + of(1) + of(2);
  }
  if (const auto* call = std::get_if<Call>(&expr.node)) {
    if (call->op != Op::And && call->op != Op::Or && call->op != Op::Not && call->op != Op::Conj) count += 1;
    for (const auto& argument : call->arguments) count += count_operations(*argument, statement);
  } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
    count += count_operations(*cast->argument, statement);
  }
  return count;
}

}  // namespace

std::string_view aggregation_name(Aggregation op) {
  switch (op) {
    case Aggregation::Assign:
      return "assign";
    case Aggregation::Sum:
      return "sum";
    case Aggregation::Product:
      return "product";
    case Aggregation::Min:
      return "min";
    case Aggregation::Max:
      return "max";
  }
  return "";
}

std::optional<Aggregation> parse_aggregation(std::string_view name) {
  for (const auto op :
       {Aggregation::Assign, Aggregation::Sum, Aggregation::Product, Aggregation::Min, Aggregation::Max})
    if (aggregation_name(op) == name) return op;
  return std::nullopt;
}

bool Statement::is_reduction(int index) const {
  return std::none_of(subscripts.begin(), subscripts.end(),
                      [&](const AffineExpr& subscript) { return subscript.coefficient(index) != 0; });
}

std::vector<int> Statement::reduction_indices() const {
  std::vector<int> result;
  for (size_t i = 0; i < indices.size(); ++i)
    if (is_reduction(static_cast<int>(i))) result.push_back(static_cast<int>(i));
  return result;
}

std::optional<int> Program::initial_value_of(int output) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].role == Role::InOut && tensors[i].name == tensors[output].name) return static_cast<int>(i);
  return std::nullopt;
}

bool Program::is_bound() const {
  for (const auto& tensor : tensors)
    for (const auto& extent : tensor.extents)
      if (!extent.constant()) return false;
  return sizes.empty();
}

int64_t extent(const Tensor& tensor, size_t d) { return tensor.extents[d].constant().value(); }

std::vector<int64_t> shape(const Tensor& tensor) {
  std::vector<int64_t> result;
  for (size_t d = 0; d < tensor.extents.size(); ++d) result.push_back(extent(tensor, d));
  return result;
}

int64_t element_count(const Tensor& tensor) {
  const auto extents = shape(tensor);
  // Beside an extent of 0 the others may be of any size.
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

Range range(const Index& index) { return {index.lo.constant().value(), index.hi.constant().value()}; }

Result<Program> bind(const Program& program, const Sizes& sizes) {
  TILE_TUNE_CHECK(check_sizes(program, sizes));
  bool zero_sized = std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second == 0; });
  Program bound = program;
  bound.sizes.clear();
  for (auto& statement : bound.statements) {
    TILE_TUNE_TRY(bound_statement, bind_statement(statement, sizes));
    statement = std::move(bound_statement);
  }
  for (auto& tensor : bound.tensors) TILE_TUNE_CHECK(bind_extents(tensor, sizes, zero_sized));
  for (size_t s = 0; s < bound.statements.size(); ++s)
    TILE_TUNE_CHECK(check_requirements(program.statements[s], bound.statements[s]));
  TILE_TUNE_CHECK(check_domains(bound, zero_sized));
  if (!zero_sized) TILE_TUNE_CHECK(check_extents(program, sizes));
  for (auto& tensor : bound.tensors) {
    TILE_TUNE_TRY(with_numbers, tensor.storage.bind(sizes));
    tensor.storage = std::move(with_numbers);
    TILE_TUNE_TRY(storage, normal_storage(tensor));
    tensor.storage = std::move(storage);
  }
  return bound;
}

double flops(const Program& program) {
  double total = 0;
  for (const auto& statement : program.statements) {
    const bool combines = statement.op != Aggregation::Assign;
    const double points = domain_size(program, statement).value_or(box_size(statement));
    total += points * (count_operations(*statement.value, statement) + (combines ? 1 : 0));
  }
  return total;
}

Traffic traffic(const Program& program) {
  Traffic bytes;
  for (const auto& tensor : program.tensors) {
    // What lies in one place is moved once.
    const int64_t elements = std::min(element_count(tensor), reach(tensor).count);
    const double size = static_cast<double>(elements) * dtype_size(tensor.type);
    if (tensor.role == Role::Input || tensor.role == Role::InOut) bytes.read += size;
    if (tensor.role == Role::Output) bytes.written += size;
  }
  return bytes;
}

}  // namespace tile_tune::ir
