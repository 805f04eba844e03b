// Products of several operands, summed over some of their axes, as steps that multiply a few pieces each.
#pragma once

#include <optional>
#include <vector>

#include "frontend/plan/order.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::plan {

/// No axis: the dimension has extent 1 and repeats along its axis of `...`.
inline constexpr int kRepeats = -1;

struct Network {
  std::vector<std::vector<int>> operands;           // for each dimension the number of its axis, or kRepeats
  std::vector<DType> types;                         // of the operands
  DType step_type = DType::F32;                     // of what steps leave
  std::vector<int> result;                          // axes of the result, in its order
  AxisSet held = {};                                // other axes that are used outside
  size_t axes = 0;                                  // how many there are
  std::optional<std::vector<double>> extents = {};  // by axis, if all are known
};

/// An operand, or what parentheses group.
struct Group {
  int operand = -1;
  std::vector<Group> members;  // of a group, at least one
};

/// Whether parentheses say anything of the order.
bool has_groups(const Group& group);

/// Multiplies pieces and sums what its result does not have. Operands are the pieces from 0 on, results of earlier
/// steps follow.
struct Product {
  std::vector<int> pieces;
  std::vector<int> dimensions;  // axes of the result; of the last step those of the network's
};

/// What an operand is, and what a step leaves.
struct Piece {
  int number = -1;
  std::vector<int> dimensions;  // axes, or kRepeats

  AxisSet axes() const;
};

/// Contracts pieces step by step. Every operand waits until a step takes it.
class Contractor {
 public:
  explicit Contractor(const Network& network, const Cost& cost = flops_alone);

  Piece operand(int number) const { return {number, network_.operands[static_cast<size_t>(number)]}; }
  /// What the members of a group are once the groups among them are contracted.
  std::vector<Piece> pieces_of(const Group& group);
  /// Two or more pieces to one, in the best order; `last` makes it the network's result.
  Piece contract(std::vector<Piece> pieces, bool last);
  /// Sums what nothing else needs; the piece itself where there is nothing to sum.
  Piece without_own_sums(const Piece& piece);
  /// The last step: all these at once.
  void finish(const std::vector<Piece>& pieces);

  const std::vector<Product>& steps() const { return steps_; }

 private:
  AxisSet needed(const AxisSet& axes) const;
  double volume(const Piece& piece) const;
  AxisSet innermost_of_largest(const std::vector<Piece>& pieces) const;
  std::vector<int> sort_key(const Piece& piece, const AxisSet& contiguous) const;
  Piece contract_pair(Piece left, Piece right, bool last);
  std::vector<int> kept_axes(const Piece& left, const Piece& right, const AxisSet& kept) const;
  Piece sum_over(const Piece& piece, const AxisSet& summed);
  Piece add(std::vector<int> pieces, std::vector<int> dimensions);

  const Network& network_;
  Cost cost_;
  std::vector<int> uses_;     // how many pieces that wait, the result among them, have an axis
  std::vector<int> ranks_;    // of the axes, if their extents are known
  std::vector<DType> types_;  // of the pieces
  std::vector<Product> steps_;
};

/// The steps to the network's result; of a single operand the one that copies or sums it.
std::vector<Product> products(const Network& network, const Group& order);

}  // namespace tile_tune::plan
