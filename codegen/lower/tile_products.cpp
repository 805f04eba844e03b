// Tiles of a matrix unit (codegen/schedule/matrix_tiles.h). Of
//
//   produce sums { sums = 0; for group { for row { for column { for part { sums[row, column] += a * b } } } ... } }
//
// with one nest of the inner loops for every tile of the register tile it makes
//
//   produce sums { tiles = 0; for group by 16 { tile += load a by load b ... }; the groups left over; sums = tiles }
//
// Halide's own way to such code (MemoryType::AMXTile) takes one tile at a time and operands in fewer forms, and ends
// the process where it does not recognise the loops.
#include "codegen/lower/tile_products.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/code_passes.h"
#include "codegen/schedule/matrix_tiles.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;
using namespace Halide::Internal;

constexpr int kElements = kTileColumns * kMostTileRows;  // of a register of sums
constexpr int kWide = 64;                                // bits of addresses

bool is_loop(const For* op, const char* name) { return ends_with(op->name, std::string(".") + name); }

/// The number as it lies in memory that a factor of a sum of that type is; null where it is anything else.
const Load* narrow_load(const Expr& factor, const Type& sum) {
  const auto* cast = factor.as<Cast>();
  const auto* load = cast && cast->type == sum ? cast->value.as<Load>() : nullptr;
  if (!load || !is_const_one(load->predicate)) return nullptr;
  const bool is_known = sum.is_float() ? load->type.is_bfloat() : load->type.is_int_or_uint() && load->type.bits() == 8;
  return is_known ? load : nullptr;
}

/// Of a stored value that is `sums` + a * b both factors; else nothing.
std::optional<std::array<const Load*, 2>> factors_of(const Expr& value, const std::string& sums) {
  const auto* sum = value.as<Add>();
  if (!sum) return std::nullopt;
  for (const auto& [before, term] : {std::pair(sum->a, sum->b), std::pair(sum->b, sum->a)}) {
    const auto* load = before.as<Load>();
    const auto* product = term.as<Mul>();
    if (!load || load->name != sums || !product) continue;
    const Load *a = narrow_load(product->a, value.type()), *b = narrow_load(product->b, value.type());
    if (a && b) return std::array{a, b};
  }
  return std::nullopt;
}

/// Without the conditions, for which copies have zeros.
class WithoutConditions : public IRMutator {
 public:
  bool has_found_some = false;

 private:
  using IRMutator::visit;
  Expr visit(const Select* op) override {
    const auto* call = op->condition.as<Call>();
    if (!call || call->name != kTileCondition) return IRMutator::visit(op);
    has_found_some = true;
    return mutate(op->true_value);
  }
};

/// Takes out what ends buffers from around the statement, which another one after it still reads.
class FreesLater : public IRMutator {
 public:
  std::vector<Stmt> frees;

 private:
  using IRMutator::visit;
  Stmt visit(const Allocate* op) override {
    own_.insert(op->name);
    return IRMutator::visit(op);
  }
  Stmt visit(const Free* op) override {
    if (own_.count(op->name) != 0) return op;
    frees.emplace_back(op);
    return Evaluate::make(0);
  }
  std::set<std::string> own_;
};

using Lets = std::vector<std::pair<std::string, Expr>>;

/// With names as what they stand for, from the innermost outwards.
Expr plain(Expr expr, const Lets& lets) {
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) expr = substitute(let->first, let->second, expr);
  return substitute_in_all_lets(expr);
}

/// Knows the names around what it visits.
class InsideLets : public IRMutator {
 protected:
  explicit InsideLets(Lets around = {}) : lets_(std::move(around)) {}
  using IRMutator::visit;
  Stmt visit(const LetStmt* op) override {
    lets_.emplace_back(op->name, op->value);
    Stmt result = IRMutator::visit(op);
    lets_.pop_back();
    return result;
  }
  Lets lets_;
};

/// An element's place as the tile's loops move it.
struct Place {
  Expr first, row, column, part, group;  // where all loops are at 0, and the steps of each
};

