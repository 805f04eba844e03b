// Warnings of reductions over part of an operand, which often are a padding that was meant and not written.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// In an Index's reason, before the dimensions of which inference may have left it a part only.
inline constexpr std::string_view kWithin = "; within ";

/// A warning ("partial-reduction") for each reduced index that takes fewer values than a dimension has which it alone
/// subscripts, with the guarded read that would pad. Only of indices whose reason says kWithin: others have the range
/// that their author gave them, or all there is. Where sizes have names, only what holds for all of them.
std::vector<Diagnostic> partial_reductions(const Program& program);

}  // namespace tile_tune::ir
