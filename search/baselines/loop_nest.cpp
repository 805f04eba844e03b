#include "search/baselines/loop_nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/schedule/loops.h"
#include "search/baselines/c_expression.h"

namespace tile_tune::search {
namespace {

constexpr int64_t kTile = 1024;  // accumulators of one tile: 4 KiB of f32, which stay in L1 beside what is read

std::string affine_of(const ir::SizeExpr& size) { return std::to_string(size.constant().value_or(0)); }

// How an access moves along an index: 2 for neighbours, 1 for standing still, -2 for anything else.
int score_of(const ir::Program& program, int tensor, const std::vector<ir::Subscript>& subscripts, int index) {
  const auto strides = ir::strides(program.tensors[tensor]);
  int64_t step = 0;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    if (const auto* affine = std::get_if<ir::AffineExpr>(&subscripts[d])) {
      step += affine->coefficient(index) * strides[d];
      continue;
    }
    bool moves = false;
    ir::for_each_read(*std::get<ir::ExprPtr>(subscripts[d]), [&](const ir::Read& read) {
      for (const auto& subscript : read.subscripts)
        if (const auto* inner = std::get_if<ir::AffineExpr>(&subscript)) moves |= inner->coefficient(index) != 0;
    });
    if (moves) return -2;
  }
  return step == 1 ? 2 : step == 0 ? 1 : -2;
}

class NestText {
 public:
  NestText(const ir::Program& program, const ir::Statement& statement) : program_(program), statement_(statement) {
    for (size_t i = 0; i < statement.indices.size(); ++i) {
      const int index = static_cast<int>(i);
      (statement.is_reduction(index) ? reductions_ : outputs_).push_back(index);
    }
    // Output loops in the order of memory, largest stride first.
    const auto by_stride = [&](int x, int y) { return target_stride(x) > target_stride(y); };
    std::stable_sort(outputs_.begin(), outputs_.end(), by_stride);
    inner_ = innermost();
  }

  std::optional<std::string> text(const std::string& name) {
    if (statement_.unwritten || !is_plain_target()) return std::nullopt;
    if (statement_.op == ir::Aggregation::Assign && !reductions_.empty()) return std::nullopt;
    const auto value = c_expression(program_, *statement_.value);
    const auto offset = c_offset(program_, statement_.target, subscripts());
    if (!value || !offset || is_complex(statement_.accumulator)) return std::nullopt;
    value_ = *value;
    offset_ = *offset;
    std::string parameters;
    for (const int tensor : nest_tensors(statement_))
      parameters +=
          fmt::format("{}{}{}* __restrict t{}", parameters.empty() ? "" : ", ",
                      tensor == statement_.target ? "" : "const ", c_type(program_.tensors[tensor].type), tensor);
    const bool row = inner_ >= 0 && !statement_.is_reduction(inner_);
    return fmt::format("static void {}({}) {{\n{}}}\n", name, parameters,
                       outputs_.empty() ? scalar_body()
                       : row            ? row_body()
                                        : dot_body());
  }

 private:
  // Statements that fill a part of their target only, or several elements a subscript, have no form here.
  bool is_plain_target() const {
    std::set<int> seen;
    for (size_t d = 0; d < statement_.subscripts.size(); ++d) {
      const auto& subscript = statement_.subscripts[d];
      if (subscript.denominator != 1 || subscript.terms.size() > 1) return false;
      int64_t covered = 1;
      if (!subscript.terms.empty()) {
        const auto [index, coefficient] = subscript.terms[0];
        if (coefficient != 1 || !seen.insert(index).second) return false;
        covered = ir::range(statement_.indices[index]).extent();
      }
      if (covered != ir::extent(program_.tensors[statement_.target], d)) return false;
    }
    return true;
  }
  std::vector<ir::Subscript> subscripts() const { return {statement_.subscripts.begin(), statement_.subscripts.end()}; }
  int64_t target_stride(int index) const {
    const auto strides = ir::strides(program_.tensors[statement_.target]);
    int64_t step = 0;
    for (size_t d = 0; d < strides.size(); ++d) step += statement_.subscripts[d].coefficient(index) * strides[d];
    return step;
  }
  int innermost() const {
    int best = -1, best_score = INT32_MIN;
    for (int index = 0; index < static_cast<int>(statement_.indices.size()); ++index) {
      int score = score_of(program_, statement_.target, subscripts(), index);
      ir::for_each_read(*statement_.value, [&](const ir::Read& read) {
        score += score_of(program_, read.tensor, read.subscripts, index);
      });
      // Short loops fill no vector.
      if (ir::range(statement_.indices[index]).extent() < 8) score -= 4;
      if (score > best_score || (score == best_score && best >= 0 && statement_.is_reduction(best))) {
        best = index;
        best_score = score;
      }
    }
    return best;
  }

