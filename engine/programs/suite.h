// Suites: JSON files of programs with sizes, and what a benchmark says of each.
//
// {"kind": "suite", "format": 1, "name": ..., "workloads": [...]}; a workload is {"name", and one of "einsum":
// SUBSCRIPTS with "dtype" and perhaps "result_dtype", "tc": TEXT of one def, "program": a saved program}, and, all
// optional, "sizes": {NAME: N}, "group", "flops", "bytes", "weights": [names of inputs that stay the same from call to
// call], "constant": [the same, as with --constant NAME in every command]. Other fields are for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/programs/loaded_program.h"
#include "engine/session/reporter.h"

namespace tile_tune::engine {

inline constexpr int kSuiteFormat = 1;

bool is_suite(const nlohmann::json& json);

/// As the suite has it, or else the program's own.
std::string name_of(const LoadedProgram& loaded);

/// Whether one of the patterns (as of file names) fits the workload's name, or is its group; none: every one is wanted.
bool is_wanted(const LoadedProgram& loaded, const std::vector<std::string>& only);

/// Leaves out those that are not wanted. Error, where none is left: nothing-selected of class Program.
Result<void> keep_wanted(std::vector<LoadedProgram>& loaded, const std::vector<std::string>& only);

/// Every workload as a program that has all its sizes, named after the workload (made an identifier). Errors are of
/// class Program and start with the path and the workload's name.
Result<std::vector<LoadedProgram>> load_suite(const nlohmann::json& json, const std::string& path,
                                              const Reporter& report);

}  // namespace tile_tune::engine
