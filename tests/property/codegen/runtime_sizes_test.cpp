// Kernels that take sizes from their buffers: compiled for a program at one size, called at others.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/runtime_sizes.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

#include <nlohmann/json.hpp>

namespace tile_tune {
namespace {

struct Family {
  std::string text;
  std::vector<std::string> names;  // of the runtime sizes
  ir::Sizes others;

  ir::Program at(const std::vector<int64_t>& values) const {
    ir::Sizes sizes = others;
    for (size_t k = 0; k < names.size(); ++k) sizes[names[k]] = values[k];
    return test::bound_program(text, sizes);
  }
  std::optional<std::vector<codegen::RuntimeSize>> sizes(const std::vector<int64_t>& values) const {
    const auto program_at = [&](const std::vector<int64_t>& other) -> Result<ir::Program> { return at(other); };
    std::vector<std::vector<int64_t>> tried{values};
    for (const int64_t step : {2, 5, 1000}) {
      tried.push_back(values);
      for (auto& value : tried.back()) value += step;
    }
    const auto found = codegen::find_runtime_sizes(program_at, names, tried);
    if (!found) CHECK(found.error().code == "no-size-range");
    if (!found) return std::nullopt;
    return *found;
  }
};

/// The kernel made of `schedule` for `family` at `base`, called at `values`.
void expect_right(const Family& family, const std::vector<int64_t>& base, const codegen::Schedule& schedule,
                  const std::vector<int64_t>& values) {
  CAPTURE(base, values);
  test::KernelCheck check(family.at(values));
  check.expect_right(schedule, family.at(base));
}

}  // namespace

TEST_CASE("one kernel computes many sizes", "[property]") {
  const auto family = GENERATE(
      Family{"def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"M", "N", "K"}, {}},
      Family{"def f(int8(M,K) A, int8(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"M"}, {{"N", 64}, {"K", 64}}},
      Family{"def f(int8(M,K) A, int8(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"M", "N", "K"}, {}},
      Family{"def f(float(N,N) A, float(N,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"N"}, {}},
      Family{"def f(float(N,K) A, float(K) B) -> (C) { C(i) += A(i,k) * B(k) }", {"N"}, {{"K", 13}}},
      Family{"def f(double(N) A) -> (s) { s() max=! A(i) }", {"N"}, {}},
      Family{"def f(float(N,M) X) -> (o) { m(i) max=! X(i,j)  e(i,j) = exp(X(i,j) - m(i))  s(i) +=! e(i,j)  o(i,j) = "
             "e(i,j) / s(i) }",
             {"N", "M"},
             {}},
      Family{
          "def f(float(C,H) I, float(F,C,3) W) -> (O) { O(f,x) +=! I(c,x+j) * W(f,c,j) }", {"H"}, {{"C", 3}, {"F", 5}}},
      Family{"def f(float(C,H) I, float(F,C,3) W) -> (O) { O(f,x) +=! I(c,x+j-1) * W(f,c,j) where x in 0:H }",
             {"H"},
             {{"C", 3}, {"F", 5}}});
  CAPTURE(family.text);
  const std::vector<int64_t> base(family.names.size(), 48);
  const auto sizes = family.sizes(base);
  REQUIRE(sizes);
  const auto program = family.at(base);
  const search::Space space(program, test::host(2));
  search::Rng rng(5);
  int tried = 0;
  for (int i = 0; i < 40 && tried < 2; ++i) {
    const auto plain = i == 0 ? space.default_schedule() : space.sample(rng).schedule;
    for (const bool guarded : {false, true}) {
      const auto schedule = codegen::for_all_sizes(program, plain, *sizes, guarded);
      if (!schedule) continue;
      ++tried;
      // The JSON form is that of any schedule: nothing from a file says how numbers follow from sizes.
      CHECK(codegen::schedule_from_json(codegen::to_json(*schedule))->runtime.sizes.empty());
      std::vector<std::vector<int64_t>> all;
      for (const int64_t n : {1, 7, 61}) {
        std::vector<int64_t> values;
        for (size_t k = 0; k < family.names.size(); ++k) values.push_back(n + static_cast<int64_t>(3 * k));
        if (family.names[0] == "H") values[0] += 3;
        all.push_back(values);
      }
      for (const auto& values : all) {
        const bool served = codegen::serves(program, *schedule, values);
        CHECK((served || !guarded));
        if (served) expect_right(family, base, *schedule, values);
      }
    }
  }
  CHECK(tried > 0);
}

TEST_CASE("products whose last dot product takes less have kernels for many sizes, which do without them",
          "[property]") {
  const Family family{
      "def f(int8(M,K) A, int8(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"M"}, {{"N", 40}, {"K", 39}}};
  const auto program = family.at({48});
  const auto plain = search::Space(program, test::host(2)).default_schedule();
  REQUIRE(plain.stages[0].nest().dot_product);
  for (const bool guarded : {false, true}) {
    const auto schedule = codegen::for_all_sizes(program, plain, *family.sizes({48}), guarded);
    REQUIRE(schedule);
    expect_right(family, {48}, *schedule, {61});
  }
}

TEST_CASE("numbers that are not affine in the sizes have no such kernels") {
  // Half of it: not affine.
  CHECK_FALSE(Family{"def f(float(N) A) -> (C) { C(i) = A(2*i) }", {"N"}, {}}.sizes({8}));
}

TEST_CASE("slopes that are none are refused") {
  const Family family{"def f(float(N,K) A, float(K) B) -> (C) { C(i) +=! A(i,k) * B(k) }", {"N", "K"}, {}};
  const auto program = family.at({32, 32});
  const auto sizes = family.sizes({32, 32});
  REQUIRE(sizes);
  const search::Space space(program, test::host(2));
  const auto good = codegen::for_all_sizes(program, space.default_schedule(), *sizes, true);
  REQUIRE(good);
  const auto refused = [&](auto change) {
    auto schedule = *good;
    change(schedule.runtime.sizes[0]);
    return !codegen::check(program, schedule);
  };
  CHECK(refused([](auto& size) { size.tensor = 7; }));
  CHECK(refused([](auto& size) { size.tensor = -1; }));
  CHECK(refused([](auto& size) { size.dimension = 2; }));
  CHECK(refused([](auto& size) { size.dimension = 1; }));  // the other size's
  CHECK(refused([](auto& size) { size.slopes.pop_back(); }));
  CHECK(refused([](auto& size) { size.slopes[0] = 2; }));
  CHECK(refused([](auto& size) { size.slopes.back() = int64_t{1} << 40; }));
}

}  // namespace tile_tune
