// As storage_test, many more and of random sizes.
#include <catch2/catch.hpp>
#include <random>

#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/strided.h"

namespace tile_tune {

TEST_CASE("hundreds of programs whose arguments lie anywhere", "[nightly]") {
  constexpr int kRounds = 20;
  constexpr int64_t kExtents[] = {0, 1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 29, 31, 32, 37, 64};
  std::mt19937_64 engine(1);
  uint64_t seed = 1000;
  for (int round = 0; round < kRounds; ++round)
    for (const auto& [name, source, sizes] : test::strided_cases()) {
      auto drawn = sizes;
      for (auto& [size, value] : drawn) {
        // Kernels of a convolution have to fit its input, and a table that is read has elements.
        const bool is_free = name != "convolution" && size != "V";
        if (is_free) value = kExtents[engine() % std::size(kExtents)];
      }
      test::check_drawn_storage(name, test::bound_program(source, drawn), seed++);
    }
}

TEST_CASE("running totals whose arguments lie anywhere", "[nightly]") {
  uint64_t seed = 1;
  for (const int64_t rows : {1, 3, 8})
    for (const int64_t n : {1, 2, 17, 41, 64, 131}) {
      edsl::TensorIndex r, i, k;
      const auto A = edsl::Placeholder(DType::F32, {rows, n}, "A");
      auto O = edsl::TensorOutput(rows, n);
      O(r, i) += A(r, k);
      O.add_constraint(i - k < n);
      for (int draw = 0; draw < 5; ++draw)
        test::check_drawn_storage("running totals", test::program_of({A}, O), seed++);
    }
}

}  // namespace tile_tune
