// From a canonical, bound Program and a valid Schedule to a Halide pipeline: lower.cpp is the list of passes.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct Lowered {
  Halide::Pipeline pipeline;
  std::vector<std::pair<Halide::ImageParam, int>> inputs;  // arguments before the outputs, and which tensors they are
  std::vector<std::string> remarks = {};  // what the Halide source of the pipeline lacks, a sentence each

  std::vector<Halide::Argument> arguments() const;
};

/// `forms`: packed_forms() of the schedule, which is not collapsed (collapsed_form()).
Lowered lower(const ir::Program& program, const Schedule& schedule, const Target& target,
              const std::vector<PackedForm>& forms);

std::set<std::string> names_of(const std::vector<Halide::Func>& funcs);

}  // namespace tile_tune::codegen
