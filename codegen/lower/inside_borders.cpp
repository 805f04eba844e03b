#include "codegen/lower/inside_borders.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/lane_functions.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

/// The names that a statement binds, and what is known of them.
class Names : public SelectedLanes {
 protected:
  using SelectedLanes::visit;

  /// The least value of a function of the lane, over lanes and loops inside the statement; undefined where it is
  /// unknown or speaks of anything inside.
  Expr least(const Expr& of_lane, int lanes) const {
    Scope<Interval> varying;
    varying.set_containing_scope(&loops_);
    varying.push(kLane, Interval(0, lanes - 1));
    const Expr closed = substitute(scalars_, of_lane);
    if (reads_memory(closed)) return {};
    const Interval range = bounds_of_expr_in_scope(closed, varying);
    if (!range.has_lower_bound()) return {};
    const Expr result = simplify(range.min);
    return expr_uses_vars(result, bound_) ? Expr() : result;
  }

  template <typename Node>
  auto with_index(const Node* op) {
    const ScopedBinding<> bound(bound_, op->name);
    if (op->value.type() == Halide::Int(32)) scalars_[op->name] = substitute(scalars_, op->value);
    auto result = with_name(op);
    scalars_.erase(op->name);
    return result;
  }
  Expr visit(const Let* op) override { return with_index(op); }
  Stmt visit(const LetStmt* op) override { return with_index(op); }
  Stmt visit(const For* op) override {
    const ScopedBinding<> bound(bound_, op->name);
    const ScopedBinding<Interval> range(loops_, op->name, Interval(op->min, simplify(op->min + op->extent - 1)));
    return IRMutator::visit(op);
  }

 private:
  static bool reads_memory(const Expr& expr) {
    struct Reads : IRVisitor {
      using IRVisitor::visit;
      void visit(const Load*) override { some = true; }
      void visit(const Call*) override { some = true; }
      bool some = false;
    } reads;
    expr.accept(&reads);
    return reads.some;
  }

  Scope<> bound_{};
  Scope<Interval> loops_{};
  std::map<std::string, Expr> scalars_{};  // values, of names outside the statement
};

/// Finds what is not negative where all lanes of the clamped loads of a statement lie inside; changes nothing. Of loads
/// that sums in registers are made of: a second form of what is around those costs little.
class Conditions : public Names {
 public:
  explicit Conditions(bool in_registers) : in_registers_(in_registers) {}
  std::vector<Expr> found{};

 private:
  using Names::visit;
  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::Register) return IRMutator::visit(op);
    const ScopedValue<bool> inside(in_registers_, true);
    return IRMutator::visit(op);
  }

  Expr visit(const Load* op) override {
    const auto whole = unclamped(op->index, names_);
    const int lanes = op->type.lanes();
    if (in_registers_ && whole && lanes == lanes_ && elements_apart(whole->index) && !whole->differences.empty() &&
        std::all_of(whole->differences.begin(), whole->differences.end(),
                    [&](const Expr& difference) { return follows_from(known_, difference); }))
      for (const Expr& known : known_)
        if (expr_uses_var(known, kLane)) add(least(known, lanes));
    return op;
  }

  void add(const Expr& least) {
    if (!least.defined() || is_const(simplify(least >= 0))) return;
    if (std::none_of(found.begin(), found.end(), [&](const Expr& one) { return equal(one, least); }))
      found.push_back(least);
  }

  bool in_registers_;
};

/// The form of a statement where the given values are not negative.
class Inside : public Names {
 public:
  explicit Inside(std::vector<Expr> found) : found_(std::move(found)) {}

 private:
  using Names::visit;

  bool holds(const Expr& difference, int lanes) const {
    const Expr value = least(difference, lanes);
    return value.defined() && (is_const_one(simplify(value >= 0)) || follows_from(found_, value));
  }

  template <typename Comparison>
  Expr decided(const Comparison* op) {
    const int lanes = op->type.lanes();
    if (lanes > 1)
      for (const bool value : {true, false}) {
        std::vector<Expr> differences;
        differences_of(op, value, names_, differences);
        if (differences.size() == 1 && holds(differences.front(), lanes))
          return value ? const_true(lanes) : const_false(lanes);
      }
    return IRMutator::visit(op);
  }

