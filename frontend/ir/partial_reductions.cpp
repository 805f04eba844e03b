#include "frontend/ir/partial_reductions.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "frontend/ir/describe.h"
#include "frontend/ir/path_condition.h"

namespace tile_tune::ir {
namespace {

/// A range [lo, hi), in which sizes may have names.
struct Ends {
  SizeExpr lo, hi;
  SizeExpr extent() const { return hi - lo; }
};

SizeExpr value_of(const SizeExpr::Atom& atom) {
  using Kind = SizeExpr::Atom::Kind;
  switch (atom.kind) {
    case Kind::Name:
      return SizeExpr::name(atom.name);
    case Kind::FloorDiv:
      return SizeExpr::floor_div(atom.operands[0], atom.operands[1]);
    case Kind::Min:
      return SizeExpr::min(atom.operands[0], atom.operands[1]);
    case Kind::Max:
      return SizeExpr::max(atom.operands[0], atom.operands[1]);
    default:
      return atom.operands[0] * atom.operands[1];
  }
}

/// Whether the expression is positive for all sizes of 1 and more, where that is easy to see: a minimum is at most
/// each of its operands, a maximum at least.
bool is_positive(const SizeExpr& expr) {
  using Kind = SizeExpr::Atom::Kind;
  SizeExpr least = expr.offset();
  for (const auto& [coefficient, atom] : expr.terms()) {
    const bool bounded = (atom->kind == Kind::Min && coefficient < 0) || (atom->kind == Kind::Max && coefficient > 0);
    if (bounded) {
      SizeExpr rest = expr.offset();
      for (const auto& other : expr.terms())
        if (other.atom != atom) rest = rest + value_of(*other.atom) * other.coefficient;
      return std::any_of(atom->operands.begin(), atom->operands.end(),
                         [&, c = coefficient](const SizeExpr& operand) { return is_positive(rest + operand * c); });
    }
    if (atom->kind != Kind::Name || coefficient < 0) return false;
    least = least + coefficient;
  }
  return !expr.overflowed() && least.constant().value_or(0) > 0;
}

/// A dimension that an index alone subscripts, and the range that is inside it.
struct Whole {
  const Read* read;
  size_t dimension;
  Ends range;
};

class Finder {
 public:
  Finder(const Program& program, const Statement& statement) : program_(program), statement_(statement) {}

  std::vector<Diagnostic> warnings() {
    for_each_read_on_path(*statement_.value, [&](const Read& read, const Path& path) { find_whole(read, path); });
    std::vector<Diagnostic> result;
    for (const auto& [index, whole] : wholes_) result.push_back(warning(index, whole));
    return result;
  }

 private:
  void find_whole(const Read& read, const Path& path) {
    const auto guarding = indices_of(formula_of(path));
    for (size_t d = 0; d < read.subscripts.size(); ++d) {
      const auto* affine = std::get_if<AffineExpr>(&read.subscripts[d]);
      if (!affine || affine->terms.size() != 1 || affine->denominator != 1) continue;
      const int index = affine->terms[0].first;
      if (!is_inferred(index) || std::binary_search(guarding.begin(), guarding.end(), index)) continue;
      const Whole whole{&read, d, inside(*affine, program_.tensors[read.tensor].extents[d])};
      const auto taken = range_of(index).extent();
      if (taken.constant().value_or(1) <= 0 || !is_positive(whole.range.extent() - taken)) continue;
      const auto [found, inserted] = wholes_.try_emplace(index, whole);
      if (!inserted && is_positive(whole.range.extent() - found->second.range.extent())) found->second = whole;
    }
  }

  bool is_inferred(int index) const {
    return statement_.is_reduction(index) && statement_.indices[index].reason.find(kWithin) != std::string::npos;
  }

  Ends range_of(int index) const { return {statement_.indices[index].lo, statement_.indices[index].hi}; }

