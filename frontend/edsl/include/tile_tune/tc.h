// Programs from Tensor Comprehensions text. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/edsl.h>

#include <string>
#include <vector>

namespace tile_tune::tc {

/// One Program for each def, in the text's order, with the sizes its signature names: give them values with
/// Program::bind, or let engine::run take them from its arrays. The first error is a ProgramError placed in the text;
/// `file` is what it calls the text. Warnings are the Programs'.
std::vector<edsl::Program> parse(const std::string& text, const char* file = "text");

}  // namespace tile_tune::tc
