#include "codegen/lower/joined_indices.h"

#include <catch2/catch.hpp>

using namespace tile_tune::codegen;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::Int;

namespace {

constexpr int kWidth = 8;
const Expr block = Variable::make(Int(32), "block");

Expr from(const Expr& base) { return Ramp::make(base, 1, kWidth); }
Expr everywhere(int value) { return Broadcast::make(value, kWidth); }
Expr joined(const Expr& index) { return JoinedIndices().mutate(index); }

}  // namespace

TEST_CASE("quotient and remainder of one index are put together, also where whole turns were dropped") {
  const Expr fused = from(block * 8), turned = from(block * 5);  // 8 block is 5 block, but for multiples of 3
  const Expr whole = simplify(fused * 102 + everywhere(7));
  CHECK(equal(joined(fused / 7 * 714 + fused % 7 * 102 + everywhere(7)), whole));
  CHECK(equal(joined(fused / 3 * 306 + (everywhere(7) + turned % 3 * 102)), whole));
  // Of three loops: the middle one's index is a quotient's remainder.
  CHECK(equal(joined(fused / 15 * 1530 + fused / 3 % 5 * 306 + fused % 3 * 102 + everywhere(7)), whole));
  // Products as instruction selection writes them.
  const Expr rows = Broadcast::make(Expr(int16_t{714}), kWidth);
  const Expr wide = Call::make(Int(32, kWidth), Call::widen_right_mul, {fused / 7, rows}, Call::PureIntrinsic);
  CHECK(equal(joined(wide + (fused % 7 * 102 + everywhere(7))), whole));
}

TEST_CASE("shifts and masks are products, quotients and remainders by powers of two") {
  const Expr fused = from(block * 8);
  const auto call = [](Call::IntrinsicOp op, const Expr& a, uint32_t b) {
    const Expr other = op == Call::bitwise_and ? Expr(static_cast<int>(b)) : Expr(b);
    return Call::make(Int(32, kWidth), op, {a, Broadcast::make(other, kWidth)}, Call::PureIntrinsic);
  };
  const Expr whole = simplify(fused * 128 + everywhere(7));
  CHECK(equal(joined(fused / 7 * 896 + call(Call::shift_left, fused % 7, 7) + everywhere(7)), whole));
  const Expr quotient = call(Call::shift_left, call(Call::shift_right, fused, 2), 9);
  CHECK(equal(joined(quotient + call(Call::shift_left, call(Call::bitwise_and, fused, 3), 7) + everywhere(7)), whole));
  const Expr apart = quotient + call(Call::shift_left, call(Call::bitwise_and, fused, 5), 7) + everywhere(7);
  CHECK(equal(joined(apart), apart));
}

TEST_CASE("indices of loops that do not lie next to each other stay apart") {
  const Expr fused = from(block * 8);
  for (const Expr& index : {fused / 7 * 715 + fused % 7 * 102,                // a gap between the rows
                            fused / 7 * 714 + fused % 6 * 102,                // another loop
                            fused / 7 * 714 + from(block * 8 + 1) % 7 * 102,  // another index
                            fused / 7 * 714 + fused / 2 % 7 * 102}) {
    CAPTURE(index);
    CHECK(equal(joined(index), index));
  }
}
