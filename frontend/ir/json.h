// Programs as JSON: the file format of saved programs, and what workers and the database are handed.
//
// {"kind": "program", "format": 1, "name", "sizes", "tensors", "inputs", "outputs", "statements"}; size
// expressions are numbers or strings in SizeExpr's own notation trees. Reading validates: anything a
// Program may not contain (unknown tensor, wrong rank, cycle, missing field) is one Diagnostic that names
// the JSON path, class Program.
#pragma once

#include <nlohmann/json.hpp>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

nlohmann::json to_json(const Program& program);
Result<Program> program_from_json(const nlohmann::json& json);

}  // namespace tile_tune::ir
