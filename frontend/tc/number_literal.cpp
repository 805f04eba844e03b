#include "frontend/tc/number_literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/tc/errors.h"

namespace tile_tune::tc {
namespace {

// std::from_chars rather than strtod: it does not depend on the process's locale.
template <typename T, typename Format>
std::errc convert(std::string_view digits, Format format, T& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format);
  if (error == std::errc() && end != digits.data() + digits.size()) return std::errc::invalid_argument;
  return error;
}

double as_double(const ir::Literal& literal) {
  if (const auto* integer = std::get_if<int64_t>(&literal.value)) return static_cast<double>(*integer);
  return std::get<double>(literal.value);
}

std::optional<int64_t> fold_integers(ir::Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case ir::Op::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case ir::Op::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case ir::Op::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case ir::Op::Min:
      return std::min(a, b);
    case ir::Op::Max:
      return std::max(a, b);
    case ir::Op::Div:
    case ir::Op::Mod: {
      if (b == 0 || b == -1) return std::nullopt;  // -1: the smallest integer has no negative
      const int64_t floored = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      return op == ir::Op::Div ? floored : a - floored * b;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> fold_doubles(ir::Op op, double a, double b) {
  switch (op) {
    case ir::Op::Add:
      return a + b;
    case ir::Op::Sub:
      return a - b;
    case ir::Op::Mul:
      return a * b;
    case ir::Op::Div:
      return a / b;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ir::Literal> fold(ir::Op op, const std::vector<ir::Literal>& arguments) {
  if (op == ir::Op::Neg) {
    const auto zero = std::holds_alternative<double>(arguments[0].value) ? ir::Literal{-0.0} : ir::Literal{int64_t{0}};
    return fold(ir::Op::Sub, {zero, arguments[0]});
  }
  if (arguments.size() != 2) return std::nullopt;
  const auto* a = std::get_if<int64_t>(&arguments[0].value);
  const auto* b = std::get_if<int64_t>(&arguments[1].value);
  if (a && b) {
    const auto result = fold_integers(op, *a, *b);
    return result ? std::optional(ir::Literal{*result}) : std::nullopt;
  }
  // Infinities and NaNs stay operations: JSON, the form programs are saved in, has no literal for them.
  const auto result = fold_doubles(op, as_double(arguments[0]), as_double(arguments[1]));
  return result && std::isfinite(*result) ? std::optional(ir::Literal{*result}) : std::nullopt;
}

Result<std::variant<int64_t, double>> parse_number(const Source& source, const Token& token) {
  const bool hexadecimal = token.text.starts_with("0x") || token.text.starts_with("0X");
  const auto digits = hexadecimal ? token.text.substr(2) : token.text;
  const bool has_fraction = digits.find_first_of(hexadecimal ? ".pP" : ".eE") != digits.npos;
  // C reads 010 as eight; whoever writes it here may mean ten.
  if (!hexadecimal && !has_fraction && digits.size() > 1 && digits[0] == '0')
    return errors::leading_zero(source.place(token.span), token.text);
  if (hexadecimal && digits.empty()) return errors::bad_number(source.place(token.span), token.text);

  int64_t integer = 0;
  double real = 0;
  const auto error = has_fraction
                         ? convert(digits, hexadecimal ? std::chars_format::hex : std::chars_format::general, real)
                         : convert(digits, hexadecimal ? 16 : 10, integer);
  if (error == std::errc::result_out_of_range) return errors::number_too_large(source.place(token.span), token.text);
  if (error != std::errc()) return errors::bad_number(source.place(token.span), token.text);
  if (has_fraction) return real;
  return integer;
}

}  // namespace tile_tune::tc
