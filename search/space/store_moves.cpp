#include "search/space/store_moves.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/masked_vector.h"
#include "codegen/schedule/streaming.h"
#include "codegen/target/costs.h"
#include "search/space/group_rules.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;

const ir::Tensor& written(const StageContext& context) {
  return context.program->tensors[context.program->statements[context.statement].target];
}

double log_stores(const StageContext& context) {
  NestSchedule plain;
  plain.cpu().vector_loop = context.contiguous_loop();
  return can_stream(context, plain) ? std::log(2.0) : 0.0;
}

void draw_stores(const StageContext& context, NestSchedule& stage, Rng& rng) {
  stage.cpu().streaming = can_stream(context, stage) && rng.chance(0.3);
}

Changed change_stores(const StageContext& context, NestSchedule stage, Rng&) {
  if (!can_stream(context, stage)) return refused("its results do not leave the caches out");
  stage.cpu().streaming = !stage.cpu().streaming;
  return stage;
}

void repair_stores(const StageContext& context, NestSchedule& stage, Notes& notes) {
  correct(stage.cpu().streaming, stage.cpu().streaming && can_stream(context, stage),
          "its results could not leave the caches out", notes);
}

// Whether lines are written whole and once, two at a time: in rows that begin with a line, or that follow each other.
bool writes_whole_lines(const StageContext& context, const NestSchedule& stage) {
  const int vector = stage.cpu().vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(written(context).type));
  const auto pitch = [&](int p) {
    return size *
           codegen::output_stride(*context.program, context.program->statements[context.statement], context.loops, p);
  };
  const int64_t tile = stage.tiles[vector].back();
  const auto& order = stage.order.back();
  if (tile * size < 2 * codegen::kLineBytes || context.loops.output[vector] % tile != 0 || order.back() != vector)
    return false;
  bool begin_with_lines = true, follow = true;
  for (int p = 0; p < context.outputs(); ++p) {
    if (p == vector) continue;
    if (pitch(p) % codegen::kStreamedBytes != 0) return false;
    begin_with_lines &= pitch(p) % codegen::kLineBytes == 0;
    follow &= stage.tiles[p].back() == 1;
  }
  for (size_t i = 0; i + 2 < order.size(); ++i) follow &= pitch(order[i]) >= pitch(order[i + 1]);
  return begin_with_lines || follow;
}

}  // namespace

bool can_stream(const StageContext& context, const NestSchedule& stage) {
  // What pieces of a sum leave, and what is spread over the target, is read again at once.
  const auto& statement = context.program->statements[context.statement];
  return codegen::has_streaming(*context.target) && !is_complex(written(context).type) && context.loops.direct &&
         !stage.parallel_reduction && !codegen::updates_in_place(*context.program, statement) &&
         stage.cpu().vector_loop >= 0 && stage.cpu().vector_loop == context.contiguous_loop() &&
         !codegen::has_masked_vector(context.loops, stage) &&
         tensor_bytes(written(context)) > static_cast<double>(context.target->l2_bytes);
}

bool streams_by_default(const StageContext& context, const NestSchedule& stage) {
  // Caches of a CPU that nobody named may be larger than is taken for granted.
  const bool knows_caches = !context.target->cpu_model.empty();
  if (!knows_caches || !can_stream(context, stage) || !writes_whole_lines(context, stage)) return false;
  double bytes = 0;
  for (const auto& tensor : context.program->tensors)
    if (tensor.role == ir::Role::Input || tensor.role == ir::Role::Output) bytes += tensor_bytes(tensor);
  return bytes > codegen::costs::kStreamedCaches * static_cast<double>(context.target->l3_bytes) &&
         tensor_bytes(written(context)) >= codegen::costs::kLeastStreamedShare * bytes;
}

GroupRules store_rules() {
  return {.group = codegen::Group::Stores,
          .log_count = log_stores,
          .draw = draw_stores,
          .moves = {{0.02, change_stores}},
          .repair = repair_stores};
}

}  // namespace tile_tune::search
