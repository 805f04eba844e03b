#include "codegen/lower/terms.h"

#include <algorithm>
#include <set>

#include "codegen/lower/expression.h"
#include "codegen/lower/guards.h"
#include "codegen/lower/quotient.h"
#include "codegen/lower/tile_products.h"
#include "codegen/schedule/gpu_nest.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {

using Halide::Expr;

Terms::Terms(const KernelContext& kernel, int statement, const NestSchedule& schedule, const TensorFuncs& tensors,
             const StageLoops& stage)
    : program_(kernel.program),
      number_(static_cast<size_t>(statement)),
      statement_(program_.statements[number_]),
      schedule_(schedule),
      tensors_(tensors),
      runtime_(kernel.runtime),
      stage_(stage),
      branches_(statement_, *spelled().value),
      repeats_operand_(find_repeated_operand() || reads_complex_twice()) {
  if (is_sum()) product_ = Product::of(term(), index_values({}).size(), stage_.loops, stage_.contiguous, branches_);
  for (const auto& choice : schedule_.packings) packed_.push_back(copy_of(choice, kernel.forms));
}

// The statement for to_halide(), whose runtime sizes are indices of their own there.
const ir::Statement& Terms::spelled() const { return runtime_ ? runtime_->spelled(number_) : statement_; }

// Adding 0 is adding nothing: the condition of a sum's term is one of its conditions, and a product is still fused with
// its sum. Running totals leave none out: they add the term itself.
bool Terms::leaves_terms_out() const {
  const auto& value = *spelled().value;
  if (!is_sum() || schedule_.scan || !branches_.decide(value)) return false;
  const auto* other = std::get_if<ir::Literal>(&std::get<ir::Call>(value.node).arguments[2]->node);
  return other && std::visit([](auto number) { return number == 0; }, other->value);
}

const ir::Expr& Terms::term() const {
  const auto& value = *spelled().value;
  return leaves_terms_out() ? *std::get<ir::Call>(value.node).arguments[1] : value;
}

Expr Terms::extent_of(int tensor, size_t dimension) const {
  if (runtime_) return runtime_->extent(tensor, dimension);
  return static_cast<int>(ir::extent(program_.tensors[tensor], dimension));
}

Expr Terms::bound_of(size_t constraint) const {
  if (runtime_) return runtime_->number(runtime_->named().statements[number_].constraints[constraint].bound);
  return static_cast<int>(statement_.constraints[constraint].bound.constant().value());
}

bool Terms::reads_inside(int operand, size_t dimension) const {
  const auto& [number, tensor, subscripts, affine] = stage_.loops.operands[operand];
  const auto& subscript = std::get<ir::AffineExpr>(subscripts[dimension]);
  // What lies beyond the border of a last tile is computed from elements inside.
  for (const auto& term : subscript.terms)
    for (int p = 0; p < stage_.outputs(); ++p)
      if (stage_.loops.output_index[p] == term.first && stage_.overrun[p]) return false;
  if (!runtime_) return stays_inside(statement_, subscript, ir::extent(program_.tensors[tensor], dimension));
  return runtime_->reads_inside_always(number_, operand, dimension);
}

// A subscript that may leave its tensor where nothing is made of what is read there. Vectors of a GPU begin at
// multiples of their length, so that a row of whole vectors has each inside or outside: moved as such, they stay one
// access.
Expr Terms::moved_inside(int number, size_t dimension, Expr subscript, bool likely) const {
  const auto& operand = stage_.loops.operands[number];
  const ir::Tensor& tensor = program_.tensors[operand.tensor];
  const Expr last = extent_of(operand.tensor, dimension) - 1;
  constexpr int kLanes = 4;
  const auto& affine = std::get<ir::AffineExpr>(operand.subscripts[dimension]);
  if (schedule_.is_gpu() && !runtime_ && static_cast<size_t>(ir::memory_order(tensor).front()) == dimension &&
      ir::extent(tensor, dimension) % kLanes == 0 && affine.terms.size() == 1 && affine.terms[0].second == 1 &&
      affine.denominator == 1 && affine.constant.constant() == 0)
    for (int p = 0; p < stage_.outputs(); ++p)
      if (stage_.loops.output_index[p] == affine.terms[0].first && schedule_.tiles[p].front() % kLanes == 0 &&
          stage_.loops.first[p] % kLanes == 0)
        return Halide::clamp(subscript / kLanes, 0, (last + 1) / kLanes - 1) * kLanes + subscript % kLanes;
  return Halide::clamp(likely ? Halide::likely(subscript) : subscript, 0, last);
}

bool Terms::stays_inside_its_tensor(const Operand& operand) const {
  for (size_t d = 0; d < operand.subscripts.size(); ++d)
    if (!operand.affine || !reads_inside(operand.number, d)) return false;
  return true;
}

