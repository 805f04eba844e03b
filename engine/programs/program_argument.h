// PROGRAM arguments: FILE.tc[:NAME], FILE.json, einsum:SUBSCRIPTS.
#pragma once

#include <string>
#include <vector>

#include "engine/programs/bindings.h"
#include "engine/programs/loaded_program.h"
#include "engine/session/reporter.h"

namespace tile_tune::engine {

/// For --help.
inline constexpr const char* kProgramArgument = "FILE.tc, FILE.tc:NAME, FILE.json or einsum:SUBSCRIPTS";

/// What a file of several defs means that is named without ":NAME": all of them, or an error.
enum class Defs { All, One };

/// Every program the arguments name, at least one for each; of a suite all workloads. Warnings go to the reporter. Defs
/// of the same file that are wrong and not named do not matter.
Result<std::vector<LoadedProgram>> load_programs(const std::vector<std::string>& arguments,
                                                 const BindingOptions& options, const Reporter& report,
                                                 Defs defs = Defs::All);

/// Those of one argument that are right, and what is wrong with the others.
struct LoadedDefs {
  std::vector<LoadedProgram> programs;
  std::vector<Diagnostic> faults;
};
Result<LoadedDefs> load_each(const std::string& argument, const BindingOptions& options, const Reporter& report);

/// The one program the argument names; a file of several without :NAME is an error that lists them.
Result<LoadedProgram> load_program(const std::string& argument, const BindingOptions& options, const Reporter& report);

/// The error for an argument that names more programs than the command takes, with their names.
Diagnostic several_programs(const std::string& argument, const std::vector<LoadedProgram>& programs);

/// The whole file; a file that cannot be read is of class Failure.
Result<std::string> read_text(const std::string& path);

}  // namespace tile_tune::engine
