// Which loop runs in vectors, and how wide these are.
#include <cmath>

#include "search/space/choices.h"
#include "search/space/group_rules.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;

int64_t loop_extent(const StageContext& context, int loop) {
  return loop < context.outputs() ? context.loops.output[loop] : context.loops.reduction[loop - context.outputs()];
}

std::vector<int> lanes_along(const StageContext& context, int loop) {
  auto result = lane_choices(context, loop_extent(context, loop));
  if (const int beyond = masked_lanes(context, loop); beyond > 0) result.push_back(beyond);
  return result;
}

double log_vectors(const StageContext& context) {
  double count = 1;
  for (const int loop : vector_loops(context)) count += static_cast<double>(lanes_along(context, loop).size());
  return std::log(count);
}

void draw_vector(const StageContext& context, NestSchedule& stage, Rng& rng) {
  const auto loops = vector_loops(context);
  stage.cpu().vector_loop = -1;
  stage.cpu().lanes = 1;
  if (loops.empty()) return;
  stage.cpu().vector_loop = rng.pick(loops);
  stage.cpu().lanes = rng.pick(lanes_along(context, stage.cpu().vector_loop));
}

Changed change_vector(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (vector_loops(context).empty()) return refused("none of its loops is long enough for a vector");
  const int before = stage.cpu().vector_loop, lanes = stage.cpu().lanes;
  draw_vector(context, stage, rng);
  if (before == stage.cpu().vector_loop || before < 0 || before >= context.outputs()) return stage;
  stage.tiles[before].back() =
      std::max<int64_t>(stage.tiles[before].back() / lanes, 1);  // as many rows as there were vectors
  return stage;
}

}  // namespace

GroupRules vector_rules() {
  return {.group = codegen::Group::Vectors,
          .log_count = log_vectors,
          .draw = draw_vector,
          .moves = {{0.07, change_vector}}};
}

}  // namespace tile_tune::search