  std::string accumulator() const { return c_value_type(statement_.accumulator); }
  std::string identity() const {
    const std::string type = accumulator();
    switch (statement_.op) {
      case ir::Aggregation::Product:
        return type + "(1)";
      // Finite, for the compiler is told that there are no infinities.
      case ir::Aggregation::Max:
        return fmt::format("std::numeric_limits<{}>::lowest()", type);
      case ir::Aggregation::Min:
        return fmt::format("std::numeric_limits<{}>::max()", type);
      default:
        return type + "(0)";
    }
  }
  std::string start() const {
    if (statement_.previous) return fmt::format("{}(t{}[{}])", accumulator(), *statement_.previous, offset_);
    return identity();
  }
  std::string combine(const std::string& into) const {
    const std::string value = fmt::format("{}({})", accumulator(), value_);
    const bool flag = statement_.accumulator == DType::Bool;
    switch (statement_.op) {
      case ir::Aggregation::Assign:
        return fmt::format("{} = {};", into, value);
      case ir::Aggregation::Sum:
        return flag ? fmt::format("{0} = {0} || {1};", into, value) : fmt::format("{} += {};", into, value);
      case ir::Aggregation::Product:
        return flag ? fmt::format("{0} = {0} && {1};", into, value) : fmt::format("{} *= {};", into, value);
      case ir::Aggregation::Min:
        return fmt::format("{{ const auto v = {1}; {0} = v < {0} ? v : {0}; }}", into, value);
      case ir::Aggregation::Max:
        break;
    }
    return fmt::format("{{ const auto v = {1}; {0} = v > {0} ? v : {0}; }}", into, value);
  }
  std::string reduction_clause() const {
    switch (statement_.op) {
      case ir::Aggregation::Sum:
        return statement_.accumulator == DType::Bool ? "||" : "+";
      case ir::Aggregation::Product:
        return statement_.accumulator == DType::Bool ? "&&" : "*";
      case ir::Aggregation::Min:
        return "min";
      default:
        return "max";
    }
  }
  std::string store(const std::string& value) const {
    return fmt::format("t{}[{}] = {}({});", statement_.target, offset_,
                       c_type(program_.tensors[statement_.target].type), value);
  }