/// One tile's part of the update.
struct Tile {
  std::string row_buffer, column_buffer;
  Type row_type, column_type, sum_type;
  Place rows, columns, sums;
  int row_count = 0;
};

/// Reads the nests inside a loop over groups.
class Nests {
 public:
  // `around`: names with values outside of the loop.
  Nests(const For* groups, const std::string& sums, const Lets& around)
      : sums_(sums), group_(groups->name), around_(around) {
    std::copy_if(around.begin(), around.end(), std::back_inserter(conditions_),
                 [](const auto& let) { return let.second.type().is_bool(); });
    is_known = is_const_zero(groups->min) && as_const_int(groups->extent) && take(groups->body, {});
    is_known = is_known && !tiles.empty();
  }
  std::vector<Tile> tiles;
  bool is_known = true, has_conditions = false;

 private:
  bool take(const Stmt& stmt, Lets lets) {
    if (const auto* let = stmt.as<LetStmt>()) {
      lets.emplace_back(let->name, let->value);
      return take(let->body, std::move(lets));
    }
    if (const auto* block = stmt.as<Block>()) return take(block->first, lets) && take(block->rest, lets);
    if (const auto* loop = stmt.as<For>()) {
      const std::array names{kTileRow, kTileColumn, kTilePart};
      if (loops_.size() >= names.size() || !is_loop(loop, names[loops_.size()]) || !is_const_zero(loop->min) ||
          !as_const_int(loop->extent))
        return false;
      loops_.push_back(loop);
      const bool known = take(loop->body, std::move(lets));
      loops_.pop_back();
      return known;
    }
    const auto* store = stmt.as<Store>();
    return store && loops_.size() == 3 && add(store, lets);
  }

  int extent(size_t loop) const { return static_cast<int>(*as_const_int(loops_[loop]->extent)); }

  // nullopt: the index is not first + the loops' steps.
  std::optional<Place> place(const Expr& index, const Lets& lets) const {
    const Expr whole = simplify(plain(index, lets));
    if (!whole.type().is_scalar()) return std::nullopt;
    return steps(whole);
  }

  std::optional<Place> steps(const Expr& expr) const {
    const Expr zero = make_zero(expr.type()), one = make_one(expr.type());
    const std::array names{loops_[0]->name, loops_[1]->name, loops_[2]->name, group_};
    const auto combined = [](const Place& a, const Place& b, const auto& combine) {
      const auto both = [&](const Expr& x, const Expr& y) { return simplify(combine(x, y)); };
      return Place{both(a.first, b.first), both(a.row, b.row), both(a.column, b.column), both(a.part, b.part),
                   both(a.group, b.group)};
    };
    if (const auto* variable = expr.as<Variable>())
      for (size_t i = 0; i < names.size(); ++i) {
        if (variable->name != names[i]) continue;
        std::array<Expr, 4> at{zero, zero, zero, zero};
        at[i] = one;
        return Place{zero, at[0], at[1], at[2], at[3]};
      }
    const auto is_fixed = [&](const Expr& part) {
      return std::none_of(names.begin(), names.end(), [&](const auto& name) { return expr_uses_var(part, name); });
    };
    if (is_fixed(expr)) return Place{expr, zero, zero, zero, zero};
    const auto of_both = [&](const auto& sum, const auto& combine) -> std::optional<Place> {
      const auto a = steps(sum->a), b = steps(sum->b);
      return a && b ? std::optional(combined(*a, *b, combine)) : std::nullopt;
    };
    if (const auto* sum = expr.as<Add>()) return of_both(sum, [](const Expr& x, const Expr& y) { return x + y; });
    if (const auto* difference = expr.as<Sub>())
      return of_both(difference, [](const Expr& x, const Expr& y) { return x - y; });
    if (const auto* quotient = expr.as<Div>()) return inside_block(quotient->a, quotient->b, true);
    if (const auto* remainder = expr.as<Mod>()) return inside_block(remainder->a, remainder->b, false);
    // Next to buffers of 2 GiB indices have 64 bits.
    if (const auto* wide = expr.as<Cast>();
        wide && wide->type.is_int() && wide->type.bits() >= wide->value.type().bits())
      if (const auto a = steps(wide->value))
        return combined(*a, *a, [&](const Expr& x, const Expr&) { return cast(wide->type, x); });
    const auto* product = expr.as<Mul>();
    if (!product) return std::nullopt;
    const bool first = is_fixed(product->a);
    const Expr &factor = first ? product->a : product->b, &moving = first ? product->b : product->a;
    const auto a = is_fixed(factor) ? steps(moving) : std::nullopt;
    if (!a) return std::nullopt;
    return combined(*a, *a, [&](const Expr& x, const Expr&) { return x * factor; });
  }

