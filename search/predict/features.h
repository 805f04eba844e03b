// Schedules as rows of numbers for the learned cost model, and those that are hopeless on paper.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/fusion.h"
#include "search/predict/facts.h"
#include "search/predict/gpu_facts.h"

namespace tile_tune::predict {

/// What follows from one program on one target; safe to use after the arguments are gone.
class Features {
 public:
  /// `program` must be canonical and bound.
  Features(ir::Program program, codegen::Target target);

  /// The facts (facts.h; gpu_facts.h) of the stage with the most iterations, the means over all other stages weighted
  /// by their iterations, and a few of the whole program. Rows have the same columns whatever the program, its sizes
  /// and the target, of one kind of device: a model may learn from one what holds for another. NaN: there is no such
  /// stage.
  std::vector<float> row(const codegen::Schedule& schedule) const;

  /// Rough cycles of the whole program, for ranking alone (estimate.h).
  double estimate(const codegen::Schedule& schedule) const;

  /// Why a valid schedule is not worth a compile, in a sentence without figures (so that they can be counted); nothing
  /// if it may be good. Meant for random proposals: what descends from a good schedule has earned its trial.
  std::optional<std::string> hopeless(const codegen::Schedule& schedule) const;

 private:
  /// What schedules speak of: the program or its collapsed form.
  struct Form {
    ir::Program program;
    std::vector<codegen::Loops> loops;  // by statement
  };
  static Form make_form(ir::Program program);
  const Form& form_of(const codegen::Schedule& schedule) const;
  /// Of statement s and one run of its nest; nothing if it has no nest of its own.
  std::optional<StageFacts> facts(const codegen::Fusion& fusion, const codegen::Schedule& schedule, int s) const;
  /// Of the stages with nests of their own, in order.
  std::vector<StageFacts> stages(const codegen::Schedule& schedule) const;
  std::vector<GpuFacts> gpu_stages(const codegen::Schedule& schedule) const;
  bool is_for_gpu() const { return target_.device == codegen::Device::Gpu; }

  codegen::Target target_;
  Form apart_;
  std::optional<Form> collapsed_;
};

/// The columns of Features::row.
std::vector<std::string> feature_names(codegen::Device device = codegen::Device::Cpu);

}  // namespace tile_tune::predict
