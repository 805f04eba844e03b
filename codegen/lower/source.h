// A scheduled pipeline as C++ that makes it again: Funcs, their definitions and directives, read off what Halide has.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// What a text is made of. `inputs`: parameters in the kernel's order, and what they are called.
struct SourceRequest {
  std::string function;
  std::vector<std::string> remarks;  // lines of the comment at the top
  std::vector<Halide::Func> outputs;
  std::vector<std::pair<Halide::ImageParam, std::string>> inputs;
  Halide::Target target;
  /// What else things are called, and by names that begin so: the longer ones first.
  std::vector<std::pair<std::string, std::string>> names = {};
};

/// A translation unit that defines `Halide::Pipeline FUNCTION(std::vector<Halide::ImageParam>& inputs)`. Fixes the loop
/// levels of the Funcs: to be asked last.
std::string pipeline_source(const SourceRequest& request);

}  // namespace tile_tune::codegen
