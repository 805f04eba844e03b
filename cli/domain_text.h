// Iteration domains of statements in plain words and as JSON, for check and explain.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::cli {

/// A table of the indices, a line each: its range, what becomes of the values over it ("summed"), and the reads or
/// clauses that bound it. Empty for a statement without indices.
std::string indices_text(const ir::Program& program, const ir::Statement& statement, int indent);
/// [{"name", "lo", "hi", "reduction", "bounded_by"}, ...]; sizes as numbers once they are bound, else as text.
nlohmann::json indices_json(const ir::Program& program, const ir::Statement& statement);

nlohmann::json size_json(const ir::SizeExpr& size);

/// "sums the values over k"; empty where every element has a single value.
std::string combines_text(const ir::Program& program, const ir::Statement& statement);

/// Which elements of its target a statement writes, and what the others are: a sentence, and
/// {"tensor", "all", "dimensions": [{"subscript", "from", "to"}, ...], "others"}. Constraints between symbolic sizes
/// leave "from" and "to" open. Fails where a domain is too complex (ir::value_range).
Result<std::string> writes_text(const ir::Program& program, const ir::Statement& statement);
Result<nlohmann::json> writes_json(const ir::Program& program, const ir::Statement& statement);

/// "0 <= i - j < N", in the order of the statement.
std::vector<std::string> constraint_texts(const ir::Statement& statement);

}  // namespace tile_tune::cli