std::vector<Expr> Terms::index_values(const std::vector<Expr>& reduction) const {
  std::vector<Expr> values(statement_.indices.size());
  for (int p = 0; p < stage_.outputs(); ++p) {
    const auto written = written_positions(statement_, stage_.loops, p);
    Expr position = stage_.vars[p];
    if (!writes_all_of(statement_, stage_.loops, p))
      position =
          Halide::clamp(Halide::likely(position), static_cast<int>(written.lo), static_cast<int>(written.hi) - 1);
    values[stage_.loops.output_index[p]] = position + static_cast<int>(stage_.loops.first[p]);
  }
  for (size_t r = 0; r < reduction.size(); ++r) {
    const int index = stage_.loops.reduction_index[r];
    values[index] = static_cast<int>(ir::range(statement_.indices[index]).lo) + reduction[r];
  }
  if (runtime_) values.insert(values.end(), runtime_->values().begin(), runtime_->values().end());
  return values;
}

// A range is empty: no term counts, and what it would read may have no elements.
bool Terms::reads_nothing() const {
  return !runtime_ && std::any_of(statement_.indices.begin(), statement_.indices.end(),
                                  [](const ir::Index& index) { return ir::range(index).extent() == 0; });
}

// Subscripts that leave their tensor where a constraint fails, or that are known at run time only, are clamped: what
// is read there is thrown away, or, with a gather out of range, some element instead of foreign memory (0 where there
// is none). `likely` makes Halide cut the loops where the clamps end, so that inner tiles have none.
Values Terms::read(int number, const ir::Read& node, std::vector<Expr> subscripts, const Expr& part) const {
  const ir::Tensor& tensor = program_.tensors[node.tensor];
  if (reads_nothing() || ir::element_count(tensor) == 0) return identity(ir::Aggregation::Sum, tensor.type);
  const PackedOperand* const packed = copy_read_as(number);
  // What is staged for a block has one size, wherever that lies, and is clamped itself.
  if (packed && schedule_.is_gpu()) return at(packed->func, packed_arguments(*packed, subscripts, part));
  bool leaves_lanes_out = false;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    const Expr last = extent_of(node.tensor, d) - 1;
    const bool follows = stage_.follows_masked_loop(number, d);
    leaves_lanes_out |= follows;
    if (!std::holds_alternative<ir::AffineExpr>(node.subscripts[d]))
      subscripts[d] = Halide::clamp(subscripts[d], 0, last);
    else if (!reads_inside(number, d) && !(packed && reaches_beyond(*packed, d, follows)))
      subscripts[d] = moved_inside(number, d, subscripts[d], true);
  }
  if (packed) return at(packed->func, packed_arguments(*packed, subscripts, part));
  const Values elements = unpacked(node.tensor, subscripts);
  if (!leaves_lanes_out) return elements;
  // So they are masked loads (border_loads.h).
  const auto extent = static_cast<int>(stage_.loops.output[*stage_.masked_loop]);
  return select(stage_.vars[*stage_.masked_loop] < extent, elements,
                each_part(
                    elements, [](const Expr& one) { return Halide::Internal::make_zero(one.type()); }));
}

// What lies beyond a dimension's end is there: the copy has zeros for it, is clamped itself, or filled up to whole
// blocks.
bool Terms::reaches_beyond(const PackedOperand& packed, size_t dimension, bool follows_masked_loop) {
  if (!packed.form) return packed.bordered[dimension] || follows_masked_loop;
  return follows_masked_loop && packed.form->blocks && static_cast<size_t>(packed.choice.order.front()) == dimension;
}

// Its own, or that of another operand that reads the same. (Squares of differences of 253 by 145 rows of 24 took 43 us
// with a copy for either factor, which then had to be computed twice, and 27 with one; two Zen 4 cores, 2026-11-27.)
const PackedOperand* Terms::copy_read_as(int number) const {
  const Packing* const copy = copy_read_by(stage_.loops, schedule_, number);
  const auto found = std::find_if(packed_.begin(), packed_.end(),
                                  [&](const auto& one) { return copy && one.choice.operand == copy->operand; });
  const bool is_own = copy && copy->operand == number;
  // Copies for dot products are shifted for one operand, those of products are of more than the operand.
  return found == packed_.end() || (!is_own && (stage_.dot || found->product >= 0)) ? nullptr : &*found;
}

Values Terms::unpacked(int tensor, const std::vector<Expr>& subscripts) const {
  return at(tensors_.at(tensor), buffer_arguments(program_.tensors[tensor], subscripts));
}

