// Storage as people write it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include "frontend/ir/storage.h"

namespace tile_tune::ir {
namespace {

constexpr std::string_view kFromBuffer = "any";

tl::unexpected<Diagnostic> bad_layout(std::string message) {
  return fail(ErrorClass::Program, "bad-layout", std::move(message),
              "--layout takes row, col, NAME=row, NAME=col, or NAME= and a stride in elements for each dimension: "
              "NAME=4096,1 or, with sizes in it, NAME=K+16,1");
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// What sums and products are made of: a number or a size's name, at the beginning of `rest`, which then ends with it.
std::optional<SizeExpr> take_factor(std::string_view& rest) {
  const size_t length = std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin();
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  if (word.empty()) return std::nullopt;
  if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) return SizeExpr::name(std::string(word));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// "K+16", "2*M*N-1".
std::optional<SizeExpr> parse_size(std::string_view rest) {
  SizeExpr sum;
  bool is_first = true;
  while (is_first || !rest.empty()) {
    const bool is_minus = rest.starts_with('-');
    if (is_minus || (!is_first && rest.starts_with('+')))
      rest.remove_prefix(1);
    else if (!is_first)
      return std::nullopt;
    is_first = false;
    auto product = take_factor(rest);
    while (product && rest.starts_with('*')) {
      rest.remove_prefix(1);
      const auto factor = take_factor(rest);
      product = factor ? std::optional(*product * *factor) : std::nullopt;
    }
    if (!product) return std::nullopt;
    sum = is_minus ? sum - *product : sum + *product;
  }
  return sum;
}

template <typename Number>
Result<Number> parse_number(const std::string& text, const std::string& whole) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return bad_layout(fmt::format("{} in '{}' is too large", text, whole));
  if (error != std::errc() || end != text.data() + text.size())
    return bad_layout(whole.find(',') == std::string::npos ? fmt::format("'{}' is not a storage order", whole)
                                                           : fmt::format("'{}' in '{}' is not a stride", text, whole));
  return value;
}

}  // namespace

bool is_order(const std::vector<int>& order, size_t rank) {
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return std::is_permutation(order.begin(), order.end(), all.begin(), all.end());
}

std::string to_text(const Storage& storage) {
  if (storage.is_compact()) return storage.is_row() ? "row" : "col";
  std::vector<std::string> words;
  for (const auto& stride : storage.strides()) {
    const auto* number = std::get_if<int64_t>(&stride);
    const auto* size = std::get_if<SizeExpr>(&stride);
    words.push_back(number ? std::to_string(*number) : size ? size->str() : std::string(kFromBuffer));
    std::erase(words.back(), ' ');
  }
  const auto text = fmt::format("{}", fmt::join(words, ","));
  return storage.has_own_order() ? fmt::format("{}@{}", text, fmt::join(storage.order(words.size()), ",")) : text;
}

Result<Storage> parse_storage(const std::string& text) {
  if (text == "row") return Storage::row();
  if (text == "col") return Storage::col();
  const size_t at = text.find('@');
  std::vector<Stride> strides;
  for (const auto& part : parts_of(std::string_view(text).substr(0, at))) {
    if (part == kFromBuffer) {
      strides.emplace_back(FromBuffer());
      continue;
    }
    // "row,col" is a slip, not two sizes.
    const auto size = part == "row" || part == "col" ? std::nullopt : parse_size(part);
    if (size && !size->overflowed()) {
      const auto number = size->constant();
      strides.push_back(number ? Stride(*number) : Stride(*size));
      continue;
    }
    TILE_TUNE_TRY(number, parse_number<int64_t>(part, text));
    strides.emplace_back(number);
  }
  if (at == std::string::npos) return Storage::strided(std::move(strides));
  std::vector<int> order;
  for (const auto& part : parts_of(std::string_view(text).substr(at + 1))) {
    TILE_TUNE_TRY(number, parse_number<int>(part, text));
    order.push_back(number);
  }
  if (!is_order(order, strides.size()))
    return bad_layout(fmt::format("the order in '{}' does not have each dimension once", text));
  return Storage::strided(std::move(strides), std::move(order));
}

}  // namespace tile_tune::ir
