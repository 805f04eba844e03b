#include "frontend/ir/collapsed.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

// Code counts elements with 32 bits, and tiles may end behind the last one.
constexpr int64_t kMostElements = int64_t{1} << 30;

/// One appearance of a tensor: the target or a read.
struct Access {
  int tensor;
  std::vector<AffineExpr> subscripts;
};

/// Every appearance, that of what the target's elements are taken from among them; nullopt if one is a gather.
std::optional<std::vector<Access>> accesses_of(const Statement& statement) {
  std::vector<Access> accesses{{statement.target, statement.subscripts}};
  for (const auto& source : {statement.previous, statement.unwritten})
    if (source) accesses.push_back({*source, statement.subscripts});
  bool affine = true;
  for_each_read(*statement.value, [&](const Read& read) {
    Access access{read.tensor, {}};
    for (const auto& subscript : read.subscripts) {
      const auto* plain = std::get_if<AffineExpr>(&subscript);
      affine &= plain != nullptr;
      if (plain) access.subscripts.push_back(*plain);
    }
    accesses.push_back(std::move(access));
  });
  return affine ? std::optional(std::move(accesses)) : std::nullopt;
}

/// The index that the subscript is; -1 if it is more than one.
int plain_index(const AffineExpr& subscript) {
  const bool is_plain = subscript.terms.size() == 1 && subscript.terms.front().second == 1 &&
                        subscript.constant.constant() == 0 && subscript.denominator == 1;
  return is_plain ? subscript.terms.front().first : -1;
}

/// By index: whether it is used as a number, or bounded by more than its range.
std::vector<bool> used_otherwise(const Statement& statement) {
  std::vector<bool> used(statement.indices.size(), false);
  for (const auto& constraint : statement.constraints)
    for (const auto& [index, coefficient] : constraint.expr.terms) used[static_cast<size_t>(index)] = true;
  rewrite(*statement.value, {[](AffineExpr&) {},
                             [&](Expr& expr) {
                               if (const auto* value = std::get_if<IndexValue>(&expr.node))
                                 used[static_cast<size_t>(value->index)] = true;
                             }});
  return used;
}

/// Of loops over all dimensions, the empty ones once.
int64_t longest_loop(const Tensor& tensor) {
  int64_t product = 1;
  for (const int64_t extent : shape(tensor)) {
    if (extent > kMostElements / product) return kMostElements + 1;
    product *= std::max<int64_t>(extent, 1);
  }
  return product;
}

/// Which dimensions collapse with the one after them, by tensor. Starts with all that may, and drops what a statement
/// does not walk as one until nothing changes.
class Collapsing {
 public:
  explicit Collapsing(const Program& program) : program_(program) {
    for (const Tensor& tensor : program.tensors) {
      const bool may = tensor.storage.is_compact() && !tensor.constant && longest_loop(tensor) <= kMostElements;
      with_next_.emplace_back(tensor.extents.size(), may);
      if (!with_next_.back().empty()) with_next_.back().back() = false;
    }
  }

  /// False if nothing is left.
  bool find() {
    for (const auto& statement : program_.statements) {
      auto accesses = accesses_of(statement);
      if (!accesses) return false;
      accesses_.push_back(std::move(*accesses));
      fixed_.push_back(used_otherwise(statement));
    }
    drop_unused();
    do {
      changed_ = false;
      for (size_t s = 0; s < accesses_.size(); ++s) drop_unlike(s);
      for (const int output : program_.outputs)
        if (const auto initial = program_.initial_value_of(output)) keep_alike(*initial, output);
    } while (changed_);
    return std::any_of(with_next_.begin(), with_next_.end(), [](const std::vector<bool>& tensor) {
      return std::find(tensor.begin(), tensor.end(), true) != tensor.end();
    });
  }

  Program program() const {
    Program result = program_;
    for (size_t t = 0; t < result.tensors.size(); ++t)
      result.tensors[t].extents =
          merged(result.tensors[t].extents, static_cast<int>(t),
                 [](SizeExpr& whole, const SizeExpr& next) { whole = *whole.constant() * *next.constant(); });
    for (size_t s = 0; s < result.statements.size(); ++s) collapse(result.statements[s], s);
    return result;
  }

 private:
  bool is_fast_first(int tensor) const { return program_.tensors[static_cast<size_t>(tensor)].storage.is_col(); }

  /// Dimension d of the tensor and the next one, that of the longer stride first.
  std::pair<size_t, size_t> slow_and_fast(int tensor, size_t d) const {
    return is_fast_first(tensor) ? std::pair(d + 1, d) : std::pair(d, d + 1);
  }

  void drop(int tensor, size_t d) {
    with_next_[static_cast<size_t>(tensor)][d] = false;
    changed_ = true;
  }

  void drop_unused() {
    std::vector<bool> used(program_.tensors.size(), false);
    for (const auto& accesses : accesses_)
      for (const auto& access : accesses) used[static_cast<size_t>(access.tensor)] = true;
    for (size_t t = 0; t < used.size(); ++t)
      if (!used[t]) with_next_[t].assign(with_next_[t].size(), false);
  }

  void keep_alike(int a, int b) {
    for (size_t d = 0; d < with_next_[static_cast<size_t>(a)].size(); ++d)
      if (with_next_[static_cast<size_t>(a)][d] != with_next_[static_cast<size_t>(b)][d]) {
        drop(a, d);
        drop(b, d);
      }
  }