// The plain product is what the compiler knows as part of a dot product; its instructions wrap.
// `of_row`: indices of the operand that is the same for all lanes.
Expr Terms::dot_term(const std::vector<Expr>& indices, const std::vector<Expr>& of_row,
                     const ReadOperand& read_operand) const {
  const auto& factors = std::get<ir::Call>(statement_.value->node).arguments;
  const auto factor = [&](int number) {
    const auto read = [&](int, const ir::Read& node, const std::vector<Expr>& subscripts) {
      return read_operand(number, node, subscripts);
    };
    return to_halide(*factors[number], number == stage_.dot->column ? indices : of_row, read)[0];
  };
  return factor(0) * factor(1);
}

bool Terms::is_sum() const { return statement_.op == ir::Aggregation::Sum && stage_.reductions() > 0; }

// Of (x + yi) * (x - yi) the compiler takes yx - xy for nothing, where it is no number if x or y is infinite.
bool Terms::reads_complex_twice() const {
  if (!is_sum() || !is_complex(statement_.accumulator)) return false;
  std::set<int> tensors;
  return std::any_of(stage_.loops.operands.begin(), stage_.loops.operands.end(),
                     [&](const Operand& operand) { return !tensors.insert(operand.tensor).second; });
}

// Several terms have an element of a tensor whose elements overlap, by a stride of 0 or by strides that meet. Of
// x * y1 + x * y2 LLVM makes x * (y1 + y2) then, which is infinite instead of no number where x is infinite and the
// others have two signs.
bool Terms::find_repeated_operand() const {
  if (!is_sum()) return false;
  const Loops& loops = stage_.loops;
  return std::any_of(loops.operands.begin(), loops.operands.end(), [&](const Operand& operand) {
    const auto& tensor = program_.tensors[static_cast<size_t>(operand.tensor)];
    if (!operand.affine || !ir::has_overlap(ir::strides(tensor), ir::shape(tensor))) return false;
    std::vector<int64_t> strides, extents;
    for (size_t r = 0; r < loops.reduction.size(); ++r) {
      const int loop = static_cast<int>(loops.output.size() + r);
      if (!loops.is_walked(operand, loop)) continue;
      strides.push_back(loops.stride(program_, operand, loop));
      extents.push_back(loops.reduction[r]);
    }
    return ir::has_overlap(strides, extents);
  });
}

// Copies have zeros for what conditions leave out. That is all for integers; the pass that makes the tiles is told what
// else to do where zero times a float may be no number.
std::vector<Expr> Terms::known_to_tiles(const std::vector<Expr>& conditions) const {
  if (!is_float(statement_.accumulator)) return {};
  Expr all = Halide::Internal::const_true();
  for (const auto& condition : conditions) all = all && condition;
  return {Halide::Internal::Call::make(Halide::Bool(), kTileCondition, {all}, Halide::Internal::Call::PureExtern)};
}

Term Terms::of(std::vector<Expr> reduction, const Expr& part, const std::optional<Expr>& only_if) const {
  if (const auto& cut = schedule_.parallel_reduction)
    reduction[cut->loop] += *stage_.piece * static_cast<int>(stage_.reduction_extents[cut->loop]);
  const auto indices = index_values(reduction);
  auto conditions = stage_.reductions() == 0 || schedule_.scan ? std::vector<Expr>() : conditions_at(indices);
  if (stage_.matrix_tiles && !conditions.empty()) conditions = known_to_tiles(conditions);
  if (only_if) conditions.push_back(*only_if);
  auto of_row = indices;
  if (stage_.dot && stage_.ends_early(stage_.dot->loop) && !stage_.matrix_tiles) {
    Expr& position = reduction[stage_.dot->loop];
    const auto extent = static_cast<int>(stage_.loops.reduction[stage_.dot->loop]);
    conditions.push_back(position < extent);
    position = Halide::min(Halide::likely(position), extent - 1);
    of_row = index_values(reduction);
  }
  const auto read_operand = [&](int number, const ir::Read& node, const std::vector<Expr>& subscripts) {
    auto result = read(number, node, subscripts, part);
    // x + 128, as unsigned bytes.
    if (stage_.dot && stage_.dot->shifted && number != stage_.dot->column)
      result[0] = Halide::cast<uint8_t>(result[0]) ^ Halide::cast<uint8_t>(128);
    // A copy holds it so already.
    if (stage_.dot && stage_.dot->widened) result[0] = convert(result[0], Halide::Int(16));
    // Both factors are zero where a condition fails: dot products know no other way to leave a term out.
    for (const auto& condition : stage_.dot ? conditions : std::vector<Expr>())
      result[0] = Halide::select(condition, stage_.matrix_tiles ? result[0] : Halide::likely(result[0]),
                                 Halide::Internal::make_zero(result[0].type()));
    return result;
  };
  if (stage_.dot) return {{dot_term(indices, of_row, read_operand)}};
  const auto type = halide_type(statement_.accumulator);
  Values value = product_ ? product_->value(indices, read_operand, [&](int node) { return copied(node, indices); })
                          : to_halide(term(), indices, read_operand, branches_);
  const bool is_fused = is_sum() && !repeats_operand_;
  for (Expr& one : value) one = with_shared_reciprocals(one, stage_);
  value = each_part(with_ieee_rules(value, is_fused), [&](const Expr& one) { return convert(one, type); });
  return {value, conditions};
}

