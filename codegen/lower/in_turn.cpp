#include "codegen/lower/in_turn.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

/// What a size decides may be longer than any number.
bool is_longer(const For* loop, const For* than) {
  const auto extent = as_const_int(loop->extent), other = as_const_int(than->extent);
  return other && (!extent || *extent > *other);
}

/// Of the loops that lie in no serial one.
class OuterLoops : public IRVisitor {
 public:
  const For* parallel = nullptr;
  const For* longest = nullptr;  // of the serial ones

 private:
  using IRVisitor::visit;
  void visit(const For* op) override {
    if (op->for_type == ForType::Parallel && !parallel) {
      parallel = op;
      IRVisitor::visit(op);
    } else if (op->for_type == ForType::Serial && (!longest || is_longer(op, longest))) {
      longest = op;
    }
  }
};

class Producer : public IRVisitor {
 public:
  explicit Producer(const std::string& name) : name_(name) {}
  const ProducerConsumer* found = nullptr;

 private:
  using IRVisitor::visit;
  void visit(const ProducerConsumer* op) override {
    if (op->is_producer && op->name == name_)
      found = op;
    else
      IRVisitor::visit(op);
  }
  void visit(const For*) override {}  // what is made anew in a loop is no nest of its own

  const std::string& name_;
};

const ProducerConsumer* producer_in(const Stmt& stmt, const std::string& name) {
  Producer producer(name);
  if (stmt.defined()) stmt.accept(&producer);
  return producer.found;
}

class Replaced : public IRMutator {
 public:
  Replaced(const StmtNode<For>* loop, Stmt by) : loop_(loop), by_(std::move(by)) {}

 private:
  using IRMutator::visit;
  Stmt visit(const For* op) override { return op == loop_ ? by_ : IRMutator::visit(op); }

  const StmtNode<For>* loop_;
  Stmt by_;
};

/// What belongs to some Funcs, and all else; undefined where there is nothing.
struct Parts {
  Stmt own, others;
};

Stmt both(const Stmt& first, const Stmt& rest) {
  if (!first.defined()) return rest;
  return rest.defined() ? Block::make(first, rest) : first;
}

/// Takes `funcs` out of lowered code. What is around them and around the producer of `place` as well, they are without.
class Taking {
 public:
  Taking(const std::set<std::string>& funcs, const std::string& place) : funcs_(funcs), place_(place) {}

  Parts apart(const Stmt& stmt) const {
    if (const auto* op = stmt.as<Block>()) {
      const Parts first = apart(op->first), rest = apart(op->rest);
      return {both(first.own, rest.own), both(first.others, rest.others)};
    }
    if (const auto* op = stmt.as<LetStmt>())
      return around(op->body, [&](const Stmt& body) { return LetStmt::make(op->name, op->value, body); });
    if (const auto* op = stmt.as<IfThenElse>(); op && !op->else_case.defined())
      return around(op->then_case, [&](const Stmt& body) { return IfThenElse::make(op->condition, body); });
    if (const auto* op = stmt.as<Allocate>())
      return of(op->name, op->body, [&](const Stmt& body) {
        return Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition, body, op->new_expr,
                              op->free_function, op->padding);
      });
    if (const auto* op = stmt.as<ProducerConsumer>(); op && !op->is_producer)
      return of(op->name, op->body, [&](const Stmt& body) { return ProducerConsumer::make(op->name, false, body); });
    const auto* producer = stmt.as<ProducerConsumer>();
    const auto* free = stmt.as<Free>();
    const bool own = (producer && funcs_.count(producer->name)) || (free && funcs_.count(free->name));
    return own ? Parts{stmt, {}} : Parts{{}, stmt};
  }

 private:
  template <typename Wrap>
  Parts around(const Stmt& body, const Wrap& wrap) const {
    Parts parts = apart(body);
    if (parts.own.defined() && !producer_in(body, place_)) parts.own = wrap(parts.own);
    if (parts.others.defined()) parts.others = wrap(parts.others);
    return parts;
  }

  // Something around `body` that is there for the Func `name` alone.
  template <typename Wrap>
  Parts of(const std::string& name, const Stmt& body, const Wrap& wrap) const {
    Parts parts = apart(body);
    Stmt& owner = funcs_.count(name) ? parts.own : parts.others;
    if (owner.defined()) owner = wrap(owner);
    return parts;
  }

  const std::set<std::string>& funcs_;
  const std::string& place_;
};

