// The graph as IR: one statement a contraction, and one for each tree of elementwise operations between them.
//
// An elementwise node is part of the statement that uses it, so that kernels compute it on the way, unless it is used
// more than once, has fewer elements than its user (it would be computed again for each), or nests too deep. What is
// kept for these reasons alone is still part of one computation, so halves are kept as f32: only contractions and
// outputs see them rounded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/literal.h"
#include "frontend/ir/operation_type.h"
#include "frontend/ir/validate.h"

namespace tile_tune::edsl::detail {

namespace {

/// Half of what a program may hold: each level may take a cast besides.
constexpr int kMaxDepth = ir::kMaxExprDepth / 2 - 2;

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::vector<ir::SizeExpr> extents(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }

ir::ExprPtr in_type(const ir::ExprPtr& expr, DType type) {
  return expr->type == type ? expr : ir::make_expr(type, ir::Cast{expr});
}

/// Scalars are only converted where their type cannot hold them: cast(2.7, DType::I32).
ir::ExprPtr number(const Scalar& scalar, DType type) {
  if (std::holds_alternative<bool>(scalar.value.value)) return in_type(ir::make_expr(DType::Bool, scalar.value), type);
  if (is_complex(type)) return ir::make_expr(type, scalar.value);
  if (const auto literal = literal_as(scalar.value, type)) return ir::make_expr(type, *literal);
  const bool is_real = std::holds_alternative<double>(scalar.value.value);
  return in_type(ir::make_expr(is_real ? DType::F64 : DType::I64, scalar.value), type);
}

/// Every node below `roots`, operands before their users.
std::vector<const Node*> in_order(const std::vector<NodePtr>& roots) {
  struct Visit {
    const Node* node;
    std::vector<NodePtr> operands;
    size_t next = 0;
  };
  std::vector<const Node*> order;
  std::set<const Node*> seen;
  for (const auto& root : roots) {
    std::vector<Visit> stack;
    const auto enter = [&](const NodePtr& node) {
      if (seen.insert(node.get()).second) stack.push_back({node.get(), operands_of(*node)});
    };
    enter(root);
    while (!stack.empty()) {
      auto& top = stack.back();
      if (top.next < top.operands.size()) {
        enter(NodePtr(top.operands[top.next++]));
        continue;
      }
      order.push_back(top.node);
      stack.pop_back();
    }
  }
  return order;
}

class Lowering {
 public:
  explicit Lowering(const Where& where) : where_(where) {}

  Lowered run(const std::string& name, const std::vector<Tensor>& inputs,
              const std::vector<std::pair<std::string, Tensor>>& outputs) {
    program().name = name;
    for (const auto& input : inputs) add_input(*input.node(where_));
    std::vector<NodePtr> roots;
    for (const auto& [output, tensor] : outputs) {
      claim(output, "output");
      roots.push_back(tensor.node(where_));
      read(*roots.back(), where_);
    }
    const auto order = in_order(roots);
    find_stored(order, roots);
    for (const Node* node : order)
      if (stored_.contains(node)) store(*node, output_name(*node, outputs));
    for (size_t i = 0; i < roots.size(); ++i) list_output(outputs[i].first, *roots[i]);
    value_or_raise(ir::validate(program()), where_);
    return std::move(result_);
  }

 private:
  ir::Program& program() { return result_.program; }

  void claim(const std::string& name, const char* what) {
    if (!is_identifier(name))
      raise("bad-name", fmt::format("'{}' cannot name an {}", name, what), where_,
            "take letters, digits and underscores");
    if (!names_.insert(name).second)
      raise("duplicate-name", fmt::format("two arguments of {} are named {}", program().name, name), where_);
  }

  int add_tensor(std::string name, const Node& node, DType type, ir::Role role) {
    program().tensors.push_back({std::move(name), type, extents(node.shape), role, ir::Storage::row()});
    return static_cast<int>(program().tensors.size()) - 1;
  }

