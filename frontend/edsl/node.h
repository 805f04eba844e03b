// What the public classes point to: affine expressions of index variables, and the graph of tensors.
//
// A graph grows from its inputs; only a TensorOutput changes after it is made: it gets its one contraction, its
// constraints and its default, and is closed by the first read.
#pragma once

#include <tile_tune/edsl.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/ir/expr.h"
#include "frontend/ir/program.h"

namespace tile_tune::edsl::detail {

/// An index variable is its address; the name may be empty.
struct Variable {
  std::string name;
};
using VariablePtr = std::shared_ptr<const Variable>;

struct Bounded;

/// (sum of coefficient * variable + constant) / denominator in lowest terms; denominator >= 1, no coefficient 0.
struct Affine {
  std::vector<std::pair<VariablePtr, int64_t>> terms;  // in order of appearance
  int64_t constant = 0;
  int64_t denominator = 1;
  std::vector<std::shared_ptr<const Bounded>> bounds = {};  // of variables of its own: where `%` was used
};

/// 0 <= affine < bound. A remainder a % n is a - n * q with 0 <= a - n * q < n, which one q alone satisfies.
struct Bounded {
  Affine affine;
  int64_t bound;
  Where where;
};

struct Access {
  NodePtr tensor;
  std::vector<Affine> subscripts;
  Where where;
};
using AccessPtr = std::shared_ptr<const Access>;

struct Input {
  std::string name;
};

/// A scalar without a type of its own.
struct Scalar {
  ir::Literal value;
};

/// `op` on arguments converted to `operand_type`, the condition of a Select excepted.
struct Elementwise {
  ir::Op op;
  DType operand_type;
  std::vector<NodePtr> arguments;
};

/// The argument in the node's type and shape.
struct Convert {
  NodePtr argument;
};

/// A TensorOutput. `op` is empty until its contraction is written.
struct Contraction {
  std::optional<ir::Aggregation> op;
  std::vector<Affine> target;
  std::vector<AccessPtr> operands;
  bool is_sum = false;  // of several operands; else their product
  std::vector<Constraint> constraints;
  NodePtr unwritten;  // of the node's shape and type, or null
  Where where;        // of the contraction
  bool is_read = false;
};

struct Node {
  DType type = DType::F32;  // of a Contraction: once it is written
  std::vector<int64_t> shape;
  Where where;
  std::variant<Input, Scalar, Elementwise, Convert, Contraction> kind;

  Node(DType type, std::vector<int64_t> shape, const Where& where,
       std::variant<Input, Scalar, Elementwise, Convert, Contraction> kind)
      : type(type), shape(std::move(shape)), where(where), kind(std::move(kind)) {}
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
};

/// Nodes this one is computed from, in order.
std::vector<NodePtr> operands_of(const Node& node);

/// "A", "the TensorOutput of line 12", "the tensor of line 14".
std::string name_of(const Node& node);

/// Marks a node as read; a TensorOutput without a contraction is an error.
void read(const Node& node, const Where& where);

/// numpy's rule; nullopt if the shapes do not fit together.
std::optional<std::vector<int64_t>> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

/// `values` in the shape and type of a TensorOutput; as they are before its contraction gives it a type.
NodePtr default_for(const Node& output, const NodePtr& values, const Where& where);

/// The type of a scalar that meets nothing typed.
DType own_type(const Scalar& scalar);

/// Variables without names are written _1, _2, ... in order of appearance.
std::string to_text(const Affine& affine);
std::string to_text(const Access& access);
std::string shape_text(const std::vector<int64_t>& shape);  // "(3, 4)"

struct Lowered {
  ir::Program program;
  std::vector<Diagnostic> warnings;
};
/// The graph below `outputs` as IR. Throws ProgramError.
Lowered lower(const std::string& name, const std::vector<Tensor>& inputs,
              const std::vector<std::pair<std::string, Tensor>>& outputs, const Where& where);

}  // namespace tile_tune::edsl::detail
