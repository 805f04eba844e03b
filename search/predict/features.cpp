#include "search/predict/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/target/costs.h"
#include "frontend/ir/collapsed.h"
#include "search/predict/estimate.h"

namespace tile_tune::predict {
namespace {

namespace costs = codegen::costs;

// A moved-back last tile repeats work: more than half of it wasted is never won back.
constexpr double kMostWasted = 2;

enum Whole { kStages, kInlined, kMainShare, kTraffic, kIdle, kEstimate, kWholeCount };
constexpr const char* kWholeNames[kWholeCount] = {"stages",           "inlined",    "main_share",
                                                  "whole_traffic_l3", "whole_idle", "whole_estimate"};

float scaled(double value, bool amount) { return static_cast<float>(amount ? std::log2(1 + value) : value); }

/// What the model sees of one stage.
std::vector<float> columns(const StageFacts& facts) {
  std::vector<float> columns;
  for (const FactInfo& fact : kFacts) columns.push_back(scaled(facts.*fact.value, fact.amount));
  for (size_t i = 0; i < facts.decided.size(); ++i)
    columns.push_back(scaled(facts.decided[i], decision_figures()[i].amount));
  return columns;
}

std::vector<float> columns(const GpuFacts& facts) {
  std::vector<float> columns;
  for (const GpuFactInfo& fact : kGpuFacts) columns.push_back(scaled(facts.*fact.value, fact.amount));
  return columns;
}

/// A stage with a nest of its own, as far as rows go.
struct StageRow {
  std::vector<float> columns;
  double points, cycles, traffic, idle;
};

/// `count` columns of the heaviest stage, of all others in the mean, then those of the whole.
std::vector<float> whole_row(const std::vector<StageRow>& stages, size_t statements, size_t count) {
  double points = 0, whole[kWholeCount] = {};
  size_t main = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].points > stages[main].points) main = s;
    points += stages[s].points;
    whole[kTraffic] += stages[s].traffic * stages[s].points;
    whole[kEstimate] += stages[s].cycles;
    whole[kIdle] = std::max(whole[kIdle], stages[s].idle);
  }
  whole[kStages] = static_cast<double>(stages.size());
  whole[kInlined] = static_cast<double>(statements - stages.size());
  if (points > 0) {
    whole[kMainShare] = stages[main].points / points;
    whole[kTraffic] /= points;
    whole[kEstimate] = std::log2(whole[kEstimate] / points + 1e-3);
  }

  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> row = stages.empty() ? std::vector<float>(count, kNone) : stages[main].columns;
  std::vector<double> sums(count, 0);
  double weights = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    if (s == main) continue;
    for (size_t i = 0; i < count; ++i) sums[i] += stages[s].points * stages[s].columns[i];
    weights += stages[s].points;
  }
  for (const double sum : sums) row.push_back(weights > 0 ? static_cast<float>(sum / weights) : kNone);
  for (const double value : whole) row.push_back(static_cast<float>(value));
  return row;
}

std::optional<std::string> hopeless_stage(const StageFacts& facts, const codegen::Loops& loops, int threads) {
  if (facts.points < costs::kLittleWork) return std::nullopt;
  if (facts.pressure > costs::kSpilling) return "it keeps far more sums than there are registers";
  if (facts.wasted > kMostWasted) return "its last tiles repeat as much as the others compute";
  const bool vectors = std::any_of(loops.output.begin(), loops.output.end(), [](int64_t n) { return n >= 2; });
  if (facts.lanes == 0 && vectors) return "it uses no vectors";
  if (facts.lanes > 0 && !loops.operands.empty() && facts.strided > 0.99) return "its vectors read nothing but strides";
  if (threads > 1 && facts.grains < 2) return "it runs on one thread";
  if (facts.copied > 1) return "it copies more elements than it combines";
  return std::nullopt;
}

std::optional<std::string> hopeless_on_gpu(const GpuFacts& facts, const codegen::DeviceLimits& limits) {
  constexpr double kWorstConflicts = 4, kLeastUse = 0.2, kFewLanes = 2;
  if (facts.points < costs::kLittleWork) return std::nullopt;
  if (facts.wasted > kMostWasted) return "its last blocks repeat as much as the others compute";
  if (facts.idle_lanes > kFewLanes) return "its blocks fill less than half of their warps";
  // What all threads of the device are for: fewer would do only where there is nothing else to run.
  const double threads = facts.blocks * facts.threads, wanted = limits.multiprocessors * limits.warp;
  if (threads < wanted / 2 && facts.output * facts.reduction_threads >= 2 * wanted)
    return "it runs on a small part of the device";
  if (facts.conflicts > kWorstConflicts) return "its threads wait for the same banks of shared memory";
  if (facts.sector_use < kLeastUse) return "its warps use little of what they read";
  if (facts.store_use < kLeastUse && facts.reduction < limits.warp) return "its warps write single elements";
  return std::nullopt;
}

/// Iterations of all loops.
double stage_points(const codegen::Loops& loops) {
  double points = 1;
  for (const auto& extents : {loops.output, loops.reduction})
    for (const int64_t extent : extents) points *= static_cast<double>(std::max<int64_t>(extent, 1));
  return points;
}

}  // namespace

