#include "codegen/lower/folds.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

/// Where neighbours start that are read or written as one, or as a single element.
std::optional<int64_t> start_of(const Expr& index) {
  const auto* ramp = index.as<Ramp>();
  if (ramp && !is_const_one(ramp->stride)) return std::nullopt;
  const auto start = as_const_int(ramp ? ramp->base : index);
  return start ? std::optional<int64_t>(*start) : std::nullopt;
}

/// to[at * width ..] = from[2 * at * width ..] + from[(2 * at + 1) * width ..], `width` lanes each.
struct Fold {
  const Store* store;
  const Load* from;
  int64_t at;
  int width;
};

std::optional<Fold> fold_of(const Stmt& stmt) {
  const auto* store = stmt.as<Store>();
  const auto* sum = store ? store->value.as<Add>() : nullptr;
  const auto* low = sum ? sum->a.as<Load>() : nullptr;
  const auto* high = sum ? sum->b.as<Load>() : nullptr;
  if (!low || !high || low->name != high->name || !is_const_one(store->predicate) || !is_const_one(low->predicate) ||
      !is_const_one(high->predicate))
    return std::nullopt;
  const int width = store->value.type().lanes();
  const auto to = start_of(store->index), first = start_of(low->index), second = start_of(high->index);
  if (!to || !first || !second || *to % width != 0 || *first != 2 * *to || *second != *first + width)
    return std::nullopt;
  return Fold{store, low, *to / width, width};
}

/// The folds that a block begins with, from one buffer into another.
std::vector<Fold> first_folds(const std::vector<Stmt>& parts) {
  std::vector<Fold> folds;
  for (const auto& part : parts) {
    const auto fold = fold_of(part);
    if (!fold || (!folds.empty() && (fold->store->name != folds[0].store->name ||
                                     fold->from->name != folds[0].from->name || fold->width != folds[0].width)))
      break;
    folds.push_back(*fold);
  }
  return folds;
}

/// Whether they fill their buffer from its beginning; brings them into the order of their places.
bool without_gaps(std::vector<Fold>& folds) {
  std::sort(folds.begin(), folds.end(), [](const Fold& a, const Fold& b) { return a.at < b.at; });
  for (size_t f = 0; f < folds.size(); ++f)
    if (folds[f].at != static_cast<int64_t>(f)) return false;
  return true;
}

/// A piece of a buffer, by vectors of `lanes` and what is left, so that all who read and write it cut it alike and LLVM
/// keeps it in registers.
std::vector<Expr> pieces(const Load* like, int64_t first, int64_t count, int lanes) {
  std::vector<Expr> result;
  for (int64_t at = 0; at < count; at += lanes) {
    const int width = static_cast<int>(std::min<int64_t>(lanes, count - at));
    const Expr start = static_cast<int>(first + at);
    result.push_back(Load::make(like->type.with_lanes(width), like->name,
                                width == 1 ? start : Ramp::make(start, 1, width), like->image, like->param,
                                const_true(width), ModulusRemainder()));
  }
  return result;
}

Stmt stored_by_vectors(const std::vector<Fold>& folds, int lanes) {
  const auto& [store, from, place, width] = folds.front();
  const size_t together = static_cast<size_t>(lanes / width);
  std::vector<Stmt> stores;
  for (size_t first = 0; first < folds.size(); first += together) {
    const size_t count = std::min(together, folds.size() - first);
    const auto source =
        pieces(from, static_cast<int64_t>(first) * 2 * width, static_cast<int64_t>(count) * 2 * width, lanes);
    std::vector<int> low, high;
    for (int f = 0; f < static_cast<int>(count); ++f)
      for (int lane = 0; lane < width; ++lane) {
        low.push_back(2 * f * width + lane);
        high.push_back((2 * f + 1) * width + lane);
      }
    const Expr start = static_cast<int>(first) * width;
    const int stored = static_cast<int>(low.size());
    stores.push_back(Store::make(store->name, Add::make(Shuffle::make(source, low), Shuffle::make(source, high)),
                                 stored == 1 ? start : Ramp::make(start, 1, stored), store->param, const_true(stored),
                                 ModulusRemainder()));
  }
  return Block::make(stores);
}

}  // namespace

Stmt FoldsTogether::visit(const Allocate* op) {
  if (op->memory_type == Halide::MemoryType::Register) vectors_[op->name] = 0;
  return IRMutator::visit(op);
}

Stmt FoldsTogether::visit(const Store* op) {
  if (const auto found = vectors_.find(op->name); found != vectors_.end())
    found->second = std::max(found->second, op->value.type().lanes());
  return IRMutator::visit(op);
}

Stmt FoldsTogether::visit(const Block* op) {
  std::vector<Stmt> parts;
  flatten(op, parts);
  auto folds = first_folds(parts);
  if (folds.empty() || !without_gaps(folds)) return IRMutator::visit(op);
  const auto source = vectors_.find(folds[0].from->name), target = vectors_.find(folds[0].store->name);
  if (source == vectors_.end() || target == vectors_.end() || source == target) return IRMutator::visit(op);
  const int pair = 2 * folds[0].width;
  if (source->second < pair || source->second % pair != 0) return IRMutator::visit(op);
  target->second = source->second;
  std::vector<Stmt> result{stored_by_vectors(folds, target->second)};
  for (size_t p = folds.size(); p < parts.size(); ++p) result.push_back(mutate(parts[p]));
  return Block::make(result);
}

void flatten(const Stmt& stmt, std::vector<Stmt>& parts) {
  if (const auto* block = stmt.as<Block>()) {
    flatten(block->first, parts);
    flatten(block->rest, parts);
  } else {
    parts.push_back(stmt);
  }
}

}  // namespace tile_tune::codegen
