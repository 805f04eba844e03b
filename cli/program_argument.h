// PROGRAM arguments (spec: cli.md, "Programs"): FILE.tc[:NAME], FILE.json, einsum:SUBSCRIPTS.
#pragma once

#include <string>
#include <vector>

#include "cli/report.h"
#include "frontend/ir/program.h"

namespace tile_tune::cli {

/// A program with what the database keeps of its origin.
struct LoadedProgram {
  ir::Program program;   // as written, sizes symbolic
  std::string frontend;  // "tc" or "json"
  std::string source;    // the text it came from
};

/// Every program the argument names, at least one. Warnings go to the reporter.
Result<std::vector<LoadedProgram>> load_programs(const std::string& argument, const Reporter& report);

/// The one program the argument names; a file of several without :NAME is an error that lists them.
Result<LoadedProgram> load_program(const std::string& argument, const Reporter& report);

/// The whole file; a file that cannot be read is of class Failure.
Result<std::string> read_text(const std::string& path);

}  // namespace tile_tune::cli
