// Where messages point.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "frontend/tc/parse.h"
#include "frontend/tc/source_text.h"

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

using namespace std::string_literals;

TEST_CASE("bytes that are no text never reach a message") {
  for (const std::string& text : {"def \xFF"s, "def \xC3"s, "def \xC3("s, "def \0"s}) {
    const auto error = error_of(text);
    CHECK(error.message.find_first_not_of(
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-'{}_,./ ()#") == std::string::npos);
  }
}

TEST_CASE("of an overlong line a window around the place is shown, and columns count characters there too") {
  std::string text = "def f(float(N) A) -> (O) { O(i) = A(i)";
  for (int i = 0; i < 200; ++i) text += " O(i) += A(i)";
  text += " }";
  const auto parsed = tc::parse(text, "a.tc");
  REQUIRE(parsed);
  const auto& last = *parsed->programs[0].statements.back().place;
  CHECK(last.column == static_cast<int>(text.size() - 13));
  CHECK(last.source_line.starts_with("..."));
  CHECK(last.source_line.ends_with("O(i) += A(i) }"));
  CHECK(last.source_line.substr(static_cast<size_t>(last.column - 1 - last.skipped), 4) == "O(i)");
  const auto& first = *parsed->programs[0].statements.front().place;
  CHECK(first.skipped == 0);
  CHECK(first.source_line.starts_with("def f(float(N)"));
  CHECK(first.source_line.ends_with("..."));
}

TEST_CASE("a place in an overlong line of other alphabets is exact, at its ends and on both sides of a line's end") {
  std::string text = "x\n";
  for (int i = 0; i < 1000; ++i) text += "\u00e9";
  text += "Q\r\nnext";
  const tc::Source source(text, "a.tc");
  const auto at_end = source.place({2002, 2003});
  CHECK(at_end.line == 2);
  CHECK(at_end.column == 1001);
  CHECK(at_end.source_line.back() == 'Q');
  CHECK(at_end.source_line.size() == 3 + 2 * 60 + 1);
  CHECK(at_end.skipped == 1000 - 60 - 3);
  CHECK(source.place({2, 4}).column == 1);
  CHECK(source.place({2, 2002}).length == 100);  // what is shown of it
  CHECK(source.place({2005, 2009}).line == 3);
  CHECK(source.place({2005, 2009}).column == 1);
  CHECK(source.place({text.size(), text.size()}).column == 5);
  CHECK(tc::Source("", "a.tc").place({0, 0}).column == 1);
  const std::string full(512, 'x');  // ends where a look-up's stride does
  CHECK(tc::Source(full, "a.tc").place({512, 512}).column == 513);
  CHECK(tc::Source(full, "a.tc").place({500, 512}).source_line == "..." + std::string(60 + 12, 'x'));
}
