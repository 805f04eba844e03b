#include "search/space/distant_lines.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/target/costs.h"
#include "search/space/nest_model.h"

namespace tile_tune::search {

namespace costs = codegen::costs;

// Sets are told by physical addresses, of which pages keep the lowest bits: rows that are pages apart share one 64th of
// the cache. (1700 x 1024)^T by 1700 x 336 took 34 ms with 4 of the 1024 columns at a time and 12 with these copied;
// fea,ebcfd->cadfb of 4 x 64 x 64 and 64 x 64 x 20 x 4 x 32 103 ms with steps of the sum 655360 bytes apart, 39 with
// copies (AVX2 on two Zen 3 cores, 2026-11-29). Copies of complex numbers, which take them apart, cost more than they
// saved: (336 x 1024)^T by 336 x 32 took 2.3 ms without and 3.1 with them.
bool loses_lines(const StageContext& context, const codegen::Operand& operand, const std::vector<int64_t>& tile) {
  if (!operand.affine || is_complex(context.type)) return false;
  int64_t lines = 1, step = costs::kWayBytes;  // what all are apart by a multiple of, within a page
  bool shares = false;
  for (int loop = 0; loop < context.loops.loop_count(); ++loop) {
    const bool reduces = loop >= context.outputs();
    const int64_t apart = context.bytes_apart(operand, loop), extent = NestModel{context}.extent(loop),
                  count = reduces ? extent : tile[loop];
    if (apart > 0 && apart < codegen::kLineBytes) {
      if (reduces && extent > 1) return false;
      shares |= extent > count;
    }
    if (apart < codegen::kLineBytes || count <= 1) continue;
    lines *= count;
    step = std::gcd(step, apart);
  }
  const int64_t places = costs::kWayBytes / std::max(step, codegen::kLineBytes);
  return shares && lines * costs::kWayBytes > context.target->l2_bytes * std::min(places, lines);
}

// Rows 36 KB apart and steps of the sum 2 KB apart share two of a page's 64 places: bfa,cfde->cdeba of 2 x 18 x 16 and
// 10 x 18 x 32 x 16 took 220 us with 5 of such rows at a time, 70 with rows that are neighbours (AVX2 on two Zen 3
// cores, 2026-11-29).
bool overfills_first_cache(const StageContext& context, const codegen::Operand& operand,
                           const std::vector<int64_t>& tile) {
  static_assert(costs::kWayBytes / codegen::kLineBytes == 64);
  int64_t lines = 1;
  uint64_t places = 1;  // in a page where lines are, a bit each
  for (int loop = 0; loop < context.loops.loop_count(); ++loop) {
    const int64_t apart = context.bytes_apart(operand, loop),
                  count = loop < context.outputs() ? tile[loop] : NestModel{context}.extent(loop);
    if (apart < codegen::kLineBytes || count <= 1) continue;
    lines *= count;
    const uint64_t first = places;
    for (int64_t row = 1; row < std::min<int64_t>(count, costs::kWayBytes); ++row)
      places |= std::rotl(first, static_cast<int>(row * apart % costs::kWayBytes / codegen::kLineBytes));
  }
  return lines * costs::kWayBytes > context.target->l1_bytes * std::popcount(places);
}

}  // namespace tile_tune::search