Features::Features(ir::Program program, codegen::Target target)
    : target_(std::move(target)), apart_(make_form(std::move(program))) {
  if (auto collapsed = ir::collapsed(apart_.program)) collapsed_ = make_form(std::move(*collapsed));
}

Features::Form Features::make_form(ir::Program program) {
  Form form{std::move(program), {}};
  for (const auto& statement : form.program.statements)
    form.loops.push_back(codegen::loops_of(form.program, statement));
  return form;
}

const Features::Form& Features::form_of(const codegen::Schedule& schedule) const {
  return schedule.collapsed && collapsed_ ? *collapsed_ : apart_;
}

std::optional<StageFacts> Features::facts(const codegen::Fusion& fusion, const codegen::Schedule& schedule,
                                          int s) const {
  // An epilogue's work is in the nest of its reduction, an inlined statement's in its reader's.
  if (fusion.owner_of(s) != s) return std::nullopt;
  const codegen::NestSchedule& stage = schedule.stages[s].nest();
  const Form& form = form_of(schedule);
  codegen::Loops loops = form.loops[s];
  if (auto extents = fusion.extents(s)) loops.output = std::move(*extents);
  loops = codegen::one_piece(std::move(loops), stage);
  StageFacts facts = stage_facts(form.program, s, loops, stage, target_);
  if (stage.parallel_reduction) facts.grains *= stage.parallel_reduction->pieces;
  return facts;
}

std::vector<StageFacts> Features::stages(const codegen::Schedule& schedule) const {
  const Form& form = form_of(schedule);
  const codegen::Fusion fusion(form.program, schedule);
  std::vector<StageFacts> stages;
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    auto one = facts(fusion, schedule, static_cast<int>(s));
    if (!one) continue;
    // Inside another nest the facts are those of one run; it runs as often as makes up all of its work.
    if (schedule.stages[s].compute_at() || schedule.stages[s].nest().parallel_reduction)
      one->points = stage_points(form.loops[s]);
    stages.push_back(*one);
  }
  return stages;
}

std::vector<GpuFacts> Features::gpu_stages(const codegen::Schedule& schedule) const {
  const Form& form = form_of(schedule);
  const codegen::Fusion fusion(form.program, schedule);
  std::vector<GpuFacts> stages;
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const int number = static_cast<int>(s);
    if (fusion.owner_of(number) != number) continue;
    const codegen::NestSchedule& stage = schedule.stages[s].nest();
    stages.push_back(gpu_facts(form.program, number, codegen::one_piece(form.loops[s], stage), stage,
                               codegen::device_limits(target_)));
  }
  return stages;
}

double Features::estimate(const codegen::Schedule& schedule) const {
  double cycles = 0;
  if (is_for_gpu()) {
    for (const GpuFacts& facts : gpu_stages(schedule)) cycles += gpu_cycles(facts, codegen::device_limits(target_));
    return cycles;
  }
  for (const StageFacts& facts : stages(schedule)) cycles += facts.points * estimated_cycles(facts, target_);
  return cycles;
}

std::vector<float> Features::row(const codegen::Schedule& schedule) const {
  if (is_for_gpu()) {
    const codegen::DeviceLimits& limits = codegen::device_limits(target_);
    std::vector<StageRow> rows;
    for (const GpuFacts& facts : gpu_stages(schedule))
      rows.push_back({columns(facts), facts.points, gpu_cycles(facts, limits), facts.from_memory, 1 / facts.busy});
    return whole_row(rows, schedule.stages.size(), kGpuFacts.size());
  }
  std::vector<StageRow> rows;
  for (const StageFacts& facts : stages(schedule))
    rows.push_back(
        {columns(facts), facts.points, facts.points * estimated_cycles(facts, target_), facts.traffic_l3, facts.idle});
  return whole_row(rows, schedule.stages.size(), kFacts.size() + decision_figures().size());
}

std::optional<std::string> Features::hopeless(const codegen::Schedule& schedule) const {
  if (is_for_gpu()) {
    for (const GpuFacts& facts : gpu_stages(schedule))
      if (auto reason = hopeless_on_gpu(facts, codegen::device_limits(target_))) return reason;
    return std::nullopt;
  }
  const Form& form = form_of(schedule);
  const codegen::Fusion fusion(form.program, schedule);
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto one = facts(fusion, schedule, static_cast<int>(s));
    if (!one) continue;
    // Inside another nest it is that one's threads that count.
    const int threads = schedule.stages[s].compute_at() ? 1 : target_.threads;
    if (auto reason = hopeless_stage(*one, form.loops[s], threads)) return reason;
  }
  return std::nullopt;
}

std::vector<std::string> feature_names(codegen::Device device) {
  std::vector<std::string> names;
  for (const char* role : {"main", "rest"}) {
    if (device == codegen::Device::Gpu) {
      for (const GpuFactInfo& fact : kGpuFacts) names.push_back(fmt::format("{}_{}", role, fact.name));
      continue;
    }
    for (const FactInfo& fact : kFacts) names.push_back(fmt::format("{}_{}", role, fact.name));
    for (const auto& figure : decision_figures()) names.push_back(fmt::format("{}_{}", role, figure.name));
  }
  for (const char* name : kWholeNames) names.emplace_back(name);
  return names;
}

}  // namespace tile_tune::predict