  // The number of a packed constant's block, or the place in it, where a tile lies in one block.
  std::optional<Place> inside_block(const Expr& position, const Expr& width, bool is_number) const {
    const auto block = as_const_int(width);
    const auto inside = steps(position);
    if (!block || !inside) return std::nullopt;
    const Expr whole = plain(inside->first, around_);
    const auto first = as_const_int(simplify(whole % width));
    int64_t last = first.value_or(*block);
    const std::array steps{inside->row, inside->column, inside->part};
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto step = as_const_int(steps[i]);
      last += step && *step >= 0 ? *step * (extent(i) - 1) : *block;
    }
    if (!is_const_zero(inside->group) || last >= *block) return std::nullopt;
    if (!is_number)
      return Place{make_const(position.type(), *first), inside->row, inside->column, inside->part, inside->group};
    const Expr zero = make_zero(position.type());
    return Place{simplify(whole / width), zero, zero, zero, zero};
  }

  bool add(const Store* store, const Lets& lets) {
    if (store->name != sums_ || !is_const_one(store->predicate)) return false;
    WithoutConditions conditions;
    const Expr value = conditions.mutate(plain(plain(store->value, lets), conditions_));
    has_conditions |= conditions.has_found_some;
    const auto factors = factors_of(value, sums_);
    if (!factors) return false;
    const auto sums = place(store->index, lets);
    if (!sums || !is_const_one(sums->column) || !is_const_zero(sums->part) || !is_const_zero(sums->group)) return false;
    for (const int row : {0, 1}) {
      const Load *a = (*factors)[static_cast<size_t>(row)], *b = (*factors)[static_cast<size_t>(1 - row)];
      const auto rows = place(a->index, {}), columns = place(b->index, {});
      if (!rows || !columns) return false;
      const int width = extent(2);
      const bool is_so = is_const_zero(rows->column) && is_const_one(rows->part) && is_const(rows->group, width) &&
                         is_const_zero(columns->row) && is_const_one(columns->part) &&
                         is_const(columns->column, width) && width * a->type.bytes() == kBytesOfGroup &&
                         width * b->type.bytes() == kBytesOfGroup && extent(1) == kTileColumns &&
                         extent(0) <= kMostTileRows;
      if (!is_so) continue;
      tiles.push_back({a->name, b->name, a->type, b->type, store->value.type(), *rows, *columns, *sums, extent(0)});
      return true;
    }
    return false;
  }

  const std::string &sums_, group_;
  const Lets& around_;
  Lets conditions_;  // of those
  std::vector<const For*> loops_;
};

Expr bytes(const Expr& elements, const Type& type) { return cast(Halide::Int(kWide), elements) * type.bytes(); }
Expr short_number(int value) { return make_const(Halide::Int(16), value); }
Expr all_of_tile() { return Ramp::make(0, 1, kElements); }
Expr tile_call(const Type& type, const char* name, const std::vector<Expr>& arguments) {
  return Call::make(type, name, arguments, Call::Intrinsic);
}
Expr tile_of(const std::string& name, const Type& type) {
  return Load::make(type.with_lanes(kElements), name, all_of_tile(), {}, {}, const_true(kElements), ModulusRemainder());
}
Stmt set_tile(const std::string& name, const Expr& value) {
  return Store::make(name, value, all_of_tile(), {}, const_true(kElements), ModulusRemainder());
}