  void add_input(const Node& node) {
    const auto* input = std::get_if<Input>(&node.kind);
    if (!input)
      raise("not-an-input", fmt::format("{} is listed as an input of {}", name_of(node), program().name), where_,
            "inputs are made with Placeholder");
    claim(input->name, "input");
    numbers_[&node] = add_tensor(input->name, node, node.type, ir::Role::Input);
    program().inputs.push_back(numbers_[&node]);
  }

  static std::string output_name(const Node& node, const std::vector<std::pair<std::string, Tensor>>& outputs) {
    for (const auto& [name, tensor] : outputs)
      if (tensor.node({}).get() == &node) return name;
    return "";
  }

  // Placeholders aside, what gets a tensor of its own.
  void find_stored(const std::vector<const Node*>& order, const std::vector<NodePtr>& roots) {
    std::map<const Node*, int> uses;
    for (const Node* node : order) {
      const bool is_contraction = std::holds_alternative<Contraction>(node->kind);
      if (is_contraction || std::holds_alternative<Input>(node->kind)) stored_.insert(node);
      for (const auto& operand : operands_of(*node)) {
        const bool is_scalar = std::holds_alternative<Scalar>(operand->kind);
        const bool is_smaller = elements(operand->shape) < elements(node->shape);
        (is_contraction ? rounded_ : continued_).insert(operand.get());
        if (is_contraction || (!is_scalar && (++uses[operand.get()] > 1 || is_smaller))) stored_.insert(operand.get());
      }
    }
    for (const auto& root : roots) {
      stored_.insert(root.get());
      rounded_.insert(root.get());
    }
    std::map<const Node*, int> depths;
    for (const Node* node : order) {
      int depth = 1;
      for (const auto& operand : operands_of(*node))
        if (!stored_.contains(operand.get())) depth = std::max(depth, depths[operand.get()] + 1);
      if (depth >= kMaxDepth) stored_.insert(node);
      depths[node] = depth;
    }
  }

  void store(const Node& node, const std::string& output) {
    if (numbers_.contains(&node)) return;
    if (const auto* input = std::get_if<Input>(&node.kind))
      raise("missing-input",
            fmt::format("{} is used, but it is not among the inputs of {}", input->name, program().name), where_);
    // What goes on in f32 is kept in f32.
    const DType type = ir::operation_type(node.type);
    if (type != node.type && std::holds_alternative<Elementwise>(node.kind) && continued_.contains(&node)) {
      const int number = add_tensor(temporary_name(), node, type, ir::Role::Temporary);
      program().statements.push_back(compute(node, number));
      unrounded_[&node] = number;
      if (!rounded_.contains(&node)) return;
    }
    const auto role = output.empty() ? ir::Role::Temporary : ir::Role::Output;
    const int number = add_tensor(output.empty() ? temporary_name() : output, node, node.type, role);
    numbers_[&node] = number;
    const auto* contraction = std::get_if<Contraction>(&node.kind);
    program().statements.push_back(contraction ? contract(node, *contraction, number) : compute(node, number));
  }

  std::string temporary_name() {
    std::string name;
    do name = fmt::format("temporary{}", ++temporaries_);
    while (names_.contains(name));
    return name;
  }

  // Outputs that are inputs, or other outputs by another name, are copies.
  void list_output(const std::string& name, const Node& node) {
    int number = numbers_.at(&node);
    if (program().tensors[static_cast<size_t>(number)].name != name ||
        program().tensors[static_cast<size_t>(number)].role != ir::Role::Output) {
      const int source = number;
      number = add_tensor(name, node, node.type, ir::Role::Output);
      auto statement = elementwise_statement(node, number);
      statement.value = read_at(source, node.shape, node.shape.size());
      program().statements.push_back(std::move(statement));
    }
    program().outputs.push_back(number);
  }

  // ---- elementwise statements ----

