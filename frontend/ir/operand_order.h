// One order for the operands of commutative operations, whatever order they were written in (private to frontend/ir).
//
// Tensors and indices get colours: at first by what they are (outputs by their place on the left), then again and
// again by where and beside what they are used, until no more are told apart. Operands are sorted by the colours of
// what they read. What remains alike is tried both ways. Sizes and literals count only where nothing else tells a
// difference, so that the order is one for a program at all its sizes. Source: McKay and Piperno, Practical graph
// isomorphism II (2014), colour refinement and individualisation.
#pragma once

#include <functional>
#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// The program with the operands of + * min max == != and or in order, and its indices in an order that only
/// matters where uses do not tell them apart. Operations that are associative to the last bit (on integers and bool,
/// and min and max) are ordered as a whole: a + (b + c) is (a + b) + c; so are the factors of a float sum's term.
/// `text` is what a numbered program is compared by: of equal choices the one with the smallest text is taken.
Program order_operands(const Program& program, const std::function<std::string(const Program&)>& text);

}  // namespace tile_tune::ir
