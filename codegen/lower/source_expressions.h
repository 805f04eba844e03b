// Halide expressions as C++ that makes them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/lower/source_names.h"

namespace tile_tune::codegen {

std::string source_of(const Halide::Type& type);

/// Texts of expressions; what is long or stands in several becomes a constant, whose lines come before.
class SourceExpressions : private Halide::Internal::IRVisitor {
 public:
  explicit SourceExpressions(SourceNames& names) : names_(names) {}

  /// A C++ expression that makes `expr`.
  std::string text(const Halide::Expr& expr);
  /// The same as an argument: of the type Expr, or of one that becomes it without a choice.
  std::string argument(const Halide::Expr& expr);
  /// The definitions of constants since the last call.
  std::vector<std::string> take_lines();
  /// Helpers that were used (source_helpers()).
  const std::set<std::string>& helpers() const { return helpers_; }

 private:
  enum class Kind { Atom, Reference, Operation };  // Reference: a Func's element or a variable, no Expr yet
  struct Text {
    std::string text;
    Kind kind = Kind::Atom;
  };

  const Text& print(const Halide::Expr& expr);
  std::string operand(const Halide::Expr& expr);
  std::string arguments(const std::vector<Halide::Expr>& exprs);
  void call(const std::string& function, const std::vector<Halide::Expr>& exprs);
  void binary(const Halide::Expr& a, const char* symbol, const Halide::Expr& b);

  void visit(const Halide::Internal::IntImm* op) override;
  void visit(const Halide::Internal::UIntImm* op) override;
  void visit(const Halide::Internal::FloatImm* op) override;
  void visit(const Halide::Internal::Cast* op) override;
  void visit(const Halide::Internal::Reinterpret* op) override;
  void visit(const Halide::Internal::Variable* op) override;
  void visit(const Halide::Internal::Add* op) override { binary(op->a, "+", op->b); }
  void visit(const Halide::Internal::Sub* op) override { binary(op->a, "-", op->b); }
  void visit(const Halide::Internal::Mul* op) override { binary(op->a, "*", op->b); }
  void visit(const Halide::Internal::Div* op) override { binary(op->a, "/", op->b); }
  void visit(const Halide::Internal::Mod* op) override { binary(op->a, "%", op->b); }
  void visit(const Halide::Internal::EQ* op) override { binary(op->a, "==", op->b); }
  void visit(const Halide::Internal::NE* op) override { binary(op->a, "!=", op->b); }
  void visit(const Halide::Internal::LT* op) override { binary(op->a, "<", op->b); }
  void visit(const Halide::Internal::LE* op) override { binary(op->a, "<=", op->b); }
  void visit(const Halide::Internal::GT* op) override { binary(op->a, ">", op->b); }
  void visit(const Halide::Internal::GE* op) override { binary(op->a, ">=", op->b); }
  void visit(const Halide::Internal::And* op) override { binary(op->a, "&&", op->b); }
  void visit(const Halide::Internal::Or* op) override { binary(op->a, "||", op->b); }
  void visit(const Halide::Internal::Min* op) override { call("min", {op->a, op->b}); }
  void visit(const Halide::Internal::Max* op) override { call("max", {op->a, op->b}); }
  void visit(const Halide::Internal::Not* op) override;
  void visit(const Halide::Internal::Select* op) override;
  void visit(const Halide::Internal::Call* op) override;
  void visit(const Halide::Internal::Let* op) override;

  SourceNames& names_;
  std::map<const Halide::Internal::BaseExprNode*, Text> known_;
  std::map<std::string, std::string> constants_;  // by what they are
  std::vector<Halide::Expr> kept_;                // nodes of known_
  std::set<std::string> lets_;
  std::vector<std::string> lines_;
  std::set<std::string> helpers_;
  Text result_;
};

/// Definitions of helpers, by name.
const std::map<std::string, std::string>& source_helpers();

}  // namespace tile_tune::codegen
