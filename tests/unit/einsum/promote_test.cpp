// The types that operands meet in.
#include <catch2/catch.hpp>

#include "frontend/einsum/promote.h"

using namespace tile_tune;
using namespace tile_tune::einsum;

TEST_CASE("types meet as in the lattice of tensors") {
  using enum DType;
  const std::vector<DType> order{Bool, I32, I64, F32, F64, C32, C64};
  const std::vector<std::vector<DType>> table{{Bool, I32, I64, F32, F64, C32, C64}, {I32, I32, I64, F64, F64, C64, C64},
                                              {I64, I64, I64, F64, F64, C64, C64},  {F32, F64, F64, F32, F64, C32, C64},
                                              {F64, F64, F64, F64, F64, C64, C64},  {C32, C64, C64, C32, C64, C32, C64},
                                              {C64, C64, C64, C64, C64, C64, C64}};
  for (size_t a = 0; a < order.size(); ++a)
    for (size_t b = 0; b < order.size(); ++b) {
      INFO(dtype_name(order[a]) << " with " << dtype_name(order[b]));
      CHECK(common_type(order[a], order[b]) == table[a][b]);
    }
  CHECK(common_type(I8, F16) == F16);
  CHECK(common_type(I16, F16) == F32);
  CHECK(common_type(I8, BF16) == BF16);
  CHECK(common_type(U16, F32) == F32);
  CHECK(common_type(U32, F32) == F64);
  CHECK(common_type(F16, BF16) == F32);
  CHECK(common_type(U8, I8) == I8);
  CHECK(common_type(I16, C32) == C32);
}
