#include "search/baselines/views.h"

#include <algorithm>
#include <set>

#include "codegen/schedule/loops.h"

namespace tile_tune::search {
namespace {

// What a conversion to a wider type of the same kind is made from: it changes no value.
const ir::Expr& without_widening(const ir::Expr& expr) {
  const auto* cast = std::get_if<ir::Cast>(&expr.node);
  if (!cast) return expr;
  const DType from = cast->argument->type, to = expr.type;
  const bool widens = is_float(from) == is_float(to) && dtype_size(from) <= dtype_size(to) && !is_complex(to);
  return widens ? without_widening(*cast->argument) : expr;
}

std::optional<double> literal_of(const ir::Expr& expr) {
  const auto* literal = std::get_if<ir::Literal>(&without_widening(expr).node);
  if (!literal) return std::nullopt;
  if (const auto* real = std::get_if<double>(&literal->value)) return *real;
  if (const auto* integer = std::get_if<int64_t>(&literal->value)) return static_cast<double>(*integer);
  return std::nullopt;
}

const ir::Call* call_of(const ir::Expr& expr, ir::Op op) {
  const auto* call = std::get_if<ir::Call>(&without_widening(expr).node);
  return call && call->op == op ? call : nullptr;
}

const ir::Read* read_of(const ir::Expr& expr) { return std::get_if<ir::Read>(&without_widening(expr).node); }

// Indices with one value add a constant.
struct Indices {
  std::map<int, ir::Range> ranges;  // those with more values
  std::map<int, int64_t> fixed;

  Terms terms(const ir::AffineExpr& expr, int64_t& constant) const {
    Terms result;
    constant = expr.constant.constant().value_or(0);
    for (const auto& [index, coefficient] : expr.terms) {
      if (const auto value = fixed.find(index); value != fixed.end())
        constant += coefficient * value->second;
      else
        result.emplace_back(index, coefficient);
    }
    return result;
  }
};

std::optional<Indices> indices_of(const ir::Statement& statement) {
  Indices result;
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto range = ir::range(statement.indices[i]);
    if (range.extent() == 1)
      result.fixed[static_cast<int>(i)] = range.lo;
    else if (range.lo != 0 || range.extent() == 0)
      return std::nullopt;
    else
      result.ranges[static_cast<int>(i)] = range;
  }
  return result;
}

template <typename Subscripts>
std::optional<AccessView> access_of(const ir::Program& program, int tensor, const Subscripts& subscripts,
                                    const Indices& indices) {
  // What libraries take for granted of a matrix is not worth telling which strides keep to.
  if (!program.tensors[tensor].storage.is_compact()) return std::nullopt;
  AccessView view{tensor, {}};
  const auto strides = ir::strides(program.tensors[tensor]);
  for (size_t d = 0; d < subscripts.size(); ++d) {
    const ir::AffineExpr* affine = nullptr;
    if constexpr (std::is_same_v<typename Subscripts::value_type, ir::AffineExpr>)
      affine = &subscripts[d];
    else
      affine = std::get_if<ir::AffineExpr>(&subscripts[d]);
    if (!affine || affine->denominator != 1) return std::nullopt;
    DimensionView dimension{d, {}, 0, strides[d]};
    dimension.terms = indices.terms(*affine, dimension.constant);
    view.dimensions.push_back(std::move(dimension));
  }
  return view;
}

// a * b, literal * a, a / literal or a alone.
bool take_value(const ir::Program& program, const ir::Expr& value, const Indices& indices, StatementView& view) {
  std::vector<const ir::Read*> reads;
  if (const auto* read = read_of(value)) {
    reads = {read};
  } else if (const auto* product = call_of(value, ir::Op::Mul)) {
    for (const auto& argument : product->arguments) {
      if (const auto literal = literal_of(*argument))
        view.factor *= *literal;
      else if (const auto* factor = read_of(*argument))
        reads.push_back(factor);
      else
        return false;
    }
    view.is_product = reads.size() == 2;
  } else if (const auto* quotient = call_of(value, ir::Op::Div)) {
    const auto* dividend = read_of(*quotient->arguments[0]);
    const auto divisor = literal_of(*quotient->arguments[1]);
    if (!dividend || !divisor || *divisor == 0 || !is_float(value.type)) return false;
    reads = {dividend};
    view.factor = 1 / *divisor;
  } else {
    return false;
  }
  for (const auto* read : reads) {
    auto access = access_of(program, read->tensor, read->subscripts, indices);
    if (!access) return false;
    view.reads.push_back(std::move(*access));
  }
  return !reads.empty();
}

std::optional<StatementView> frame_of(const ir::Program& program, const ir::Statement& statement,
                                      const Indices& indices) {
  if (statement.previous || statement.unwritten) return std::nullopt;
  auto target = access_of(program, statement.target, statement.subscripts, indices);
  if (!target || !target->is_plain()) return std::nullopt;
  // What no assignment writes would have to be filled.
  const auto shape = ir::shape(program.tensors[statement.target]);
  for (const auto& dimension : target->dimensions) {
    const int64_t covered = dimension.terms.empty() ? 1 : indices.ranges.at(dimension.terms[0].first).extent();
    if (covered != shape[dimension.number]) return std::nullopt;
  }
  StatementView view;
  view.op = statement.op;
  view.target = std::move(*target);
  view.ranges = indices.ranges;
  for (const auto& constraint : statement.constraints) {
    if (constraint.expr.denominator != 1) return std::nullopt;
    ConstraintView one;
    one.terms = indices.terms(constraint.expr, one.constant);
    one.bound = constraint.bound.constant().value_or(0);
    view.constraints.push_back(std::move(one));
  }
  return view;
}

// The read covers its tensor's elements in the order the target has them, or, with fewer dimensions, in part.
bool same_element(const StatementView& view, const AccessView& read) {
  return std::all_of(view.ranges.begin(), view.ranges.end(),
                     [&](const auto& one) { return read.stride(one.first) == view.target.stride(one.first); });
}

std::optional<std::pair<AccessView, AccessView>> operands_of(const ir::Program& program, const ir::Statement& statement,
                                                             const ir::Call& call, int a, int b) {
  const auto indices = indices_of(statement);
  const auto *first = read_of(*call.arguments[0]), *second = read_of(*call.arguments[1]);
  if (!indices || !first || !second || first->tensor != a || second->tensor != b) return std::nullopt;
  const auto view = frame_of(program, statement, *indices);
  auto x = access_of(program, a, first->subscripts, *indices), y = access_of(program, b, second->subscripts, *indices);
  if (!view || !view->constraints.empty() || !x || !y || !x->is_plain() || !y->is_plain() || !same_element(*view, *x))
    return std::nullopt;
  // Of the target's dimensions the second has all but one, in the same order.
  std::vector<size_t> missing;
  std::vector<int64_t> strides;
  for (const auto& dimension : view->target.dimensions) {
    if (dimension.terms.empty()) continue;
    const int64_t stride = y->stride(dimension.terms[0].first);
    if (stride == 0)
      missing.push_back(dimension.number);
    else
      strides.push_back(stride);
  }
  if (missing.size() != 1 || !std::is_sorted(strides.rbegin(), strides.rend())) return std::nullopt;
  return std::pair{std::move(*x), std::move(*y)};
}

}  // namespace

