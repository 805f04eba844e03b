#include "codegen/schedule/countable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "frontend/ir/describe.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

/// Kernels also count to the ends of tiles that begin inside: a copy of 2^31 - 2 bytes overflows while it is compiled.
constexpr int64_t kMost = (int64_t{1} << 31) - (int64_t{1} << 20);

tl::unexpected<Diagnostic> too_large(const std::string& what, const ir::Statement* statement = nullptr) {
  Diagnostic diagnostic{ErrorClass::Mismatch, "too-large", fmt::format("{}: kernels count up to {}", what, kMost)};
  diagnostic.note = "choose smaller sizes";
  if (statement) diagnostic.place = statement->place;
  return tl::unexpected(std::move(diagnostic));
}

/// How many numbers neighbours along each dimension lie apart; of compact tensors as if those without elements had
/// some.
std::vector<double> distances(const ir::Tensor& tensor) {
  const double parts = is_complex(tensor.type) ? 2 : 1;
  std::vector<double> result;
  if (!tensor.storage.is_compact()) {
    for (const int64_t stride : ir::strides(tensor)) result.push_back(parts * std::abs(static_cast<double>(stride)));
    return result;
  }
  const auto shape = ir::shape(tensor);
  result.resize(shape.size());
  double compact = parts;
  for (const int d : ir::memory_order(tensor)) {
    result[static_cast<size_t>(d)] = compact;
    compact *= static_cast<double>(std::max<int64_t>(shape[static_cast<size_t>(d)], 1));
  }
  return result;
}

Result<void> check_tensor(const ir::Tensor& tensor) {
  const auto shape = ir::shape(tensor);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > kMost) return too_large(fmt::format("dimension {} of {} is {}", d, tensor.name, shape[d]));
  const auto apart = distances(tensor);
  for (const int d : ir::memory_order(tensor))
    if (const double distance = apart[static_cast<size_t>(d)]; distance > static_cast<double>(kMost))
      return too_large(
          fmt::format("neighbours along dimension {} of {} lie {:.0f} numbers apart", d, tensor.name, distance));
  return {};
}

/// Whether the terms add up to numbers of 32 bits in any order, and their coefficients are such.
bool is_countable(const ir::Statement& statement, const ir::AffineExpr& expr) {
  constexpr auto kLimit = static_cast<double>(kMost);
  const auto constant = static_cast<double>(expr.constant.constant().value());
  double below = std::min(constant, 0.0), above = std::max(constant, 0.0);
  bool fits = true;
  for (const auto& [number, coefficient] : expr.terms) {
    const auto [lo, hi] = ir::range(statement.indices[static_cast<size_t>(number)]);
    const auto factor = static_cast<double>(coefficient);
    const double first = factor * static_cast<double>(lo), last = factor * (static_cast<double>(hi) - 1);
    below += std::min({first, last, 0.0});
    above += std::max({first, last, 0.0});
    fits &= std::abs(factor) <= kLimit;
  }
  return fits && -below <= kLimit && above <= kLimit;
}

Result<void> check_expr(const ir::Statement& statement, const ir::AffineExpr& expr) {
  if (is_countable(statement, expr)) return {};
  return too_large(fmt::format("{} takes too large numbers", ir::to_text(statement, expr)), &statement);
}

Result<void> check_statement(const ir::Statement& statement) {
  for (const auto& index : statement.indices) {
    const auto [lo, hi] = ir::range(index);
    if (hi > kMost || lo < -kMost)
      return too_large(fmt::format("the range of {} is [{}, {})", index.name, lo, hi), &statement);
  }
  for (const auto& subscript : statement.subscripts) TILE_TUNE_CHECK(check_expr(statement, subscript));
  for (const auto& constraint : statement.constraints) TILE_TUNE_CHECK(check_expr(statement, constraint.expr));
  Result<void> checked;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) {
    for (const auto& subscript : read.subscripts)
      if (const auto* affine = std::get_if<ir::AffineExpr>(&subscript); affine && checked)
        checked = check_expr(statement, *affine);
  });
  return checked;
}

}  // namespace

Result<void> check_countable(const ir::Program& program) {
  for (const auto& tensor : program.tensors) TILE_TUNE_CHECK(check_tensor(tensor));
  for (const auto& statement : program.statements) TILE_TUNE_CHECK(check_statement(statement));
  return {};
}

bool computes_nothing(const ir::Program& program) {
  return std::all_of(program.outputs.begin(), program.outputs.end(),
                     [&](int output) { return ir::element_count(program.tensors[static_cast<size_t>(output)]) == 0; });
}

}  // namespace tile_tune::codegen
