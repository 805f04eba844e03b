#include "search/space/innermost_loop.h"

#include <algorithm>

#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/term_size.h"
#include "search/space/window_taps.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

RegisterTile register_tile_of(const TileLayout& layout, const NestSchedule& stage) {
  RegisterTile tile = layout.tile;
  for (size_t p = 0; p < stage.tiles.size(); ++p) tile.sizes[p] = stage.tiles[p].back();
  return tile;
}

struct InnermostLoop {
  const TileLayout& layout;
  const NestSchedule& stage;
  const RegisterTile tile = register_tile_of(layout, stage);

  const StageContext& context() const { return layout.context; }

  // Single elements that a step reads, each for a vector of its own.
  int64_t elements() const {
    int64_t all = 0;
    for (const Operand& operand : context().loops.operands)
      if (!layout.in_panel(operand)) all += pieces_of(context(), operand, tile);
    return all;
  }

  double share(const Operand& operand, int r) const { return share_of_rows(context(), operand, r, tile); }

  bool can_be_unrolled(int r, int64_t most_turns, int64_t most_operations) const {
    const int64_t turns = context().loops.reduction[r];
    const int64_t operations = tile.pieces() * (is_complex(context().type) ? 4 : 1);
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
        static_cast<double>(tile.pieces() + elements()) > kOverfull * registers)
      return false;
    const auto& operands = context().loops.operands;
    return std::none_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return operand.affine && !layout.in_panel(operand) && share(operand, r) < 1;
    });
  }

  // How many steps of a long sum are unrolled, of eight to twelve operations each, of whose time a turn is a good part.
  // Of 682 drawn workloads so changed 90 were 0.90 to 1.60 times as fast, 1.11 on average (with 8 at once the same,
  // with 2 less), products of 1024 x 1024 x 1024 1.07; steps of four and fewer 0.75 to 0.85, of fourteen 0.91 and 0.95,
  // of 16 terms 0.95 to 1.05, and where the vectors of each step are on another page 26 were 0.85 to 1.26, 0.99;
  // with 128-bit vectors ten were 0.92 to 2.25, 1.34 (AVX2 on two Zen 3 cores, 2026-11-30).
  int steps_at_once(int r) const {
    constexpr int kWanted = 4;
    constexpr int64_t kLeastTurns = 5;
    const auto& statement = context().program->statements[context().statement];
    const bool is_float = context().type == DType::F32 || context().type == DType::F64;
    const int64_t block = stage.reduction_block[r];
    if (!is_float || operations_of_iteration(statement) != 1 || block < kLeastTurns * kWanted || reads_pages(r) ||
        !(context().target->vector_registers > 16 ? suits_wide() : suits_few_registers()))
      return 1;
    if (codegen::may_leave_some(statement, context().loops, stage, r)) return kWanted;
    const int64_t whole = codegen::most_unrolled(context().loops.reduction[r], block);
    return static_cast<int>(largest_divisor_up_to(whole, kWanted));
  }

  // With 32 registers of 512 bits a turn is a good part where they are computed with whole, two a cycle: of 904 of
  // 2,153 drawn and typical workloads 141 were 0.87 to 1.28 times as fast, 1.04 on average; 100 of those with vectors
  // of another page in each step, or vectors alone, 0.81 to 1.24, 1.01 (two Emerald Rapids cores, 2026-12-01).
  bool suits_wide() const {
    constexpr int64_t kFewest = 4;  // chosen
    return !costs::halves_wide_vectors(*context().target) && tile.pieces() >= kFewest && elements() > 0;
  }

  bool suits_few_registers() const {
    // Held: sums and single elements, twelve beside six; with ten beside ten 5265 terms took 1.09 times as long.
    constexpr int64_t kFewest = 8, kMost = 12, kMostHeld = 18;
    const int64_t pieces = tile.pieces();
    return pieces >= kFewest && pieces <= kMost && pieces + elements() <= kMostHeld;
  }

  // The vectors of each step of the sum are on another page.
  bool reads_pages(int r) const {
    const auto& operands = context().loops.operands;
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return layout.in_panel(operand) && !codegen::copy_read_by(context().loops, stage, operand.number) &&
             context().bytes_apart(operand, context().outputs() + r) >= costs::kWayBytes;
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

void unroll_innermost(const TileLayout& layout, NestSchedule& stage) {
  const auto& context = layout.context;
  const auto& unroll = stage.reduction_unroll;
  if (std::any_of(unroll.begin(), unroll.end(), [](int factor) { return factor > 1; }) ||
      usual_dot_product(context) != DotForm::None ||
      codegen::takes_pairs(context.program->statements[context.statement]))
    return;
  const InnermostLoop loops{layout, stage};
  if (const int shared = keeps_order(context) ? -1 : loops.shared_most(); shared >= 0) {
    std::stable_partition(stage.reduction_order.begin(), stage.reduction_order.end(),
                          [&](int r) { return r != shared; });
    stage.reduction_unroll[shared] = static_cast<int>(context.loops.reduction[shared]);
  } else if (const int last = loops.innermost(); last >= 0) {
    stage.reduction_unroll[last] =
        loops.has_room(last) ? static_cast<int>(context.loops.reduction[last]) : loops.steps_at_once(last);
  }
}

}  // namespace tile_tune::search
