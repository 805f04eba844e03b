// Schedules of collapsed dimensions: kernels that take and give the arrays of the program as written.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/outline.h"
#include "codegen/schedule/runtime_sizes.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

struct Case {
  const char* text;
  ir::Sizes sizes;
};

const std::vector<Case> kCases{
    // A convolution of one element, with what follows it.
    {"def f(float(N,H,W,C) I, float(C,M) K, float(M) b) -> (O) { T(n,h,w,m) +=! I(n,h,w,c) * K(c,m) "
     "O(n,h,w,m) = fmax(T(n,h,w,m) + b(m), 0) }",
     {{"N", 2}, {"H", 5}, {"W", 7}, {"C", 13}, {"M", 19}}},
    // Heads of attention.
    {"def f(float(B,H,M,D) Q, float(B,H,N,D) K) -> (O) { O(b,h,m,n) +=! Q(b,h,m,d) * K(b,h,n,d) }",
     {{"B", 3}, {"H", 2}, {"M", 11}, {"N", 9}, {"D", 5}}},
    // A normalisation over two dimensions, whose rows are two.
    {"def f(float(A,B,C,D) X) -> (O) { s(a,b) +=! X(a,b,c,d) O(a,b,c,d) = X(a,b,c,d) - s(a,b) / float(C * D) }",
     {{"A", 3}, {"B", 5}, {"C", 7}, {"D", 3}}},
    // Onto what is there.
    {"def f(double(A,B,C) X, double(C,D,E) Y) -> (O) { O(a,b,d,e) += X(a,b,c) * Y(c,d,e) }",
     {{"A", 3}, {"B", 1}, {"C", 6}, {"D", 7}, {"E", 3}}},
    {"def f(int8(A,B,C,D) X, int8(C,D,E) Y) -> (O) { O(a,b,e) +=! int32(X(a,b,c,d)) * int32(Y(c,d,e)) }",
     {{"A", 5}, {"B", 3}, {"C", 9}, {"D", 4}, {"E", 17}}},
    {"def f(half(A,B,C,D) X) -> (O) { O(d,a,b,c) = X(a,b,c,d) }", {{"A", 3}, {"B", 5}, {"C", 7}, {"D", 9}}},
    {"def f(float(A,B,C,D) X) -> (O) { O(a,b) max=! X(a,b,c,d) }", {{"A", 1}, {"B", 31}, {"C", 1}, {"D", 23}}},
    {"def f(float(A,B,C) X) -> (O) { O(a,b) +=! X(a,b,c) }", {{"A", 4}, {"B", 0}, {"C", 3}}},
};

const char* const kRows = "def f(float(A,B,C) X) -> (O) { O(a,b) +=! X(a,b,c) }";
const ir::Sizes kRowSizes{{"A", 3}, {"B", 5}, {"C", 7}};

}  // namespace

TEST_CASE("kernels of collapsed dimensions are right, and those of the same program as written", "[property]") {
  for (const auto& [text, sizes] : kCases)
    for (const bool columns : {false, true}) {
      auto program = test::bound_program(text, sizes);
      if (columns)
        for (auto& tensor : program.tensors) tensor.storage = ir::Storage::col();
      CAPTURE(text, columns);
      const search::Space space(program, test::host(2));
      test::KernelCheck check(program);
      const auto standard = space.default_schedule();
      CHECK(standard.collapsed);
      check.expect_right(standard);
      search::Rng rng(7);
      for (int i = 0; i < 2; ++i) {
        const auto drawn = space.sample(rng).schedule;
        CHECK(drawn.collapsed);
        check.expect_right(drawn);
      }
      const search::Space as_written(program, test::host(2), search::Dimensions::Apart);
      CHECK_FALSE(as_written.default_schedule().collapsed);
      check.expect_right(as_written.default_schedule());
    }
}

TEST_CASE("a packed constant stays as it is where other dimensions collapse", "[property]") {
  auto program = test::bound_program(kCases[0].text, kCases[0].sizes);
  for (auto& tensor : program.tensors) tensor.constant = tensor.name == "K";
  const search::Space space(program, test::host(2));
  REQUIRE(space.default_schedule().collapsed);
  test::KernelCheck check(program);
  check.expect_right(space.default_schedule());
  search::Rng rng(5);
  for (int i = 0; i < 4; ++i) check.expect_right(space.sample(rng).schedule);
}

TEST_CASE("schedules stay in the form of their parents", "[property]") {
  const auto program = test::bound_program(kCases[1].text, kCases[1].sizes);
  const search::Space space(program, test::host(2));
  search::Rng rng(3);
  const auto written = search::Space(program, test::host(2), search::Dimensions::Apart).sample(rng).schedule;
  const auto collapsed = space.sample(rng).schedule;
  for (const auto& parent : {written, collapsed}) {
    const auto child = space.mutate(parent, rng).schedule;
    CHECK(child.collapsed == parent.collapsed);
    CHECK(codegen::check(program, child).has_value());
    CHECK(space.crossover(parent, child, rng).schedule.collapsed == parent.collapsed);
    CHECK(space.adapt(parent).schedule == parent);
    CHECK(codegen::schedule_from_json(codegen::to_json(parent)).value() == parent);
  }
  CHECK(space.crossover(written, collapsed, rng).schedule == written);
  const auto alternatives = space.default_alternatives();
  CHECK(std::any_of(alternatives.begin(), alternatives.end(), [](const auto& one) { return !one.collapsed; }));
  // At other sizes and types the same.
  const auto other = test::bound_program(
      "def f(double(B,H,M,D) Q, double(B,H,N,D) K) -> (O) { O(b,h,m,n) +=! Q(b,h,m,d) * K(b,h,n,d) }",
      {{"B", 4}, {"H", 3}, {"M", 20}, {"N", 16}, {"D", 8}});
  for (const auto& schedule : {space.default_schedule(), written}) {
    const auto carried = search::Space(other, test::host(2)).transfer(program, schedule);
    REQUIRE_FALSE(carried.empty());
    for (const auto& one : carried) {
      CHECK(one.collapsed == schedule.collapsed);
      CHECK(codegen::check(other, one).has_value());
    }
  }
}

TEST_CASE("a schedule of collapsed dimensions is refused where there are none", "[property]") {
  const auto program = test::bound_program(kRows, kRowSizes);
  const auto target = test::host(2);
  const auto schedule = search::Space(program, target).default_schedule();
  REQUIRE(schedule.collapsed);
  CHECK(codegen::outline(program, schedule).find("a_b") != std::string::npos);
  const auto transposed = test::bound_program("def f(float(A,B,C) X) -> (O) { O(b,a) +=! X(a,b,c) }", kRowSizes);
  const auto checked = codegen::check(transposed, schedule);
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().message == "the schedule is of collapsed dimensions, of which the program has none");
  // Sums of a deterministic target have the order of the program as written.
  auto deterministic = target;
  deterministic.deterministic = true;
  CHECK_FALSE(search::Space(program, deterministic).default_schedule().collapsed);
  CHECK_FALSE(codegen::check_for(deterministic, program, schedule).has_value());
  CHECK_FALSE(codegen::for_all_sizes(program, schedule, {}, true).has_value());
}

}  // namespace tile_tune