  ir::Statement elementwise_statement(const Node& node, int target) const {
    ir::Statement statement;
    statement.target = target;
    for (size_t d = 0; d < node.shape.size(); ++d) {
      const auto& name = program_.tensors[static_cast<size_t>(target)].name;
      statement.indices.push_back({fmt::format("i{}", d), 0, node.shape[d], fmt::format("{}, dimension {}", name, d)});
      statement.subscripts.push_back(ir::AffineExpr::index(static_cast<int>(d)));
    }
    statement.accumulator = program_.tensors[static_cast<size_t>(target)].type;
    statement.place = place_of(node.where);
    return statement;
  }

  ir::Statement compute(const Node& node, int target) const {
    auto statement = elementwise_statement(node, target);
    const auto unrounded = unrounded_.find(&node);
    statement.value = unrounded == unrounded_.end() ? expression(node, node.shape.size())
                                                    : read_at(unrounded->second, node.shape, node.shape.size());
    return statement;
  }

  // `rank` is the statement's: shapes are aligned at the right.
  ir::ExprPtr value(const Node& node, size_t rank) const {
    if (const auto found = unrounded_.find(&node); found != unrounded_.end())
      return read_at(found->second, node.shape, rank);
    if (const auto found = numbers_.find(&node); found != numbers_.end())
      return read_at(found->second, node.shape, rank);
    return expression(node, rank);
  }

  ir::ExprPtr value_as(const Node& node, DType type, size_t rank) const {
    const auto* scalar = std::get_if<Scalar>(&node.kind);
    return scalar ? number(*scalar, type) : in_type(value(node, rank), type);
  }

  ir::ExprPtr expression(const Node& node, size_t rank) const {
    if (const auto* scalar = std::get_if<Scalar>(&node.kind)) return number(*scalar, node.type);
    if (const auto* convert = std::get_if<Convert>(&node.kind)) return value_as(*convert->argument, node.type, rank);
    const auto& elementwise = std::get<Elementwise>(node.kind);
    ir::Call call{elementwise.op, {}};
    for (size_t i = 0; i < elementwise.arguments.size(); ++i) {
      const bool is_condition = elementwise.op == ir::Op::Select && i == 0;
      const DType type = is_condition ? DType::Bool : ir::operation_type(elementwise.operand_type);
      call.arguments.push_back(value_as(*elementwise.arguments[i], type, rank));
    }
    return ir::make_expr(ir::operation_type(node.type), std::move(call));
  }

  ir::ExprPtr read_at(int tensor, const std::vector<int64_t>& shape, size_t rank) const {
    ir::Read read{tensor, {}};
    const size_t offset = rank - shape.size();
    for (size_t d = 0; d < shape.size(); ++d)
      read.subscripts.push_back(shape[d] == 1 ? ir::AffineExpr{} : ir::AffineExpr::index(static_cast<int>(offset + d)));
    return ir::make_expr(program_.tensors[static_cast<size_t>(tensor)].type, std::move(read));
  }

  // ---- contractions ----

  using Variables = std::map<const Variable*, int>;

  static void number_variables(const Affine& affine, Variables& variables, ir::Statement& statement) {
    for (const auto& [variable, coefficient] : affine.terms)
      if (variables.emplace(variable.get(), static_cast<int>(statement.indices.size())).second)
        statement.indices.push_back({variable->name, 0, 0, ""});
  }

  // Indices without a name, and those whose name another has, get one.
  static void name_indices(ir::Statement& statement) {
    std::set<std::string> taken;
    for (const auto& index : statement.indices) taken.insert(index.name);
    std::set<std::string> seen;
    int next = 0;
    for (auto& index : statement.indices) {
      if (!index.name.empty() && seen.insert(index.name).second) continue;
      const std::string stem = index.name.empty() ? "i" : index.name + "_";
      do index.name = fmt::format("{}{}", stem, next++);
      while (taken.contains(index.name));
      taken.insert(index.name);
    }
  }

