#include "codegen/lower/reduction_domain.h"

namespace tile_tune::codegen {

std::vector<Halide::RVar> ReductionDomain::all() const {
  std::vector<Halide::RVar> result = unrolled;
  result.insert(result.end(), loops.begin(), loops.end());
  result.insert(result.end(), outermost.begin(), outermost.end());
  return result;
}

ReductionDomain make_domain(const std::string& name, const std::vector<int>& order, const std::vector<Span>& spans,
                            const Halide::Region& outermost) {
  Halide::Region region;
  std::vector<int> unrolled;
  for (auto r = order.rbegin(); r != order.rend(); ++r) {
    if (spans[*r].unroll == spans[*r].together) continue;
    region.push_back({0, static_cast<int>(spans[*r].unroll / spans[*r].together)});
    unrolled.push_back(*r);
  }
  for (auto r = order.rbegin(); r != order.rend(); ++r) region.push_back({spans[*r].first, spans[*r].count});
  const size_t inner = region.size();
  region.insert(region.end(), outermost.begin(), outermost.end());
  const Halide::RDom loops(region, name);
  ReductionDomain domain;
  domain.positions.resize(spans.size());
  const int first_loop = static_cast<int>(unrolled.size());
  for (int d = 0; d < loops.dimensions(); ++d) {
    if (d < first_loop) {
      domain.unrolled.push_back(loops[d]);
      continue;
    }
    if (d >= static_cast<int>(inner)) {
      domain.outermost.push_back(loops[d]);
      continue;
    }
    const int r = order[order.size() - 1 - static_cast<size_t>(d - first_loop)];
    domain.loops.push_back(loops[d]);
    domain.positions[r] = loops[d] * static_cast<int>(spans[r].unroll);
  }
  for (int d = 0; d < first_loop; ++d)
    domain.positions[unrolled[d]] += loops[d] * static_cast<int>(spans[unrolled[d]].together);
  return domain;
}

}  // namespace tile_tune::codegen
