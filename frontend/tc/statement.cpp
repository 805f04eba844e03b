#include "frontend/tc/statement.h"

#include <fmt/format.h>
#include <algorithm>

#include "frontend/ir/grouping.h"
#include "frontend/ir/guarded_terms.h"
#include "frontend/ir/partial_reductions.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lower_expression.h"
#include "frontend/tc/print.h"
#include "frontend/tc/ranges.h"

namespace tile_tune::tc {
namespace {

using ir::Aggregation;
using ir::SizeExpr;

/// Whether every value of `from` is (up to a float's rounding) a value of `to`.
bool holds(DType to, DType from) {
  if (to == from || from == DType::Bool) return true;
  if (is_float(to)) return !is_float(from) || promote(to, from) == to;
  if (!is_integer(to) || !is_integer(from)) return false;
  if (is_signed(to) == is_signed(from)) return dtype_size(to) >= dtype_size(from);
  return is_signed(to) && dtype_size(to) > dtype_size(from);
}

struct Types {
  DType tensor, accumulator;
};

class Analyzer {
 public:
  Analyzer(const Source& source, const ast::Statement& statement, Budget& budget, DefScope& def)
      : source_(source), statement_(statement), budget_(budget), def_(def) {}

  Result<void> run() {
    TILE_TUNE_CHECK(find_target());
    TILE_TUNE_TRY(scope, resolve_names(source_, def_, statement_));
    scope_ = std::move(scope);
    const size_t on_the_left = statement_.subscripts.size();
    if (statement_.op == Aggregation::Assign && static_cast<size_t>(scope_.computed) > on_the_left)
      return errors::assign_reduces(source_.place(scope_.indices[on_the_left].span), scope_.indices[on_the_left].text);

    const bool accumulates = statement_.op == Aggregation::Sum || statement_.op == Aggregation::Product;
    Lowering lowering(source_, def_, scope_, budget_, accumulates);
    TILE_TUNE_CHECK(fix_ranges(lowering));
    TILE_TUNE_TRY(value, lowering.value(*statement_.value));
    first_asserted_ = lowering.bounds().size();
    for (const auto& clause : statement_.where)
      if (const auto* exists = std::get_if<ast::ExistsClause>(&clause)) TILE_TUNE_CHECK(lowering.value(*exists->value));
    for (const auto* let : scope_.lets) TILE_TUNE_CHECK(check_let(*let));
    bounds_ = lowering.bounds();
    guarded_bounds_ = lowering.guarded_bounds();
    behind_asserted_ = bounds_.size();
    bound_writes();
    TILE_TUNE_CHECK(infer());
    TILE_TUNE_CHECK(check_ranges());
    TILE_TUNE_CHECK(check_output_ranges(lowering));
    TILE_TUNE_CHECK(check_bounds());
    TILE_TUNE_TRY(types, settle_types(lowering, value));
    emit(types, value.expr);
    return {};
  }

 private:
  Place place(Span span) const { return source_.place(span); }
  const ast::Type* declared_type() const {
    return symbol_->declaration && symbol_->declaration->type ? &*symbol_->declaration->type : nullptr;
  }
  const ir::Tensor* present() const { return symbol_->version ? &def_.program.tensors[*symbol_->version] : nullptr; }
  /// No statement has written the name yet.
  bool is_first() const { return !present() || present()->role == ir::Role::InOut; }

  Result<void> find_target() {
    const auto& name = statement_.target;
    if (find_builtin(name.text)) return errors::builtin_redefined(place(name.span), name.text);
    if (def_.sizes.contains(name.text)) return errors::redefinition(place(name.span), name.text, "a size");
    // A temporary becomes known after its own statement: until then its name is undefined in it.
    const auto found = def_.tensors.find(name.text);
    if (found != def_.tensors.end()) symbol_ = &found->second;
    if (symbol_->kind == TensorSymbol::Kind::Input) return errors::write_to_input(place(name.span), name.text);
    std::optional<size_t> rank;
    if (present()) rank = present()->extents.size();
    if (declared_type()) rank = declared_type()->dims.size();
    if (rank && *rank != statement_.subscripts.size())
      return errors::wrong_subscript_count(place(name.span), name.text, *rank, statement_.subscripts.size());
    if (statement_.subscripts.size() > kMaxDimensions)
      return errors::too_many_dimensions(place(name.span), kMaxDimensions);
    if (!present() && !statement_.initialises && symbol_->kind == TensorSymbol::Kind::Temporary)
      return errors::no_initial_value(place(name.span), name.text, statement_.op_text);
    return {};
  }

