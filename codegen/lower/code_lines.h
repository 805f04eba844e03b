// Lowered statements that follow each other, in a row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// A statement of those that follow each other, or a name for those behind it.
struct CodeLine {
  std::string name;
  Halide::Expr value;
  Halide::Internal::Stmt statement;
  bool is_let() const { return !name.empty(); }
};

/// Adds what a statement consists of, names within it for all that follows. False: a name is there twice.
bool flatten(const Halide::Internal::Stmt& stmt, std::vector<CodeLine>& lines);

/// One statement again. The last is no name.
Halide::Internal::Stmt as_statement(const std::vector<CodeLine>& lines);

/// What the names of addresses stand for.
std::map<std::string, Halide::Expr> addresses_in(const std::vector<CodeLine>& lines);

/// Whether a value reads the buffer.
bool reads_buffer(const Halide::Expr& value, const std::string& buffer);

}  // namespace tile_tune::codegen
