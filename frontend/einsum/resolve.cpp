#include "frontend/einsum/resolve.h"

#include <fmt/format.h>
#include <algorithm>

#include "frontend/einsum/errors.h"
#include "frontend/einsum/limits.h"

namespace tile_tune::einsum {
namespace {

std::string dimension_text(size_t operand, size_t dimension) {
  return fmt::format("dimension {} of in{}", dimension, operand);
}

class Resolver {
 public:
  Resolver(const Einsum& einsum, const Known& known) : einsum_(einsum), known_(known) {}

  Result<Resolved> resolve() {
    if (!known_.operands.empty() && known_.operands.size() != einsum_.operands.size())
      return errors::operand_count(einsum_, known_.operands.size());
    for (const auto& label : einsum_.labels) {
      const std::string name = size_name(label);
      Axis axis{label, ir::SizeExpr::name(name), std::nullopt};
      if (const auto size = known_.sizes.find(name); size != known_.sizes.end()) axis.value = size->second;
      origins_.push_back("-s");
      resolved_.axes.push_back(std::move(axis));
    }
    for (size_t i = 0; i < einsum_.operands.size(); ++i) TILE_TUNE_CHECK(learn_operand(i));
    for (size_t i = 0; i < einsum_.operands.size(); ++i) resolved_.operands.push_back(operand_axes(i));
    resolved_.result = axes_of(einsum_.result, ellipsis_rank_);
    for (size_t i = 0; i < einsum_.labels.size(); ++i)
      if (const auto value = resolved_.axes[i].value) resolved_.sizes.emplace(size_name(einsum_.labels[i]), *value);
    return std::move(resolved_);
  }

 private:
  const std::vector<int64_t>* shape(size_t operand) const {
    if (known_.operands.empty() || !known_.operands[operand].shape) return nullptr;
    return &*known_.operands[operand].shape;
  }

  size_t ellipsis_axes(size_t operand) const {
    const Term& term = einsum_.operands[operand];
    return term.ellipsis ? shape(operand)->size() - term.labels.size() : 0;
  }

  Result<void> learn_operand(size_t operand) {
    const Term& term = einsum_.operands[operand];
    const auto* extents = shape(operand);
    if (!extents) return term.ellipsis ? Result<void>(errors::missing_shape(einsum_, operand)) : Result<void>();
    const size_t labels = term.labels.size(), rank = extents->size();
    if (rank < labels || (rank > labels && !term.ellipsis)) return errors::rank_mismatch(einsum_, operand, rank);
    if (rank > kMaxDimensions) return errors::too_many_dimensions(einsum_.text, term.span, kMaxDimensions);
    for (size_t d = 0; d < rank; ++d)
      if ((*extents)[d] < 0) return errors::negative_extent(einsum_, operand, d, (*extents)[d]);
    const size_t broadcast = rank - labels, before = term.ellipsis.value_or(labels);
    for (size_t l = 0; l < labels; ++l)
      TILE_TUNE_CHECK(learn_label(term.labels[l], term.spans[l], operand, l < before ? l : l + broadcast));
    for (size_t k = 0; k < broadcast; ++k) TILE_TUNE_CHECK(learn_ellipsis(broadcast - 1 - k, operand, before + k));
    return {};
  }

  Result<void> learn_label(int label, Span span, size_t operand, size_t dimension) {
    Axis& axis = resolved_.axes[label];
    const int64_t extent = (*shape(operand))[dimension];
    const std::string from = dimension_text(operand, dimension);
    if (!axis.value) {
      axis.value = extent;
      origins_[label] = from;
    } else if (*axis.value != extent) {
      return errors::extent_conflict(einsum_, span, axis.name, *axis.value, origins_[label], extent, from);
    }
    return {};
  }

  // Axis `k` of `...`, counted from the right: extents agree or are 1.
  Result<void> learn_ellipsis(size_t k, size_t operand, size_t dimension) {
    const int64_t extent = (*shape(operand))[dimension];
    const std::string from = dimension_text(operand, dimension);
    while (k >= ellipsis_rank_) {
      resolved_.axes.push_back({fmt::format("...{}", ellipsis_rank_++), 1, 1});
      origins_.push_back("");
    }
    const size_t number = einsum_.labels.size() + k;
    Axis& axis = resolved_.axes[number];
    if (extent == 1 || extent == *axis.value) return {};
    if (*axis.value != 1)
      return errors::broadcast_conflict(einsum_, einsum_.operands[operand].span, *axis.value, origins_[number], extent,
                                        from);
    axis.extent = extent;
    axis.value = extent;
    origins_[number] = from;
    return {};
  }

  // `broadcast` axes in the place of `...`.
  std::vector<int> axes_of(const Term& term, size_t broadcast) const {
    std::vector<int> axes(term.labels);
    if (!term.ellipsis) return axes;
    std::vector<int> ellipsis;
    for (size_t k = broadcast; k-- > 0;) ellipsis.push_back(static_cast<int>(einsum_.labels.size() + k));
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), ellipsis.begin(), ellipsis.end());
    return axes;
  }

  std::vector<int> operand_axes(size_t operand) const {
    auto axes = axes_of(einsum_.operands[operand], ellipsis_axes(operand));
    for (size_t d = 0; d < axes.size(); ++d) {
      const bool is_label = axes[d] < static_cast<int>(einsum_.labels.size());
      if (!is_label && (*shape(operand))[d] == 1 && resolved_.axes[axes[d]].value != 1) axes[d] = kRepeats;
    }
    return axes;
  }

  const Einsum& einsum_;
  const Known& known_;
  Resolved resolved_;
  std::vector<std::string> origins_;  // of the axes' values
  size_t ellipsis_rank_ = 0;
};

}  // namespace

Result<Resolved> resolve(const Einsum& einsum, const Known& known) { return Resolver(einsum, known).resolve(); }

}  // namespace tile_tune::einsum
