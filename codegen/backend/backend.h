// What makes kernels of programs and schedules. Another code generator stands beside the present one
// (codegen/lower/halide_backend.h) by filling in these functions; tests fill in theirs to force every way of failing.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

struct Compiled {
  std::string code_hash;  // of the lowered code: equal hashes mean equal kernels
  double lower_ms = 0, compile_ms = 0;
};

struct Backend {
  /// Writes a relocatable object that defines `function` and what packs its constants, as kernel_abi.h describes
  /// them. The program is canonical. May end the process.
  std::function<Result<Compiled>(const ir::Program&, const Schedule&, const Target&, const std::string& function,
                                 const std::filesystem::path& object)>
      compile;
  /// What schedules programs for a device by itself, as it is called; compile_autoscheduled() takes one of these names.
  /// Such kernels are there to be compared with: they take no constants packed. May take minutes.
  std::map<Device, std::vector<std::string>> autoschedulers = {};
  std::function<Result<Compiled>(const ir::Program&, const std::string& autoscheduler, const Target&,
                                 const std::string& function, const std::filesystem::path& object)>
      compile_autoscheduled = {};
  /// Writes what its kernels call as one relocatable object.
  std::function<Result<void>(const Target&, const std::filesystem::path& object)> runtime;
  /// Called once in a process that forks children which compile: what is set up here they inherit. Must stay serial;
  /// has a directory for temporary files.
  std::function<Result<void>(const Target&, const std::filesystem::path& directory)> warm_up;
};

}  // namespace tile_tune::codegen