/// The production of one buffer of sums.
class Production : public InsideLets {
 public:
  Production(std::string sums, Lets around) : InsideLets(std::move(around)), sums_(std::move(sums)) {}

  // As it was where the loops are not as expected: right, and slow.
  Stmt made(const Stmt& body) {
    FreesLater later;
    const Stmt loops = later.mutate(body);
    Stmt result = mutate(loops);
    if (!is_known_ || tiles_.empty()) return body;
    std::vector<Stmt> steps;
    for (const auto& [name, tile] : tiles_)
      steps.push_back(set_tile(name, tile_call(tile.sum_type.with_lanes(kElements), "tile_zero",
                                               {short_number(tile.row_count), short_number(kTileBytes)})));
    steps.push_back(result);
    for (const auto& [name, tile] : tiles_)
      steps.push_back(Evaluate::make(tile_call(
          Halide::Int(32), "tile_store",
          {short_number(tile.row_count), short_number(kTileBytes), Variable::make(Halide::Handle(), sums_),
           bytes(tile.sums.first, tile.sum_type), bytes(tile.sums.row, tile.sum_type), tile_of(name, tile.sum_type)})));
    result = Block::make(steps);
    for (const auto& [name, tile] : tiles_)
      result = Allocate::make(name, tile.sum_type.with_lanes(kElements), Halide::MemoryType::AMXTile, {1}, const_true(),
                              result);
    std::vector<Stmt> all{result};
    if (has_conditions_) all.push_back(IfThenElse::make(has_no_number(), loops));
    all.insert(all.end(), later.frees.begin(), later.frees.end());
    return Block::make(all);
  }

 private:
  using InsideLets::visit;

  // Of a term that a condition leaves out the other factor may be infinite or no number, and so is then the sum, to
  // which zero times that was added: such sums are made again, one by one.
  Expr has_no_number() const {
    constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
    const Type word = Halide::UInt(32, kTileColumns);
    Expr most;
    for (const auto& [name, tile] : tiles_)
      for (int row = 0; row < tile.row_count; ++row) {
        const Expr sums = Load::make(tile.sum_type.with_lanes(kTileColumns), sums_,
                                     Ramp::make(tile.sums.first + tile.sums.row * row, 1, kTileColumns), {}, {},
                                     const_true(kTileColumns), ModulusRemainder());
        const Expr magnitude = reinterpret(word, sums) & make_const(word, kMagnitude);
        most = most.defined() ? max(most, magnitude) : magnitude;
      }
    return VectorReduce::make(VectorReduce::Or, most > make_const(word, kInfinity), 1);
  }

  // Sums begin at 0, as tiles do.
  Stmt visit(const Store* op) override {
    if (op->name != sums_) return IRMutator::visit(op);
    is_known_ = is_known_ && is_const_zero(op->value);
    return Evaluate::make(0);
  }

  Stmt visit(const For* op) override {
    if (!is_loop(op, kTileGroup)) return IRMutator::visit(op);
    const Nests nests(op, sums_, lets_);
    if (!nests.is_known || !tiles_.empty()) {
      is_known_ = false;
      return op;
    }
    has_conditions_ = nests.has_conditions;
    const auto groups = static_cast<int>(*as_const_int(op->extent));
    std::vector<std::string> names;
    for (Tile tile : nests.tiles) {
      names.push_back(unique_name(sums_ + ".tile"));
      // Behind the loops names have no value.
      tile.sums.first = plain(tile.sums.first, lets_);
      tile.sums.row = plain(tile.sums.row, lets_);
      tiles_.emplace_back(names.back(), tile);
    }
    const int together = groups_of_tile(groups), whole = groups / together, rest = groups % together;
    std::vector<Stmt> steps;
    if (whole > 0) {
      const std::string name = unique_name(op->name + ".whole");
      const Expr first = Variable::make(Halide::Int(32), name) * together;
      steps.push_back(For::make(name, 0, whole, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None,
                                step(nests.tiles, names, first, together)));
    }
    if (rest > 0) steps.push_back(step(nests.tiles, names, whole * together, rest));
    return Block::make(steps);
  }

