// Sums of products of bytes by a GPU's dot products (dp4a): in PTX where CUDA has them, right values on OpenCL, where
// the same schedule adds up one product after the other.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/lower/compile.h"
#include "search/space/space.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

struct Bytes {
  std::string text;
  ir::Sizes sizes;
  std::function<void(codegen::NestSchedule&)> change;
};

std::string bytes_by(const std::string& first, const std::string& second) {
  return "def f(" + first + "(M,K) A, " + second + "(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
}

// Blocks of 16 x 16 by threads of 2 x 4, what is staged with the reduction in front.
void dots_nest(codegen::NestSchedule& nest, int64_t block, int unroll) {
  nest.tiles = {{16, 2}, {16, 4}};
  nest.packings = {{0, 2, {1, 0}}, {1, 2, {1, 0}}};
  nest.reduction_block = {block};
  nest.reduction_unroll = {unroll};
  nest.gpu().vector_loop = 1;
  nest.gpu().lanes = 4;
  nest.gpu().interleaved = true;
  nest.dot_product = true;
}

const std::vector<Bytes>& all_bytes() {
  static const std::vector<Bytes> all{
      {bytes_by("int8", "int8"), {{"M", 19}, {"N", 37}, {"K", 48}}, [](auto& n) { dots_nest(n, 16, 16); }},
      {bytes_by("int8", "uint8"), {{"M", 33}, {"N", 16}, {"K", 24}}, [](auto& n) { dots_nest(n, 8, 4); }},
      {bytes_by("uint8", "int8"),
       {{"M", 16}, {"N", 18}, {"K", 40}},
       [](auto& n) {
         dots_nest(n, 8, 8);
         n.gpu().pipelined = true;
         n.gpu().padding = 4;
       }},
      // Nothing staged, and sums of a thread by itself.
      {bytes_by("int8", "int8"),
       {{"M", 7}, {"N", 31}, {"K", 20}},
       [](auto& n) {
         dots_nest(n, 20, 4);
         n.packings.clear();
         n.gpu().interleaved = false;
         n.tiles = {{4, 2}, {16, 2}};
         n.gpu().vector_loop = -1;
         n.gpu().lanes = 1;
       }},
      // Neighbours that do not lie side by side, in pieces.
      {"def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 17}, {"N", 20}, {"K", 24}},
       [](auto& n) {
         dots_nest(n, 4, 4);
         n.parallel_reduction = codegen::ParallelReduction{0, 2};
       }},
      {"def f(int8(N,C,H) I, int8(F,C,KH) V) -> (O) { O(n,f,h) +=! I(n,c,h+kh) * V(f,c,kh) }",
       {{"N", 2}, {"C", 8}, {"F", 5}, {"H", 17}, {"KH", 3}},
       [](auto& n) {
         n.tiles = {{1, 1}, {4, 2}, {5, 1}};
         n.reduction_order = {1, 0};
         n.packings = {{0, 3, {1, 2, 0}}, {1, 3, {1, 0, 2}}};
         n.reduction_block = {8, 3};
         n.reduction_unroll = {8, 1};
         n.dot_product = true;
       }}};
  return all;
}

codegen::Schedule schedule_of(const ir::Program& program, const Bytes& one) {
  return test::changed(test::plain_gpu_schedule(program), 0, one.change);
}

}  // namespace

TEST_CASE("dot products of bytes on a GPU are sums of products") {
  const auto one = GENERATE(from_range(all_bytes()));
  const auto program = test::gpu_program(one.text, one.sizes);
  CAPTURE(one.text);
  test::expect_right(program, schedule_of(program, one));
}

TEST_CASE("dot products of bytes are instructions of CUDA's devices") {
  const auto one = GENERATE(from_range(all_bytes()));
  CAPTURE(one.text);
  const auto program = test::gpu_program(one.text, one.sizes);
  auto schedule = schedule_of(program, one);
  const auto target = codegen::parse_target("x86-64-linux-cuda-cuda_capability_75").value();
  const auto code = codegen::device_code(program, schedule, target);
  REQUIRE(code);
  CHECK_THAT(*code, Catch::Contains("dp4a."));
  CHECK_THAT(*code, !Catch::Contains(".local") && !Catch::Contains("atom."));
  schedule.stages[0].nest().dot_product = false;
  const auto plain = codegen::device_code(program, schedule, target);
  REQUIRE(plain);
  CHECK_THAT(*plain, !Catch::Contains("dp4a."));
}

TEST_CASE("a default product of bytes takes dot products of what lies side by side in shared memory") {
  const auto program = test::gpu_program(bytes_by("int8", "int8"), {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  const auto target = codegen::parse_target("x86-64-linux-cuda-cuda_capability_80").value();
  const auto schedule = search::Space(program, target).default_schedule();
  CAPTURE(codegen::to_json(schedule).dump());
  CHECK(schedule.stages[0].nest().dot_product);
  const auto code = codegen::device_code(program, schedule, target);
  REQUIRE(code);
  CHECK_THAT(*code, Catch::Contains("dp4a.s32.s32"));
  CHECK_THAT(*code, !Catch::Contains("ld.shared.b8") && !Catch::Contains(".local"));
}

}  // namespace tile_tune
