#include <bit>
#include <cstdint>
#include <limits>

#include "tests/property/functions/reference_loops.h"
#include "tests/property/functions/target_clones.h"

namespace tile_tune::codegen::functions {

TILE_TUNE_TARGET_CLONES void errors_in_ulp(const double* __restrict exact, const float* __restrict results,
                                           double* __restrict errors, size_t count) {
  constexpr uint64_t kSign = uint64_t{1} << 63, kInfinite = uint64_t{0x7ff} << 52;
  constexpr uint64_t kBeyond = uint64_t{1023 + 128} << 52, kLeast = uint64_t{1023 - 126} << 52;
  constexpr uint64_t kMost = uint64_t{1023 + 127} << 52, kWrong = kInfinite;
  for (size_t i = 0; i < count; ++i) {
    const double result = results[i];
    const uint64_t expected_bits = std::bit_cast<uint64_t>(exact[i]), found_bits = std::bit_cast<uint64_t>(result);
    const uint64_t expected = expected_bits & ~kSign, found = found_bits & ~kSign;
    // An infinity counts as the power of two beyond the largest number.
    const uint64_t size = expected < kBeyond ? expected : kBeyond, other = found < kBeyond ? found : kBeyond;
    const uint64_t above = size > kLeast ? size : kLeast, of_unit = above < kMost ? above : kMost;
    // 2^(23 - exponent)
    const double units = std::bit_cast<double>((uint64_t{2 * 1023 + 23} << 52) - (of_unit & kInfinite));
    const double apart = (std::bit_cast<double>(size) - std::bit_cast<double>(other)) * units;
    const uint64_t distance = std::bit_cast<uint64_t>(apart) & ~kSign;
    const uint64_t of_number = (expected_bits ^ found_bits) & kSign ? kWrong : distance;
    const bool one_is_nan = expected > kInfinite, other_is_nan = found > kInfinite;
    const uint64_t of_nan = one_is_nan && other_is_nan ? 0 : kWrong;
    errors[i] = std::bit_cast<double>(one_is_nan || other_is_nan ? of_nan : of_number);
  }
}

}  // namespace tile_tune::codegen::functions
