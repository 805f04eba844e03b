// Indices and conditions of vectors as linear functions of the lane.
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

/// Elements from lane to lane; nullopt unless it is a number from 1 to kMostApart.
std::optional<int> elements_apart(const Halide::Expr& of_lane);

}  // namespace tile_tune::codegen
