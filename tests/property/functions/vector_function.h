// A function of codegen/lower/functions as a kernel of its own, compiled in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

/// Targets that this CPU can run, from all it has down to what every x86-64 of 2008 has. "strict" is a deterministic
/// one.
std::vector<std::string> targets();

template <typename T>
class VectorFunction {
 public:
  /// `target` is one of targets(), or "strict avx2" or "strict sse41". So many vectors are computed in an iteration;
  /// the arrays hold no less.
  VectorFunction(const std::string& name, int arguments, const std::string& target, int vectors = 1);
  VectorFunction(VectorFunction&&) noexcept;
  ~VectorFunction();

  std::vector<T> operator()(const std::vector<std::vector<T>>& arguments) const;
  /// Into an array, with nothing allocated: for timing.
  void run(const std::vector<const T*>& arguments, T* results, size_t count) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace tile_tune::codegen::functions
