#include "codegen/lower/shrink_registers.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;
using namespace Halide::Internal;

bool is_thread_loop(const For* op) { return op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane; }

[[noreturn]] void refuse(const std::string& buffer) {
  throw Halide::CompileError("a thread would use elements of " + buffer + " that another one computes");
}

// Of a remainder's remainder the last one alone, where the first divisor is a multiple: the simplifier leaves some.
class LastRemainders : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Mod* op) override {
    const Expr a = mutate(op->a);
    const auto* inner = a.as<Mod>();
    const auto first = inner ? as_const_int(inner->b) : std::nullopt, last = as_const_int(op->b);
    return Mod::make(first && last && *last > 0 && *first % *last == 0 ? inner->a : a, op->b);
  }
};

// Sums and products of 32 bits as those of 64 bits where that is what is made of them: next to buffers of 2 GiB indices
// have 64 bits, and the simplifier does not look into the conversions.
class WideIndices : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Cast* op) override {
    const Type narrow = op->value.type();
    if (!op->type.is_int() || op->type.bits() != 64 || !narrow.is_int() || narrow.bits() != 32)
      return IRMutator::visit(op);
    const auto wide = [&](const Expr& part) {
      return mutate(Cast::make(op->type.with_lanes(part.type().lanes()), part));
    };
    if (const auto* sum = op->value.as<Add>()) return wide(sum->a) + wide(sum->b);
    if (const auto* difference = op->value.as<Sub>()) return wide(difference->a) - wide(difference->b);
    if (const auto* product = op->value.as<Mul>()) return wide(product->a) * wide(product->b);
    if (const auto* ramp = op->value.as<Ramp>()) return Ramp::make(wide(ramp->base), wide(ramp->stride), ramp->lanes);
    if (const auto* same = op->value.as<Broadcast>()) return Broadcast::make(wide(same->value), same->lanes);
    return IRMutator::visit(op);
  }
};

// An index as a sum: how often each part is in it that is no sum itself. What stands in two places of an index so that
// the simplifier does not see it is the same here.
class Sum {
 public:
  explicit Sum(Type type) : type_(type) {}

  void add(const Expr& expr, int64_t times) {
    const auto constant = as_const_int(expr);
    if (constant) {
      constant_ += times * *constant;
    } else if (const auto* sum = expr.as<Add>()) {
      add(sum->a, times), add(sum->b, times);
    } else if (const auto* difference = expr.as<Sub>()) {
      add(difference->a, times), add(difference->b, -times);
    } else if (const auto* product = expr.as<Mul>(); product && as_const_int(product->b)) {
      add(product->a, times * *as_const_int(product->b));
    } else {
      parts_[simplify(expr)] += times;
    }
  }

  Expr expr() const {
    Expr result = make_const(type_, constant_);
    for (const auto& [part, times] : parts_)
      if (times != 0) result = result + part * make_const(type_, times);
    return simplify(result);
  }

  const std::map<Expr, int64_t, IRDeepCompare>& parts() const { return parts_; }
  int64_t constant() const { return constant_; }

 private:
  Type type_;
  int64_t constant_ = 0;
  std::map<Expr, int64_t, IRDeepCompare> parts_;
};

// An index as what every thread adds of its own, and where in its part the element is.
struct Place {
  Expr of_thread;
  Expr offset;
};

// What a thread's accesses to one buffer have in common.
struct Part {
  Expr of_thread;
  std::set<int64_t> stored, loaded;
  bool has_loops = false;  // some offset depends on a loop that is not unrolled
  int64_t last = 0;        // then: the largest offset
};

// Looks at every access to the buffer, and in a second walk gives them their new places.
class Accesses : public IRMutator {
 public:
  explicit Accesses(std::string buffer) : buffer_(std::move(buffer)) {}

  void check() const {
    for (const int64_t offset : part_.loaded)
      if (!part_.has_loops && !part_.stored.count(offset)) refuse(buffer_);
  }

  int64_t size() const {
    return part_.has_loops ? part_.last + 1 : std::max<int64_t>(static_cast<int64_t>(part_.stored.size()), 1);
  }

  Stmt rewritten(const Stmt& body) {
    rewrites_ = true;
    return mutate(body);
  }

 private:
  using IRMutator::visit;

  Place place(const Expr& index) const {
    // As it stands: the simplifier makes x/2*2 + x%2 one x, where it sees that.
    Expr whole = LastRemainders().mutate(WideIndices().mutate(substitute_in_all_lets(substituted(index))));
    if (!whole.type().is_scalar() && !whole.as<Ramp>()) whole = simplify(whole);
    const auto* ramp = whole.as<Ramp>();
    const Expr first = ramp ? ramp->base : whole;
    if (!first.type().is_scalar()) refuse(buffer_);
    Sum all(first.type()), of_thread(first.type()), offset(first.type());
    all.add(first, 1);
    offset.add(make_const(first.type(), all.constant()), 1);
    for (const auto& [part, times] : all.parts()) {
      Expr without = part;
      for (const auto& thread : threads_) without = substitute(thread, 0, without);
      without = simplify(without);
      offset.add(without, times);
      if (equal(without, part)) continue;
      of_thread.add(part, times);
      of_thread.add(without, -times);
    }
    const Expr rest = offset.expr();
    return {of_thread.expr(), ramp ? Ramp::make(rest, simplify(ramp->stride), ramp->lanes) : rest};
  }

