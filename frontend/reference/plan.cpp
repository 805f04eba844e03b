#include "frontend/reference/plan.h"

#include <algorithm>
#include <map>

#include "frontend/ir/domain.h"
#include "frontend/ir/gather.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

int64_t number(const ir::SizeExpr& size) { return size.constant().value(); }

Linear linear(const ir::AffineExpr& expr) { return {number(expr.constant), expr.terms}; }

void add_scaled(Linear& sum, const Linear& part, int64_t factor) {
  sum.constant += factor * part.constant;
  for (const auto& [index, coefficient] : part.terms) {
    auto same = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const auto& term) { return term.first == index; });
    if (same == sum.terms.end())
      sum.terms.emplace_back(index, factor * coefficient);
    else
      same->second += factor * coefficient;
  }
}

Value constant_of(DType type, const ir::Literal& literal) {
  if (const auto* real = std::get_if<double>(&literal.value)) return {tensor::round_to(component_type(type), *real)};
  const bool* truth = std::get_if<bool>(&literal.value);
  const int64_t integer = truth ? *truth : std::get<int64_t>(literal.value);
  return is_float(type) || is_complex(type) ? convert(DType::I64, type, {0, integer, 0})
                                            : Value{0, tensor::wrap(type, integer), 0};
}

class Planner {
 public:
  Planner(const ir::Program& program, const ir::Statement& statement) : program_(program), statement_(statement) {}

  Plan plan() {
    const ir::Tensor& target = program_.tensors[statement_.target];
    plan_.statement = &statement_;
    plan_.target_type = target.type;
    plan_.target_shape = ir::shape(target);
    plan_.target_elements = ir::element_count(target);
    for (const auto& subscript : statement_.subscripts) plan_.target_constants.push_back(number(subscript.constant));
    for (const auto& index : statement_.indices) plan_.ranges.push_back(ir::range(index));
    for (size_t i = 0; i < plan_.ranges.size(); ++i) {
      const bool reduced = statement_.is_reduction(static_cast<int>(i));
      (reduced ? plan_.reduction : plan_.output).push_back(static_cast<int>(i));
      plan_.reduction_is_empty |= reduced && plan_.ranges[i].extent() == 0;
    }
    plan_.reduction_is_empty &= !ir::writes_nothing(statement_);
    if (plan_.reduction_is_empty)
      std::copy_if(plan_.reduction.begin(), plan_.reduction.end(), std::back_inserter(plan_.others),
                   [&](int index) { return plan_.ranges[index].extent() > 0; });
    for (const auto& constraint : statement_.constraints)
      if (!plan_.reduction_is_empty || !ir::is_vacuous(statement_, constraint))
        plan_.guards.push_back({linear(constraint.expr), constraint.expr.denominator, number(constraint.bound)});
    plan_.target = access(statement_.target, {statement_.subscripts.begin(), statement_.subscripts.end()});
    if (auto pivots = ir::pivots_of(statement_)) {
      plan_.elementwise = true;
      plan_.pivots = std::move(*pivots);
    }
    const size_t where = plan_.guards.size();
    add(*statement_.value);
    if (plan_.reduction_is_empty) plan_.guards.resize(where);  // nothing is read
    leave_root_rounding_to_the_reduction();
    plan_.products = products();
    const DType type = statement_.value->type;
    if (statement_.op == ir::Aggregation::Sum && (is_float(type) || is_complex(type))) {
      find_factors(static_cast<int>(plan_.nodes.size()) - 1);
      const Node& root = plan_.nodes.back();
      plan_.flushes =
          is_operation(root, ir::Op::Mul) && is_widened_bf16(root.arguments[0]) && is_widened_bf16(root.arguments[1]);
      if (plan_.factors.size() + plan_.divisors.size() < 3 && !plan_.flushes) plan_.factors.clear();
    }
    return std::move(plan_);
  }

