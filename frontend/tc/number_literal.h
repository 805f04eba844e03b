// Numbers: as C spells them, as a type holds them, and their arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "frontend/ir/literal.h"
#include "frontend/tc/lexer.h"

namespace tile_tune::tc {

/// The value of a Number token: an integer, or a double where the spelling has a point or an exponent.
Result<std::variant<int64_t, double>> parse_number(const Source& source, const Token& token);

/// Arithmetic on literals, in int64 if all are integers, else in double; nullopt for other operations and
/// where the result is out of range or undefined.
std::optional<ir::Literal> fold(ir::Op op, const std::vector<ir::Literal>& arguments);

}  // namespace tile_tune::tc