  static ir::AffineExpr affine_expr(const Affine& affine, const Variables& variables) {
    ir::AffineExpr result{{}, affine.constant, affine.denominator};
    for (const auto& [variable, coefficient] : affine.terms)
      result.terms.emplace_back(variables.at(variable.get()), coefficient);
    std::sort(result.terms.begin(), result.terms.end());
    return result;
  }

  ir::ExprPtr combined(const Contraction& contraction, const Variables& variables) const {
    const bool accumulates = *contraction.op == ir::Aggregation::Sum || *contraction.op == ir::Aggregation::Product;
    ir::ExprPtr result;
    for (const auto& access : contraction.operands) {
      ir::Read read{numbers_.at(access->tensor.get()), {}};
      for (const auto& subscript : access->subscripts) read.subscripts.push_back(affine_expr(subscript, variables));
      const auto operand = ir::make_expr(access->tensor->type, std::move(read));
      if (!result) {
        result = operand;
        continue;
      }
      // Widened first where a sum or product consumes it, so that it is rounded once (decision 1).
      const DType common = promote(result->type, operand->type);
      const DType type = accumulates ? accumulator_type(common) : ir::operation_type(common);
      const bool is_bool = type == DType::Bool;
      const ir::Op op =
          contraction.is_sum ? (is_bool ? ir::Op::Or : ir::Op::Add) : (is_bool ? ir::Op::And : ir::Op::Mul);
      result = ir::make_expr(type, ir::Call{op, {in_type(result, type), in_type(operand, type)}});
    }
    return result;
  }

  /// Those that were added, and those that remainders bring.
  static std::vector<Bounded> constraints_of(const Contraction& contraction) {
    std::vector<Bounded> all;
    std::set<std::shared_ptr<const Bounded>> seen;
    std::vector<Bounded> of_remainders;
    const auto collect = [&](const Affine& affine) {
      for (const auto& bound : affine.bounds)
        if (seen.insert(bound).second) of_remainders.push_back(*bound);
    };
    for (const auto& subscript : contraction.target) collect(subscript);
    for (const auto& access : contraction.operands)
      for (const auto& subscript : access->subscripts) collect(subscript);
    for (const auto& constraint : contraction.constraints) {
      collect(constraint.index().affine());
      all.push_back({constraint.index().affine(), constraint.bound(), constraint.where()});
    }
    all.insert(all.end(), of_remainders.begin(), of_remainders.end());
    return all;
  }

  ir::Statement contract(const Node& node, const Contraction& contraction, int target) {
    ir::Statement statement;
    Variables variables;
    const auto constraints = constraints_of(contraction);
    for (const auto& subscript : contraction.target) number_variables(subscript, variables, statement);
    for (const auto& access : contraction.operands)
      for (const auto& subscript : access->subscripts) number_variables(subscript, variables, statement);
    for (const auto& constraint : constraints) number_variables(constraint.affine, variables, statement);
    name_indices(statement);

    statement.target = target;
    for (const auto& subscript : contraction.target) statement.subscripts.push_back(affine_expr(subscript, variables));
    for (const auto& constraint : constraints)
      statement.constraints.push_back({affine_expr(constraint.affine, variables), constraint.bound});
    statement.op = *contraction.op;
    const bool accumulates = statement.op == ir::Aggregation::Sum || statement.op == ir::Aggregation::Product;
    statement.accumulator = accumulates && is_float(node.type) ? accumulator_type(node.type) : node.type;
    if (contraction.unwritten) statement.unwritten = numbers_.at(contraction.unwritten.get());
    statement.value = combined(contraction, variables);
    statement.place = place_of(contraction.where);

    const ir::Statement given = statement;
    const bool is_empty = value_or_raise(ir::infer_domain(program(), statement), contraction.where);
    if (is_empty) {
      warn_empty(given, contraction, constraints);
      return nothing_written(node, contraction, target);
    }
    if (statement.op == ir::Aggregation::Assign) check_collision(statement);
    return statement;
  }

