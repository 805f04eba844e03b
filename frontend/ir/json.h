// Programs as JSON: the file format of saved programs, and what workers and the database are handed.
//
// {"kind": "program", "format": 1, "name", "sizes", "tensors", "inputs", "outputs", "statements"}; size
// expressions are numbers or trees: {"name": N}, {"add": [a, b, ...]}, {"mul": [a, b]}, {"floor_div": [a, b]},
// {"min": [a, b]}, {"max": [a, b]}. Floats that JSON has no numbers for are "inf", "-inf" and "nan".
// Reading validates: anything a Program may not contain (unknown tensor, wrong rank, cycle, missing or
// unknown field) is one Diagnostic whose message starts with the JSON path, class Program (Mismatch: a tensor that
// no memory can hold). Other sizes and bounds are not checked here but by bind(), which takes bound programs, too.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Goes up when the format changes; older programs stay readable.
inline constexpr int kProgramFormat = 1;

/// Names and places keep the bytes they had; dump() with error_handler_t::replace where they may not be UTF-8.
nlohmann::json to_json(const Program& program);
Result<Program> program_from_json(const nlohmann::json& json);

}  // namespace tile_tune::ir
