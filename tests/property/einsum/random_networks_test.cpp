// Random networks in random orders, against loops over all labels.
#include <random>

#include "frontend/ir/validate.h"
#include "tests/unit/einsum/run.h"

using namespace tile_tune;
using namespace tile_tune::einsum;

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<uint64_t>(count)); }
  std::string labels(const std::string& from, int most) {
    std::string result;
    if (from.empty()) return result;
    for (int n = below(most + 1); n > 0; --n) result += from[static_cast<size_t>(below(static_cast<int>(from.size())))];
    return result;
  }
  /// The terms with parentheses around random runs of them.
  std::string grouped(std::vector<std::string> items) {
    while (items.size() > 1 && below(3) > 0) {
      const size_t count = 1 + static_cast<size_t>(below(static_cast<int>(items.size())));
      const size_t first = static_cast<size_t>(below(static_cast<int>(items.size() - count) + 1));
      std::string group = "(" + items[first];
      for (size_t i = 1; i < count; ++i) group += "," + items[first + i];
      items[first] = group + ")";
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                  items.begin() + static_cast<std::ptrdiff_t>(first + count));
    }
    std::string text = items.front();
    for (size_t i = 1; i < items.size(); ++i) text += "," + items[i];
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

TEST_CASE("random networks compute the sum of products over all labels") {
  Random random(20240607);
  for (int run = 0; run < 400; ++run) {
    std::map<char, int64_t> extents;
    for (const char label : std::string("abcd")) extents[label] = random.below(12) == 0 ? 0 : 1 + random.below(3);
    std::vector<std::string> terms;
    std::string used;
    Known known;
    std::vector<tensor::Array> arrays;
    for (int n = 1 + random.below(5); n > 0; --n) {
      terms.push_back(random.labels("abcd", 3));
      used += terms.back();
      Shape shape;
      for (const char label : terms.back()) shape.push_back(extents[label]);
      arrays.push_back(filled(DType::I64, shape, arrays.size()));
      known.operands.push_back({DType::I64, shape});
    }
    const std::string result = random.labels(used, 3);
    const std::string text = random.grouped(terms) + "->" + result;
    INFO(text << " with a=" << extents['a'] << " b=" << extents['b'] << " c=" << extents['c'] << " d=" << extents['d']);
    const auto program = program_of(text, known);
    REQUIRE(ir::validate(program));
    Shape shape;
    const auto expected = naive(terms, result, arrays, shape);
    const auto got = evaluated(program, arrays);
    REQUIRE(got.shape == shape);
    for (size_t i = 0; i < expected.size(); ++i) REQUIRE(element(got, static_cast<int64_t>(i)) == expected[i]);
  }
}

TEST_CASE("no text crashes the parser, and what it accepts becomes a valid program") {
  Random random(7);
  const std::string alphabet = "aabbij,,->->()...α ";
  int accepted = 0;
  for (int run = 0; run < 20000; ++run) {
    std::string text = random.labels(alphabet, 14);
    if (random.below(2) == 0) text += "->" + random.labels("ab", 2);
    const auto parsed = parse(text);
    if (!parsed) {
      REQUIRE_FALSE(parsed.error().message.empty());
      continue;
    }
    const auto made = make_program(*parsed);
    if (!made) continue;
    INFO(text);
    REQUIRE(ir::validate(made->program));
    ++accepted;
  }
  CHECK(accepted > 100);
}
