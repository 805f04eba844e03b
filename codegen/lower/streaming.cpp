// Stores of a nest that leave the caches out (CpuMapping::streaming).
//
// Halide 21 has no such stores, nor a way to hand LLVM what marks them. Vectors that lie beside each other are put on
// the stack, and a function of the runtime copies them out (codegen/emit/runtime/stream.c). (Copies by calls of
// 256 bytes ran at 43 GB/s, those by stores of their own at 25: two Zen 4 cores, 2026-11-27.)
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/code_passes.h"
#include "codegen/lower/code_lines.h"
#include "codegen/schedule/streaming.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

/// A vector, and where it goes: `distance` elements behind the first store of its row.
struct StreamedVector {
  const Store* store;
  int64_t distance;
};

struct StreamedRow {
  std::vector<StreamedVector> vectors;
  size_t end = 0;  // number of the line behind the last
};

class Streams : public IRMutator {
 public:
  explicit Streams(std::set<std::string> buffers) : buffers_(std::move(buffers)) {}

 private:
  using IRMutator::visit;
  Stmt visit(const Block* op) override { return in_line_or_parts(op); }
  Stmt visit(const LetStmt* op) override { return in_line_or_parts(op); }
  Stmt visit(const Store* op) override { return in_line_or_parts(op); }
  Stmt visit(const For* op) override;
  Stmt visit(const ProducerConsumer* op) override;

  template <typename Node>
  Stmt in_line_or_parts(const Node* op) {
    std::vector<CodeLine> lines;
    return flatten(op, lines) ? streamed(lines) : IRMutator::visit(op);
  }
  Stmt streamed(const std::vector<CodeLine>& lines);
  bool is_streamed(const Stmt& stmt) const;
  StreamedRow row_from(const std::vector<CodeLine>& lines, size_t at, const std::map<std::string, Expr>& names) const;
  Stmt ended(Stmt stmt);

  std::set<std::string> buffers_;
  bool is_open_ = false;  // there are stores, in no parallel loop, that other threads need not see yet
};

Stmt calling(const char* function, const std::vector<Expr>& arguments) {
  return Evaluate::make(Call::make(Halide::Int(32), function, arguments, Call::Extern));
}

/// What others may see from here on.
Stmt Streams::ended(Stmt stmt) {
  if (!std::exchange(is_open_, false)) return stmt;
  return Block::make(std::move(stmt), calling("tile_tune_end_stream", {}));
}

/// The runtime's parallel loops make sure that others see what they have stored.
Stmt Streams::visit(const For* op) {
  const bool before = is_open_;
  Stmt result = IRMutator::visit(op);
  if (op->for_type == ForType::Parallel) is_open_ = before;
  return result;
}

Stmt Streams::visit(const ProducerConsumer* op) {
  Stmt body = mutate(op->body);
  if (op->is_producer && buffers_.count(op->name)) body = ended(body);
  return ProducerConsumer::make(op->name, op->is_producer, body);
}

bool Streams::is_streamed(const Stmt& stmt) const {
  const auto* store = stmt.as<Store>();
  if (!store || !buffers_.count(store->name) || !is_const_one(store->predicate)) return false;
  const auto* index = store->index.as<Ramp>();
  const Halide::Type type = store->value.type();
  return index && is_const_one(index->stride) && index->base.type().is_scalar() && type.bits() % 8 == 0 &&
         type.bytes() * type.lanes() % kStreamedBytes == 0;
}