  // The extent the target has before this statement, or is declared to get; nullopt if inference decides.
  std::optional<SizeExpr> target_extent(size_t dimension) const {
    if (present()) return present()->extents[dimension];
    return declared_type() ? def_.extent_of(declared_type()->dims[dimension]) : std::nullopt;
  }

  Result<void> fix_ranges(Lowering& lowering) {
    for (const auto& index : scope_.indices) variables_.push_back({{std::string(index.text), 0, 0, ""}, false});
    for (const auto& clause : statement_.where) {
      const auto* range = std::get_if<ast::RangeClause>(&clause);
      if (!range) continue;
      TILE_TUNE_TRY(lo, lowering.range_end(*range->lo));
      TILE_TUNE_TRY(hi, lowering.range_end(*range->hi));
      variables_[scope_.index_numbers.at(range->index.text)] = {
          {std::string(range->index.text), lo, hi, "where clause"}, true};
    }
    declared_.assign(statement_.subscripts.size(), false);
    for (size_t d = 0; d < statement_.subscripts.size() && is_first(); ++d) {
      const auto extent = target_extent(d);
      if (!extent || variables_[d].solved) continue;
      declared_[d] = true;
      variables_[d] = {{variables_[d].index.name, 0, *extent,
                        fmt::format("the declared type of {}, dimension {}", statement_.target.text, d)},
                       true};
    }
    return {};
  }

  // A let that nothing uses is checked all the same; its reads assert nothing.
  Result<void> check_let(const ast::LetClause& let) {
    Lowering lowering(source_, def_, scope_, budget_, false);
    TILE_TUNE_CHECK(lowering.value(*let.value));
    return {};
  }

  // A statement stays inside a tensor that has a value: the left side bounds its indices as a read does.
  void bound_writes() {
    if (!present()) return;
    std::string names;
    for (const auto& subscript : statement_.subscripts)
      names += fmt::format("{}{}", names.empty() ? "" : ",", subscript.text);
    for (size_t d = 0; d < statement_.subscripts.size(); ++d)
      bounds_.push_back({ir::AffineExpr::index(static_cast<int>(d)), 1, present()->extents[d],
                         fmt::format("{}({}), dimension {}", statement_.target.text, names, d),
                         statement_.subscripts[d].span});
  }

  // Of reduced indices that inference gives fewer values than a dimension has which they alone subscript, or may give
  // once sizes have values: bind() is followed by a warning there (ir/partial_reductions.h).
  void note_parts(const std::vector<Variable>& given) {
    for (const auto& bound : bounds_) {
      if (bound.expr.terms.size() != 1 || bound.divisor != 1) continue;
      const int number = bound.expr.terms[0].first;
      auto& [index, solved] = variables_[number];
      if (number < static_cast<int>(statement_.subscripts.size()) || given[number].solved || !solved) continue;
      const auto alone = range_from_bounds(number, variables_, {bound});
      if (!alone || ((alone->hi - alone->lo) - (index.hi - index.lo)).constant() == 0) continue;
      const auto whole = fmt::format("{}{}", ir::kWithin, bound.reason);
      if (index.reason.find(whole) == std::string::npos) index.reason += whole;
    }
  }

  /// Of the first guarded read with the index, the extent that its subscript has to stay below.
  std::optional<SizeExpr> guarded_extent(size_t index) const {
    for (const auto& bound : guarded_bounds_)
      for (const auto& [number, coefficient] : bound.expr.terms)
        if (number == static_cast<int>(index)) return bound.extent;
    return std::nullopt;
  }

