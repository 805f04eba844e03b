// A nest whose statement has its loops and operands under other numbers.
#include "codegen/schedule/renumber.h"

#include <catch2/catch.hpp>

namespace tile_tune::codegen {

TEST_CASE("every decision that names a loop or an operand names it by its new number") {
  NestSchedule nest;
  nest.tiles = {{24, 4}, {32, 16}};
  nest.order = {{0, 1}, {1, 0}};
  nest.mapping = CpuMapping{1, 3, 8};
  nest.reduction_order = {2, 0, 1};
  nest.reduction_block = {30, 31, 32};
  nest.reduction_unroll = {5, 6, 7};
  nest.parallel_reduction = ParallelReduction{1, 4};
  nest.packings = {{1, 2, {1, 0}}};
  nest.prefetches = {{0, 4, 4}, {1, 1, 8}};

  NestSchedule expected = nest;
  expected.mapping = CpuMapping{1, 2, 8};
  expected.reduction_order = {1, 2, 0};
  expected.reduction_block = {31, 32, 30};
  expected.reduction_unroll = {6, 7, 5};
  expected.parallel_reduction = ParallelReduction{0, 4};
  expected.packings = {{0, 2, {1, 0}}};
  expected.prefetches = {{2, 3, 4}, {0, 1, 8}};
  const Renumbering to{2, {2, 0, 1}, {2, 0, 1}};
  CHECK(renumbered(nest, to) == expected);

  nest.mapping = GpuMapping{.vector_loop = 4};
  CHECK(renumbered(nest, to).vector_loop() == 3);
  nest.mapping = CpuMapping{};
  CHECK(renumbered(nest, to).vector_loop() == -1);
}

}  // namespace tile_tune::codegen