  // Values of the only index of a subscript that are inside its dimension.
  static Ends inside(const AffineExpr& subscript, const SizeExpr& extent) {
    const int64_t coefficient = subscript.terms[0].second;
    const SizeExpr &shift = subscript.constant, last = extent - 1;
    if (coefficient > 0)
      return {SizeExpr::ceil_div(-shift, coefficient), SizeExpr::floor_div(last - shift, coefficient) + 1};
    return {SizeExpr::ceil_div(shift - last, -coefficient), SizeExpr::floor_div(shift, -coefficient) + 1};
  }

  Diagnostic warning(int index, const Whole& whole) const {
    const auto& name = statement_.indices[index].name;
    const auto taken = range_of(index);
    const auto padded = padded_read(index);
    return {
        ErrorClass::Program,
        "partial-reduction",
        fmt::format("{} takes {} of the {} values of dimension {} of {}: its range [{}, {}) was inferred so that "
                    "every read is inside its tensor",
                    name, taken.extent().str(), whole.range.extent().str(), whole.dimension,
                    program_.tensors[whole.read->tensor].name, taken.lo.str(), taken.hi.str()),
        statement_.place,
        fmt::format(
            "{}where only a part is meant, say so: where {} in {}:{}",
            padded.empty() ? "" : fmt::format("to pad with {}, write {}; ", is_product() ? "ones" : "zeros", padded),
            name, taken.lo.str(), taken.hi.str()),
        Severity::Warning};
  }

  // Values of a subscript, were all of the operands reduced.
  Ends values_of(const AffineExpr& expr) const {
    Ends values{expr.constant, expr.constant + 1};
    for (const auto& [index, coefficient] : expr.terms) {
      const auto whole = wholes_.find(index);
      const auto [lo, hi] = whole == wholes_.end() ? range_of(index) : whole->second.range;
      const auto first = lo * coefficient, last = (hi - 1) * coefficient;
      values.lo = values.lo + (coefficient > 0 ? first : last);
      values.hi = values.hi + (coefficient > 0 ? last : first);
    }
    return values;
  }

  bool is_product() const { return statement_.op == Aggregation::Product; }

  // The first read that mentions the index and then leaves its tensor, as it would be guarded with a number that the
  // result does not show; none of a minimum or maximum, whose infinity has no literal.
  std::string padded_read(int index) const {
    std::string text;
    if (statement_.op == Aggregation::Min || statement_.op == Aggregation::Max) return text;
    for_each_read(*statement_.value, [&](const Read& read) {
      if (!text.empty()) return;
      bool mentions = false;
      std::vector<std::string> conditions;
      for (size_t d = 0; d < read.subscripts.size(); ++d) {
        const auto* affine = std::get_if<AffineExpr>(&read.subscripts[d]);
        if (!affine || affine->denominator != 1) continue;
        const auto values = values_of(*affine);
        const auto& extent = program_.tensors[read.tensor].extents[d];
        const bool below = values.lo.constant().value_or(-1) < 0;
        const bool above = (extent - values.hi).constant().value_or(-1) < 0;
        const auto subscript = to_text(statement_, *affine);
        if (below) conditions.push_back(fmt::format("{} >= 0", subscript));
        if (above) conditions.push_back(fmt::format("{} < {}", subscript, extent.str()));
        mentions |= (below || above) && affine->coefficient(index) != 0;
      }
      if (mentions)
        text = fmt::format("({} ? {} : {})", fmt::join(conditions, " && "), to_text(program_, statement_, read),
                           is_product() ? 1 : 0);
    });
    return text;
  }

  const Program& program_;
  const Statement& statement_;
  std::map<int, Whole> wholes_;  // by index
};

}  // namespace

std::vector<Diagnostic> partial_reductions(const Program& program) {
  std::vector<Diagnostic> result;
  for (const auto& statement : program.statements) {
    auto warnings = Finder(program, statement).warnings();
    result.insert(result.end(), std::make_move_iterator(warnings.begin()), std::make_move_iterator(warnings.end()));
  }
  return result;
}

}  // namespace tile_tune::ir
