// Every baseline that is installed computes what the reference computes; those that are not are passed over.
#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>

#include "codegen/target/host.h"
#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/baselines/contest.h"
#include "search/space/space.h"
#include "tests/integration/baselines/programs.h"

namespace tile_tune::search {
namespace {

ir::Program einsum(const std::string& text, const ir::Sizes& sizes, DType type = DType::F32) {
  auto parsed = einsum::parse(text).value();
  einsum::Known known;
  known.operands.assign(parsed.operands.size(), {type, std::nullopt});
  return ir::canonicalize(ir::bind(einsum::make_program(parsed, known).value().program, sizes).value());
}

/// Names of the baselines that took part; all of them must be right.
std::vector<std::string> contest(const ir::Program& program, const std::set<int>& constants = {}) {
  ContestOptions options;
  options.target = codegen::resolve_target("host", 2).value();
  options.rounds = 1;
  options.seconds = 0;
  auto arena = Contest::start(options);
  REQUIRE(arena.has_value());
  const std::vector<Baseline> all(std::begin(kBaselines), std::end(kBaselines));
  const auto schedule = Space(program, options.target).default_schedule();
  const auto result = (*arena)->run(program, {{"default", schedule}}, all, constants);
  REQUIRE(result.has_value());
  std::vector<std::string> names;
  for (const auto& entry : result->entries) {
    INFO(entry.name << ": " << outcome_name(entry.outcome) << " " << entry.reason);
    if (entry.is_absent()) {
      WARN(entry.reason);
      continue;
    }
    CHECK((entry.outcome == Outcome::Ok || entry.outcome == Outcome::Slow));
    CHECK(entry.verify_error <= 1);
    if (entry.baseline) names.push_back(entry.name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_CASE("products: batches, transposed operands, transposed results") {
  CHECK(has(contest(einsum("bnm,bkm->bnk", {{"b", 5}, {"n", 13}, {"m", 7}, {"k", 3}})), "openmp"));
  CHECK(has(contest(einsum("kj,ki->ij", {{"k", 31}, {"i", 17}, {"j", 5}}), {0}), "openmp"));
}

TEST_CASE("contractions whose axes have to be moved") {
  CHECK(has(contest(einsum("adb,cd->cba", {{"a", 7}, {"b", 5}, {"c", 3}, {"d", 11}}), {1}), "openmp"));
}

TEST_CASE("double precision") {
  CHECK(has(contest(einsum("ik,kj->ij", {{"i", 9}, {"k", 33}, {"j", 10}}, DType::F64)), "openmp"));
}

TEST_CASE("complex products") {
  for (const DType type : {DType::C32, DType::C64}) {
    const auto names = contest(einsum("bmk,bkn->bmn", {{"b", 3}, {"m", 13}, {"n", 7}, {"k", 11}}, type));
    if (names.empty())
      WARN("no BLAS is here that could multiply complex matrices");
    else
      CHECK(has(names, "openblas"));
    contest(einsum("km,k->m", {{"m", 13}, {"k", 11}}, type));
  }
}

TEST_CASE("products of f16 by way of f32") {
  const auto names = contest(einsum("bik,kbj->bji", {{"b", 3}, {"i", 11}, {"k", 7}, {"j", 13}}, DType::F16));
  CHECK(has(names, "openmp"));
  if (names.size() == 1)
    WARN("no library is here that could multiply f16");
  else
    CHECK((has(names, "onednn") || has(names, "openblas") || has(names, "eigen")));
  contest(einsum("ik,kj->ij", {{"i", 17}, {"k", 1}, {"j", 1}}, DType::F16));
  contest(einsum("ij,kj->k", {{"i", 5}, {"k", 9}, {"j", 3}}, DType::F16));
}

TEST_CASE("a padded, strided, grouped convolution with its epilogue") {
  using namespace edsl;
  const auto I = Placeholder(DType::F32, {2, 3, 4, 11, 9}, "I"), W = Placeholder(DType::F32, {3, 2, 4, 3, 2}, "W"),
             B = Placeholder(DType::F32, {3, 2, 1, 1}, "B");
  TensorDim N, G, C, H, X, F, KH, KW;
  TensorIndex n, g, f, c, y, x, i, j;
  I.bind_dims(N, G, C, H, X);
  W.bind_dims(G, F, C, KH, KW);
  auto O = TensorOutput(N, G, F, TensorDim(5), TensorDim(4));
  O(n, g, f, y, x) += I(n, g, c, 2 * y + 3 * i - 2, 2 * x + 3 * j - 2) * W(g, f, c, i, j);
  const auto program = ir::canonicalize(edsl::Program("conv", {I, W, B}, {{"O", relu(O + B)}}).ir());
  std::set<int> weights;
  for (size_t t = 0; t < program.tensors.size(); ++t)
    if (program.tensors[t].name == "W") weights.insert(static_cast<int>(t));
  CHECK(has(contest(program, weights), "openmp"));
}

TEST_CASE("convolutions with windows of one element, in steps, and along columns alone") {
  const ir::Sizes image{{"N", 2}, {"C", 6}, {"H", 7}, {"W", 13}}, filters{{"F", 9}}, taps{{"L", 7}};
  const auto with = [](ir::Sizes sizes, const ir::Sizes& more) {
    sizes.insert(more.begin(), more.end());
    return sizes;
  };
  const std::vector<std::pair<const char*, ir::Sizes>> programs{
      {"def f(float(N,C,H,W) I, float(F,C) K) -> (O) { O(n,f,y,x) +=! I(n,c,2*y,3*x) * K(f,c) where y in 0:4, x in 0:5 "
       "}",
       with(image, filters)},
      {"def f(float(N,C,H,W) I, float(F,C,L) K) -> (O) { O(n,f,y,x) +=! I(n,c,y,x+l) * K(f,c,l) }",
       with(with(image, filters), taps)},
      {"def f(float(N,H,W,C) I, float(L,C,F) K) -> (O) { O(n,y,x,f) +=! I(n,y,2*x+l,c) * K(l,c,f) }",
       with(with(image, filters), taps)},
      {"def f(float(N,C,H,W) I) -> (O) { O(n,c,y,x) max=! I(n,c,y,2*x+l) where l in 0:3 }", image},
      {"def f(float(N,H,W,C) I) -> (O) { O(n,y,x,c) max=! I(n,y,2*x+l,c) where l in 0:3 }", image}};
  for (const auto& [text, sizes] : programs) CHECK(has(contest(tc(text, sizes)), "openmp"));
}

TEST_CASE("what passes over memory: pools, reductions, permutations, gathers, softmax") {
  CHECK(has(contest(tc(R"(
def passes(float(N,C,H,W) I, float(E,D) T, int32(B,L) J) -> (P, Q, S, M, R, G, O) {
  P(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) / 4 where kh in 0:2, kw in 0:2
  Q(n,c,h,w) max=! I(n,c,2*h+kh,2*w+kw) where kh in 0:3, kw in 0:3
  S(n,w) +=! I(n,c,h,w)
  M(n,c,h) min=! I(n,c,h,w)
  R(w,n,h,c) = I(n,c,h,w)
  G(b,d) +=! T(J(b,l),d)
  m(e) max=! T(e,d)
  x(e,d) = exp(T(e,d) - m(e))
  z(e) +=! x(e,d)
  O(e,d) = x(e,d) / z(e)
})",
                       {{"N", 2}, {"C", 5}, {"H", 9}, {"W", 7}, {"E", 23}, {"D", 19}, {"B", 3}, {"L", 4}})),
            "openmp"));
}

TEST_CASE("the best baseline is the fastest library, and the loops where there is none") {
  const auto entry = [](const char* name, std::optional<Baseline> baseline, double ns) {
    Entry one;
    one.name = name;
    one.baseline = baseline;
    if (ns > 0)
      one.samples_ns = {ns};
    else
      one.outcome = Outcome::Wrong;
    return one;
  };
  const Entry own = entry("default", std::nullopt, 1), packed = entry("onednn-packed", Baseline::OneDnnPacked, 2),
              loops = entry("openmp", Baseline::OpenMp, 3), slower = entry("onednn", Baseline::OneDnn, 9),
              faster = entry("eigen", Baseline::Eigen, 8), wrong = entry("openblas", Baseline::OpenBlas, 0);
  CHECK(best_baseline({own, packed, loops, slower, wrong, faster}) == 5);
  CHECK(best_baseline({own, faster, loops}) == 1);
  CHECK(best_baseline({own, loops, faster}) == 2);
  CHECK(best_baseline({own, packed, loops, wrong}) == 2);
  CHECK(best_baseline({own, packed}) == -1);
  CHECK(best_packed_baseline({own, faster, packed}) == 2);
  CHECK(best_packed_baseline({own, faster, loops}) == 1);
}

TEST_CASE("ratios are paired by round") {
  Entry one, other;
  one.samples_ns = {1, 100, 10};
  other.samples_ns = {2, 200, 20};
  const auto ratio = speed_ratio(one, other, 1);
  REQUIRE(ratio.has_value());
  CHECK(ratio->median == Approx(2));
  CHECK(ratio->interval.lo == Approx(2));
  CHECK(ratio->interval.hi == Approx(2));
  other.samples_ns.pop_back();
  CHECK_FALSE(speed_ratio(one, other, 1).has_value());
}

}  // namespace
}  // namespace tile_tune::search
