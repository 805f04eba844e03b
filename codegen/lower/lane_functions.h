// Indices and conditions of vectors as linear functions of the lane, and what selects say of lanes.
#pragma once

#include <optional>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// The variable that stands for the lane.
inline constexpr const char* kLane = "tile_tune_lane";
/// Elements from lane to lane, at most, of vectors that are loaded at once and shuffled. A chosen bound: windows with
/// wider steps are rare.
inline constexpr int kMostApart = 4;

/// What names of vectors stand for.
using VectorNames = Halide::Internal::Scope<Halide::Expr>;

/// An index of 32 bits as a linear function of the lane; undefined where it is none.
Halide::Expr of_lane(const Halide::Expr& index, const VectorNames& names);

/// Appends functions of the lane of which none is negative where the condition holds (or, with `holds` false, fails).
void differences_of(const Halide::Expr& condition, bool holds, const VectorNames& names,
                    std::vector<Halide::Expr>& result);

/// An index without its clamps, as a function of the lane, and functions that are not negative in the lanes that the
/// clamps leave alone.
struct Unclamped {
  Halide::Expr index;
  std::vector<Halide::Expr> differences;
};
std::optional<Unclamped> unclamped(const Halide::Expr& index, const VectorNames& names);

/// True if `difference` is not negative where none of `known` is.
bool follows_from(const std::vector<Halide::Expr>& known, const Halide::Expr& difference);

/// A pass that knows of each vector which lanes the selects around it take.
class SelectedLanes : public Halide::Internal::IRMutator {
 protected:
  using IRMutator::visit;
  template <typename Node>
  auto with_name(const Node* op) {
    const Halide::Expr value = mutate(op->value);
    const Halide::Internal::ScopedBinding<Halide::Expr> bound(value.type().is_vector(), names_, op->name, value);
    return Node::make(op->name, value, mutate(op->body));
  }
  Halide::Expr visit(const Halide::Internal::Select* op) override;
  Halide::Expr visit(const Halide::Internal::Let* op) override { return with_name(op); }
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override { return with_name(op); }

  VectorNames names_{};
  /// Functions of the lane that are not negative in any lane that is taken of what is visited, which has so many lanes.
  std::vector<Halide::Expr> known_{};
  int lanes_ = 0;

 private:
  Halide::Expr chosen(std::vector<Halide::Expr> differences, int lanes, const Halide::Expr& value);
};

/// Elements from lane to lane; nullopt unless it is a number from 1 to kMostApart.
std::optional<int> elements_apart(const Halide::Expr& of_lane);

}  // namespace tile_tune::codegen