  // What no valid assignment writes: the default, or zeros.
  ir::Statement nothing_written(const Node& node, const Contraction& contraction, int target) const {
    auto statement = elementwise_statement(node, target);
    if (contraction.unwritten) {
      statement.value = read_at(numbers_.at(contraction.unwritten.get()), node.shape, node.shape.size());
    } else if (node.type == DType::Bool) {
      statement.value = ir::make_expr(DType::Bool, ir::Literal{false});
    } else {
      statement.value = ir::make_expr(node.type, ir::Literal{int64_t{0}});
    }
    return statement;
  }

  void warn_empty(const ir::Statement& statement, const Contraction& contraction,
                  const std::vector<Bounded>& constraints) {
    const auto is_empty = [&](const std::vector<size_t>& kept) {
      ir::Statement fewer = statement;
      fewer.constraints.clear();
      for (const size_t i : kept) fewer.constraints.push_back(statement.constraints[i]);
      return ir::infer_domain(program(), fewer).value_or(false);
    };
    // The constraints that matter: without any one of these there would be valid indices.
    std::vector<size_t> culprits(statement.constraints.size());
    for (size_t i = 0; i < culprits.size(); ++i) culprits[i] = i;
    for (size_t i = 0; i < culprits.size();) {
      auto without = culprits;
      without.erase(without.begin() + static_cast<long>(i));
      if (is_empty(without)) {
        culprits = std::move(without);
      } else {
        ++i;
      }
    }
    std::vector<std::string> texts;
    for (const size_t i : culprits) {
      const auto& constraint = statement.constraints[i];
      texts.push_back(fmt::format("0 <= {} < {}", ir::to_text(statement, constraint.expr), constraint.bound.str()));
    }
    const std::string what = texts.empty() ? "the subscripts" : fmt::format("{}", fmt::join(texts, " and "));
    Diagnostic warning{ErrorClass::Program, "empty-domain",
                       fmt::format("no indices satisfy {} in {}, so all its elements are {}", what,
                                   ir::to_text(program(), statement), contraction.unwritten ? "the default's" : "0")};
    warning.place = culprits.empty() ? statement.place : place_of(constraints[culprits[0]].where);
    warning.severity = Severity::Warning;
    result_.warnings.push_back(std::move(warning));
  }

  void check_collision(const ir::Statement& statement) {
    const auto collision = value_or_raise(ir::find_collision(program(), statement), where_);
    if (!collision) return;
    const auto point = [&](const std::vector<int64_t>& values) {
      std::vector<std::string> texts;
      for (size_t i = 0; i < values.size(); ++i)
        texts.push_back(fmt::format("{} = {}", statement.indices[i].name, values[i]));
      return fmt::format("({})", fmt::join(texts, ", "));
    };
    const auto& target = program().tensors[static_cast<size_t>(statement.target)];
    raise(Diagnostic{
        ErrorClass::Program, "assigned-twice",
        fmt::format("'=' writes {}({}) twice, at {} and at {}: {}", target.name, fmt::join(collision->element, ", "),
                    point(collision->first), point(collision->second), ir::to_text(program(), statement)),
        statement.place, "say how to combine them: += *= >= <="});
  }

  const Where& where_;
  Lowered result_;
  const ir::Program& program_ = result_.program;
  std::set<std::string> names_;
  std::set<const Node*> stored_;
  std::set<const Node*> rounded_, continued_;  // read by contractions or listed; read by elementwise operations
  std::map<const Node*, int> numbers_;
  std::map<const Node*, int> unrounded_;  // of nodes of half types that are continued
  int temporaries_ = 0;
};

}  // namespace

Lowered lower(const std::string& name, const std::vector<Tensor>& inputs,
              const std::vector<std::pair<std::string, Tensor>>& outputs, const Where& where) {
  return Lowering(where).run(name, inputs, outputs);
}

}  // namespace tile_tune::edsl::detail
