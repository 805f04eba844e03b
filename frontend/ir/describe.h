// Programs in plain words, for `tile-tune check` and for messages.
#pragma once

#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// "mv(float(R,C) A, float(C) B) -> (float(R) o)"; element types spelled as TC does.
std::string signature(const Program& program);

/// Text of an expression or statement with the program's own names: "o(i) +=! A(i,j) * B(j)".
std::string to_text(const Program& program, const Statement& statement);
std::string to_text(const Program& program, const Statement& statement, const Expr& expr);
std::string to_text(const Program& program, const Statement& statement, const Read& read);
std::string to_text(const Statement& statement, const AffineExpr& expr);
/// An operation as it is written: "<", "-", "exp".
std::string_view op_text(Op op);
/// What the statement writes: "o(i)".
std::string target_text(const Program& program, const Statement& statement);

}  // namespace tile_tune::ir
