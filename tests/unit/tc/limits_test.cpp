// Inputs made to exhaust the stack, the memory or anyone's patience. A hang shows as the test's timeout.
#include <catch2/catch.hpp>

#include <string>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;

namespace {

std::string repeat(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string body(std::string_view statements) {
  return "def f(float(N) A, int(N) B) -> (O) { " + std::string(statements) + " }";
}

std::string code(std::string_view text) {
  const auto parsed = tc::parse(text, "limits.tc");
  return parsed ? "" : parsed.error().code;
}

constexpr size_t kMegabyte = 1'000'000;

}  // namespace

TEST_CASE("nesting of every kind is limited") {
  const auto nested = [](std::string_view open, std::string_view inner, std::string_view close, size_t times) {
    return body("O(i) = " + repeat(open, times) + std::string(inner) + repeat(close, times));
  };
  CHECK(code(nested("(", "A(i)", ")", 190)) == "");
  CHECK(code(nested("(", "A(i)", ")", 300'000)) == "too-deep");
  CHECK(code(nested("-", "A(i)", "", 190)) == "");
  CHECK(code(nested("-", "A(i)", "", kMegabyte)) == "too-deep");
  CHECK(code(nested("!", "(A(i) > 0)", "", kMegabyte)) == "too-deep");
  CHECK(code(nested("exp(", "A(i)", ")", 250'000)) == "too-deep");
  CHECK(code(nested("float(", "A(i)", ")", 150'000)) == "too-deep");
  CHECK(code(nested("A(i) > 0 ? 1 : ", "0", "", 60'000)) == "too-deep");
  CHECK(code(nested("B(", "i", ")", 300'000)) == "too-deep");
  CHECK(code(body("O(i) = " + repeat("(", kMegabyte))) == "too-deep");
}

TEST_CASE("chains of operators are as deep as they are long") {
  CHECK(code(body("O(i) = A(i)" + repeat(" + A(i)", 1150))) == "");
  CHECK(code(body("O(i) = A(i)" + repeat(" + A(i)", 140'000))) == "too-deep");
  CHECK(code(body("O(i) = A(i" + repeat("+1", 300'000) + ")")) == "too-deep");
  // What the parser accepts, the program file format does as well, casts included.
  const auto mixed = tc::parse(body("O(i) = B(i)" + repeat(" + A(i)", 1150)), "limits.tc");
  REQUIRE(mixed);
  CHECK(ir::program_from_json(ir::to_json(mixed->programs[0])));
}

TEST_CASE("lets cannot multiply without limit") {
  std::string doubling = "O(i) = t0 where t40 = A(i)", shift = "O(i) = A(t0) where t40 = i",
              chain = "O(i) = t0 where t9999 = A(i)";
  for (int i = 39; i >= 0; --i) {
    doubling += ", t" + std::to_string(i) + " = t" + std::to_string(i + 1) + " + t" + std::to_string(i + 1);
    shift += ", t" + std::to_string(i) + " = t" + std::to_string(i + 1) + " - t" + std::to_string(i + 1);
  }
  for (int i = 9998; i >= 0; --i) chain += ", t" + std::to_string(i) + " = t" + std::to_string(i + 1);
  CHECK(code(body(doubling)) == "too-complicated");
  CHECK(code(body(shift)) == "too-complicated");
  CHECK(code(body(chain)) == "too-deep");
  CHECK(code(body("O(i) = a where a = b, b = a")) == "undefined-name");
  CHECK(code(body("O(i) = a where a = a")) == "undefined-name");
}

TEST_CASE("size expressions stay small") {
  CHECK(code(body("O(i) = 1 where i in 0 : N" + repeat(" % (N + 7)", 100))) == "too-complicated");
  CHECK(code(body("O(i) = 1 where i in 0 : N" + repeat(" * N", 190))) != "too-deep");
  CHECK(code(body("O(i) = 1 where i in 0 : 9223372036854775807 + 1")) == "number-too-large");
  CHECK(code(body("O(i) = A(9223372036854775807 * i + i)")) == "number-too-large");
  CHECK(code(body("O(i) = A(4611686018427387904 * i) where i in 0:3")) == "number-too-large");
  CHECK(code(body("O(i) = A(i - (0 - 9223372036854775807 - 1))")) == "number-too-large");
}

TEST_CASE("there may be many indices, dimensions and reads, but not any number") {
  std::string subscripts = "i0", dims = "N0";
  for (int i = 1; i < 100; ++i) {
    subscripts += "+i" + std::to_string(i);
    dims += ",N" + std::to_string(i);
  }
  CHECK(code(body("O() +=! A(" + subscripts + ")")) == "too-many-indices");
  CHECK(code("def f(float(" + dims + ") A) -> (O) { O = 1 }") == "too-many-dimensions");
  std::string parameters, sum = "P0(i)";
  for (int i = 0; i < 150; ++i)
    parameters += (i ? ", float(N" : "float(N") + std::to_string(i) + ") P" + std::to_string(i);
  for (int i = 1; i < 150; ++i) sum += " + P" + std::to_string(i) + "(i)";
  CHECK(code("def f(" + parameters + ") -> (O) { O(i) = " + sum + " }") == "too-complicated");
}

TEST_CASE("a megabyte of anything is read in linear time") {
  CHECK(code(body("O(i) = A(i)" + repeat(" O(i) += A(i)", 75'000))) == "");
  CHECK(code(body("O(i) = A(i)" + repeat("\nO(i) +=! A(i) where i in 0:N", 30'000))) == "");
  CHECK(code(repeat("def f(float(N) A) -> (O) { O(i) = A(i) }\n", 2)) == "duplicate-def");
  CHECK(code(repeat("# comment\n", 100'000)) == "no-def");
  CHECK(code(repeat("\xFF", kMegabyte)) == "unsupported-character");
  CHECK(code(body("O(i) = A(i) * " + std::string(kMegabyte, 'x'))) == "undefined-name");
  CHECK(code(body("O(i) = A(i) * " + std::string(kMegabyte, '7'))) == "number-too-large");
  CHECK(code(std::string(kMegabyte, ' ')) == "no-def");
  CHECK(code("def f(" + repeat("float A,", 120'000)) == "syntax-error");
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "def f" + std::to_string(i) + "(float(N) A) -> (O) { O(i) = A(i) }\n";
  CHECK(code(many) == "");
  // None of which gives a size that the others do not.
  std::string inputs = "float(N) A0";
  for (int i = 1; i < 50'000; ++i) inputs += ", float(N) A" + std::to_string(i);
  CHECK(code("def f(" + inputs + ") -> (float(N) O) { O(i) = A0(i) }") == "");
  std::string temporaries = "O(i) = A(i)";
  for (int i = 0; i < 30'000; ++i) temporaries += " t" + std::to_string(i) + "(i) = A(i) * 2";
  CHECK(code(body(temporaries)) == "");
}
