// Schedules of one size, element type or batch, said of another, on a machine described here.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/form.h"
#include "frontend/tc/parse.h"
#include "search/predict/rank.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Schedule;

const std::string kDoubles = "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const std::string kBatched = "def f(float(S,M,K) A, float(S,K,N) B) -> (C) { C(s,m,n) +=! A(s,m,k) * B(s,k,n) }";

ir::Program batched(int64_t s, int64_t m, int64_t n, int64_t k) {
  return bound(kBatched, {{"S", s}, {"M", m}, {"N", n}, {"K", k}});
}

codegen::Target avx512_with_l3(int threads = 2) {
  codegen::Target target;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.threads = threads;
  target.l1_bytes = 32 << 10;
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

/// 128 x 256 blocks of 8 x 32 register tiles, K in blocks of 256, B packed once a panel, in parallel over rows.
Schedule blocked() {
  NestSchedule stage;
  stage.tiles = {{128, 8}, {256, 32}};
  stage.order = {{0, 1}, {1, 0}};
  stage.cpu().parallel = 1;
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {256};
  stage.reduction_unroll = {4};
  stage.packings = {{1, 2, {1, 0}}};
  return {{stage}};
}

std::vector<Schedule> fits(const ir::Program& to, const ir::Program& from, const Schedule& schedule) {
  REQUIRE(codegen::check(from, schedule).has_value());
  const auto all = Space(to, avx512_with_l3()).transfer(from, schedule);
  REQUIRE_FALSE(all.empty());
  for (const auto& one : all) CHECK(codegen::check(to, one).has_value());
  return all;
}

int64_t padded(int64_t extent, const std::vector<int64_t>& tiles) {
  return (extent + tiles[0] - 1) / tiles[0] * tiles[0];
}

}  // namespace

TEST_CASE("tiles of other sizes are fit so that little is computed twice and threads share evenly", "[unit]") {
  const auto from = matmul(512, 512, 512);
  for (const int64_t extent : {100, 131, 257, 520, 997, 1025}) {
    const auto to = matmul(extent, extent, 512);
    const auto stage = fits(to, from, blocked()).front().stages.at(0).nest();
    INFO("extent " << extent << ", tiles " << stage.tiles[0][0] << " x " << stage.tiles[1][0]);
    const double rows = static_cast<double>(padded(extent, stage.tiles[0])) / static_cast<double>(extent);
    CHECK(rows < 1.13);
    // Vectors of 16 waste up to 15 elements whatever the tile.
    const auto columns = static_cast<double>(padded(extent, stage.tiles[1]));
    CHECK(columns / static_cast<double>((extent + 15) / 16 * 16) < 1.15);
    CHECK(stage.tiles[0].back() <= 8);
    CHECK(stage.cpu().vector_loop == 1);
    const int64_t grains = padded(extent, stage.tiles[0]) / stage.tiles[0][0];
    const double imbalance = static_cast<double>((grains + 1) / 2 * 2) / static_cast<double>(grains);
    CHECK(rows * imbalance < 1.25);
  }
  // adapt(), which changes as little as it can, computes most of 100 rows twice.
  const auto kept = Space(matmul(100, 100, 512), avx512_with_l3()).adapt(blocked()).schedule.stages.at(0).nest();
  CHECK(padded(100, kept.tiles[0]) == 192);
}

TEST_CASE("blocks of a reduction become a divisor that is near, else stay what they are", "[unit]") {
  const auto from = matmul(512, 512, 512);
  const auto block = [&](int64_t k) {
    return fits(matmul(512, 512, k), from, blocked()).front().stages.at(0).nest().reduction_block.at(0);
  };
  CHECK(block(1024) == 256);
  CHECK(block(509) == 256);  // a prime
  CHECK(block(514) == 257);
  CHECK(block(131) == 131);
  CHECK(block(1) == 1);
}

TEST_CASE("a reduction that was not cut is tried uncut first, then in blocks as long as it was", "[unit]") {
  Schedule whole = blocked();
  whole.stages[0].nest().reduction_block = {512};
  const auto all = fits(matmul(512, 512, 2048), matmul(512, 512, 512), whole);
  CHECK(all.front().stages.at(0).nest().reduction_block.at(0) == 2048);
  CHECK(std::any_of(all.begin(), all.end(),
                    [](const Schedule& s) { return s.stages[0].nest().reduction_block[0] == 512; }));
}

TEST_CASE("a schedule fits its own size as it is", "[unit]") {
  const auto program = matmul(512, 512, 512);
  CHECK(fits(program, program, blocked()).front() == blocked());
}

TEST_CASE("empty, unit and tiny sizes have fits too", "[unit]") {
  const auto from = matmul(512, 512, 512);
  for (const auto& [m, n, k] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {3, 7, 2}})
    fits(matmul(m, n, k), from, blocked());
  fits(from, matmul(1, 1, 1), Space(matmul(1, 1, 1), avx512_with_l3()).default_schedule());
}