  // All tiles' products of so many groups; what several tiles have in common is loaded once.
  static Stmt step(const std::vector<Tile>& tiles, const std::vector<std::string>& names, const Expr& first,
                   int groups) {
    std::map<Expr, std::string, IRDeepCompare> rows, columns;
    std::vector<std::pair<std::string, Expr>> loads;
    std::vector<size_t> loads_before;
    std::vector<Stmt> products;
    const auto loaded = [&](std::map<Expr, std::string, IRDeepCompare>& known, const std::string& buffer,
                            const Type& type, const Place& place, int count, int width, const Expr& stride) {
      const Type whole = type.with_lanes(kTileBytes * kMostTileRows / type.bytes());
      auto& name = known[place.first];
      if (name.empty()) {
        name = unique_name("tile_operand");
        const Expr offset = bytes(place.first + first * place.group, type);
        loads.emplace_back(name, tile_call(whole, "tile_load",
                                           {short_number(count), short_number(width),
                                            Variable::make(Halide::Handle(), buffer), offset, bytes(stride, type)}));
      }
      return Variable::make(whole, name);
    };
    for (size_t i = 0; i < tiles.size(); ++i) {
      const Tile& tile = tiles[i];
      const int width = groups * kBytesOfGroup;
      const Expr a = loaded(rows, tile.row_buffer, tile.row_type, tile.rows, tile.row_count, width, tile.rows.row);
      const Expr b =
          loaded(columns, tile.column_buffer, tile.column_type, tile.columns, groups, kTileBytes, tile.columns.group);
      loads_before.push_back(loads.size());
      products.push_back(set_tile(names[i], tile_call(tile.sum_type.with_lanes(kElements), "tile_matmul",
                                                      {short_number(tile.row_count), short_number(kTileBytes),
                                                       short_number(width), tile_of(names[i], tile.sum_type), a, b})));
    }
    Stmt result;
    for (size_t i = tiles.size(); i-- > 0;) {
      result = result.defined() ? Block::make(products[i], result) : products[i];
      const size_t before = i > 0 ? loads_before[i - 1] : 0;
      for (size_t load = loads_before[i]; load-- > before;)
        result = LetStmt::make(loads[load].first, loads[load].second, result);
    }
    return result;
  }

  const std::string sums_;
  std::vector<std::pair<std::string, Tile>> tiles_;
  bool is_known_ = true, has_conditions_ = false;
};

class Tiles : public InsideLets {
 public:
  explicit Tiles(std::set<std::string> sums) : sums_(std::move(sums)) {}

 private:
  using InsideLets::visit;
  Expr visit(const Call* op) override {
    return op->name == kTileCondition ? mutate(op->args.front()) : IRMutator::visit(op);
  }
  Stmt visit(const ProducerConsumer* op) override {
    if (!op->is_producer || sums_.count(op->name) == 0) return IRMutator::visit(op);
    return ProducerConsumer::make(op->name, true, mutate(Production(op->name, lets_).made(op->body)));
  }
  const std::set<std::string> sums_;
};

}  // namespace

std::optional<CodePass> products_of_tiles(const ir::Program&, const std::map<int, ScheduledNest>& nests) {
  std::set<std::string> sums;
  for (const auto& [owner, nest] : nests) {
    if (!nest.stage.matrix_tiles || !nest.stage.reduction) continue;
    if (const auto* plain = std::get_if<PlainReduction>(&*nest.stage.reduction)) sums.insert(plain->sums.func.name());
    if (const auto* blocked = std::get_if<BlockedReduction>(&*nest.stage.reduction))
      sums.insert(blocked->partial.func.name());
  }
  if (sums.empty()) return std::nullopt;
  return CodePass{std::make_unique<Tiles>(std::move(sums)),
                  "Not in it: the instructions of the matrix unit, which are put into the lowered code in place of the "
                  "loops over its tiles."};
}

}  // namespace tile_tune::codegen