  /// For every index of the statement the one that follows it in memory wherever it stands; -1 if there is none.
  std::vector<int> followers(size_t s) const {
    const Statement& statement = program_.statements[s];
    const size_t count = statement.indices.size();
    constexpr int kUnknown = -2;
    std::vector<int> next(count, kUnknown), before(count, kUnknown);
    const auto agree = [](int& known, int found) { known = known == kUnknown || known == found ? found : -1; };
    for (const auto& [tensor, subscripts] : accesses_[s]) {
      std::vector<int> after(subscripts.size(), -1), ahead(subscripts.size(), -1);
      for (size_t d = 0; d + 1 < subscripts.size(); ++d) {
        if (!with_next_[static_cast<size_t>(tensor)][d]) continue;
        const auto [slow, fast] = slow_and_fast(tensor, d);
        after[slow] = plain_index(subscripts[fast]);
        ahead[fast] = plain_index(subscripts[slow]);
      }
      for (size_t d = 0; d < subscripts.size(); ++d) {
        const int plain = plain_index(subscripts[d]);
        const int64_t extent = ir::extent(program_.tensors[static_cast<size_t>(tensor)], d);
        for (const auto& [index, coefficient] : subscripts[d].terms) {
          const auto i = static_cast<size_t>(index);
          const Range whole = range(statement.indices[i]);
          const bool is_whole = plain == index && whole.lo == 0 && whole.hi == extent && !fixed_[s][i];
          agree(next[i], is_whole ? after[d] : -1);
          agree(before[i], is_whole ? ahead[d] : -1);
        }
      }
    }
    for (size_t i = 0; i < count; ++i)
      if (next[i] < 0 || next[i] == static_cast<int>(i) || before[static_cast<size_t>(next[i])] != static_cast<int>(i))
        next[i] = -1;
    return next;
  }

  void drop_unlike(size_t s) {
    const auto next = followers(s);
    for (const auto& [tensor, subscripts] : accesses_[s])
      for (size_t d = 0; d + 1 < subscripts.size(); ++d) {
        if (!with_next_[static_cast<size_t>(tensor)][d]) continue;
        const auto [slow, fast] = slow_and_fast(tensor, d);
        const int index = plain_index(subscripts[slow]);
        if (index < 0 || next[static_cast<size_t>(index)] < 0 ||
            next[static_cast<size_t>(index)] != plain_index(subscripts[fast]))
          drop(tensor, d);
      }
  }

  /// The dimensions of the tensor with those that collapse put into the first of them by `merge`.
  template <typename Item, typename Merge>
  std::vector<Item> merged(const std::vector<Item>& dimensions, int tensor, Merge merge) const {
    std::vector<Item> result;
    for (size_t d = 0; d < dimensions.size(); ++d)
      if (d > 0 && with_next_[static_cast<size_t>(tensor)][d - 1])
        merge(result.back(), dimensions[d]);
      else
        result.push_back(dimensions[d]);
    return result;
  }

  /// One index for each chain of followers, in the place of that with the least number.
  void collapse(Statement& statement, size_t s) const {
    const auto next = followers(s);
    const size_t count = next.size();
    std::vector<int> before(count, -1), number(count, -1);
    for (size_t i = 0; i < count; ++i)
      if (next[i] >= 0) before[static_cast<size_t>(next[i])] = static_cast<int>(i);
    std::vector<Index> indices;
    for (size_t i = 0; i < count; ++i) {
      if (number[i] >= 0) continue;
      int head = static_cast<int>(i);
      while (before[static_cast<size_t>(head)] >= 0) head = before[static_cast<size_t>(head)];
      for (int one = head; one >= 0; one = next[static_cast<size_t>(one)])
        number[static_cast<size_t>(one)] = static_cast<int>(indices.size());
      indices.push_back(whole_chain(statement, next, head));
    }
    const auto keep_first = [](const auto&, const auto&) {};
    statement.subscripts = merged(statement.subscripts, statement.target, keep_first);
    statement.indices = std::move(indices);
    const Rewriter renumber{[&](AffineExpr& expr) {
                              for (auto& [index, coefficient] : expr.terms) index = number[static_cast<size_t>(index)];
                              std::sort(expr.terms.begin(), expr.terms.end());
                            },
                            [&](Expr& expr) {
                              if (auto* value = std::get_if<IndexValue>(&expr.node))
                                value->index = number[static_cast<size_t>(value->index)];
                              if (auto* read = std::get_if<Read>(&expr.node))
                                read->subscripts = merged(read->subscripts, read->tensor, keep_first);
                            }};
    rewrite(statement, renumber);
  }

  static Index whole_chain(const Statement& statement, const std::vector<int>& next, int head) {
    Index whole = statement.indices[static_cast<size_t>(head)];
    for (int i = next[static_cast<size_t>(head)]; i >= 0; i = next[static_cast<size_t>(i)]) {
      const Index& one = statement.indices[static_cast<size_t>(i)];
      whole.name += "_" + one.name;
      whole.hi = range(whole).hi * range(one).hi;
    }
    return whole;
  }

  const Program& program_;
  std::vector<std::vector<Access>> accesses_;  // by statement
  std::vector<std::vector<bool>> fixed_;       // by statement and index: used_otherwise()
  std::vector<std::vector<bool>> with_next_;   // by tensor and dimension
  bool changed_ = false;
};

}  // namespace

std::optional<Program> collapsed(const Program& program) {
  Collapsing collapsing(program);
  if (!collapsing.find()) return std::nullopt;
  return collapsing.program();
}

}  // namespace tile_tune::ir
