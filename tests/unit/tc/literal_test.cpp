// Numbers: spelling, range and arithmetic.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "frontend/tc/number_literal.h"

using namespace tile_tune;
using namespace tile_tune::tc;

namespace {

Result<std::variant<int64_t, double>> number(std::string_view text) {
  const Source source(text, "test");
  const auto tokens = lex(source, {0, source.text().size()});
  REQUIRE(tokens);
  REQUIRE(tokens->size() == 2);
  return parse_number(source, tokens->front());
}
void check_integer(std::string_view text, int64_t value) {
  INFO(text);
  const auto result = number(text);
  REQUIRE(result);
  REQUIRE(std::holds_alternative<int64_t>(*result));
  CHECK(std::get<int64_t>(*result) == value);
}
void check_real(std::string_view text, double value) {
  INFO(text);
  const auto result = number(text);
  REQUIRE(result);
  REQUIRE(std::holds_alternative<double>(*result));
  CHECK(std::get<double>(*result) == value);
}
void check_error(std::string_view text, std::string_view code) {
  INFO(text);
  const auto result = number(text);
  REQUIRE(!result);
  CHECK(result.error().code == code);
}

ir::Literal integer(int64_t value) { return {value}; }
ir::Literal real(double value) { return {value}; }

}  // namespace

TEST_CASE("numbers mean what C says") {
  check_integer("0", 0);
  check_integer("42", 42);
  check_integer("0x1f", 31);
  check_integer("0XfF", 255);
  check_integer("9223372036854775807", std::numeric_limits<int64_t>::max());
  check_real("1E5", 1e5);
  check_real("3e-5", 3e-5);
  check_real("3e+5", 3e5);
  check_real(".5", 0.5);
  check_real("2.", 2.0);
  check_real("0.1", 0.1);
  check_real("0x1p-3", 0.125);
  check_real("0x.8p1", 1.0);
  check_real("00.5", 0.5);
}

TEST_CASE("what is glued to a number is refused with it") {
  check_error("1.0f", "bad-number");
  check_error("2i", "bad-number");
  check_error("1e", "bad-number");
  check_error("1.2.3", "bad-number");
  check_error("0x", "bad-number");
  check_error("0xg", "bad-number");
  check_error("1_000", "bad-number");
  check_error("010", "bad-number");
  check_error("00", "bad-number");
  check_error("9223372036854775808", "number-too-large");
  check_error("0xffffffffffffffff", "number-too-large");
  check_error("1e400", "number-too-large");
}

TEST_CASE("types hold the literals in their range") {
  CHECK(literal_as(integer(255), DType::U8));
  CHECK(!literal_as(integer(256), DType::U8));
  CHECK(!literal_as(integer(-1), DType::U8));
  CHECK(literal_as(integer(-128), DType::I8));
  CHECK(!literal_as(integer(-129), DType::I8));
  CHECK(!literal_as(integer(128), DType::I8));
  CHECK(literal_as(integer(4294967295), DType::U32));
  CHECK(!literal_as(integer(4294967296), DType::U32));
  CHECK(literal_as(integer(std::numeric_limits<int64_t>::min()), DType::I64));
  CHECK(!literal_as(integer(-1), DType::U64));
  CHECK(literal_as(integer(std::numeric_limits<int64_t>::max()), DType::U64));
  CHECK(!literal_as(integer(1), DType::Bool));
  CHECK(!literal_as(real(1.0), DType::I32));
  CHECK(literal_as(real(65504), DType::F16));
  CHECK(!literal_as(real(-65520), DType::F16));
  CHECK(literal_as(real(1e38), DType::BF16));
  CHECK(!literal_as(real(1e39), DType::F32));
  CHECK(std::get<double>(literal_as(integer(3), DType::F64)->value) == 3.0);
}

TEST_CASE("literal arithmetic floors and never overflows") {
  const auto folded = [](ir::Op op, int64_t a, int64_t b) {
    return std::get<int64_t>(fold(op, {integer(a), integer(b)})->value);
  };
  CHECK(folded(ir::Op::Div, -7, 2) == -4);
  CHECK(folded(ir::Op::Mod, -7, 2) == 1);
  CHECK(folded(ir::Op::Mod, 7, -2) == -1);
  CHECK(folded(ir::Op::Div, 7, -2) == -4);
  CHECK(folded(ir::Op::Sub, 3, 5) == -2);
  CHECK(std::get<int64_t>(fold(ir::Op::Neg, {integer(5)})->value) == -5);
  CHECK(std::signbit(std::get<double>(fold(ir::Op::Neg, {real(0.0)})->value)));
  CHECK(std::get<double>(fold(ir::Op::Div, {integer(1), real(4.0)})->value) == 0.25);
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  CHECK(!fold(ir::Op::Add, {integer(kMax), integer(1)}));
  CHECK(!fold(ir::Op::Mul, {integer(kMax), integer(2)}));
  CHECK(!fold(ir::Op::Div, {integer(1), integer(0)}));
  CHECK(!fold(ir::Op::Div, {real(1), real(0)}));
  CHECK(!fold(ir::Op::Lt, {integer(1), integer(2)}));
}