 private:
  // A sum's bound (tolerance.h) covers the rounding of the terms' last operation together with the additions: for
  // a contraction it then is the formula of decision 11.
  void leave_root_rounding_to_the_reduction() {
    Node& root = plan_.nodes.back();
    // Factors that are one number over and over round alike, and do not walk at random.
    const auto used = ir::indices_of(*statement_.value);
    const bool varies = std::all_of(plan_.reduction.begin(), plan_.reduction.end(),
                                    [&](int index) { return std::binary_search(used.begin(), used.end(), index); });
    const bool covered = statement_.op == ir::Aggregation::Sum || (statement_.op == ir::Aggregation::Product && varies);
    // A complex product rounds at the size of its own two terms, which its parts may be far below.
    if (covered && root.kind == Node::Kind::Operation && !root.operation.complex &&
        root.operation.ulps <= kArithmeticUlps &&
        root.operation.precision.epsilon <= precision(statement_.accumulator).epsilon)
      root.operation.ulps = 0;
  }

  // Most of the reference's time goes into contractions, whose terms all look alike.
  std::optional<Products> products() const {
    if (statement_.op != ir::Aggregation::Sum || plan_.nodes.size() != 3) return std::nullopt;
    const Node &a = plan_.nodes[0], &b = plan_.nodes[1], &root = plan_.nodes[2];
    const DType type = statement_.accumulator;
    if (a.kind != Node::Kind::Load || b.kind != Node::Kind::Load || root.kind != Node::Kind::Operation ||
        root.operation.op != ir::Op::Mul || root.operation.ulps != 0 || (type != DType::F32 && type != DType::F64) ||
        root.type != type || a.type != type || b.type != type)
      return std::nullopt;
    const auto inner = unchecked_reduction();
    if (!inner) return std::nullopt;
    return Products{plan_.nodes[root.arguments[0]].arguments[0], plan_.nodes[root.arguments[1]].arguments[0], *inner};
  }

  static bool is_operation(const Node& node, ir::Op op) {
    return node.kind == Node::Kind::Operation && node.operation.op == op;
  }

  void find_factors(int number) {
    const Node& node = plan_.nodes[number];
    const auto is = [&](ir::Op op) { return is_operation(node, op); };
    if (!is(ir::Op::Mul) && !is(ir::Op::Div) && !is(ir::Op::Neg)) return plan_.factors.push_back(number);
    find_factors(node.arguments[0]);
    if (is(ir::Op::Mul)) find_factors(node.arguments[1]);
    if (is(ir::Op::Div)) plan_.divisors.push_back(node.arguments[1]);
  }

  bool is_widened_bf16(int number) const {
    const Node& node = plan_.nodes[number];
    return node.kind == Node::Kind::Cast && node.type == DType::F32 && node.from == DType::BF16 &&
           plan_.nodes[node.arguments[0]].kind == Node::Kind::Load;
  }

  // The longest reduction index that no guard and no checked subscript reads.
  std::optional<int> unchecked_reduction() const {
    std::optional<int> longest;
    for (const int index : plan_.reduction) {
      const auto reads = [&](const Linear& value) {
        return std::any_of(value.terms.begin(), value.terms.end(),
                           [&](const auto& term) { return term.first == index; });
      };
      bool checked = false;
      for (const auto& guard : plan_.guards) checked |= reads(guard.numerator);
      for (const auto& access : plan_.accesses)
        for (const auto& subscript : access.checked) checked |= subscript.node >= 0 || reads(subscript.numerator);
      if (!checked && (!longest || plan_.ranges[index].extent() > plan_.ranges[*longest].extent())) longest = index;
    }
    return longest;
  }

  // Whether an affine subscript is inside [0, extent) for all points of the ranges. In 128 bits nothing overflows.
  bool stays_inside(const Linear& subscript, int64_t extent) const {
    __int128 low = subscript.constant, high = subscript.constant;
    for (const auto& [index, coefficient] : subscript.terms) {
      if (plan_.ranges[index].extent() == 0) return true;
      const __int128 first = __int128{coefficient} * plan_.ranges[index].lo;
      const __int128 last = __int128{coefficient} * (plan_.ranges[index].hi - 1);
      low += std::min(first, last);
      high += std::max(first, last);
    }
    return low >= 0 && high < extent;
  }

