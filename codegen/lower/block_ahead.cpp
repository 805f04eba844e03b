// What a GPU's threads stage in shared memory, loaded one block of the reduction ahead (GpuMapping::pipelined). Of
//
//   for block { copy(block); barrier; use(); barrier }
//
// it makes, with two places in shared memory of which the blocks take turns,
//
//   copy(first); barrier
//   for block { load(next block) into registers; use(place); store them (the other place); barrier }
//
// so that loads are under way while sums are added up, and threads wait for each other once a block. In place of a
// block behind the last one that is loaded again, which nobody uses: a branch would keep the assembler from moving
// loads.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/code_passes.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;
using namespace Halide::Internal;

constexpr int kPlaceUnit = 16;  // bytes: vectors in the second place are as well aligned as those in the first

bool is_barrier(const Stmt& stmt) {
  const auto* evaluated = stmt.as<Evaluate>();
  const auto* call = evaluated ? evaluated->value.as<Call>() : nullptr;
  return call && call->is_intrinsic(Call::gpu_thread_barrier);
}

/// What a statement has of stores to shared memory, barriers and loops.
class Contents : public IRVisitor {
 public:
  Contents(const Stmt& stmt, const std::string& shared) : shared_(shared) { stmt.accept(this); }
  bool stores = false, barriers = false, loops = false;

 private:
  using IRVisitor::visit;
  void visit(const Store* op) override {
    stores |= op->name == shared_;
    IRVisitor::visit(op);
  }
  void visit(const Call* op) override {
    barriers |= op->is_intrinsic(Call::gpu_thread_barrier);
    IRVisitor::visit(op);
  }
  void visit(const For* op) override {
    loops = true;
    IRVisitor::visit(op);
  }
  const std::string& shared_;
};

using Lets = std::vector<std::pair<std::string, Expr>>;

/// With those of the names that it uses.
Stmt with_names(const Lets& lets, Stmt stmt) {
  for (auto let = lets.rbegin(); let != lets.rend(); ++let)
    if (stmt_uses_var(stmt, let->first)) stmt = LetStmt::make(let->first, let->second, stmt);
  return stmt;
}

/// What an iteration of a loop copies to shared memory, what it does with that, and the barrier between.
class Iteration {
 public:
  Iteration(const Stmt& body, const std::string& shared) : shared_(shared) { take(body, {}); }
  std::vector<Stmt> copies, uses;
  Stmt barrier;
  bool is_in_order = true;  // it copies before it uses, and without loops

 private:
  void take(const Stmt& stmt, Lets lets) {
    const Contents contents(stmt, shared_);
    if (is_barrier(stmt)) {
      barrier = stmt;
    } else if (!contents.stores && !contents.barriers) {
      uses.push_back(with_names(lets, stmt));
    } else if (const auto* let = stmt.as<LetStmt>()) {
      lets.emplace_back(let->name, let->value);
      take(let->body, lets);
    } else if (const auto* block = stmt.as<Block>()) {
      take(block->first, lets);
      take(block->rest, lets);
    } else if (const auto* staged = stmt.as<ProducerConsumer>()) {
      take(staged->body, lets);
    } else {
      is_in_order &= !contents.barriers && !contents.loops && uses.empty();
      copies.push_back(with_names(lets, stmt));
    }
  }
  const std::string& shared_;
};

/// Where in shared memory something is that is so many bytes further.
Expr moved(const Expr& index, const Expr& bytes, const Type& type) {
  const Expr elements = bytes / type.bytes();
  if (const auto* ramp = index.as<Ramp>()) return Ramp::make(ramp->base + elements, ramp->stride, ramp->lanes);
  return index.type().is_scalar() ? index + elements : index + Broadcast::make(elements, index.type().lanes());
}

ModulusRemainder moved(const ModulusRemainder& alignment, const Type& type) {
  return alignment + ModulusRemainder(kPlaceUnit / type.bytes(), 0);
}

/// A thread's registers for what is on its way, an array for each type. Both halves of a copy count their values.
class Registers {
 public:
  explicit Registers(std::string name) : name_(std::move(name)) {}

  struct Place {
    std::string array;
    Expr index;
    ModulusRemainder alignment;
  };
  Place next(const Type& type) {
    const std::string name = name_ + "_" + std::to_string(type.code()) + "_" + std::to_string(type.bits());
    Array& array = arrays_[name];
    array.element = type.element_of();
    const int lanes = type.lanes(), first = (array.count + lanes - 1) / lanes * lanes;
    array.count = first + lanes;
    return {name, lanes == 1 ? Expr(first) : Ramp::make(first, 1, lanes), ModulusRemainder(lanes, 0)};
  }
  void begin_again() {
    for (auto& [name, array] : arrays_) array.count = 0;
  }

  Stmt allocated_around(Stmt body) const {
    for (const auto& [name, array] : arrays_)
      body = Allocate::make(name, array.element, Halide::MemoryType::Register, {array.count}, const_true(),
                            Block::make(body, Free::make(name)));
    return body;
  }

 private:
  struct Array {
    Type element;
    int count = 0;
  };
  std::string name_;
  std::map<std::string, Array> arrays_;
};

/// The first half of a copy: from memory to registers.
class Loading : public IRMutator {
 public:
  Loading(const std::string& shared, Registers& registers) : shared_(shared), registers_(registers) {}

