#include "codegen/schedule/partial_sums.h"

#include <fmt/format.h>

#include <algorithm>

namespace tile_tune::codegen {

int loop_of_turns(const Loops& loops, const NestSchedule& stage) {
  const auto& order = stage.reduction_order;
  const auto runs = [&](int r) { return loops.reduction[static_cast<size_t>(r)] > 1; };
  const auto found = std::find_if(order.rbegin(), order.rend(), runs);
  return found == order.rend() ? order.back() : *found;
}

std::string partial_sums_fault(const ir::Program&, const Loops& loops, const NestSchedule& stage) {
  if (stage.partial_sums == 0) return "";
  if (stage.partial_sums < 2 || stage.partial_sums > kMostPartialSums)
    return fmt::format("partial sums of an element are not within 2 and {}", kMostPartialSums);
  if (stage.reduction_order.empty() || stage.is_gpu() || stage.scan || stage.dot_product ||
      stage.cpu().vector_loop >= static_cast<int>(loops.output.size()) || is_blocked(loops, stage))
    return "only sums that stay in registers, in no lanes, are several of an element";
  const auto innermost = static_cast<size_t>(loop_of_turns(loops, stage));
  if (stage.reduction_unroll[innermost] != 1 || loops.reduction[innermost] < stage.partial_sums)
    return "partial sums take turns with iterations of a loop that is not unrolled, and as long";
  return "";
}

std::vector<Figure> partial_sums_figures() {
  const auto sums = [](const ir::Program&, const Loops&, const NestSchedule& stage) {
    return static_cast<double>(stage.partial_sums);
  };
  return {{"partial_sums", sums, false}};
}

}  // namespace tile_tune::codegen
