#include "search/space/innermost_loop.h"

#include <algorithm>

#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/window_taps.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

struct ShortLoop {
  const TileLayout& layout;
  const NestSchedule& stage;

  const StageContext& context() const { return layout.context; }

  // Single elements that a step reads, each for a vector of its own.
  int64_t elements() const {
    int64_t all = 0;
    for (const Operand& operand : context().loops.operands)
      if (!layout.in_panel(operand)) all += pieces_of(context(), operand, layout.tile);
    return all;
  }

  double share(const Operand& operand, int r) const { return share_of_rows(context(), operand, r, layout.tile); }

  bool can_be_unrolled(int r, int64_t most_turns, int64_t most_operations) const {
    const int64_t turns = context().loops.reduction[r];
    const int64_t operations = layout.tile.pieces() * (is_complex(context().type) ? 4 : 1);
    return turns > 1 && turns <= most_turns && stage.reduction_block[r] == turns &&
           turns * operations <= most_operations;
  }

  // Vectors are loaded once for several rows: of nine loops over such taps, unrolled, two were 0.95 times as fast, the
  // others 1.0 to 2.5 (AVX2 on two Zen 3 cores, 2026-11-29).
  int shared_most() const {
    int best = -1;
    double least = 1;
    for (int r = 0; r < context().reductions(); ++r) {
      if (!can_be_unrolled(r, costs::kMostSharingTaps, costs::kMostUnrolledByDefault)) continue;
      for (const Operand& operand : context().loops.operands) {
        const double part = operand.affine && layout.in_panel(operand) ? share(operand, r) : 1;
        if (part < least) least = part, best = r;
      }
    }
    return best;
  }

  // Compilers keep elements that rows share between taps, and load those of several terms ahead, for which registers
  // are too few in the end. Of 16 of them 101 statements so changed were 0.83 to 2.4 times as fast, 1.11 on average; 76
  // of more operations 0.82 to 1.35, 1.01; with 11 single elements and more 0.69 to 1.09, 0.96; with shared ones 0.59
  // to 1.31, 0.90 (AVX2 on two Zen 3 cores, 2026-11-29).
  bool has_room(int r) const {
    constexpr double kOverfull = 1.25;  // between the 20 of ten sums beside ten elements and the 22 of eleven
    constexpr int64_t kOperations = 2;  // a register, between the 30 and 32 that gain and the 36 that do not
    const int registers = context().target->vector_registers;
    if (!can_be_unrolled(r, costs::kMostTapsUnrolled, kOperations * registers) ||
        static_cast<double>(layout.tile.pieces() + elements()) > kOverfull * registers)
      return false;
    const auto& operands = context().loops.operands;
    return std::none_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return operand.affine && !layout.in_panel(operand) && share(operand, r) < 1;
    });
  }

  int innermost() const {
    const auto& order = stage.reduction_order;
    const auto found =
        std::find_if(order.rbegin(), order.rend(), [&](int r) { return context().loops.reduction[r] > 1; });
    return found == order.rend() ? -1 : *found;
  }
};

}  // namespace

void unroll_short_loop(const TileLayout& layout, NestSchedule& stage) {
  const auto& context = layout.context;
  const auto& unroll = stage.reduction_unroll;
  if (std::any_of(unroll.begin(), unroll.end(), [](int factor) { return factor > 1; }) ||
      usual_dot_product(context) != DotForm::None ||
      codegen::takes_pairs(context.program->statements[context.statement]))
    return;
  const ShortLoop loops{layout, stage};
  int chosen = keeps_order(context) ? -1 : loops.shared_most();
  if (chosen >= 0)
    std::stable_partition(stage.reduction_order.begin(), stage.reduction_order.end(),
                          [&](int r) { return r != chosen; });
  else if (const int last = loops.innermost(); last >= 0 && loops.has_room(last))
    chosen = last;
  if (chosen >= 0) stage.reduction_unroll[chosen] = static_cast<int>(context.loops.reduction[chosen]);
}

}  // namespace tile_tune::search