 private:
  using IRMutator::visit;
  Stmt visit(const Store* op) override {
    if (op->name != shared_) return op;
    const auto [array, index, alignment] = registers_.next(op->value.type());
    return Store::make(array, op->value, index, {}, op->predicate, alignment);
  }
  const std::string& shared_;
  Registers& registers_;
};

/// The second half: from registers to shared memory, so many bytes further.
class Storing : public IRMutator {
 public:
  Storing(const std::string& shared, Registers& registers, Expr bytes)
      : shared_(shared), registers_(registers), bytes_(std::move(bytes)) {}

 private:
  using IRMutator::visit;
  Stmt visit(const Store* op) override {
    if (op->name != shared_) return op;
    const Type type = op->value.type();
    const auto [array, index, alignment] = registers_.next(type);
    const Expr value = Load::make(type, array, index, {}, {}, const_true(type.lanes()), alignment);
    return Store::make(op->name, value, moved(op->index, bytes_, type), op->param, op->predicate,
                       moved(op->alignment, type));
  }
  const std::string& shared_;
  Registers& registers_;
  Expr bytes_;
};

/// Reads shared memory so many bytes further.
class Using : public IRMutator {
 public:
  Using(const std::string& shared, Expr bytes) : shared_(shared), bytes_(std::move(bytes)) {}

 private:
  using IRMutator::visit;
  Expr visit(const Load* op) override {
    if (op->name != shared_) return IRMutator::visit(op);
    return Load::make(op->type, op->name, moved(mutate(op->index), bytes_, op->type), op->image, op->param,
                      mutate(op->predicate), moved(op->alignment, op->type));
  }
  const std::string& shared_;
  Expr bytes_;
};

class BlockAhead : public IRMutator {
 public:
  explicit BlockAhead(std::vector<std::string> copies) : copies_(std::move(copies)) {}

 private:
  using IRMutator::visit;

  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::GPUShared || !has_copies(op->name)) return IRMutator::visit(op);
    shared_ = op->name;
    const int width = op->type.bytes(), bytes = op->constant_allocation_size() * width;
    place_ = (bytes + kPlaceUnit - 1) / kPlaceUnit * kPlaceUnit;
    const Stmt body = mutate(op->body);
    if (body.same_as(op->body)) throw Halide::CompileError("no block of " + shared_ + " is loaded ahead");
    shared_.clear();
    return Allocate::make(op->name, op->type, op->memory_type, {2 * place_ / width}, op->condition, body, op->new_expr,
                          op->free_function, op->padding);
  }

  Stmt visit(const For* op) override {
    Stmt result = IRMutator::visit(op);
    // The innermost loop with barriers it is.
    if (shared_.empty() || op->for_type != ForType::Serial || !result.same_as(op)) return result;
    const Iteration iteration(op->body, shared_);
    if (iteration.copies.empty() || iteration.uses.empty() || !iteration.barrier.defined()) return result;
    if (!iteration.is_in_order)
      throw Halide::CompileError("the copies of " + shared_ + " do not lie before their uses");
    return ahead(op, iteration);
  }

  Stmt ahead(const For* op, const Iteration& iteration) const {
    const Expr turn = Variable::make(op->min.type(), op->name),
               place = Variable::make(Halide::Int(32), op->name + ".place");
    const Expr next = Variable::make(op->min.type(), op->name + ".next");
    Registers registers(op->name + ".ahead");
    Loading loading(shared_, registers);
    Storing storing(shared_, registers, place_ - place);
    Using reading(shared_, place);
    std::vector<Stmt> before, body;
    for (const Stmt& copy : iteration.copies) {
      before.push_back(substitute(op->name, op->min, copy));
      body.push_back(substitute(op->name, next, loading.mutate(copy)));
    }
    before.push_back(iteration.barrier);
    for (const Stmt& use : iteration.uses) body.push_back(reading.mutate(use));
    registers.begin_again();
    for (const Stmt& copy : iteration.copies) body.push_back(storing.mutate(copy));
    body.push_back(iteration.barrier);
    Stmt all = registers.allocated_around(Block::make(body));
    all = LetStmt::make(op->name + ".next", min(turn + 1, op->min + op->extent - 1), all);
    all = LetStmt::make(op->name + ".place", (turn - op->min) % 2 * place_, all);
    before.push_back(For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, all));
    return Block::make(before);
  }

  // The allocation has the names of all that lies in it.
  bool has_copies(const std::string& allocation) const {
    for (const auto& copy : copies_)
      if (allocation.find(copy + ".") != std::string::npos) return true;
    return false;
  }

  const std::vector<std::string> copies_;  // Funcs
  std::string shared_;                     // the allocation around
  int place_ = 0;                          // bytes of one of its two places
};

}  // namespace

std::optional<CodePass> blocks_ahead(const ir::Program&, const std::map<int, ScheduledNest>& nests) {
  std::vector<std::string> copies;
  for (const auto& [owner, nest] : nests)
    if (nest.schedule.is_gpu() && nest.schedule.gpu().pipelined)
      for (const auto& packed : nest.stage.packed) copies.push_back(packed.func.name());
  if (copies.empty()) return std::nullopt;
  return CodePass{std::make_unique<BlockAhead>(std::move(copies)),
                  "Not in it: copies in shared memory made a block ahead, by a pass over the lowered code."};
}

}  // namespace tile_tune::codegen