TEST_CASE("element types, storage orders and batches do not tell forms apart; computations do", "[unit]") {
  const auto form = [](const ir::Program& program) { return ir::family_hash(ir::form_of(program)); };
  const auto plain = form(matmul(64, 65, 66));
  CHECK(form(matmul(7, 8, 9, kDoubles)) == plain);
  CHECK(form(batched(3, 5, 6, 7)) == plain);
  auto turned = matmul(64, 65, 66);
  turned.tensors[0].storage = ir::Storage::col();
  CHECK(form(turned) == plain);
  CHECK(form(bound("def f(int8(M,K) A, int8(K,N) B) -> (int32(M,N) C) { C(m,n) +=! int32(A(m,k)) * int32(B(k,n)) }",
                   {{"M", 4}, {"N", 5}, {"K", 6}})) == plain);
  CHECK(form(bound("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) * B(k,n) }",
                   {{"M", 4}, {"N", 5}, {"K", 6}})) != plain);
  CHECK(form(bound("def f(float(M,K) A, float(K) B) -> (C) { C(m) +=! A(m,k) * B(k) }", {{"M", 4}, {"K", 6}})) !=
        plain);
  // Rows are no batch: the other operand has no dimension for them.
  CHECK(ir::batch_indices(matmul(4, 5, 6)).empty());
  CHECK(ir::batch_indices(batched(3, 4, 5, 6)).size() == 1);
  // Nor is what only repeats itself everywhere.
  CHECK(ir::batch_indices(
            bound("def f(float(S,K) A, float(S,K) B) -> (C) { C(s) +=! A(s,k) * B(s,k) }", {{"S", 4}, {"K", 6}}))
            .empty());
}

TEST_CASE("vectors of doubles hold half as many", "[unit]") {
  const auto stage =
      fits(matmul(512, 512, 512, kDoubles), matmul(512, 512, 512), blocked()).front().stages.at(0).nest();
  CHECK(stage.cpu().lanes == 8);
  CHECK(stage.tiles[1].back() == 16);
  CHECK(stage.tiles[0].back() == 8);
  const auto back = fits(matmul(512, 512, 512), matmul(512, 512, 512, kDoubles), {{stage}}).front().stages.at(0).nest();
  CHECK(back.cpu().lanes == 16);
  CHECK(back.tiles[1].back() == 32);
}

TEST_CASE("a batch runs around what the product did, in parallel, and goes again", "[unit]") {
  const auto one = matmul(512, 512, 512), many = batched(6, 512, 512, 512);
  const auto stage = fits(many, one, blocked()).front().stages.at(0).nest();
  CHECK(stage.tiles[0].back() == 1);
  CHECK(stage.tiles[1].back() == 8);
  CHECK(stage.tiles[2].back() == 32);
  CHECK(stage.order[0].front() == 0);
  CHECK(stage.cpu().parallel == 2);
  CHECK(stage.cpu().vector_loop == 2);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].depth == 3);
  CHECK(stage.packings[0].order == std::vector<int>{2, 1, 0});
  const auto back = fits(one, many, {{stage}}).front().stages.at(0).nest();
  CHECK(back == blocked().stages.at(0));
}

TEST_CASE("programs of other forms lend nothing", "[unit]") {
  const auto pool = bound("def f(float(M,N) A) -> (C) { C(m) +=! A(m,n) }", {{"M", 64}, {"N", 64}});
  CHECK(Space(pool, avx512_with_l3()).transfer(matmul(512, 512, 512), blocked()).empty());
}

TEST_CASE("untried schedules are ranked by what was learned, and by their rough times without", "[unit]") {
  const auto program = matmul(512, 512, 512);
  const predict::Features features(program, avx512_with_l3());
  Schedule scalar = blocked();
  scalar.stages[0].nest().cpu().vector_loop = -1;
  scalar.stages[0].nest().cpu().lanes = 1;
  scalar.stages[0].nest().tiles = {{128, 1}, {256, 1}};
  REQUIRE(codegen::check(program, scalar).has_value());
  CHECK(predict::rank_untried(features, {scalar, blocked()}, {}).value() == std::vector<size_t>{1, 0});
  // Samples that say otherwise are believed, when there are many.
  std::vector<predict::Sample> samples;
  for (int i = 0; i < 200; ++i) {
    samples.push_back({features.row(scalar), 1});
    samples.push_back({features.row(blocked()), 0.1F});
  }
  CHECK(predict::rank_untried(features, {blocked(), scalar}, samples).value() == std::vector<size_t>{1, 0});
  CHECK(predict::rank_untried(features, {}, samples).value().empty());
}

}  // namespace tile_tune::search
