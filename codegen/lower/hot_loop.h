// The part of a kernel's assembly in which its time goes.
#pragma once

#include <string>

namespace tile_tune::codegen {

struct HotLoop {
  std::string text;  // the instructions with their labels
  int instructions = 0;
  int arithmetic = 0;   // of them: sums, products, comparisons of numbers, not of addresses
  bool is_loop = true;  // false: nothing with arithmetic is repeated, and this is the longest function
};

/// Of all loops without a loop inside the one with most arithmetic, where an instruction on a vector counts more than
/// one on a number. `assembly` is LLVM's, of x86 or AArch64.
HotLoop hot_loop(const std::string& assembly);

}  // namespace tile_tune::codegen
