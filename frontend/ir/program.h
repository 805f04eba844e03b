// The IR where all front ends meet: a Program of Statements in single-assignment order.
//
// Meaning of a Statement: for every assignment of its indices to integers inside their ranges that
// satisfies every constraint (and makes every affine subscript an integer), `value` is computed, converted
// to `accumulator`, and combined by `op` into the element of `target` that `subscripts` name; the order of
// the assignments never matters. An element starts from the identity of `op`, or, with `previous`, from that
// tensor's element. The result is rounded once to the target's type. Elements no assignment writes take the
// element of `previous` or of `unwritten` if there is one, else 0. (A reduction whose range is empty for every
// element, because a size is 0, writes what elements start from; where constraints leave an element without
// assignments, nothing writes it.)
// Every statement writes a tensor of its own (each version of a name is a tensor): statements may read only
// inputs and targets of earlier statements. Extents and ranges are symbolic until bind() makes them numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/expr.h"
#include "frontend/ir/storage.h"

namespace tile_tune::ir {

enum class Role {
  Input,      // given by the caller, read-only
  InOut,      // the value a caller's output buffer has on entry; shares its name and buffer with an output
  Temporary,  // made and used inside
  Output,
};

struct Tensor {
  std::string name;
  DType type = DType::F32;
  std::vector<SizeExpr> extents;  // empty: a scalar
  Role role = Role::Input;
  Storage storage = {};
  bool constant = false;  // an input with the same elements in every call (weights): kernels take what was made of it
                          // beforehand
};

/// An index variable and its half-open range [lo, hi). `reason` says in plain words what bounds it:
/// "A(i,j), dimension 0" or "where clause".
struct Index {
  std::string name;
  SizeExpr lo = 0;
  SizeExpr hi = 0;
  std::string reason;
};

/// 0 <= expr < bound.
struct Constraint {
  AffineExpr expr;
  SizeExpr bound;
};

enum class Aggregation { Assign, Sum, Product, Min, Max };
std::string_view aggregation_name(Aggregation op);  // "assign", "sum", ...
std::optional<Aggregation> parse_aggregation(std::string_view name);

struct Statement {
  int target = -1;                     // number of the tensor written
  std::vector<AffineExpr> subscripts;  // one per dimension of the target
  std::vector<Index> indices;          // numbers used by AffineExpr and IndexValue
  std::vector<Constraint> constraints;
  Aggregation op = Aggregation::Assign;
  std::optional<int> previous;   // tensor of the same shape and type whose value elements start from
  std::optional<int> unwritten;  // tensor of the same shape and type that elements no assignment writes are taken
                                 // from, the others starting from the identity (Tile's use_default); excludes previous
  DType accumulator = DType::F32;
  ExprPtr value;
  std::optional<Place> place;  // of the statement's text, for messages

  /// True if no subscript of the target uses the index.
  bool is_reduction(int index) const;
  /// Numbers of the reduction indices, ascending.
  std::vector<int> reduction_indices() const;
};

struct Program {
  std::string name;
  std::vector<std::string> sizes;  // size names in order of appearance; empty once bound
  std::vector<Tensor> tensors;
  std::vector<int> inputs;   // numbers of Input tensors in signature order
  std::vector<int> outputs;  // numbers of Output tensors in signature order
  std::vector<Statement> statements;
  bool cold = false;        // callers' arrays are in memory, in no cache, when it is called: how its kernels are judged
  bool free_order = false;  // of contractions: its statements are steps of one product of several tensors, in an order
                            // that nobody asked for

  /// Number of the tensor an output starts from (role InOut, same name), if it is in/out.
  std::optional<int> initial_value_of(int output) const;
  bool is_bound() const;
};

/// Extent of dimension `d` and range of an index in a bound program.
int64_t extent(const Tensor& tensor, size_t d);
std::vector<int64_t> shape(const Tensor& tensor);
int64_t element_count(const Tensor& tensor);
struct Range {
  int64_t lo, hi;
  int64_t extent() const { return hi > lo ? hi - lo : 0; }
  bool is_empty() const { return hi <= lo; }
};
Range range(const Index& index);

/// Replaces every size name by its number and checks what only then can be checked: missing or negative
/// sizes, names the program does not have, ranges that are empty though all sizes are positive, reads that
/// leave their tensor (frontend/ir/domain.h). With a size of 0 extents that would be negative are 0: a
/// window of 3 over nothing gives nothing. Errors are of class Mismatch. A bound program and no sizes are
/// fine: then only the checks happen.
Result<Program> bind(const Program& program, const Sizes& sizes);

/// Arithmetic work of a bound program: one FLOP for each arithmetic operation, comparison or function
/// evaluated, and one for each combination by Sum, Product, Min or Max. Where a domain with constraints is
/// too large to count (domain_size), all of its ranges' points count: an upper bound.
double flops(const Program& program);
/// Compulsory traffic in bytes: inputs (and in/out values) read once, outputs written once.
struct Traffic {
  double read = 0, written = 0;
  double total() const { return read + written; }
};
Traffic traffic(const Program& program);

}  // namespace tile_tune::ir
