// What the random programs are made of: nothing that kernels must know is left out.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/ir/validate.h"
#include "tests/property/programs/generator.h"

using namespace tile_tune;

TEST_CASE("random programs are valid, and of every kind") {
  constexpr int kSeeds = 1000;
  std::map<std::string, int> kinds;
  int accepted = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto random = test::random_program(seed);
    if (!random) continue;
    ++accepted;
    CAPTURE(seed);
    CHECK(ir::validate(random->program).has_value());
    CHECK(to_json(ir::canonicalize(random->program)) == to_json(random->program));
    for (const auto& kind : random->kinds) ++kinds[kind];
  }
  CHECK(accepted >= kSeeds * 9 / 10);
  for (int type = 0; type <= static_cast<int>(DType::C64); ++type)
    CHECK(kinds[std::string(dtype_name(static_cast<DType>(type)))] >= 50);
  for (const auto* name : {"assign", "sum", "product", "min", "max"}) CHECK(kinds[name] >= 100);
  for (const auto* name : {"cast",
                           "columns",
                           "comparison",
                           "computed subscript",
                           "condition on indices",
                           "constant subscript",
                           "constant target",
                           "constraint",
                           "diagonal target",
                           "difference read",
                           "elements nothing writes",
                           "function",
                           "gather",
                           "guarded read",
                           "in/out",
                           "index value",
                           "jump",
                           "long loop",
                           "previous",
                           "quotient read",
                           "quotient target",
                           "range from another number than 0",
                           "read of an earlier result",
                           "read saved by a constraint",
                           "reversed read",
                           "reversed target",
                           "select",
                           "shifted read",
                           "strided read",
                           "strided target",
                           "target of two indices",
                           "unwritten",
                           "wider target",
                           "window read",
                           "zero beyond a border"}) {
    CAPTURE(name);
    CHECK(kinds[name] >= 40);
  }
  CHECK(kinds["continued tensor"] >= 5);
  CHECK(kinds["zero size"] >= 10);
}

TEST_CASE("a theme is in every program") {
  using test::Theme;
  const std::map<Theme, std::string> kinds{
      {Theme::Guards, "guarded read"}, {Theme::Signs, "sign"}, {Theme::Gathers, "gather"}};
  for (const auto theme : {Theme::Guards, Theme::Signs, Theme::Halves, Theme::Gathers}) {
    CAPTURE(static_cast<int>(theme));
    int accepted = 0, themed = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const auto random = test::random_program(seed, theme);
      if (!random) continue;
      ++accepted;
      const auto& found = random->kinds;
      themed +=
          theme == Theme::Halves ? found.contains("f16") || found.contains("bf16") : found.contains(kinds.at(theme));
    }
    CHECK(accepted >= 180);
    CHECK(themed >= accepted * 2 / 3);  // a read may have no dimension to gather along
  }
}

TEST_CASE("a seed gives one program") {
  const auto once = test::random_program(3), again = test::random_program(3);
  REQUIRE((once && again));
  CHECK(to_json(once->program) == to_json(again->program));
}
