// Running totals: recognised in every form, and equal to what each element combines by itself.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/scan.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using edsl::Placeholder;
using edsl::Tensor;
using edsl::TensorIndex;
using edsl::TensorOutput;
using test::program_of;

bool is_scan(const ir::Program& program) {
  const auto& statement = program.statements.at(0);
  return codegen::scan_of(statement, codegen::loops_of(program, statement)).has_value();
}

/// The default, which has totals or not.
void check_default(const std::string& name, const ir::Program& program, bool totals = true) {
  DYNAMIC_SECTION(name) {
    REQUIRE(is_scan(program));
    const auto schedule = search::Space(program, test::host(2)).default_schedule();
    CHECK(schedule.stages[0].nest().scan == totals);
    test::KernelCheck(program).expect_right(schedule);
  }
}

/// The default, and random members of the space with totals and without.
void check_totals(const std::string& name, const ir::Program& program, bool by_default = false) {
  check_default(name, program, by_default);
  DYNAMIC_SECTION(name << ", random schedules") {
    const search::Space space(program, test::host(2));
    test::KernelCheck check(program);
    search::Rng rng(11);
    bool seen[2] = {false, false};
    for (int draw = 0; draw < 100 && !(seen[0] && seen[1]); ++draw) {
      const auto schedule = space.sample(rng).schedule;
      bool& before = seen[schedule.stages[0].nest().scan ? 1 : 0];
      if (!before) check.expect_right(schedule);
      before = true;
    }
    CHECK(seen[0]);
    CHECK(seen[1]);
  }
}

/// Sums of the values at and before each place.
Tensor prefix(const Tensor& I, int64_t n) {
  TensorIndex i, k;
  auto O = TensorOutput(n);
  O(i) += I(k);
  O.add_constraint(i - k < n);
  return O;
}

}  // namespace

TEST_CASE("prefix sums of all lengths", "[property]") {
  // One, one short of the chunks, prime, a chunk with nothing in it, and several vectors.
  for (const int64_t n : {1, 2, 3, 17, 63, 64, 65, 97, 1009, 4096}) {
    const auto I = Placeholder(DType::F32, {n}, "I");
    const auto program = program_of({I}, prefix(I, n));
    if (n == 1) {
      test::KernelCheck(program).expect_right(search::Space(program, test::host(2)).default_schedule());
      continue;
    }
    check_default(std::to_string(n), program, n >= 64);
  }
}

TEST_CASE("suffixes, shifted and mirrored prefixes", "[property]") {
  constexpr int64_t n = 83;
  TensorIndex i, k;
  const auto I = Placeholder(DType::F32, {n}, "I");
  auto suffix = TensorOutput(n), before = TensorOutput(n), ahead = TensorOutput(n), mirrored = TensorOutput(n),
       longer = TensorOutput(2 * n);
  suffix(i) += I(k);
  suffix.add_constraint(k - i < n);
  before(i) += I(k);  // i itself does not count; element 0 is 0
  before.add_constraint(i - k - 1 < n);
  ahead(i) += I(k);  // the last ones have all terms
  ahead.add_constraint(i - k + 5 < n + 5);
  mirrored(i) += I(k);
  mirrored.add_constraint(n - 1 - i - k < n);
  longer(i) += I(k);
  longer.add_constraint(i - k < 2 * n);
  check_totals("suffix", program_of({I}, suffix), true);
  check_totals("exclusive", program_of({I}, before), true);
  check_totals("ahead", program_of({I}, ahead), true);
  check_totals("mirrored", program_of({I}, mirrored), true);
  check_totals("longer than its input", program_of({I}, longer), true);
}

