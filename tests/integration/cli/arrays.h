// Arrays for programs to read.
#pragma once

#include <catch2/catch.hpp>

#include "frontend/tensor/npy.h"
#include "tests/integration/cli/sandbox.h"

namespace tile_tune::test {

/// Small integers, negative ones too, so that sums in f32 are exact whatever their order.
inline int64_t pattern(int64_t i) { return (i * 7) % 11 - 5; }

inline void save(const Sandbox& box, const std::string& name, const tensor::Array& array, bool fortran_order = false) {
  REQUIRE(tensor::write_npy(box.path(name), array, fortran_order));
}

}  // namespace tile_tune::test