bool AccessView::is_plain() const {
  std::set<int> seen;
  return std::all_of(dimensions.begin(), dimensions.end(), [&](const DimensionView& dimension) {
    if (dimension.constant != 0 || dimension.terms.size() > 1) return false;
    return dimension.terms.empty() || (dimension.terms[0].second == 1 && seen.insert(dimension.terms[0].first).second);
  });
}

int64_t AccessView::stride(int index) const {
  int64_t result = 0;
  for (const auto& dimension : dimensions)
    for (const auto& [one, coefficient] : dimension.terms)
      if (one == index) result += coefficient * dimension.step;
  return result;
}

std::optional<StatementView> view_of(const ir::Program& program, const ir::Statement& statement) {
  const auto indices = indices_of(statement);
  if (!indices) return std::nullopt;
  auto view = frame_of(program, statement, *indices);
  if (!view || !take_value(program, *statement.value, *indices, *view)) return std::nullopt;
  return view;
}

std::optional<EpilogueView> epilogue_of(const ir::Program& program, const ir::Statement& statement, int input) {
  const auto indices = indices_of(statement);
  if (!indices || !statement.reduction_indices().empty()) return std::nullopt;
  auto view = frame_of(program, statement, *indices);
  if (!view || !view->constraints.empty()) return std::nullopt;
  EpilogueView result;
  const ir::Expr* value = &without_widening(*statement.value);
  if (const auto* relu = call_of(*value, ir::Op::Relu)) {
    result.relu = true;
    value = &without_widening(*relu->arguments[0]);
  } else if (const auto* call = std::get_if<ir::Call>(&value->node);
             call && (call->op == ir::Op::Fmax || call->op == ir::Op::Max)) {
    const bool zero_first = literal_of(*call->arguments[0]) == 0.0;
    if (!zero_first && literal_of(*call->arguments[1]) != 0.0) return std::nullopt;
    result.relu = true;
    value = &without_widening(*call->arguments[zero_first ? 1 : 0]);
  }
  const auto is_input = [&](const ir::Expr& expr) {
    const auto* read = read_of(expr);
    if (!read || read->tensor != input) return false;
    const auto access = access_of(program, input, read->subscripts, *indices);
    return access && access->is_plain() && same_element(*view, *access);
  };
  if (const auto* sum = call_of(*value, ir::Op::Add)) {
    const bool input_first = is_input(*sum->arguments[0]);
    const auto* bias = read_of(*sum->arguments[input_first ? 1 : 0]);
    if (!bias || bias->tensor == input) return std::nullopt;
    result.bias = access_of(program, bias->tensor, bias->subscripts, *indices);
    if (!result.bias || !result.bias->is_plain()) return std::nullopt;
    value = &without_widening(*sum->arguments[input_first ? 0 : 1]);
  } else if (const auto* product = call_of(*value, ir::Op::Mul)) {
    const auto first = literal_of(*product->arguments[0]), second = literal_of(*product->arguments[1]);
    if (first.has_value() == second.has_value()) return std::nullopt;
    result.scale = first ? *first : *second;
    value = &without_widening(*product->arguments[first ? 1 : 0]);
  }
  if (!is_input(*value)) return std::nullopt;
  result.view = std::move(*view);
  return result;
}

bool is_exp_of_difference(const ir::Program& program, const ir::Statement& statement, int a, int b) {
  const auto* exponential = call_of(*statement.value, ir::Op::Exp);
  const auto* difference = exponential ? call_of(*exponential->arguments[0], ir::Op::Sub) : nullptr;
  return difference && operands_of(program, statement, *difference, a, b);
}

bool is_quotient(const ir::Program& program, const ir::Statement& statement, int a, int b) {
  const auto* quotient = call_of(*statement.value, ir::Op::Div);
  return quotient && operands_of(program, statement, *quotient, a, b);
}

bool read_after(const ir::Program& program, int tensor, int last) {
  return std::any_of(program.statements.begin() + last + 1, program.statements.end(),
                     [&](const ir::Statement& statement) { return codegen::takes_up(statement, tensor); });
}

}  // namespace tile_tune::search