// What must hold for a term to count: one condition for each end of each constraint. Halide cuts loops at the
// conditions it finds, and folds two in one select (a < 65 && b < 65) into one of both loops (max(a, b) < 65), at
// which it cannot.
std::vector<Expr> Terms::conditions_at(const std::vector<Expr>& indices) const {
  std::vector<Expr> conditions;
  for (size_t c = 0; c < statement_.constraints.size(); ++c) {
    const Expr position = to_halide(spelled().constraints[c].expr, indices);
    conditions.push_back(position >= 0);
    conditions.push_back(position < bound_of(c));
  }
  if (leaves_terms_out())
    for (const auto& condition : branches_.conditions(*spelled().value, indices)) conditions.push_back(condition);
  return conditions;
}

// What a copy holds of the product that is added up.
std::optional<Values> Terms::copied(int node, const std::vector<Expr>& indices) const {
  for (const auto& packed : packed_) {
    if (packed.product != node) continue;
    std::vector<Expr> subscripts;
    for (const auto& subscript : stage_.loops.operands[packed.choice.operand].subscripts)
      subscripts.push_back(to_halide(std::get<ir::AffineExpr>(subscript), indices));
    return at(packed.func, packed_arguments(packed, subscripts, {}));
  }
  return std::nullopt;
}

// The node of the product that the copy of an operand holds: its other factors are inputs of the program, and are
// inside their tensors wherever the operand is. -1: it holds the operand.
int Terms::product_to_copy(const Packing& choice) const {
  const auto& operand = stage_.loops.operands[choice.operand];
  if (!product_ || runtime_ || program_.tensors[operand.tensor].type != statement_.value->type ||
      !stays_inside_its_tensor(operand))
    return -1;
  for (int p = 0; p < stage_.outputs(); ++p)
    if (!writes_all_of(statement_, stage_.loops, p)) return -1;
  if (!indices_at(statement_, operand, std::vector<Expr>(operand.subscripts.size(), 0))) return -1;
  return product_->held_by_copy(choice.operand, [&](int number) {
    const auto& other = stage_.loops.operands[number];
    return stays_inside_its_tensor(other) && program_.tensors[other.tensor].role == ir::Role::Input &&
           std::none_of(schedule_.packings.begin(), schedule_.packings.end(),
                        [&](const Packing& packing) { return packing.operand == number; });
  });
}

Values Terms::product_at(int node, const std::vector<Expr>& indices) const {
  const auto read_operand = [&](int, const ir::Read& read, const std::vector<Expr>& subscripts) {
    return unpacked(read.tensor, subscripts);
  };
  const Values values = product_->value(node, indices, read_operand, [](int) { return std::nullopt; });
  return with_ieee_rules(values, false);
}

PackedOperand Terms::copy_of(const Packing& choice, const std::vector<PackedForm>& forms) const {
  const auto& operand = stage_.loops.operands[choice.operand];
  const auto form = std::find_if(forms.begin(), forms.end(), [&](const PackedForm& one) {
    return one.statement == static_cast<int>(number_) && one.packing.operand == choice.operand;
  });
  if (form != forms.end()) return copy_made_beforehand(*form, tensors_.at(operand.tensor));
  const int node = product_to_copy(choice);
  const auto element = [&](std::vector<Expr> subscripts) {
    for (size_t d = 0; d < subscripts.size(); ++d)
      if ((schedule_.is_gpu() || stage_.follows_masked_loop(choice.operand, d)) && !reads_inside(choice.operand, d))
        subscripts[d] = moved_inside(choice.operand, d, subscripts[d], false);
    return node < 0 ? unpacked(operand.tensor, subscripts)
                    : product_at(node, *indices_at(statement_, operand, subscripts));
  };
  PackedOperand packed = copy_in_kernel(program_, statement_, stage_.loops, choice, stage_.dot, stage_.matrix_tiles,
                                        element, stage_name(static_cast<int>(number_)));
  packed.product = node;
  if (schedule_.is_gpu()) {
    const Loops loops = one_piece(stage_.loops, schedule_);
    packed.stored_sides = stored_sides(program_, static_cast<int>(number_), loops, schedule_, choice);
    packed.turns = copy_turns(program_, loops, schedule_, choice);
  }
  return packed;
}

}  // namespace tile_tune::codegen
