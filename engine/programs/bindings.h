// What the command line says about a program's sizes, storage and use: -s NAME=N, --layout, --constant, --objective.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/programs/loaded_program.h"
#include "engine/session/reporter.h"
#include "frontend/ir/program.h"

namespace tile_tune::engine {

struct BindingOptions {
  std::vector<std::string> sizes;           // "NAME=N"
  std::vector<std::string> layouts;         // "row", "col" or "NAME=col"
  std::vector<std::string> dtypes;          // of an einsum: "f64" or "NAME=i8"
  std::vector<std::string> shapes;          // of an einsum: "NAME=4,1,3"
  std::vector<std::string> constants = {};  // inputs that stay the same from call to call
  std::string objective = "";               // "hot", "cold"; empty: as the program has it, which is hot from text
  std::string path = "";                    // of an einsum: "1,2;0,1" (path_argument.h); empty: the best that is found
};

/// One NAME=VALUE each: "M=64,N=1..512" are two, "N=64,128" is one.
std::vector<std::string> separate_assignments(const std::vector<std::string>& assignments);
/// "1.5", "64.0" and "1e3": numbers, but no sizes.
bool is_fraction(const std::string& number);
/// A label of an einsum that is no identifier is turned into one (einsum::size_name).
std::string name_of_size(const std::string& text);

/// By name_of_size().
Result<ir::Sizes> parse_sizes(const std::vector<std::string>& assignments);
/// A size that none of the programs has is an error that names the nearest one. Told before sizes that are missing: the
/// mistyped name is why.
Result<void> check_size_names(const std::vector<ir::Program>& programs, const ir::Sizes& sizes);
/// Those of the given sizes that the program has, and those it came with.
ir::Sizes sizes_of(const LoadedProgram& loaded, const ir::Sizes& given);

/// The program with its tensors in the storage order asked for; a name no tensor has is an error.
Result<ir::Program> with_layouts(ir::Program program, const std::vector<std::string>& layouts);

/// The program with these inputs constant; a name that is no input's is an error.
Result<ir::Program> with_constants(ir::Program program, const std::vector<std::string>& constants);

/// Both, and the state of the caches, as the options say.
Result<ir::Program> with_storage(const ir::Program& program, const BindingOptions& options);

/// ir::bind(), whose program's warnings (ir/warnings.h) go to the reporter.
Result<ir::Program> bind_and_warn(const ir::Program& program, const ir::Sizes& sizes, const Reporter& report);

/// Layouts, constants and objective set, sizes bound. Sizes the program does not have are an error.
Result<ir::Program> bind_program(const LoadedProgram& loaded, const BindingOptions& options, const Reporter& report);

/// The same for all the programs of one command: a name that none of them has is an error.
Result<std::vector<ir::Program>> with_storage(const std::vector<LoadedProgram>& loaded, const BindingOptions& options);

/// Binds all the programs of one command: each takes the sizes it has, and a size, layout or constant that none of
/// them has is an error.
Result<std::vector<ir::Program>> bind_programs(const std::vector<LoadedProgram>& loaded, const BindingOptions& options,
                                               const Reporter& report);

/// The same, where a program that does not fit its sizes does not stop the others: for each the program or why not.
Result<std::vector<Result<ir::Program>>> bind_each(const std::vector<LoadedProgram>& loaded,
                                                   const BindingOptions& options, const Reporter& report);

/// NAME=VALUE cut at the first '='; nothing where either side is empty.
std::optional<std::pair<std::string, std::string>> split_assignment(const std::string& text);

}  // namespace tile_tune::engine