TEST_CASE("batches of totals, along every axis", "[property]") {
  TensorIndex b, i, k, c;
  const auto I = Placeholder(DType::F32, {5, 71, 19}, "I");
  auto middle = TensorOutput(5, 71, 19), last = TensorOutput(5, 71, 19), first = TensorOutput(5, 71, 19);
  middle(b, i, c) += I(b, k, c);
  middle.add_constraint(i - k < 71);
  last(b, c, i) += I(b, c, k);
  last.add_constraint(k - i < 19);
  first(i, b, c) += I(k, b, c);
  first.add_constraint(i - k < 5);
  check_totals("middle", program_of({I}, middle), true);
  check_totals("last, backwards", program_of({I}, last));
  check_totals("first", program_of({I}, first));

  const auto pairs = Placeholder(DType::F32, {131, 2}, "I");
  auto narrow = TensorOutput(131, 2);
  narrow(i, c) += pairs(k, c);
  narrow.add_constraint(i - k < 131);
  check_totals("two columns", program_of({pairs}, narrow), true);

  const auto weights = Placeholder(DType::F32, {71}, "W");
  auto weighted = TensorOutput(5, 71);
  weighted(b, i) += I(b, k, c) * weights(k);
  weighted.add_constraint(i - k < 71);
  CHECK_FALSE(is_scan(program_of({I, weights}, weighted)));  // a second reduction

  const auto rows = Placeholder(DType::F32, {6, 71}, "I");
  auto products = TensorOutput(6, 71);
  products(b, i) += rows(b, k) * weights(k);
  products.add_constraint(i - k < 71);
  check_totals("sums of products", program_of({rows, weights}, products), true);
}

TEST_CASE("totals of every aggregation and type", "[property]") {
  constexpr int64_t n = 101;
  TensorIndex i, k;
  for (const DType type : {DType::I8, DType::I32, DType::I64, DType::F32, DType::F64, DType::F16, DType::BF16}) {
    const auto I = Placeholder(type, {3, n}, "I");
    TensorIndex b;
    for (int op = 0; op < 4; ++op) {
      auto O = TensorOutput(3, n);
      if (op == 0) O(b, i) += I(b, k);
      if (op == 1) O(b, i) *= I(b, k);  // integers wrap
      if (op == 2) O(b, i) >= I(b, k);
      if (op == 3) O(b, i) <= I(b, k);
      O.add_constraint(i - k < n);
      check_default(std::string(dtype_name(type)) + ", operation " + std::to_string(op), program_of({I}, O));
    }
  }
  // No term at all: what nothing writes is 0, not the operation's identity.
  const auto I = Placeholder(DType::F32, {n}, "I");
  auto O = TensorOutput(n);
  O(i) >= I(k);
  O.add_constraint(i - k - 3 < n);
  check_totals("maximum of none", program_of({I}, O), true);
}

TEST_CASE("what is no prefix is no total", "[property]") {
  constexpr int64_t n = 40;
  TensorIndex i, k;
  const auto I = Placeholder(DType::F32, {n}, "I"), J = Placeholder(DType::F32, {n}, "J");
  auto window = TensorOutput(n), own = TensorOutput(n), strided = TensorOutput(n);
  window(i) += I(k);
  window.add_constraint(i - k < 7);
  own(i) += I(k) * J(i);
  own.add_constraint(i - k < n);
  strided(i) += I(k);
  strided.add_constraint(2 * i - k < 2 * n);
  CHECK_FALSE(is_scan(program_of({I}, window)));
  CHECK_FALSE(is_scan(program_of({I, J}, own)));
  CHECK_FALSE(is_scan(program_of({I}, strided)));

  const auto program = program_of({I}, window);
  auto schedule = search::Space(program, test::host(1)).default_schedule();
  schedule.stages[0].nest().scan = true;
  CHECK_FALSE(codegen::check(program, schedule));
}

TEST_CASE("a schedule with totals survives its JSON form") {
  const auto I = Placeholder(DType::F32, {200}, "I");
  const auto program = program_of({I}, prefix(I, 200));
  const auto schedule = search::Space(program, test::host(1)).default_schedule();
  REQUIRE(schedule.stages[0].nest().scan);
  CHECK(*codegen::schedule_from_json(codegen::to_json(schedule)) == schedule);
}

}  // namespace tile_tune