/// Piece `number` of a loop cut into `count` of nearly the same length.
Stmt piece_of(const For* loop, const Expr& number, const Expr& count) {
  const Expr least = loop->extent / count, longer = loop->extent % count;
  const Expr begin = simplify(loop->min + number * least + Halide::min(number, longer));
  return For::make(loop->name, begin, simplify(least + Halide::select(number < longer, 1, 0)), ForType::Serial,
                   loop->partition_policy, loop->device_api, loop->body);
}

/// `moved` with its longest loop in turn with `host`; undefined where that cannot be.
Stmt in_turn(const Stmt& moved, const For* host, const Expr& pieces) {
  OuterLoops loops;
  moved.accept(&loops);
  const bool parallel = host->for_type == ForType::Parallel;
  if (!loops.longest || parallel != (loops.parallel != nullptr)) return {};
  // All threads have as many turns.
  if (parallel && !(is_const(host->extent) && is_const(loops.parallel->extent) && is_const(loops.longest->extent)))
    return {};
  const Expr threads = parallel ? loops.parallel->extent : Expr(1);
  const Expr count =
      simplify(Halide::max(Halide::min(Halide::min(pieces, host->extent) / threads, loops.longest->extent), 1));
  if (is_const_one(count)) return {};
  const std::string name = unique_name("turn"), count_name = name + ".count";
  const Expr turn = Variable::make(Halide::Int(32), name);
  const Expr turns = is_const(count) ? count : Variable::make(Halide::Int(32), count_name);
  Expr of_host = turn;
  if (parallel) of_host += (Variable::make(Halide::Int(32), loops.parallel->name) - loops.parallel->min) * turns;
  const Stmt body =
      Block::make(piece_of(host, of_host, simplify(threads * turns)), piece_of(loops.longest, turn, turns));
  Stmt loop = For::make(name, 0, turns, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  if (!is_const(count)) loop = LetStmt::make(count_name, count, loop);
  return Replaced(loops.longest, loop).mutate(moved);
}

Stmt with_nests_in_turn(const Stmt& stmt, const NestsInTurn& nests) {
  const auto* producer = producer_in(stmt, nests.host);
  if (!producer) return stmt;
  OuterLoops loops;
  producer->body.accept(&loops);
  const For* host = loops.parallel ? loops.parallel : loops.longest;
  const Parts parts = Taking(nests.moved, nests.host).apart(stmt);
  if (!host || !parts.own.defined()) return stmt;
  const Stmt merged = in_turn(parts.own, host, nests.pieces);
  return merged.defined() ? Replaced(host, merged).mutate(parts.others) : stmt;
}

}  // namespace

Expr pieces_of(const KernelContext& kernel, const ir::Statement& statement, int pieces) {
  if (!kernel.runtime) return pieces;
  std::set<int> tensors;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) { tensors.insert(read.tensor); });
  int64_t bound = 0;
  Expr called = make_zero(Halide::Int(64));
  for (const int number : tensors) {
    const ir::Tensor& tensor = kernel.program.tensors[static_cast<size_t>(number)];
    const auto size = static_cast<int64_t>(dtype_size(tensor.type));
    bound += ir::element_count(tensor) * size;
    Expr bytes = make_const(Halide::Int(64), size);
    for (size_t d = 0; d < tensor.extents.size(); ++d)
      bytes *= Halide::cast<int64_t>(kernel.runtime->extent(number, d));
    called += bytes;
  }
  const Expr piece = make_const(Halide::Int(64), std::max<int64_t>(bound / pieces, 1));
  const Expr most = make_const(Halide::Int(64), 1 << 20);
  return simplify(Halide::cast<int>(Halide::max(Halide::min(called / piece, most), 1)));
}

NestsInTurn nests_in_turn(const ScheduledNest& moved, const ScheduledNest& host, Expr pieces) {
  NestsInTurn nests{{}, host.placement.stored.tiled.name(), std::move(pieces)};
  nests.moved = {moved.placement.stored.result.name(), moved.placement.stored.tiled.name()};
  if (moved.stage.assigned) nests.moved.insert(moved.stage.assigned->name());
  if (moved.stage.reduction)
    for (const auto& func : funcs_of(*moved.stage.reduction)) nests.moved.insert(func.name());
  return nests;
}

Stmt LoopsInTurn::mutate(const Stmt& stmt) {
  Stmt result = stmt;
  for (const auto& nests : nests_) result = with_nests_in_turn(result, nests);
  return result;
}

}  // namespace tile_tune::codegen
