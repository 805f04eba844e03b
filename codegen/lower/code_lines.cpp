#include "codegen/lower/code_lines.h"

namespace tile_tune::codegen {

using namespace Halide::Internal;
using Halide::Expr;

bool flatten(const Stmt& stmt, std::vector<CodeLine>& lines) {
  if (const auto* let = stmt.as<LetStmt>()) {
    for (const auto& line : lines)
      if (line.name == let->name) return false;
    lines.push_back({let->name, let->value, {}});
    return flatten(let->body, lines);
  }
  if (const auto* block = stmt.as<Block>()) return flatten(block->first, lines) && flatten(block->rest, lines);
  lines.push_back({"", {}, stmt});
  return true;
}

Stmt as_statement(const std::vector<CodeLine>& lines) {
  Stmt whole;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->is_let())
      whole = LetStmt::make(line->name, line->value, whole);
    else
      whole = whole.defined() ? Block::make(line->statement, whole) : line->statement;
  }
  return whole;
}

std::map<std::string, Expr> addresses_in(const std::vector<CodeLine>& lines) {
  std::map<std::string, Expr> names;
  for (const auto& line : lines)
    if (line.is_let() && line.value.type().is_int() && line.value.type().is_scalar())
      names[line.name] = substitute(names, line.value);
  return names;
}

bool reads_buffer(const Expr& value, const std::string& buffer) {
  class Reads : public IRVisitor {
   public:
    explicit Reads(const std::string& buffer) : buffer_(buffer) {}
    bool found = false;

   private:
    using IRVisitor::visit;
    void visit(const Load* op) override {
      found |= op->name == buffer_;
      IRVisitor::visit(op);
    }
    const std::string& buffer_;
  } visitor(buffer);
  value.accept(&visitor);
  return visitor.found;
}

}  // namespace tile_tune::codegen