  Access access(int tensor, const std::vector<ir::Subscript>& subscripts) {
    Access result{tensor, {}, {}, {}};
    const auto shape = ir::shape(program_.tensors[tensor]);
    int64_t stride = 1;
    for (size_t d = subscripts.size(); d-- > 0; stride *= shape[d]) {
      CheckedSubscript checked{{}, 1, -1, nullptr, d, shape[d], stride};
      if (const auto* affine = std::get_if<ir::AffineExpr>(&subscripts[d])) {
        checked.numerator = linear(*affine);
        checked.denominator = affine->denominator;
        if (affine->denominator != 1) plan_.guards.push_back({checked.numerator, affine->denominator, std::nullopt});
        if (affine->denominator == 1 && stays_inside(checked.numerator, shape[d])) {
          add_scaled(result.offset, checked.numerator, stride);
          continue;
        }
      } else {
        checked.index = std::get<ir::ExprPtr>(subscripts[d]).get();
        checked.node = add(*checked.index);
      }
      result.checked.push_back(std::move(checked));
    }
    return result;
  }

  // Whether some read in the expression is checked where it happens.
  bool is_checked(const ir::Expr& expr) const {
    bool checked = false;
    ir::for_each_read(expr, [&](const ir::Read& read) {
      const auto shape = ir::shape(program_.tensors[read.tensor]);
      for (size_t d = 0; d < shape.size() && !checked; ++d) {
        const auto* affine = std::get_if<ir::AffineExpr>(&read.subscripts[d]);
        checked = !affine || affine->denominator != 1 || !stays_inside(linear(*affine), shape[d]);
      }
    });
    return checked;
  }

  // A branch of a select: what it checks, it checks on a path of its own.
  int add_branch(const ir::Expr& branch, Taken taken) {
    if (!is_checked(branch)) return add(branch);
    path_.push_back(taken);
    const int node = add(branch);
    path_.pop_back();
    return node;
  }

  // Number of the node for `expr`; parts shared by pointer are computed once on each path.
  int add(const ir::Expr& expr) {
    const auto key = std::pair(&expr, path_);
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    Node node = std::visit([&](const auto& part) { return make(expr.type, part); }, expr.node);
    node.type = expr.type;
    plan_.nodes.push_back(std::move(node));
    return numbers_[key] = static_cast<int>(plan_.nodes.size()) - 1;
  }

  Node make(DType type, const ir::Literal& literal) { return constant(constant_of(type, literal)); }
  Node make(DType type, const ir::SizeValue& size) {
    return constant(constant_of(type, ir::Literal{number(size.size)}));
  }
  static Node constant(const Value& value) {
    Node node;
    node.constant = value;
    return node;
  }

  Node make(DType, const ir::IndexValue& index) {
    Node node;
    node.kind = Node::Kind::Index;
    node.arguments[0] = index.index;
    return node;
  }

  Node make(DType, const ir::Read& read) {
    Node node;
    node.kind = Node::Kind::Load;
    Access result = access(read.tensor, read.subscripts);
    if (!result.checked.empty()) result.path = path_;
    node.arguments[0] = static_cast<int>(plan_.accesses.size());
    plan_.accesses.push_back(std::move(result));
    return node;
  }

  Node make(DType type, const ir::Call& call) {
    Node node;
    node.kind = Node::Kind::Operation;
    // Operands that the operation does not have repeat the first one; it ignores them.
    node.arguments.fill(add(*call.arguments[0]));
    const bool selects = call.op == ir::Op::Select;
    for (size_t i = 1; i < call.arguments.size(); ++i)
      node.arguments[i] =
          selects ? add_branch(*call.arguments[i], {node.arguments[0], i == 1}) : add(*call.arguments[i]);
    node.operation = make_operation(call.op, call.arguments.back()->type, type);
    node.operation.by_real = call.op == ir::Op::Mul && is_complex(type) &&
                             std::any_of(call.arguments.begin(), call.arguments.end(), [](const ir::ExprPtr& argument) {
                               const auto* cast = std::get_if<ir::Cast>(&argument->node);
                               return cast && !is_complex(cast->argument->type);
                             });
    return node;
  }

  Node make(DType, const ir::Cast& cast) {
    Node node;
    node.kind = Node::Kind::Cast;
    node.from = cast.argument->type;
    node.arguments[0] = add(*cast.argument);
    return node;
  }

  const ir::Program& program_;
  const ir::Statement& statement_;
  Plan plan_;
  std::vector<Taken> path_;  // of the branch that is being added
  std::map<std::pair<const ir::Expr*, std::vector<Taken>>, int> numbers_;
};

}  // namespace

Plan make_plan(const ir::Program& program, const ir::Statement& statement) {
  return Planner(program, statement).plan();
}

}  // namespace tile_tune::reference
