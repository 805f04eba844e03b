// The order in which the factors of a term are multiplied. Written left to right, a(i,k) * v(k) * b(k,j) in a register
// tile of 14 rows by 2 vectors takes 14 products for v beside its 28 multiply-adds; a(i,k) * (v(k) * b(k,j)) takes 2,
// and none where b is copied anyway and the copy holds v(k) * b(k,j).
// A float sum's terms may be multiplied in any order (frontend/ir/canonical.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codegen/lower/expression.h"
#include "codegen/schedule/loops.h"

namespace tile_tune::codegen {

/// A term that is a product of three or more real floats: of two factors at a time those with the fewest different
/// products. The order does not depend on the schedule, so that all round alike.
class Product {
 public:
  /// nullopt: the term is none, of a statement with so many `indices`. `contiguous`: the output loop along which
  /// results are neighbours in memory, or -1. The term must outlive the product.
  static std::optional<Product> of(const ir::Expr& term, size_t indices, const Loops& loops, int contiguous,
                                   Branches branches);

  /// Of all factors, or of those under one node. `held` may give the value of a node that is known already.
  using Held = std::function<std::optional<Values>(int node)>;
  Values value(const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand, const Held& held) const;
  Values value(int node, const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand,
               const Held& held) const;

  /// The node of the largest product that varies with what the operand does, which is one of its factors, and nothing
  /// else, and whose other operands may be read where that one is copied; -1 if there is none but the operand itself.
  /// Never the whole: its last multiplication becomes one with the sum's addition, and is not rounded.
  int held_by_copy(int operand, const std::function<bool(int number)>& may_read) const;

 private:
  struct Node {
    const ir::Expr* factor = nullptr;  // of a leaf
    int operands = 0;                  // of a leaf: the number of its first operand, counted over the whole term
    int left = -1, right = -1, parent = -1;
    std::vector<bool> varies{};  // with which indices
  };

  bool all_operands(int node, const std::function<bool(int number)>& holds) const;

  std::vector<Node> nodes_;  // the whole product is the last one
  Branches branches_;
};

}  // namespace tile_tune::codegen
