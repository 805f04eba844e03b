// What a worker compiles with. Injected, so that tests can force every way a compiler fails.
#pragma once

#include <functional>

#include "codegen/lower/compile.h"

namespace tile_tune::search {

struct Compiler {
  /// As codegen::compile_object and codegen::cached_runtime.
  std::function<Result<codegen::Compiled>(const ir::Program&, const codegen::Schedule&, const codegen::Target&,
                                          const std::string& function, const std::filesystem::path& object)>
      compile_object;
  std::function<Result<void>(const codegen::Target&, const std::filesystem::path& object)> compile_runtime;
  /// Called once in the worker itself, before it forks anything: what the compiler sets up then, every child
  /// inherits (a first compile costs 450-750 ms, later ones 65-130 ms: research/halide.md (f)). Must stay serial.
  std::function<Result<void>(const codegen::Target&, const std::filesystem::path& directory)> warm_up;
  /// As codegen::compile_autoscheduled.
  std::function<Result<codegen::Compiled>(const ir::Program&, codegen::AutoScheduler, const codegen::Target&,
                                          const std::string& function, const std::filesystem::path& object)>
      compile_autoscheduled;
};

/// codegen's compiler; warms up with a one-loop program.
Compiler halide_compiler();

}  // namespace tile_tune::search
