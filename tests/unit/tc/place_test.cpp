// Where messages point.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "frontend/tc/parse.h"
#include "frontend/tc/source.h"

using namespace tile_tune;

namespace {

Diagnostic error_of(std::string_view text) {
  const auto parsed = tc::parse(text, "a.tc");
  REQUIRE(!parsed);
  return parsed.error();
}

}  // namespace

TEST_CASE("lines and columns count from 1, whatever ends the lines") {
  for (const std::string_view newline : {"\n", "\r\n"}) {
    const auto text = fmt::format("# one{0}def f(float(N) A) -> (O) {{{0}  O(i) = A(i) * Q(i){0}}}{0}", newline);
    const auto error = error_of(text);
    REQUIRE(error.place);
    CHECK(error.place->file == "a.tc");
    CHECK(error.place->line == 3);
    CHECK(error.place->column == 17);
    CHECK(error.place->source_line == "  O(i) = A(i) * Q(i)");
    CHECK(error.error_class == ErrorClass::Program);
  }
}

TEST_CASE("a byte order mark is no part of the program") {
  CHECK(
      tc::parse("\xEF\xBB\xBF"
                "def f(float(N) A) -> (O) { O(i) = A(i) }",
                "a.tc"));
}

TEST_CASE("a span over several lines is cut at the first line's end") {
  const auto error = error_of("def f(float(N) A) -> (O) {\n O(i) = pow(\n  A(i))\n}");
  CHECK(error.code == "wrong-argument-count");
  CHECK(error.place->line == 2);
  CHECK(error.place->column == 9);
  CHECK(error.place->length == 4);
}

TEST_CASE("columns count characters") {
  const std::string_view text = "\u00e9\u00e9x";
  const tc::Source source(text, "a.tc");
  CHECK(source.place({4, 5}).column == 3);
  CHECK(source.place({0, 4}).length == 2);
}

TEST_CASE("bytes that are no text never reach a message") {
  for (const std::string text : {"def \xFF", "def \xC3", "def \xC3(", std::string("def \0", 5).c_str()}) {
    const auto error = error_of(text);
    CHECK(error.message.find_first_not_of(
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-'{}_,./ ()#") == std::string::npos);
  }
}

TEST_CASE("an overlong line is not repeated in every statement") {
  std::string text = "def f(float(N) A) -> (O) { O(i) = A(i)";
  for (int i = 0; i < 200; ++i) text += " O(i) += A(i)";
  text += " }";
  const auto parsed = tc::parse(text, "a.tc");
  REQUIRE(parsed);
  CHECK(parsed->programs[0].statements.back().place->source_line.empty());
  CHECK(parsed->programs[0].statements.back().place->column == static_cast<int>(text.size() - 13));
}
