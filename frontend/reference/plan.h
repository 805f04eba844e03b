// A bound Statement made ready to run: expressions as a flat list, subscripts as strides, ranges as numbers.
//
// What depends only on the program is decided here once, so that one innermost iteration is a few dozen
// nanoseconds. Affine subscripts that stay inside their tensor for every point of the ranges become part of one
// linear offset; gathers and those that only constraints keep inside are checked at every point.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/ir/gather.h"
#include "frontend/ir/program.h"
#include "frontend/reference/value.h"

namespace tile_tune::reference {

/// constant + sum of coefficient * index.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;

  int64_t at(const int64_t* index) const {
    int64_t sum = constant;
    for (const auto& [number, coefficient] : terms) sum += coefficient * index[number];
    return sum;
  }
};

/// One dimension of an access that must be checked where it happens. The subscript is numerator / denominator,
/// or, for a gather, the value of a node.
struct CheckedSubscript {
  Linear numerator;
  int64_t denominator = 1;
  int node = -1;
  const ir::Expr* index = nullptr;  // of a gather
  size_t dimension = 0;
  int64_t extent = 0;
  int64_t stride = 0;
};

/// A condition around an access: the node that has it, and what it is where the access's branch is taken.
struct Taken {
  int node;
  bool holds;
  auto operator<=>(const Taken&) const = default;
};

/// The element of a tensor that an access names: offset plus what the checked subscripts add. Where a condition of
/// `path`, which is empty if nothing is checked, shows that the access's branch is not taken, it names none.
struct Access {
  int tensor = -1;
  Linear offset;
  std::vector<CheckedSubscript> checked;
  std::vector<Taken> path;
};

/// A point counts only if numerator / denominator is an integer and, with a bound, 0 <= it < bound.
struct Guard {
  Linear numerator;
  int64_t denominator = 1;
  std::optional<int64_t> bound;
};

/// One step of an expression; arguments are numbers of earlier nodes. The last node is the value.
struct Node {
  enum class Kind { Constant, Index, Load, Operation, Cast } kind = Kind::Constant;
  DType type = DType::F32;
  std::array<int, 3> arguments{};  // Index: its number; Load: the number of the access; Cast: one node
  Operation operation;
  DType from = DType::F32;  // Cast: type of the argument
  Value constant;
};

/// A sum of nothing but products of two elements, of one float type: the accesses, and a reduction index that nothing
/// checks, along which their elements lie in even steps.
struct Products {
  int a, b, inner;
};

struct Plan {
  const ir::Statement* statement = nullptr;
  DType target_type = DType::F32;
  std::vector<int64_t> target_shape;
  std::vector<int64_t> target_constants;  // of the target's subscripts
  int64_t target_elements = 0;
  std::vector<ir::Range> ranges;  // of the indices
  std::vector<int> output, reduction;
  bool reduction_is_empty = false;  // some reduction index has no values, because a size is 0
  std::vector<int> others;          // then: the reduction indices that have values
  std::vector<Guard> guards;  // of an empty reduction: those that say where it writes, by indices that have values
  std::vector<Access> accesses;
  std::vector<Node> nodes;
  Access target;
  /// The statement is in gather form (ir/gather.h): an element determines the output indices, and can be computed
  /// alone.
  bool elementwise = false;
  std::vector<std::vector<ir::Pivot>> pivots;
  std::optional<Products> products;
  /// Of the terms of a sum of floats or complex numbers: the nodes they are products and quotients of, where these are
  /// three or more, multiplied and divided in any order, or where the sum `flushes`.
  std::vector<int> factors, divisors;
  /// Terms are products of two numbers of bf16, as dot-product instructions take them: subnormal numbers may be 0.
  bool flushes = false;
};

/// The program must be bound and valid, and outlive the plan.
Plan make_plan(const ir::Program& program, const ir::Statement& statement);

}  // namespace tile_tune::reference
