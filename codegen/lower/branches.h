// Selects that indices and sizes decide: borders, not data.
//
// Most points lie in one branch. Halide is told which (`likely`), so that it cuts the loops where the condition turns,
// and what the other branch reads stays out of the interior.
#pragma once

#include <map>
#include <vector>

#include "codegen/lower/values.h"
#include "frontend/ir/path_condition.h"

namespace tile_tune::codegen {

class Branches {
 public:
  /// None: every select is one on data.
  Branches() = default;
  /// Of a bound statement. `spelled`: its value as it is lowered, which may name sizes that it has numbers for.
  Branches(const ir::Statement& statement, const ir::Expr& spelled);

  /// Indices and sizes decide the select.
  bool decide(const ir::Expr& select) const { return selects_.contains(&select); }
  /// Of such a select, for these values of the indices.
  Values value(const ir::Expr& select, const std::vector<Halide::Expr>& indices, const Values& yes,
               const Values& no) const;
  /// What must hold for its condition to hold.
  std::vector<Halide::Expr> conditions(const ir::Expr& select, const std::vector<Halide::Expr>& indices) const;

 private:
  /// A formula, and of each part whether it holds at most points.
  struct Decided {
    ir::Formula formula;
    bool holds_mostly;
    std::vector<Decided> parts;
  };
  static Decided decided(const ir::Statement& statement, const ir::Formula& bound, const ir::Formula& spelled);
  static Values choose(const Decided& condition, const std::vector<Halide::Expr>& indices, const Values& yes,
                       const Values& no);
  void collect(const ir::Statement& statement, const ir::Expr& bound, const ir::Expr& spelled);
  void decide(const ir::Statement& statement, const ir::Expr& bound, const ir::Expr& spelled);

  std::map<const ir::Expr*, Decided> selects_;
};

}  // namespace tile_tune::codegen
