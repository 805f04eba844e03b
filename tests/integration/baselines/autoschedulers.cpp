// Kernels that Halide's automatic schedulers make compute what the reference computes; without the plugins the tests
// say so and pass.
#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>

#include "codegen/lower/halide_backend.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/baselines/contest.h"
#include "search/space/space.h"
#include "tests/integration/baselines/programs.h"

namespace tile_tune::search {
namespace {

std::vector<Entry> entries_of(const ir::Program& program,
                              const codegen::Target& target = codegen::resolve_target("host", 2).value()) {
  ContestOptions options;
  options.target = target;
  options.rounds = 1;
  options.seconds = 0;
  auto arena = Contest::start(options);
  REQUIRE(arena.has_value());
  const auto schedulers = codegen::halide_backend().autoschedulers.at(target.device);
  const auto schedule = Space(program, options.target).default_schedule();
  const auto result = (*arena)->run(program, {{"default", schedule}}, {}, {}, schedulers);
  REQUIRE(result.has_value());
  REQUIRE(result->entries.size() == 1 + schedulers.size());
  return result->entries;
}

void check_all_right(const std::vector<Entry>& entries) {
  for (const auto& entry : entries) {
    INFO(entry.name << ": " << outcome_name(entry.outcome) << " " << entry.reason);
    CHECK(entry.is_own() == (entry.name == "default"));
    if (entry.reason.find("not installed") != std::string::npos) {
      WARN(entry.reason);
      continue;
    }
    CHECK((entry.outcome == Outcome::Ok || entry.outcome == Outcome::Slow));
    CHECK(entry.verify_error <= 1);
  }
  CHECK(best_baseline(entries) == -1);
}

void check_all_right(const ir::Program& program) { check_all_right(entries_of(program)); }

TEST_CASE("a product of odd extents, scheduled automatically") {
  check_all_right(tc("def product(float(I,K) A, float(K,J) B) -> (O) { O(i,j) +=! A(i,k) * B(k,j) }",
                     {{"I", 37}, {"K", 19}, {"J", 53}}));
}

TEST_CASE("a padded convolution that adds to what it finds, scheduled automatically") {
  using namespace edsl;
  const auto I = Placeholder(DType::F32, {3, 11, 9}, "I"), W = Placeholder(DType::F32, {2, 3, 3, 3}, "W");
  TensorDim C, H, X, F, KH, KW;
  TensorIndex f, c, y, x, i, j;
  I.bind_dims(C, H, X);
  W.bind_dims(F, C, KH, KW);
  auto O = TensorOutput(F, H, X);
  O(f, y, x) += I(c, y + i - 1, x + j - 1) * W(f, c, i, j);
  check_all_right(ir::canonicalize(edsl::Program("conv", {I, W}, {{"O", relu(O)}}).ir()));
}

TEST_CASE("an output that starts from its own buffer is nothing for automatic schedulers") {
  for (const auto& entry :
       entries_of(tc("def inout(float(I,J) A, float(J) x) -> (y) { y(i) += A(i,j) * x(j) }", {{"I", 33}, {"J", 5}}))) {
    if (entry.is_own()) continue;
    CHECK(entry.outcome == Outcome::CompileError);
    CHECK(entry.reason.find("own buffer") != std::string::npos);
  }
}

TEST_CASE("a product of odd extents on a GPU, scheduled automatically: by OpenCL") {
  auto target = codegen::describe_target("host-opencl", 2).value();
  target.found.number = 0;
  const auto entries = entries_of(tc("def product(float(I,K) A, float(K,J) B) -> (O) { O(i,j) +=! A(i,k) * B(k,j) }",
                                     {{"I", 37}, {"K", 19}, {"J", 53}}),
                                  target);
  REQUIRE(entries.size() == 2);
  CHECK(entries[1].name == "Anderson2021");
  if (entries[0].reason.find("libOpenCL.so.1") == std::string::npos)
    check_all_right(entries);
  else
    WARN(entries[0].reason);
}

TEST_CASE("an output that a later statement reads, scheduled automatically") {
  check_all_right(tc(R"(
def chain(float(M,N) X, float(M) b) -> (S, O) {
  S(i) max=! X(i,j)
  O(i,j) = exp(X(i,j) - S(i)) * b(i)
})",
                     {{"M", 13}, {"N", 29}}));
}

TEST_CASE("the fastest automatic schedule is the one to compare with") {
  const auto entry = [](bool is_autoscheduled, std::vector<double> samples) {
    Entry one;
    one.is_autoscheduled = is_autoscheduled;
    one.samples_ns = std::move(samples);
    return one;
  };
  const Entry own = entry(false, {1}), slow = entry(true, {9, 8, 9}), fast = entry(true, {7, 3, 4});
  CHECK(best_autoscheduled({own}) == -1);
  CHECK(best_autoscheduled({own, slow, fast}) == 2);
  Entry wrong = fast;
  wrong.outcome = Outcome::Wrong;
  CHECK(best_autoscheduled({own, wrong, slow}) == 2);
}

}  // namespace
}  // namespace tile_tune::search