/// Vectors from a line on that go to one buffer, up to one that meets another or may read what is stored.
StreamedRow Streams::row_from(const std::vector<CodeLine>& lines, size_t at,
                              const std::map<std::string, Expr>& names) const {
  StreamedRow row{{}, at};
  Expr first;
  for (size_t i = at; i < lines.size(); ++i) {
    if (lines[i].is_let()) {
      if (row.vectors.empty() || reads_buffer(lines[i].value, row.vectors[0].store->name)) break;
      continue;
    }
    if (!is_streamed(lines[i].statement)) break;
    const auto* store = lines[i].statement.as<Store>();
    const Expr base = substitute(names, store->index.as<Ramp>()->base);
    if (row.vectors.empty()) first = base;
    const auto distance = as_const_int(simplify(base - first));
    const auto is_apart = [&](const StreamedVector& other) {
      return other.store->name == store->name && other.store->value.type() == store->value.type() &&
             std::abs(*distance - other.distance) >= store->value.type().lanes();
    };
    if (!distance || !std::all_of(row.vectors.begin(), row.vectors.end(), is_apart) ||
        reads_buffer(store->value, store->name))
      break;
    row.vectors.push_back({store, *distance});
    row.end = i + 1;
  }
  return row;
}

/// Vectors become parts of an array on the stack, in the order in which they lie in memory; those beside each other go
/// out at once.
Stmt Streams::streamed(const std::vector<CodeLine>& lines) {
  std::vector<CodeLine> result;
  const auto names = addresses_in(lines);
  std::vector<std::pair<std::string, std::pair<Halide::Type, int>>> arrays;
  for (size_t at = 0; at < lines.size();) {
    const StreamedRow row = row_from(lines, at, names);
    if (row.vectors.empty()) {
      result.push_back(lines[at].is_let()                ? lines[at]
                       : lines[at].statement.as<Store>() ? lines[at]
                                                         : CodeLine{"", {}, mutate(lines[at].statement)});
      ++at;
      continue;
    }
    is_open_ = true;
    auto sorted = row.vectors;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
    const Halide::Type type = sorted[0].store->value.type();
    const int lanes = type.lanes();
    const std::string array = unique_name("streamed");
    arrays.push_back({array, {type.element_of(), lanes * static_cast<int>(sorted.size())}});
    std::map<const Store*, int> place;
    for (size_t i = 0; i < sorted.size(); ++i) place[sorted[i].store] = static_cast<int>(i) * lanes;
    for (; at < row.end; ++at) {
      const auto* store = lines[at].is_let() ? nullptr : lines[at].statement.as<Store>();
      result.push_back(store ? CodeLine{"",
                                        {},
                                        Store::make(array, store->value, Ramp::make(place[store], 1, lanes),
                                                    Halide::Parameter(), const_true(lanes), ModulusRemainder())}
                             : lines[at]);
    }
    for (size_t from = 0, to; from < sorted.size(); from = to) {
      for (to = from + 1; to < sorted.size() && sorted[to].distance == sorted[to - 1].distance + lanes;) ++to;
      const auto bytes = [&](const Expr& elements) { return Halide::cast<int64_t>(elements) * type.bytes(); };
      const Store* const first = sorted[from].store;
      result.push_back({"",
                        {},
                        calling("tile_tune_stream",
                                {Variable::make(Halide::Handle(), first->name), bytes(first->index.as<Ramp>()->base),
                                 Variable::make(Halide::Handle(), array), bytes(Expr(static_cast<int>(from) * lanes)),
                                 bytes(Expr(static_cast<int>(to - from) * lanes))})});
    }
  }
  Stmt whole = as_statement(result);
  for (const auto& [name, array] : arrays)
    whole = Allocate::make(name, array.first, Halide::MemoryType::Stack, {array.second}, const_true(), whole);
  return whole;
}

}  // namespace

std::optional<CodePass> streams(const ir::Program&, const std::map<int, ScheduledNest>& nests) {
  std::set<std::string> buffers;
  for (const auto& [owner, nest] : nests)
    if (!nest.schedule.is_gpu() && nest.schedule.cpu().streaming) buffers.insert(nest.placement.stored.tiled.name());
  if (buffers.empty()) return std::nullopt;
  return CodePass{std::make_unique<Streams>(std::move(buffers)),
                  "Not in it: stores that leave the caches out, which are put into the lowered code."};
}

}  // namespace tile_tune::codegen
