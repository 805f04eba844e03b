#include "codegen/lower/transposes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "codegen/lower/code_lines.h"

namespace tile_tune::codegen {
namespace {

using namespace Halide::Internal;
using Halide::Expr;
using Halide::Type;

constexpr int kLeast = 4;       // vectors that are transposed together: of fewer the compiler makes as good stores
constexpr int kLaneBytes = 16;  // x86 shuffles within them by one instruction of any vector length

/// One vector, and where its lanes go: `distance` elements behind those of the first store of the row.
struct Scattered {
  const Store* store;
  const Ramp* index;
  int64_t distance;
};

/// A store across memory as it is understood here, or null.
const Ramp* scattered(const Stmt& stmt) {
  const auto* store = stmt.as<Store>();
  if (!store || !is_const_one(store->predicate)) return nullptr;
  const auto* index = store->index.as<Ramp>();
  const Type type = store->value.type();
  const bool is_plain = (type.is_int_or_uint() || type.is_float() || type.is_bfloat()) && type.bits() >= 8;
  if (!index || !is_plain || !index->base.type().is_scalar() || is_const_one(index->stride) ||
      !std::has_single_bit(static_cast<unsigned>(index->lanes)) || index->lanes < kLeast)
    return nullptr;
  return reads_buffer(store->value, store->name) ? nullptr : index;
}

/// Elements of the lower (upper) half of each group of `lanes`, of both vectors in turn: an instruction for groups of
/// 16 bytes.
Expr unpacked(const Expr& a, const Expr& b, int group, bool upper) {
  const int lanes = a.type().lanes();
  std::vector<int> indices;
  for (int first = 0; first < lanes; first += group)
    for (int i = 0; i < group / 2; ++i) {
      const int from = first + (upper ? group / 2 : 0) + i;
      indices.insert(indices.end(), {from, lanes + from});
    }
  return Shuffle::make({a, b}, indices);
}

/// Groups of a that are even (odd) among all, then those of b.
Expr halves(const Expr& a, const Expr& b, int group, bool odd) {
  const int lanes = a.type().lanes();
  std::vector<int> indices;
  for (const int vector : {0, lanes})
    for (int first = odd ? group : 0; first < lanes; first += 2 * group)
      for (int i = 0; i < group; ++i) indices.push_back(vector + first + i);
  return Shuffle::make({a, b}, indices);
}

/// A square of as many vectors as they have lanes. In each step vectors whose numbers differ in one bit are paired.
/// What `unpacked` does moves the bits of an element's place round: the pair's bit becomes the lowest within the group,
/// the highest becomes the pair's; as many times as a group has bits, each with the next lower bit of the number,
/// exchanges them all. `halves` does the same with the places of groups, from the other end.
std::vector<Expr> transposed(std::vector<Expr> rows) {
  const int lanes = rows[0].type().lanes();
  const int group = std::min(lanes, kLaneBytes / rows[0].type().bytes());
  const auto step = [&](int bit, const auto& combine) {
    for (int i = 0; i < lanes; ++i) {
      if (i & bit) continue;
      const Expr a = rows[i], b = rows[i | bit];
      rows[i] = combine(a, b, false);
      rows[i | bit] = combine(a, b, true);
    }
  };
  for (int bit = group / 2; bit > 0; bit /= 2)
    step(bit, [&](const Expr& a, const Expr& b, bool upper) { return unpacked(a, b, group, upper); });
  for (int bit = group; bit < lanes; bit *= 2)
    step(bit, [&](const Expr& a, const Expr& b, bool odd) { return halves(a, b, group, odd); });
  return rows;
}

/// Elements in 4 bytes.
int group_width(int bytes) { return std::max(1, 4 / bytes); }

/// Of vectors of which so many in a row each have the next element of one place in memory, which a copy for dot
/// products takes together, vectors of those together, of elements of 4 bytes; else nothing.
std::vector<Expr> in_groups(const std::vector<Scattered>& vectors, int width) {
  std::vector<Expr> values;
  const Type type = vectors[0].store->value.type();
  const int lanes = type.lanes() * width;
  if (width == 1 || vectors.size() % static_cast<size_t>(width) != 0 || vectors[0].distance % width != 0 ||
      !is_const_zero(simplify(vectors[0].index->stride % width)))
    return {};
  for (size_t i = 0; i < vectors.size(); ++i) {
    const auto* load = vectors[i].store->value.as<Load>();
    const auto* index = load ? load->index.as<Ramp>() : nullptr;
    const auto* first = vectors[i - i % static_cast<size_t>(width)].store->value.as<Load>();
    if (!index || !is_const_one(load->predicate) || !is_const(index->stride, width) ||
        !index->base.type().is_scalar() || load->name != first->name ||
        !is_const(simplify(index->base - first->index.as<Ramp>()->base), static_cast<int64_t>(i) % width))
      return {};
    if (load != first) continue;
    const Expr whole =
        Load::make(type.with_lanes(lanes), load->name, Ramp::make(index->base, make_one(index->base.type()), lanes),
                   load->image, load->param, const_true(lanes), {});
    values.push_back(reinterpret(Halide::UInt(type.bits() * width, type.lanes()), whole));
  }
  return values;
}

/// Stores `rows` vectors of `lanes`, neighbours of each other in memory, as `lanes` vectors of `rows`, squares at a
/// time. `values`: of the vectors, each element of them `width` of the buffer's; `first`: where the first one goes.
Stmt stored_across(const Scattered& first, const std::vector<Expr>& values, int width) {
  const Ramp* index = first.index;
  const int rows = static_cast<int>(values.size()), lanes = index->lanes;
  const Type type = first.store->value.type().element_of(), bits = Halide::UInt(type.bits());
  std::vector<std::pair<std::string, Expr>> lets;
  const auto named = [&](const Expr& value) {
    lets.emplace_back(unique_name("transposed"), value);
    return Variable::make(value.type(), lets.back().first);
  };
  std::vector<Expr> vectors;
  for (const auto& value : values)
    vectors.push_back(named(
        value.type().is_float() && value.type().bits() < 32 ? reinterpret(bits.with_lanes(lanes), value) : value));
  std::vector<Stmt> stores;
  for (int lane = 0; lane < lanes; lane += rows) {
    std::vector<Expr> square;
    for (const auto& value : vectors)
      square.push_back(rows == lanes ? value : named(Shuffle::make_slice(value, lane, 1, rows)));
    square = transposed(std::move(square));
    for (int i = 0; i < rows; ++i) {
      const Type stored = type.with_lanes(rows * width);
      const Expr value = square[i].type() == stored ? square[i] : reinterpret(stored, square[i]);
      const Expr base = simplify(index->base + index->stride * (lane + i));
      stores.push_back(Store::make(first.store->name, value, Ramp::make(base, make_one(base.type()), rows * width),
                                   first.store->param, const_true(rows * width), {}));
    }
  }
  Stmt result = Block::make(stores);
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) result = LetStmt::make(let->first, let->second, result);
  return result;
}

/// The row in pieces of neighbours, each as large a power of two as there are and fit into a vector.
std::vector<Stmt> stored(std::vector<Scattered> row, int vector_bytes) {
  std::stable_sort(row.begin(), row.end(),
                   [](const Scattered& a, const Scattered& b) { return a.distance < b.distance; });
  const int bytes = row[0].store->value.type().bytes();
  auto width = static_cast<size_t>(group_width(bytes));
  std::vector<Expr> values = in_groups(row, static_cast<int>(width));
  if (values.empty()) {
    width = 1;
    for (const auto& one : row) values.push_back(one.store->value);
  }
  const auto most = static_cast<size_t>(vector_bytes / bytes) / width;
  const auto largest = std::max<size_t>(1, std::min(static_cast<size_t>(row[0].index->lanes), most));
  std::vector<Stmt> statements;
  for (size_t from = 0; from < values.size();) {
    const auto place = [&](size_t i) { return row[i * width].distance; };
    size_t count = 1;
    while (from + count < values.size() && place(from + count) == place(from) + static_cast<int64_t>(count * width))
      ++count;
    count = std::min(std::bit_floor(count), largest);
    if (count >= kLeast)
      statements.push_back(stored_across(row[from * width],
                                         {values.begin() + static_cast<std::ptrdiff_t>(from),
                                          values.begin() + static_cast<std::ptrdiff_t>(from + count)},
                                         static_cast<int>(width)));
    else
      for (size_t i = from * width; i < (from + count) * width; ++i) statements.emplace_back(row[i].store);
    from += count;
  }
  return statements;
}

struct StoredRow {
  std::vector<Scattered> vectors;
  size_t end = 0;  // number of the line behind the last
};

/// Whether lanes of different vectors may go to one element, the last of which has to win. Steps that are known when it
/// runs are those of a tensor's dimension.
bool may_meet(const std::vector<Scattered>& vectors) {
  const auto constant = as_const_int(vectors[0].index->stride);
  if (!constant) return false;
  const int64_t stride = std::abs(*constant), lanes = vectors[0].index->lanes;
  const auto meet = [&](const Scattered& a, const Scattered& b) {
    const int64_t apart = std::abs(a.distance - b.distance);
    return stride == 0 || (apart % stride == 0 && apart / stride < lanes);
  };
  for (auto a = vectors.begin(); a != vectors.end(); ++a)
    if (std::any_of(a + 1, vectors.end(), [&](const Scattered& b) { return meet(*a, b); })) return true;
  return false;
}

/// The stores from a line on that go to one buffer at one stride.
StoredRow row_from(const std::vector<CodeLine>& lines, size_t at, const std::map<std::string, Expr>& names) {
  StoredRow row{{}, at};
  const Store* first = nullptr;
  Expr base;
  for (size_t i = at; i < lines.size(); ++i) {
    const auto& line = lines[i];
    if (line.is_let()) {
      if (!first || reads_buffer(line.value, first->name)) break;
      continue;
    }
    const Ramp* index = scattered(line.statement);
    if (!index) break;
    const auto* store = line.statement.as<Store>();
    if (!first) {
      first = store;
      base = substitute(names, index->base);
    }
    if (store->name != first->name || store->value.type() != first->value.type() ||
        !(row.vectors.empty() || equal(index->stride, row.vectors[0].index->stride)))
      break;
    const auto distance = as_const_int(simplify(substitute(names, index->base) - base));
    if (!distance) break;
    row.vectors.push_back({store, index, *distance});
    row.end = i + 1;
  }
  if (row.vectors.size() > 1 && may_meet(row.vectors)) row.vectors.resize(1);
  return row;
}

}  // namespace

