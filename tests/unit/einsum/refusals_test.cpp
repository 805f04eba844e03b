// Every refusal: its code, its exit code, and the characters the caret points at.
#include <catch2/catch.hpp>

#include "frontend/einsum/einsum.h"

using namespace tile_tune;

namespace {

/// The text under the caret.
std::string marked(const Diagnostic& diagnostic) {
  REQUIRE(diagnostic.place);
  const std::string text = render(diagnostic);
  INFO(text);
  REQUIRE(diagnostic.place->file == "einsum");
  REQUIRE(diagnostic.place->line == 1);
  return diagnostic.place->source_line.substr(diagnostic.place->column - 1, diagnostic.place->length);
}

void check_text(const std::string& text, const std::string& code, const std::string& place) {
  INFO(text);
  const auto result = einsum::parse(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == code);
  CHECK(result.error().error_class == ErrorClass::Program);
  CHECK(marked(result.error()) == place);
}

einsum::Operand shaped(std::vector<int64_t> shape, DType type = DType::F32) { return {type, std::move(shape)}; }

Diagnostic refused(const std::string& text, const einsum::Known& known) {
  INFO(text);
  const auto parsed = einsum::parse(text);
  REQUIRE(parsed);
  const auto made = einsum::make_program(*parsed, known);
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("what the text alone refuses") {
  check_text("ij,jk->iz", "unknown-output-label", "z");
  check_text("ij,jk->i...", "unknown-output-label", "i...");
  check_text("ij->i->l", "two-arrows", "->");
  check_text("i..j->i", "misplaced-character", ".");
  check_text("i-j->i", "misplaced-character", "-");
  check_text("i>j->i", "misplaced-character", ">");
  check_text("(ij,jk->ik", "unbalanced-parenthesis", "(");
  check_text("ij),jk->ik", "unbalanced-parenthesis", ")");
  check_text("i->(i)", "parenthesis-in-output", "(");
  check_text("i->i,i", "several-outputs", ",");
  check_text("(i,j)k->ij", "missing-comma", "k");
  check_text("k(i,j)->ij", "missing-comma", "(");
  check_text("(i)(j)->ij", "missing-comma", "(");
  check_text("...i...->i", "repeated-ellipsis", "...");
  check_text("i->......", "repeated-ellipsis", "...");
  check_text("i,...j->ij", "missing-output-ellipsis", "ij");
  check_text("abcdefghijklmnopqrstuvwxyzABCDEFG->", "too-many-dimensions", "G");
  check_text("i\xff->i", "bad-utf8", "\xff");
}

TEST_CASE("a missing output is refused with the explicit form") {
  const auto result = einsum::parse("ij, jk");
  REQUIRE_FALSE(result);
  CHECK(result.error().code == "no-arrow");
  CHECK(result.error().note.find("'ij, jk->ik'") != std::string::npos);
  CHECK(einsum::parse("b...a,bc").error().note.find("'b...a,bc->...ac'") != std::string::npos);
  CHECK(einsum::parse("").error().code == "no-arrow");
  // An arrow of another kind is a label like any other character.
  const auto arrow = einsum::parse("ij,jk→ik");
  REQUIRE_FALSE(arrow);
  CHECK(arrow.error().code == "no-arrow");
  CHECK(arrow.error().place->column == 7 + 6);
  CHECK(arrow.error().place->length == 1);
  CHECK(arrow.error().note == "write '->' in its place");
}

TEST_CASE("carets count characters, not bytes") {
  const auto result = einsum::parse("αβ,βγ->αδ");
  REQUIRE_FALSE(result);
  CHECK(render(result.error()) ==
        "einsum:1:16: error: no operand has the label 'δ' of the output [unknown-output-label]\n"
        "  einsum:αβ,βγ->αδ\n"
        "                 ^\n");
}

TEST_CASE("too many operands, and texts of a megabyte") {
  std::string text = "a";
  for (int i = 0; i < 1000; ++i) text += ",a";
  CHECK(einsum::parse(text + "->a").error().code == "too-many-operands");
  CHECK(einsum::parse(std::string(1 << 20, ',') + "->").error().code == "too-many-operands");
  CHECK(einsum::parse(std::string(1 << 20, '(')).error().code == "no-arrow");
  CHECK(einsum::parse(std::string(1 << 20, ')')).error().code == "unbalanced-parenthesis");
  CHECK(einsum::parse(std::string(1 << 20, 'i')).error().code == "too-many-dimensions");
  CHECK(einsum::parse(std::string(1 << 20, ' ') + "->").has_value());
}

TEST_CASE("operands that do not fit") {
  const auto count = refused("ij,jk->ik", {{{}, {}, {}}, {}, {}});
  CHECK(count.code == "operand-count");
  CHECK(count.error_class == ErrorClass::Mismatch);
  CHECK(marked(count) == "ij,jk");

  const auto rank = refused("ij,jk->ik", {{shaped({2, 3}), shaped({3, 4, 5})}, {}, {}});
  CHECK(rank.code == "rank-mismatch");
  CHECK(rank.message == "in1 has 3 dimensions, but its subscripts name 2");
  CHECK(marked(rank) == "jk");
  CHECK(refused("ij...->i...", {{shaped({2})}, {}, {}}).message ==
        "in0 has 1 dimensions, but its subscripts name at least 2");
  CHECK(refused("i->i", {{shaped({-2})}, {}, {}}).code == "negative-size");

  const auto extents = refused("ij,jk->ik", {{shaped({2, 3}), shaped({4, 5})}, {}, {}});
  CHECK(extents.code == "size-conflict");
  CHECK(extents.error_class == ErrorClass::Mismatch);
  CHECK(extents.message == "label 'j' is 3 by dimension 1 of in0 but 4 by dimension 0 of in1");
  CHECK(marked(extents) == "j");
  CHECK(extents.place->column == 11);
  CHECK(refused("ii->i", {{shaped({2, 3})}, {}, {}}).message ==
        "label 'i' is 2 by dimension 0 of in0 but 3 by dimension 1 of in0");
  CHECK(refused("i->i", {{shaped({2})}, {}, {{"i", 3}}}).message == "label 'i' is 3 by -s but 2 by dimension 0 of in0");
  // Labels never broadcast.
  CHECK(refused("ij,ij->ij", {{shaped({2, 3}), shaped({1, 3})}, {}, {}}).code == "size-conflict");

  const auto broadcast = refused("...i,...i->...", {{shaped({4, 3, 2}), shaped({5, 3, 2})}, {}, {}});
  CHECK(broadcast.code == "size-conflict");
  CHECK(broadcast.message == "an axis of '...' is 4 by dimension 0 of in0 but 5 by dimension 0 of in1");
  CHECK(marked(broadcast) == "...i");

  const auto shape = refused("...i,i->...", {});
  CHECK(shape.code == "missing-shape");
  CHECK(shape.error_class == ErrorClass::Mismatch);
  CHECK(shape.note.find("--shape in0=") != std::string::npos);
}

TEST_CASE("an output type that does not hold the operands'") {
  const auto narrow = refused("i,i->i", {{{DType::F64, {}}, {DType::F32, {}}}, DType::F32, {}});
  CHECK(narrow.code == "narrowing");
  CHECK(narrow.error_class == ErrorClass::Program);
  CHECK(refused("i->i", {{{DType::I32, {}}}, DType::F32, {}}).code == "narrowing");  // f32 does not hold i32
  CHECK(refused("i->i", {{{DType::C32, {}}}, DType::F64, {}}).code == "narrowing");
  CHECK(refused("i->i", {{{DType::U8, {}}}, DType::I8, {}}).code == "narrowing");
  // Products and sums of i8 are i32; a copy stays i8, and a float output computes in floats.
  CHECK(refused("i,i->i", {{{DType::I8, {}}, {DType::I8, {}}}, DType::I8, {}}).message ==
        "the output's type i8 does not hold the result's i32");
  CHECK(refused("ij->i", {{{DType::U8, {}}}, DType::I16, {}}).code == "narrowing");
  CHECK(einsum::make_program(*einsum::parse("i->i"), {{{DType::I8, {}}}, DType::I8, {}}));
  CHECK(einsum::make_program(*einsum::parse("ij->i"), {{{DType::I8, {}}}, DType::F16, {}}));
}

TEST_CASE("intermediate results have limits, too") {
  const std::string first = "abcdefghijklmnopq", second = "rstuvwxyzABCDEFGH",
                    third = "abcdefghijklmnopqrstuvwxyzABCDEF";
  const auto large = refused(first + "," + second + "," + third + "," + "GH->", {});
  CHECK(large.code == "too-many-dimensions");
}
