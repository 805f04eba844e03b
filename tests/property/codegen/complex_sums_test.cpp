// Sums of complex products: multiply-adds that are fused, stored with their parts side by side.
#include <catch2/catch.hpp>
#include <limits>
#include <tuple>

#include "codegen/lower/compile.h"
#include "codegen/target/host.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/repeated.h"

namespace tile_tune {
namespace {

/// The sums over k of a(m,k) b(k,n), or of conj(a(m,k)) b(k,n).
ir::Program product(DType type, int64_t m, int64_t n, int64_t k, bool conjugate = false) {
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(type, {m, k}, "a"), b = edsl::Placeholder(type, {k, n}, "b");
  auto sums = edsl::TensorOutput(m, n);
  sums(i, j) += a(i, l) * b(l, j);
  auto program = test::program_of({a, b}, sums);
  if (!conjugate) return program;
  auto factors = std::get<ir::Call>(program.statements[0].value->node).arguments;
  factors[0] = ir::make_expr(type, ir::Call{ir::Op::Conj, {factors[0]}});
  program.statements[0].value = ir::make_expr(type, ir::Call{ir::Op::Mul, factors});
  return ir::canonicalize(program);
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("complex numbers are read as they lie where copies would be a good part of the work") {
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(DType::C64, {569, 7}, "a"), b = edsl::Placeholder(DType::C64, {12, 569}, "b");
  auto sums = edsl::TensorOutput(7, 12);
  sums(i, j) += a(l, i) * b(j, l);
  const auto program = test::program_of({a, b}, sums);
  const auto target = codegen::describe_target("x86-64-linux-avx-avx2-f16c-fma-sse41", 2);
  REQUIRE(target);
  const auto nest = search::Space(program, *target).default_schedule().stages.at(0).nest();
  CHECK(nest.packings.empty());
  CHECK(nest.cpu().vector_loop == 0);
}

TEST_CASE("both products of each part are free to become one with the sum", "[property]") {
  const auto program = product(DType::C64, 8, 32, 16);
  const auto target = test::host(2);
  const auto text = codegen::lowered_loops(program, search::Space(program, target).default_schedule(), target);
  REQUIRE(text.has_value());
  CAPTURE(*text);
  CHECK(occurrences(*text, "strict_") == 0);
  // And no buffer holds the elements before they are stored.
  CHECK(occurrences(*text, "allocate stage0[") == 0);
  CHECK(occurrences(*text, "allocate stage0.") == 0);
}

TEST_CASE("sums of complex products are right in all their forms", "[property]") {
  const DType type = GENERATE(DType::C32, DType::C64);
  const auto [m, n, k] = GENERATE(std::tuple{8, 32, 16}, std::tuple{7, 27, 5}, std::tuple{1, 13, 31},
                                  std::tuple{5, 3, 9}, std::tuple{4, 1, 6}, std::tuple{3, 8, 1});
  const bool conjugate = GENERATE(false, true);
  const auto program = product(type, m, n, k, conjugate);
  CAPTURE(type, m, n, k, conjugate);
  const search::Space space(program, test::host(2));
  test::KernelCheck check(program);
  search::Rng rng(static_cast<uint64_t>(m * n + k));
  check.expect_right(space.default_schedule());
  for (int i = 0; i < 2; ++i) check.expect_right(space.sample(rng).schedule);
}

TEST_CASE("sums of complex products know infinities and NaN", "[property]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto array = [](const std::vector<int64_t>& shape, const std::vector<float>& values) {
    return test::filled(DType::C32, shape, values);
  };
  const auto program = product(DType::C32, 5, 19, 3);
  // Rows of numbers alone are among them.
  const reference::Inputs inputs{{0, array({5, 3}, {1, 2, -1, 0.5f, 3, 0, inf, 1, 2, nan, 0, 0, -inf})},
                                 {1, array({3, 19}, {1, -2, 0.5f, 4, 0, 1, 2, inf, 3, -1, 1})}};
  const search::Space space(program, test::host(2));
  test::KernelCheck check(program, inputs);
  search::Rng rng(3);
  check.expect_right(space.default_schedule());
  for (int i = 0; i < 4; ++i) check.expect_right(space.sample(rng).schedule);
}

TEST_CASE("a number by its own conjugate is no number where it is infinite", "[property]") {
  // sum over l of a(i,l) conj(a(j,l)), whose diagonal the compiler might take for real.
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(DType::C32, {4, 3}, "a");
  auto sums = edsl::TensorOutput(4, 4);
  sums(i, j) += a(i, l) * a(j, l);
  auto program = test::program_of({a}, sums);
  auto factors = std::get<ir::Call>(program.statements[0].value->node).arguments;
  factors[1] = ir::make_expr(DType::C32, ir::Call{ir::Op::Conj, {factors[1]}});
  program.statements[0].value = ir::make_expr(DType::C32, ir::Call{ir::Op::Mul, factors});
  program = ir::canonicalize(program);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{inf, 2, 1, nan, 0.5f, -1, 3, 1, 2, -inf, 1, 0, 1, 2, 3, 4, 5, 6, -1, 0, 1, -2, 2, 7};
  const auto array = test::filled(DType::C32, {4, 3}, values);
  const search::Space space(program, test::host(2));
  test::KernelCheck check(program, reference::Inputs{{0, array}});
  auto schedule = space.default_schedule();
  check.expect_right(schedule);
  auto& nest = schedule.stages[0].nest();  // a tile that knows which elements are on the diagonal
  nest.tiles = {{4}, {4}};
  nest.order = {{0, 1}};
  nest.mapping = codegen::CpuMapping{};
  nest.packings.clear();
  nest.partial_sums = 0;
  check.expect_right(schedule);
}

TEST_CASE("complex elements of an epilogue are stored by the nest of its sums", "[property]") {
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(DType::C64, {7, 9}, "a"), b = edsl::Placeholder(DType::C64, {9, 21}, "b"),
             c = edsl::Placeholder(DType::C64, {21}, "c");
  const bool across = GENERATE(false, true);
  auto sums = edsl::TensorOutput(7, 21), moved = across ? edsl::TensorOutput(21, 7) : edsl::TensorOutput(7, 21);
  sums(i, j) += a(i, l) * b(l, j);
  if (across)
    moved(j, i) = sums(i, j) * c(j);
  else
    moved(i, j) = sums(i, j) * c(j);
  const auto program = test::program_of({a, b, c}, moved);
  CAPTURE(across);
  const search::Space space(program, test::host(2));
  test::KernelCheck check(program);
  search::Rng rng(11);
  check.expect_right(space.default_schedule());
  for (int n = 0; n < 6; ++n) check.expect_right(space.sample(rng).schedule);
}

TEST_CASE("complex results that another statement reads are right", "[property]") {
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(DType::C32, {7, 9}, "a"), b = edsl::Placeholder(DType::C32, {9, 21}, "b");
  auto sums = edsl::TensorOutput(7, 21), squares = edsl::TensorOutput(7, 21);
  sums(i, j) += a(i, l) * b(l, j);
  squares(i, j) = sums(i, j) * sums(i, j);
  const auto program = ir::canonicalize(edsl::Program("p", {a, b}, {{"O", sums}, {"S", squares}}).ir());
  const search::Space space(program, test::host(2));
  test::KernelCheck check(program);
  search::Rng rng(7);
  check.expect_right(space.default_schedule());
  for (int n = 0; n < 6; ++n) check.expect_right(space.sample(rng).schedule);
}

}  // namespace tile_tune