  Result<void> infer() {
    const auto given = variables_;
    if (const auto given_up = infer_ranges(variables_, bounds_))
      return errors::too_many_limits(place(scope_.indices[*given_up].span), scope_.indices[*given_up].text);
    std::vector<bool> mentioned(variables_.size());
    for (const auto& bound : bounds_)
      for (const auto& [number, coefficient] : bound.expr.terms) mentioned[number] = true;
    std::vector<std::string> ambiguous;
    std::optional<size_t> first;
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].solved) continue;
      const auto& name = scope_.indices[i];
      if (!mentioned[i])
        return errors::no_range(place(name.span), name.text, i < statement_.subscripts.size(), guarded_extent(i));
      if (!first) first = i;
      ambiguous.emplace_back(name.text);
    }
    if (first) return errors::ambiguous_range(place(scope_.indices[*first].span), ambiguous);
    note_parts(given);
    return {};
  }

  Result<void> check_ranges() {
    for (size_t i = 0; i < variables_.size(); ++i) {
      const auto& index = variables_[i].index;
      const auto where = scope_.indices[i].span;
      if (index.lo.overflowed() || index.hi.overflowed()) return errors::arithmetic_overflow(place(where));
      for (const auto* end : {&index.lo, &index.hi})
        if (!end->constant() && end->str().size() > kMaxSizeText)
          return errors::too_many_limits(place(where), index.name);
      const auto extent = (index.hi - index.lo).constant();
      if (extent && *extent <= 0 && !def_.is_zero_sized) return errors::empty_range(place(where), index);
    }
    return {};
  }

  // The first statement of a tensor makes its elements 0 to extent - 1, as many as declared.
  Result<void> check_output_ranges(Lowering& lowering) {
    if (!is_first()) return {};
    for (size_t d = 0; d < statement_.subscripts.size(); ++d) {
      // A where clause may choose a part of the caller's buffer.
      if (present() && !declared_[d]) continue;
      auto index = variables_[d].index;
      const auto where = place(statement_.subscripts[d].span);
      if (declared_[d])
        if (const auto inferred = range_from_bounds(static_cast<int>(d), variables_, bounds_)) index = *inferred;
      // A declared size and an unlike inferred one may still be equal once both have values.
      const bool is_unknown = declared_[d] && !index.lo.constant();
      if (index.lo.constant() != 0 && !is_unknown)
        return errors::nonzero_minimum(where, index, rebased(lowering, static_cast<int>(d), index));
      const auto extent = target_extent(d);
      if (const auto difference = extent ? (index.hi - *extent).constant() : std::nullopt; difference.value_or(0) != 0)
        return errors::dimension_mismatch(where, statement_.target.text, d, *extent, index);
    }
    return {};
  }

  // The statement's text with `variable` counting from 0.
  std::string rebased(Lowering& lowering, int variable, const ir::Index& range) {
    const auto& name = range.name;
    const auto shifted = SizeExpr::name(name) + range.lo;
    const Replacement replacement = [&](const ast::Expr& expr) -> std::optional<std::string> {
      if (const auto* identifier = std::get_if<ast::Identifier>(&expr.node))
        return identifier->name == name ? std::optional(fmt::format("({})", shifted.str())) : std::nullopt;
      const auto* apply = std::get_if<ast::Apply>(&expr.node);
      if (!apply || !def_.tensors.contains(apply->name.text)) return std::nullopt;
      std::vector<std::string> subscripts;
      for (const auto& subscript : apply->arguments) {
        const auto affine = lowering.affine(*subscript);
        if (!affine || !*affine || (*affine)->coefficient(variable) == 0) {
          subscripts.push_back(to_text(*subscript, replacement));
          continue;
        }
        SizeExpr sum = (*affine)->constant + range.lo * (*affine)->coefficient(variable);
        for (const auto& [number, factor] : (*affine)->terms)
          sum = sum + SizeExpr::name(variables_[number].index.name) * factor;
        subscripts.push_back(sum.str());
      }
      return fmt::format("{}({})", apply->name.text, fmt::join(subscripts, ","));
    };
    std::vector<std::string> where;
    for (const auto& clause : statement_.where) {
      if (const auto* given = std::get_if<ast::RangeClause>(&clause)) {
        where.push_back(given->index.text == name
                            ? fmt::format("{} in 0:{}", name, (range.hi - range.lo).str())
                            : fmt::format("{} in {}:{}", given->index.text, to_text(*given->lo), to_text(*given->hi)));
      } else if (const auto* let = std::get_if<ast::LetClause>(&clause)) {
        where.push_back(fmt::format("{} = {}", let->name.text, to_text(*let->value, replacement)));
      } else {
        where.push_back(fmt::format("exists {}", to_text(*std::get<ast::ExistsClause>(clause).value, replacement)));
      }
    }
    return to_text(statement_, replacement, where);
  }

  // Reads and writes that leave their tensor whatever the (positive) sizes are.
  Result<void> check_bounds() {
    if (def_.is_zero_sized) return {};
    for (const auto& bound : bounds_) {
      const auto [min, max] = value_range(bound.expr, variables_);
      if (min.overflowed() || max.overflowed()) return errors::arithmetic_overflow(place(bound.place));
      const auto below = min.constant(), above = (max - bound.extent * bound.divisor).constant();
      if ((below && *below < 0) || (above && *above >= 0))
        return errors::out_of_bounds(place(bound.place), source_.text(bound.place).substr(0, 80),
                                     SizeExpr::floor_div(min, bound.divisor), SizeExpr::floor_div(max, bound.divisor),
                                     bound.reason, bound.extent, bound.is_undecided);
    }
    return {};
  }

  // What the reads of `exists` clauses assert and only the sizes can show: they are not computed, so that nothing else
  // holds them to their tensors.
  std::vector<ir::Constraint> requirements() const {
    std::vector<ir::Constraint> required;
    for (size_t b = first_asserted_; b < behind_asserted_; ++b) {
      const auto [min, max] = value_range(bounds_[b].expr, variables_);
      const SizeExpr end = bounds_[b].extent * bounds_[b].divisor;
      const auto above = (max - end).constant();
      if (!above || *above >= 0) required.push_back({{{}, max}, end});
      if (min.constant().value_or(-1) < 0 && !(min == max)) required.push_back({{{}, min}, end});
    }
    // Of an index that stands in them alone some value: with none, nothing would be asserted. (A range that is a size
    // has none only where all is empty.)
    for (size_t i = static_cast<size_t>(scope_.computed); i < variables_.size(); ++i) {
      const SizeExpr values = variables_[i].index.hi - variables_[i].index.lo;
      const auto names = values.names();
      if (names.empty() || (names.size() == 1 && values == SizeExpr::name(*names.begin()))) continue;
      required.push_back({{{}, SizeExpr(0)}, values});
    }
    return required;
  }

  // Gives the value its type and finds the tensor's and the accumulator's (decision 1).
  Result<Types> settle_types(const Lowering& lowering, Lowered& value) {
    const auto span = statement_.value->span;
    const bool accumulates = statement_.op == Aggregation::Sum || statement_.op == Aggregation::Product;
    std::optional<DType> given;
    if (declared_type()) given = declared_type()->scalar;
    if (present()) given = present()->type;

    const bool is_suitable =
        given && (is_float(*given) || (is_integer(*given) && value.flexible == Lowered::Flexible::Int));
    if (is_suitable) {
      TILE_TUNE_TRY(settled, lowering.settle(value, *given, span));
      value = settled;
    } else {
      TILE_TUNE_TRY(settled, lowering.settle(value, span));
      value = settled;
    }
    if (given && !holds(*given, value.natural))
      return errors::narrowing(place(span), value.natural, statement_.target.text, *given);
    // Integer arithmetic is done in 32 bits at least, and so is what its undeclared result is stored in.
    const DType wide = accumulates ? accumulator_type(value.natural) : value.expr->type;
    const DType tensor = given ? *given : is_integer(value.natural) ? wide : value.natural;
    return Types{tensor, accumulates && is_float(tensor) ? accumulator_type(tensor) : tensor};
  }

  // Whether every element of the tensor is written.
  bool covers(const std::vector<SizeExpr>& extents) const {
    for (size_t d = 0; d < extents.size(); ++d)
      if (variables_[d].index.lo.constant() != 0 || !(variables_[d].index.hi == extents[d])) return false;
    return true;
  }

  // A window of 3 over nothing, float(0), gives nothing; with names bind() says so.
  static SizeExpr not_negative(SizeExpr extent) { return extent.constant().value_or(0) < 0 ? SizeExpr(0) : extent; }

  std::vector<SizeExpr> new_extents() {
    std::vector<SizeExpr> extents;
    for (size_t d = 0; d < statement_.subscripts.size(); ++d) {
      auto extent = target_extent(d).value_or(variables_[d].index.hi);
      if (!present() && declared_type())
        if (const auto* name = std::get_if<ast::Name>(&declared_type()->dims[d].size))
          if (const auto derived = def_.derived_sizes.find(name->text); derived != def_.derived_sizes.end())
            derived->second = extent;
      extents.push_back(not_negative(std::move(extent)));
    }
    return extents;
  }

  void emit(const Types& types, ir::ExprPtr value) {
    const auto name = statement_.target.text;
    const auto extents = new_extents();
    if (symbol_ == &temporary_) symbol_ = &(def_.tensors[name] = temporary_);
    if (!present() && !statement_.initialises) add_initial_value(name, types.tensor, extents, def_);

    ir::Statement result;
    result.op = statement_.op;
    result.accumulator = types.accumulator;
    result.value = result.op == Aggregation::Sum ? ir::with_groups_of_factors(value) : ir::without_groups(value);
    result.place = place(statement_.span);
    result.constraints = requirements();
    for (int i = 0; i < scope_.computed; ++i) result.indices.push_back(variables_[i].index);
    for (size_t d = 0; d < extents.size(); ++d) result.subscripts.push_back(ir::AffineExpr::index(static_cast<int>(d)));
    const bool keeps = present() && !is_first() && !covers(extents);
    if (!statement_.initialises || (keeps && statement_.op == Aggregation::Assign)) result.previous = symbol_->version;
    if (keeps && statement_.initialises && statement_.op != Aggregation::Assign) {
      // Elements in the range start from the identity, the others keep their value: reduce into a tensor of
      // the range's extents, then copy that over the old value.
      std::vector<SizeExpr> part;
      for (size_t d = 0; d < extents.size(); ++d) part.push_back(not_negative(variables_[d].index.hi));
      result.target = def_.add_tensor({std::string(name), types.tensor, std::move(part), ir::Role::Temporary, {}});
      auto copy = copy_of(result);
      def_.program.statements.push_back(ir::leave_out_guarded_terms(std::move(result)));
      result = std::move(copy);
    }
    result.target = def_.add_tensor({std::string(name), types.tensor, extents, ir::Role::Temporary, {}});
    def_.program.statements.push_back(ir::leave_out_guarded_terms(std::move(result)));
    symbol_->version = static_cast<int>(def_.program.tensors.size()) - 1;
  }

  // The statement that copies what `reduction` wrote over the present version.
  ir::Statement copy_of(const ir::Statement& reduction) const {
    ir::Statement copy;
    copy.subscripts = reduction.subscripts;
    copy.indices.assign(reduction.indices.begin(),
                        reduction.indices.begin() + static_cast<long>(copy.subscripts.size()));
    copy.previous = symbol_->version;
    copy.accumulator = def_.program.tensors[reduction.target].type;
    ir::Read read{reduction.target, {}};
    read.subscripts.assign(reduction.subscripts.begin(), reduction.subscripts.end());
    copy.value = ir::make_expr(copy.accumulator, std::move(read));
    copy.place = reduction.place;
    return copy;
  }

  const Source& source_;
  const ast::Statement& statement_;
  Budget& budget_;
  DefScope& def_;
  TensorSymbol temporary_{TensorSymbol::Kind::Temporary};
  TensorSymbol* symbol_ = &temporary_;
  StatementScope scope_;
  std::vector<Variable> variables_;                  // by index number
  size_t first_asserted_ = 0, behind_asserted_ = 0;  // of bounds_: those of `exists` clauses
  std::vector<bool> declared_;                       // by dimension: the range is the declared extent
  std::vector<SubscriptBound> bounds_, guarded_bounds_;
};

}  // namespace

Result<void> add_statement(const Source& source, const ast::Statement& statement, Budget& budget, DefScope& def) {
  return Analyzer(source, statement, budget, def).run();
}

void add_initial_value(std::string_view name, DType type, std::vector<ir::SizeExpr> extents, DefScope& def) {
  def.tensors.at(name).version = def.add_tensor({std::string(name), type, std::move(extents), ir::Role::InOut, {}});
}

}  // namespace tile_tune::tc