Stmt Transposes::visit(const Block* op) {
  const Stmt result = in_line(op);
  return result.defined() ? result : IRMutator::visit(op);
}

Stmt Transposes::visit(const LetStmt* op) {
  const Stmt result = in_line(op);
  return result.defined() ? result : IRMutator::visit(op);
}

// Vectors whose lanes fill memory without a gap Halide interleaves into one of all of them, which LLVM puts together
// element by element: 16 x 1984 floats, transposed, took 6.9 us so, 2.2 in squares; bytes, which permutations of 64 of
// them take as they are, 4.1 and 5.6 of 16 x 8192, but with AVX2 10.5 and 6.2 (two Zen 4 cores, 2026-11-28).
Stmt Transposes::visit(const Store* op) {
  const auto* interleaved = op->value.as<Shuffle>();
  const auto* dense = op->index.as<Ramp>();
  const auto rows = interleaved ? static_cast<int>(interleaved->vectors.size()) : 0;
  const int bytes = op->value.type().bytes(), least = std::max(kLeast, kLaneBytes / bytes);  // of what is stored then
  if (rows < least || rows % least != 0 || vector_bytes_ / bytes < least || !interleaved->is_interleave() || !dense ||
      !dense->base.type().is_scalar() || !is_const_one(dense->stride) || !is_const_one(op->predicate))
    return IRMutator::visit(op);
  std::vector<Stmt> stores;
  std::vector<Scattered> row;
  for (int i = 0; i < rows; ++i) {
    const Expr& value = interleaved->vectors[i];
    const Expr base = simplify(dense->base + i), stride = make_const(base.type(), rows);
    stores.push_back(Store::make(op->name, value, Ramp::make(base, stride, value.type().lanes()), op->param,
                                 const_true(value.type().lanes()), {}));
    const Ramp* index = scattered(stores.back());
    if (!index) return IRMutator::visit(op);
    row.push_back({stores.back().as<Store>(), index, i});
  }
  const bool is_permuted = bytes == 1 && vector_bytes_ >= 64 && in_groups(row, group_width(bytes)).empty();
  return is_permuted ? IRMutator::visit(op) : Block::make(stored(std::move(row), vector_bytes_));
}

Stmt Transposes::in_line(const Stmt& stmt) {
  std::vector<CodeLine> lines;
  if (!flatten(stmt, lines)) return {};
  const auto names = addresses_in(lines);
  std::vector<CodeLine> result;
  for (size_t at = 0; at < lines.size();) {
    const StoredRow row = row_from(lines, at, names);
    if (row.vectors.size() < kLeast) {
      result.push_back(lines[at].is_let() ? lines[at] : CodeLine{"", {}, mutate(lines[at].statement)});
      ++at;
      continue;
    }
    for (; at < row.end; ++at)
      if (lines[at].is_let()) result.push_back(lines[at]);
    for (auto& statement : stored(row.vectors, vector_bytes_)) result.push_back({"", {}, std::move(statement)});
  }
  return as_statement(result);
}

}  // namespace tile_tune::codegen