  Expr substituted(const Expr& index) const {
    Expr result = index;
    // From the innermost name outwards: a value may use names from further out.
    for (auto one = lets_.rbegin(); one != lets_.rend(); ++one) result = substitute(one->first, one->second, result);
    return result;
  }

  // nullopt: it depends on a loop.
  static std::optional<std::vector<int64_t>> offsets_of(const Expr& offset) {
    const auto* ramp = offset.as<Ramp>();
    const auto base = as_const_int(ramp ? ramp->base : offset);
    const auto stride = ramp ? as_const_int(ramp->stride) : std::optional<int64_t>(0);
    if (!base || !stride) return std::nullopt;
    std::vector<int64_t> result;
    for (int lane = 0; lane < (ramp ? ramp->lanes : 1); ++lane) result.push_back(*base + lane * *stride);
    return result;
  }

  void look_at(const Expr& index, bool stores) {
    const auto [of_thread, offset] = place(index);
    if (!part_.of_thread.defined()) part_.of_thread = of_thread;
    if (!can_prove(part_.of_thread == of_thread)) refuse(buffer_);
    const auto offsets = offsets_of(offset);
    if (offsets) {
      for (const int64_t one : *offsets) {
        (stores ? part_.stored : part_.loaded).insert(one);
        part_.last = std::max(part_.last, one);
      }
      return;
    }
    part_.has_loops = true;
    const auto most = as_const_int(simplify(find_constant_bound(offset, Direction::Upper, loops_)));
    const auto least = as_const_int(simplify(find_constant_bound(offset, Direction::Lower, loops_)));
    if (!most || !least || *least < 0) refuse(buffer_);
    part_.last = std::max(part_.last, *most);
  }

  Expr moved(const Expr& index) const {
    const Expr offset = place(index).offset;
    if (part_.has_loops) return offset;
    const auto rank = [&](int64_t one) {
      return static_cast<int>(std::distance(part_.stored.begin(), part_.stored.find(one)));
    };
    const auto offsets = *offsets_of(offset);
    if (offsets.size() == 1) return rank(offsets[0]);
    const int step = rank(offsets[1]) - rank(offsets[0]);
    for (size_t lane = 1; lane < offsets.size(); ++lane)
      if (rank(offsets[lane]) - rank(offsets[lane - 1]) != step) refuse(buffer_);
    return Ramp::make(rank(offsets[0]), step, static_cast<int>(offsets.size()));
  }

  Expr visit(const Load* op) override {
    if (op->name != buffer_) return IRMutator::visit(op);
    if (rewrites_)
      return Load::make(op->type, op->name, moved(op->index), op->image, op->param, mutate(op->predicate),
                        ModulusRemainder());
    look_at(op->index, false);
    return IRMutator::visit(op);
  }

  Stmt visit(const Store* op) override {
    if (op->name != buffer_) return IRMutator::visit(op);
    if (rewrites_)
      return Store::make(op->name, mutate(op->value), moved(op->index), op->param, mutate(op->predicate),
                         ModulusRemainder());
    look_at(op->index, true);
    return IRMutator::visit(op);
  }

  Stmt visit(const For* op) override {
    const bool is_thread = is_thread_loop(op);
    if (is_thread) threads_.push_back(op->name);
    const ScopedBinding<Interval> bounds(loops_, op->name, Interval(op->min, simplify(op->min + op->extent - 1)));
    Stmt result = IRMutator::visit(op);
    if (is_thread) threads_.pop_back();
    return result;
  }

  Expr visit(const Let* op) override {
    const Expr value = mutate(op->value);
    lets_.emplace_back(op->name, op->value);
    const Expr body = mutate(op->body);
    lets_.pop_back();
    return Let::make(op->name, value, body);
  }

  Stmt visit(const LetStmt* op) override {
    const Expr value = mutate(op->value);
    lets_.emplace_back(op->name, op->value);
    const Stmt body = mutate(op->body);
    lets_.pop_back();
    return LetStmt::make(op->name, value, body);
  }

  const std::string buffer_;
  Part part_;
  bool rewrites_ = false;
  std::vector<std::string> threads_;
  std::vector<std::pair<std::string, Expr>> lets_;
  Scope<Interval> loops_;
};

}  // namespace

Stmt ShrinkRegisters::visit(const For* op) {
  const bool is_thread = is_thread_loop(op), is_block = op->for_type == ForType::GPUBlock;
  threads_ += is_thread;
  blocks_ += is_block;
  Stmt result = IRMutator::visit(op);
  threads_ -= is_thread;
  blocks_ -= is_block;
  return result;
}

Stmt ShrinkRegisters::visit(const Allocate* op) {
  Stmt result = IRMutator::visit(op);
  if (op->memory_type != Halide::MemoryType::Register || threads_ > 0 || blocks_ == 0) return result;
  const auto* inner = result.as<Allocate>();
  Accesses accesses(inner->name);
  accesses.mutate(inner->body);
  accesses.check();
  const Expr size = static_cast<int>(accesses.size());
  return Allocate::make(inner->name, inner->type, inner->memory_type, {size}, inner->condition,
                        accesses.rewritten(inner->body), inner->new_expr, inner->free_function, inner->padding);
}

}  // namespace tile_tune::codegen
