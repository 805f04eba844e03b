#include "codegen/lower/tuple_stores.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace tile_tune::codegen;
using Halide::Expr;
using Halide::Internal::Block;
using Halide::Internal::IfThenElse;
using Halide::Internal::LetStmt;
using Halide::Internal::Stmt;

namespace {

const Halide::Type kType = Halide::Float(32);
const Expr i = Halide::Internal::Variable::make(Halide::Int(32), "i");

Expr load(const std::string& name, const Expr& index) {
  return Halide::Internal::Load::make(kType, name, index, {}, {}, Halide::Internal::const_true(), {});
}
Stmt store(const std::string& name, const Expr& value, const Expr& index = i) {
  return Halide::Internal::Store::make(name, value, index, {}, Halide::Internal::const_true(), {});
}
Expr named(const std::string& name) { return Halide::Internal::Variable::make(kType, name); }

// (f * g), whose second part is f.0 * g.1 + f.1 * g.0.
const Expr first_value = load("f.0", i) * load("g.0", i) - load("f.1", i) * load("g.1", i);
const Expr second_value = load("f.0", i) * load("g.1", i) + load("f.1", i) * load("g.0", i);

Stmt joined(const Stmt& stmt) { return TupleStores().mutate(stmt); }
bool is_refused(const Stmt& stmt) {
  try {
    return !TupleStoresCheck().mutate(stmt).same_as(stmt);
  } catch (const Halide::CompileError& error) {
    CHECK_THAT(error.what(), Catch::Contains("second part of f"));
    return true;
  }
}
// The kernel computes the second part before it stores the first, after all.
void check_joined(const Stmt& stmt) {
  CAPTURE((std::ostringstream() << stmt).str());
  CHECK(is_refused(stmt));
  const Stmt result = joined(stmt);
  CAPTURE((std::ostringstream() << result).str());
  CHECK_FALSE(is_refused(result));
}

}  // namespace

TEST_CASE("parts that depend on each other are stored together, under names of their own and beside others") {
  const Stmt first = store("f.0", first_value), second = store("f.1", second_value), other = store("h", 1.0f);
  check_joined(Block::make(first, second));
  check_joined(Block::make({other, first, second, other}));
  check_joined(Block::make(LetStmt::make("t", load("g.0", i), store("f.0", load("f.0", i) * named("t"))), second));
  check_joined(Block::make(first, LetStmt::make("t", load("f.0", i), store("f.1", named("t")))));
  check_joined(Block::make(first, LetStmt::make("t", load("f.0", i), Block::make(store("f.1", named("t")), other))));
  // The first ends a block under its own names.
  check_joined(Block::make(LetStmt::make("t", load("g.0", i), Block::make(store("h", named("t")), first)), second));
  check_joined(Block::make(
      LetStmt::make("t", load("g.0", i), Block::make(other, LetStmt::make("u", named("t"), Block::make(other, first)))),
      LetStmt::make("v", load("f.0", i), Block::make(store("f.1", named("v")), other))));
  // Elements in a row, each pair under names that end with the next one's first part.
  const auto pair = [&](const Expr& index, const Stmt& behind) {
    const Stmt next = store("f.1", load("f.0", index), index);
    return LetStmt::make("t", load("g.0", index), behind.defined() ? Block::make(next, behind) : next);
  };
  check_joined(Block::make({first, pair(i, store("f.0", load("f.1", i + 1), i + 1)), pair(i + 1, {})}));
}

TEST_CASE("the order of what is stored stays") {
  const Stmt result = joined(
      Block::make(LetStmt::make("t", load("g.0", i), Block::make(store("h", named("t")), store("f.0", named("t")))),
                  store("f.1", load("f.0", i) + load("h", i))));
  std::ostringstream text;
  text << result;
  const auto at = [&](const std::string& part) { return text.str().find(part); };
  CAPTURE(text.str());
  CHECK(at("h[i] = ") < at("let f.1.value"));
  CHECK(at("let f.1.value") < at("f.0[i] = "));
  CHECK(at("f.0[i] = ") < at("f.1[i] = "));
}

TEST_CASE("what has the hazard but not the shape is refused") {
  const Stmt first = store("f.0", first_value), second = store("f.1", second_value);
  const Expr condition = Halide::Internal::Variable::make(Halide::Bool(), "c");
  for (const Stmt& stmt : {
           Block::make(IfThenElse::make(condition, first), IfThenElse::make(condition, second)),
           Block::make({first, store("h", 1.0f), second}),
           // Names that mean something else around the second.
           Block::make(LetStmt::make("t", load("g.0", i), first), store("f.1", load("f.0", i) * named("t"))),
           Block::make(first,
                       LetStmt::make("t", load("f.0", i), IfThenElse::make(condition, store("f.1", named("t"))))),
       }) {
    const Stmt result = joined(stmt);
    CAPTURE((std::ostringstream() << result).str());
    CHECK(is_refused(result));
  }
}

TEST_CASE("parts that do not depend on each other are left alone, and elements elsewhere are others") {
  CHECK_FALSE(is_refused(Block::make(store("f.0", load("f.0", i)), store("f.1", load("f.0", i + 1)))));
  CHECK(is_refused(Block::make(store("f.0", load("f.0", i)), store("f.1", load("f.0", i * 2)))));
  for (const Stmt& stmt : {
           Block::make(store("f.0", load("f.0", i)), store("f.1", load("f.1", i))),
           Block::make({store("f.0", load("g.0", i)), store("f.1", load("g.1", i)), store("h", load("f.0", i))}),
           LetStmt::make("t", second_value, Block::make(store("f.0", first_value), store("f.1", named("t")))),
       }) {
    const Stmt result = joined(stmt);
    CHECK(Halide::Internal::equal(result, stmt));
    CHECK_FALSE(is_refused(result));
  }
}