  Expr visit(const LT* op) override { return decided(op); }
  Expr visit(const LE* op) override { return decided(op); }
  template <typename Node>
  Expr folded(const Node* op) {
    return op->type.is_vector() ? simplify(IRMutator::visit(op)) : IRMutator::visit(op);
  }
  Expr visit(const And* op) override { return folded(op); }
  Expr visit(const Or* op) override { return folded(op); }
  Expr visit(const Not* op) override { return folded(op); }
  Expr visit(const Variable* op) override {
    const Expr value = op->type.is_bool() && names_.contains(op->name) ? names_.get(op->name) : Expr(op);
    return is_const_one(value) || is_const_zero(value) ? value : Expr(op);
  }

  Expr visit(const Load* op) override {
    const int lanes = op->type.lanes();
    const auto whole = unclamped(op->index, names_);
    const auto apart = whole ? elements_apart(whole->index) : std::nullopt;
    if (!apart || !is_const_one(op->predicate) || whole->differences.empty() ||
        !std::all_of(whole->differences.begin(), whole->differences.end(),
                     [&](const Expr& difference) { return holds(difference, lanes); }))
      return op;
    const Expr first = simplify(substitute(kLane, 0, whole->index));
    // Halide 21 takes no negative constant for the beginning of a vector.
    if (const auto constant = as_const_int(first); constant && *constant < 0) return op;
    // The last vector of several ends with the last lane's element: behind it there may be no memory.
    const int last = (lanes - 1) * *apart, begin_of_last = last + 1 - lanes;
    std::vector<Expr> pieces;
    for (int piece = 0; piece < *apart; ++piece) {
      const Expr base = simplify(first + (piece + 1 < *apart ? piece * lanes : begin_of_last));
      pieces.push_back(Load::make(op->type, op->name, Ramp::make(base, 1, lanes), op->image, op->param,
                                  const_true(lanes), ModulusRemainder()));
    }
    if (*apart == 1) return pieces.front();
    std::vector<int> from;
    for (int element = 0; element <= last; element += *apart)
      from.push_back(element < (*apart - 1) * lanes ? element : element - begin_of_last + (*apart - 1) * lanes);
    return Shuffle::make(pieces, from);
  }

  std::vector<Expr> found_;
};

// A buffer that was allocated around a statement ends inside it: once.
bool frees_others(const Stmt& stmt) {
  struct Frees : IRVisitor {
    using IRVisitor::visit;
    void visit(const Allocate* op) override {
      const ScopedBinding<> own(inside, op->name);
      IRVisitor::visit(op);
    }
    void visit(const Free* op) override { others |= !inside.contains(op->name); }
    Scope<> inside;
    bool others = false;
  } frees;
  stmt.accept(&frees);
  return frees.others;
}

}  // namespace

template <typename Node>
Stmt InsideBorders::in_both_forms(const Node* op) {
  const Stmt whole = op;
  if (frees_others(whole)) return IRMutator::visit(op);
  Conditions conditions(in_registers_);
  conditions.mutate(whole);
  const Stmt inside = conditions.found.empty() ? whole : Inside(conditions.found).mutate(whole);
  if (equal(inside, whole)) return IRMutator::visit(op);
  Expr all_inside = const_true();
  for (const Expr& value : conditions.found) all_inside = all_inside && value >= 0;
  return IfThenElse::make(simplify(all_inside), IRMutator::visit(inside.as<Node>()), IRMutator::visit(op));
}

Stmt InsideBorders::visit(const For* op) {
  return op->for_type == ForType::Serial && !in_registers_ ? in_both_forms(op) : IRMutator::visit(op);
}

// Loops inside what computes a value in registers are those of its sums, which would leave the registers at a branch.
Stmt InsideBorders::visit(const ProducerConsumer* op) {
  return op->is_producer && in_registers_ ? in_both_forms(op) : IRMutator::visit(op);
}

Stmt InsideBorders::visit(const Allocate* op) {
  const ScopedValue<bool> inside(in_registers_, in_registers_ || op->memory_type == Halide::MemoryType::Register);
  return IRMutator::visit(op);
}

}  // namespace tile_tune::codegen