  struct Bounds {
    std::string lo, hi;
  };
  // The range of an index; constraints that it is the last variable of cut it.
  Bounds bounds(int index, const std::set<int>& known, std::string lo = "", std::string hi = "") const {
    const auto& range = statement_.indices[index];
    if (lo.empty()) lo = affine_of(range.lo);
    if (hi.empty()) hi = affine_of(range.hi);
    lo = "int64_t(" + lo + ")";
    hi = "int64_t(" + hi + ")";
    for (const auto& constraint : statement_.constraints) {
      const int64_t factor = constraint.expr.coefficient(index);
      const bool last = factor != 0 && std::all_of(constraint.expr.terms.begin(), constraint.expr.terms.end(),
                                                   [&](const auto& term) { return known.count(term.first) > 0; });
      if (!last) continue;
      ir::AffineExpr rest = constraint.expr;
      std::erase_if(rest.terms, [&](const auto& term) { return term.first == index; });
      rest.denominator = 1;
      const std::string r = c_affine(rest), bound = affine_of(constraint.bound * constraint.expr.denominator);
      if (factor > 0) {
        lo = fmt::format("greatest({}, ceil_div(-{}, {}))", lo, r, factor);
        hi = fmt::format("least({}, ceil_div({} - {}, {}))", hi, bound, r, factor);
      } else {
        hi = fmt::format("least({}, floor_div({}, {}) + 1)", hi, r, -factor);
        lo = fmt::format("greatest({}, floor_div({} - {}, {}) + 1)", lo, r, bound, -factor);
      }
    }
    return {lo, hi};
  }
  static std::string loop(int index, const Bounds& bounds) {
    return fmt::format("for (int64_t i{0} = {1}, e{0} = {2}; i{0} < e{0}; ++i{0})", index, bounds.lo, bounds.hi);
  }
  // OpenMP wants its loops' ends to stand before them.
  static std::string simd_loop(int index, const Bounds& bounds, const std::string& clause, const std::string& body) {
    return fmt::format(
        "    {{ const int64_t b{0} = {1}, e{0} = {2};\n#pragma omp simd{3}\n"
        "    for (int64_t i{0} = b{0}; i{0} < e{0}; ++i{0}) {4} }}\n",
        index, bounds.lo, bounds.hi, clause, body);
  }
  // Loops that start a parallel region: their ranges must not depend on each other.
  std::string plain_loop(int index) const {
    const auto& range = statement_.indices[index];
    return fmt::format("for (int64_t i{0} = {1}; i{0} < {2}; ++i{0})", index, affine_of(range.lo), affine_of(range.hi));
  }
  // Constraints whose variables are all output loops: no loop inside can cut them.
  std::string guard(const std::set<int>& outer) const {
    std::string text;
    for (const auto& constraint : statement_.constraints) {
      const bool all = std::all_of(constraint.expr.terms.begin(), constraint.expr.terms.end(),
                                   [&](const auto& term) { return outer.count(term.first) > 0; });
      if (!all) continue;
      const std::string value = c_affine(constraint.expr);
      text +=
          fmt::format("{}{} >= 0 && {} < {}", text.empty() ? "" : " && ", value, value, affine_of(constraint.bound));
    }
    return text;
  }
  double points() const {
    double product = 1;
    for (const auto& index : statement_.indices) product *= static_cast<double>(ir::range(index).extent());
    return product;
  }
  // A parallel region costs some microseconds: about ten thousand operations.
  std::string parallel() const { return points() < 1e4 ? "" : "#pragma omp parallel for num_threads(kThreads)"; }

  std::string opened(const std::vector<int>& loops, const std::string& extra) const {
    std::string text;
    const size_t count = loops.size() + (extra.empty() ? 0 : 1);
    if (const auto pragma = parallel(); !pragma.empty() && count > 0)
      text += "  " + pragma + (count > 1 ? fmt::format(" collapse({})", count) : "") + "\n";
    for (const int index : loops) text += "  " + plain_loop(index) + "\n";
    if (!extra.empty()) text += "  " + extra + "\n";
    return text + "  {\n";
  }

  // One element a time, the innermost loop a simd reduction.
  std::string dot_body() {
    std::string text = opened(outputs_, "");
    std::set<int> known(outputs_.begin(), outputs_.end());
    text += fmt::format("    {} acc = {};\n", accumulator(), start());
    const std::string condition = guard(known);
    if (!condition.empty()) text += fmt::format("    if ({}) {{\n", condition);
    text += reductions_text(known, "acc");
    if (!condition.empty()) text += "    }\n";
    return text + "    " + store("acc") + "\n  }\n";
  }

  std::string reductions_text(std::set<int> known, const std::string& into) {
    std::string text;
    std::vector<int> order;
    for (const int index : reductions_)
      if (index != inner_) order.push_back(index);
    for (const int index : order) {
      known.insert(index);
      text += "    " + loop(index, bounds(index, known)) + "\n";
    }
    if (inner_ < 0 || !statement_.is_reduction(inner_)) return text + "      " + combine(into) + "\n";
    known.insert(inner_);
    return text + simd_loop(inner_, bounds(inner_, known), fmt::format(" reduction({}:{})", reduction_clause(), into),
                            combine(into));
  }

