#include "frontend/tensor/npy_header.h"

#include <fmt/format.h>
#include <charconv>
#include <optional>

namespace tile_tune::tensor {
namespace {

// Reads the few Python literals that occur in headers. Every function skips white space first and returns
// nothing (false, nullopt) where its literal does not stand.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  // A string without escapes, in either quotes.
  std::optional<std::string> string() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return result;
  }

  // The text of a list, brackets included: how numpy describes records.
  std::optional<std::string> list() {
    skip_space();
    if (!rest_.starts_with('[')) return std::nullopt;
    int depth = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      depth += rest_[i] == '[' ? 1 : rest_[i] == ']' ? -1 : 0;
      if (depth > 0) continue;
      std::string result(rest_.substr(0, i + 1));
      rest_.remove_prefix(i + 1);
      return result;
    }
    return std::nullopt;
  }

  std::optional<bool> boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    return std::nullopt;
  }

  // A size of at most 63 bits; Python 2 wrote long ones with an L.
  std::optional<int64_t> size() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(end - rest_.data());
    accept("L");
    return value;
  }

  // (), (3,), (3, 4) or (3, 4,); "(3)" is no tuple.
  std::optional<std::vector<int64_t>> shape() {
    if (!accept("(")) return std::nullopt;
    std::vector<int64_t> result;
    bool comma = false;
    while (!accept(")")) {
      if (!result.empty() && !comma) return std::nullopt;
      const auto extent = size();
      if (!extent) return std::nullopt;
      result.push_back(*extent);
      comma = accept(",");
    }
    if (result.size() == 1 && !comma) return std::nullopt;
    return result;
  }

 private:
  void skip_space() {
    const size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  std::string_view rest_;
};

tl::unexpected<std::string> bad(std::string what) { return tl::unexpected(std::move(what)); }

}  // namespace

tl::expected<NpyHeader, std::string> parse_npy_header(std::string_view text) {
  Reader reader(text);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
  if (!reader.accept("{")) return bad("the header is not a Python dictionary");
  for (bool comma = true; !reader.accept("}"); comma = reader.accept(",")) {
    const auto key = comma ? reader.string() : std::nullopt;
    if (!key || !reader.accept(":")) return bad("the header is not a Python dictionary");
    if (*key == "descr") {
      if (!(descr = reader.string()) && !(descr = reader.list())) return bad("'descr' in the header is not a type");
    } else if (*key == "fortran_order") {
      if (!(fortran_order = reader.boolean())) return bad("'fortran_order' in the header is not True or False");
    } else if (*key == "shape") {
      if (!(shape = reader.shape())) return bad("'shape' in the header is not a tuple of sizes");
    } else {
      return bad(fmt::format("the header has an unknown entry '{}'", *key));
    }
  }
  if (!reader.at_end()) return bad("the header does not end after its dictionary");
  if (!descr) return bad("the header has no 'descr'");
  if (!fortran_order) return bad("the header has no 'fortran_order'");
  if (!shape) return bad("the header has no 'shape'");
  return NpyHeader{*descr, *fortran_order, *shape};
}

std::string format_npy_header(const NpyHeader& header) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.descr,
                     header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "),
                     header.shape.size() == 1 ? "," : "");
}

}  // namespace tile_tune::tensor
