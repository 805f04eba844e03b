// What makes a GPU nest invalid, each with its sentence; how its loops lie on grids and blocks.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/gpu_nest.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

namespace tile_tune::codegen {
namespace {

// C(m,n) = sum of A(m,k) * B(k,n), 130 x 96 x 64.
ir::Program product() {
  const auto parsed = tc::parse("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "test.tc");
  return ir::canonicalize(ir::bind(parsed->programs.at(0), {{"M", 130}, {"N", 96}, {"K", 64}}).value());
}

NestSchedule staged() {
  NestSchedule nest;
  GpuMapping gpu;
  gpu.vector_loop = 1;
  gpu.lanes = 4;
  gpu.interleaved = true;
  gpu.padding = 4;
  nest.mapping = gpu;
  nest.tiles = {{64, 8}, {32, 4}};
  nest.order = {{0, 1}, {0, 1}};
  nest.reduction_order = {0};
  nest.reduction_block = {16};
  nest.reduction_unroll = {16};
  nest.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  return nest;
}

std::string fault(const NestSchedule& nest) {
  const auto checked = check(product(), {{nest}});
  return checked ? "" : checked.error().message;
}

}  // namespace

TEST_CASE("a staged nest is valid") { CHECK(fault(staged()) == ""); }

TEST_CASE("what makes a nest on a GPU invalid has a sentence") {
  struct Case {
    void (*change)(NestSchedule&);
    std::string sentence;
  };
  const auto one = GENERATE(Case{[](auto& n) { n.scan = true; }, "no running total"},
                            Case{[](auto& n) { n.dot_product = true; }, "there are no dot products in it"},
                            Case{[](auto& n) {
                                   n.prefetches = {{0, 0, 4}};
                                 },
                                 "asked for ahead"},
                            Case{[](auto& n) {
                                   n.order.push_back({0, 1});
                                 },
                                 "two tile levels"},
                            Case{[](auto& n) {
                                   n.tiles[0] = {64, 12};
                                 },
                                 "does not fit into 64"},
                            Case{[](auto& n) {
                                   n.tiles = {{130, 1}, {96, 4}};
                                 },
                                 "a block of 3120 threads is larger than 1024"},
                            Case{[](auto& n) { n.gpu().lanes = 3; }, "other lanes than 1, 2 or 4"},
                            Case{[](auto& n) { n.gpu().vector_loop = 2; }, "no output loop"},
                            Case{[](auto& n) { n.gpu().vector_loop = -1; }, "contradict"},
                            Case{[](auto& n) {
                                   n.tiles[1] = {32, 2};
                                 },
                                 "not a multiple of the lanes"},
                            Case{[](auto& n) { n.reduction_block = {24}; }, "does not divide reduction loop 0 of 64"},
                            Case{[](auto& n) { n.reduction_unroll = {3}; }, "does not fit its block 16"},
                            Case{[](auto& n) { n.packings.clear(), n.gpu().padding = 0; }, "nothing to stage"},
                            Case{[](auto& n) { n.packings[0].depth = 1; }, "inside all loops of the grid"},
                            Case{[](auto& n) { n.packings[1].operand = 0; }, "packs an operand twice"},
                            Case{[](auto& n) {
                                   n.packings[0].order = {0, 0};
                                 },
                                 "not a permutation of its dimensions"},
                            Case{[](auto& n) { n.gpu().padding = 33; }, "padding"},
                            Case{[](auto& n) { n.gpu().resident_blocks = -1; }, "resident blocks"},
                            Case{[](auto& n) {
                                   n.packings.clear(), n.gpu().padding = 0, n.gpu().pipelined = true;
                                   n.reduction_block = {64}, n.reduction_unroll = {1};
                                 },
                                 "loads ahead what it does not stage"},
                            Case{[](auto& n) {
                                   n.gpu().pipelined = true;
                                   n.reduction_block = {64};
                                 },
                                 "no next block to load"},
                            Case{[](auto& n) {
                                   n.gpu().pipelined = true;
                                   n.reduction_block = {32}, n.tiles = {{32, 8}, {4, 4}}, n.reduction_unroll = {1};
                                 },
                                 "64 copies of an operand for the next block, more than 16"},
                            Case{[](auto& n) {
                                   n.tiles = {{64, 16}, {96, 12}};
                                 },
                                 "more than 2048"},
                            Case{[](auto& n) {
                                   n.tiles = {{64, 16}, {96, 12}}, n.reduction_unroll = {1};
                                 },
                                 "192 registers"});
  NestSchedule nest = staged();
  one.change(nest);
  CHECK_THAT(fault(nest), Catch::Contains(one.sentence));
}

// Halide takes no buffer of 2 GiB: "Allocation size should be a positive number".
TEST_CASE("what all pieces of a reduction sum up is below 2 GiB") {
  const auto parsed = tc::parse("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "test.tc");
  const auto large = ir::canonicalize(ir::bind(parsed->programs.at(0), {{"M", 8192}, {"N", 8192}, {"K", 256}}).value());
  NestSchedule nest = staged();
  nest.parallel_reduction = ParallelReduction{0, 4};
  CHECK(check(large, {{nest}}));
  nest.parallel_reduction->pieces = 8;
  const auto checked = check(large, {{nest}});
  REQUIRE(!checked);
  CHECK_THAT(checked.error().message, Catch::Contains("pieces that do not fit"));
}

TEST_CASE("threads that share a reduction: what is valid, and a sentence for each fault") {
  struct Case {
    void (*change)(NestSchedule&);
    std::string sentence;
  };
  NestSchedule nest = staged();
  nest.packings.clear();
  nest.gpu() = GpuMapping{};
  nest.gpu().reduction_threads = 16;
  nest.tiles = {{8, 2}, {8, 2}};
  nest.reduction_block = {64};
  nest.reduction_unroll = {3};
  CHECK(fault(nest) == "");
  const auto one = GENERATE(
      Case{[](auto& n) { n.gpu().reduction_threads = 12; }, "no power of two"},
      Case{[](auto& n) { n.gpu().reduction_threads = 0; }, "no power of two"},
      Case{[](auto& n) { n.gpu().reduction_threads = 128; }, "128 threads share a reduction that has work for 64"},
      Case{[](auto& n) {
             n.packings = {{0, 2, {0, 1}}};
           },
           "nothing staged for them"},
      Case{[](auto& n) { n.gpu().interleaved = true; }, "lie side by side"},
      Case{[](auto& n) { n.reduction_unroll = {5}; }, "by 5 is more than a thread's 4 iterations"},
      Case{[](auto& n) {
             n.tiles = {{64, 1}, {2, 1}};
           },
           "a block of 2048 threads"});
  one.change(nest);
  CHECK_THAT(fault(nest), Catch::Contains(one.sentence));
}

TEST_CASE("threads that share a reduction lie along its inner loops, and their sums become one in few steps") {
  NestSchedule nest;
  nest.mapping = GpuMapping();
  nest.reduction_order = {0, 1, 2};
  Loops loops;
  loops.reduction = {1000, 7, 12};
  const auto threads = [&](int all) {
    nest.gpu().reduction_threads = all;
    return reduction_shares(loops, nest).threads;
  };
  CHECK(threads(1) == std::vector<int64_t>{1, 1, 1});
  CHECK(reduction_shares(loops, nest).in_turns == -1);
  CHECK(threads(8) == std::vector<int64_t>{1, 1, 8});
  CHECK(threads(32) == std::vector<int64_t>{1, 2, 16});
  CHECK(reduction_shares(loops, nest).in_turns == 1);
  CHECK(threads(1024) == std::vector<int64_t>{8, 8, 16});
  CHECK(most_reduction_threads(loops) == 1024 * 8 * 16);
  loops.reduction[1] = 0;
  CHECK(most_reduction_threads(loops) == 1);
  CHECK(reduction_steps(1).empty());
  CHECK(reduction_steps(16) == std::vector<int64_t>{1});
  CHECK(reduction_steps(32) == std::vector<int64_t>{4, 1});
  CHECK(reduction_steps(1024) == std::vector<int64_t>{64, 8, 1});
}

TEST_CASE("loops lie on dimensions, the fastest first, and share the slowest") {
  NestSchedule nest;
  nest.mapping = GpuMapping();
  Loops loops;
  loops.output = {6, 1, 8, 10, 12};
  nest.tiles = {{3, 1}, {1, 1}, {4, 2}, {5, 1}, {4, 4}};
  nest.order = {{4, 3, 2, 1, 0}, {0, 1, 2, 3, 4}};
  CHECK(grid_dimensions(loops, nest) == GpuDimensions{{0}, {2}, {4, 3}});
  CHECK(block_dimensions(nest) == GpuDimensions{{3}, {2}, {0}});
  CHECK(gpu_threads(nest) == 30);
  CHECK(thread_elements(nest) == 8);
}

TEST_CASE("an interleaved thread's elements are pieces of the vector's lanes") {
  NestSchedule nest = staged();
  CHECK(piece_along(nest, 0) == 4);
  CHECK(piece_along(nest, 1) == 4);
  nest.tiles[0] = {30, 6};
  CHECK(piece_along(nest, 0) == 1);
  nest.gpu().interleaved = false;
  CHECK(piece_along(nest, 0) == 6);
}

}  // namespace tile_tune::codegen