  // A row of neighbours at a time, in tiles whose accumulators stay in L1.
  std::string row_body() {
    const auto& range = statement_.indices[inner_];
    std::vector<int> outer;
    for (const int index : outputs_)
      if (index != inner_) outer.push_back(index);
    const int64_t extent = ir::range(range).extent();
    const bool tiled = extent > kTile || outer.empty();
    // A lone row is cut so that every thread gets some of it.
    const int64_t tile = outer.empty() ? std::clamp<int64_t>(extent / 16, 64, kTile) : kTile;
    const int64_t lo = ir::range(range).lo, hi = ir::range(range).hi;
    std::string text = opened(
        outer, tiled ? fmt::format("for (int64_t tile = {}; tile < {}; tile += {})", lo, hi, tile) : std::string());
    const std::string begin = tiled ? "tile" : std::to_string(lo),
                      end = tiled ? fmt::format("least(tile + {}, {})", tile, hi) : std::to_string(hi);
    const Bounds all{begin, end};
    std::set<int> known(outer.begin(), outer.end());
    if (statement_.op == ir::Aggregation::Assign && statement_.constraints.empty())
      return text + simd_loop(inner_, all, "", store(value_)) + "  }\n";
    const std::string acc = fmt::format("acc[i{} - {}]", inner_, begin);
    text += fmt::format("    {} acc[{}];\n", accumulator(), tiled ? tile : extent);
    text += "    " + loop(inner_, all) + " " + acc + " = " + start() + ";\n";
    std::string inside;
    const std::string condition = guard(known);
    for (const int index : reductions_) {
      known.insert(index);
      inside += "    " + loop(index, bounds(index, known)) + "\n";
    }
    known.insert(inner_);
    inside += simd_loop(inner_, bounds(inner_, known, begin, end), "", combine(acc));
    text += condition.empty() ? inside : fmt::format("    if ({}) {{\n{}    }}\n", condition, inside);
    return text + simd_loop(inner_, all, "", store(acc)) + "  }\n";
  }

  // One element in all: threads share the outermost reduction.
  std::string scalar_body() {
    std::string text = fmt::format("  {} acc = {};\n", accumulator(), start());
    if (reductions_.empty()) return text + "  " + combine("acc") + "\n  " + store("acc") + "\n";
    if (!statement_.constraints.empty() || points() < 1e4) {
      inner_ = -1;
      return text + reductions_text({}, "acc") + "  " + store("acc") + "\n";
    }
    std::vector<int> order;
    for (const int index : reductions_)
      if (index != inner_) order.push_back(index);
    order.push_back(inner_);
    const bool one = order.size() == 1;
    text += fmt::format("#pragma omp parallel for {}num_threads(kThreads) reduction({}:acc)\n", one ? "simd " : "",
                        reduction_clause());
    for (size_t r = 0; r < order.size(); ++r) {
      if (!one && r + 1 == order.size())
        text += fmt::format("#pragma omp simd reduction({}:acc)\n", reduction_clause());
      text += "  " + plain_loop(order[r]) + (r + 1 < order.size() ? " {" : "") + "\n";
    }
    text += "      " + combine("acc") + "\n  " + std::string(order.size() - 1, '}') + "\n";
    return text + "  " + store("acc") + "\n";
  }

  const ir::Program& program_;
  const ir::Statement& statement_;
  std::vector<int> outputs_, reductions_;
  int inner_ = -1;
  std::string value_, offset_;
};

}  // namespace

std::string c_type(DType type) {
  switch (type) {
    case DType::Bool:
      return "bool";
    case DType::F16:
      return "f16";
    case DType::BF16:
      return "bf16";
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    case DType::C32:
      return "std::complex<float>";
    case DType::C64:
      return "std::complex<double>";
    default:
      return fmt::format("{}int{}_t", is_signed(type) ? "" : "u", 8 * dtype_size(type));
  }
}

std::vector<int> nest_tensors(const ir::Statement& statement) {
  std::vector<int> tensors{statement.target};
  const auto add = [&](int tensor) {
    if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) tensors.push_back(tensor);
  };
  ir::for_each_read(*statement.value, [&](const ir::Read& read) { add(read.tensor); });
  if (statement.previous) add(*statement.previous);
  return tensors;
}

std::optional<std::string> loop_nest(const ir::Program& program, const ir::Statement& statement,
                                     const std::string& name) {
  return NestText(program, statement).text(name);
}

}  // namespace tile_tune::search
