// Which loop of an assembly is shown.
#include "codegen/lower/hot_loop.h"

#include <catch2/catch.hpp>

using namespace tile_tune::codegen;

namespace {

constexpr const char* kNested = R"(	.text
copy:
.LBB0_1:
	vmovups	(%rdi), %ymm0
	addq	$32, %rdi
	decq	%rsi
	jne	.LBB0_1
	retq
kernel:
	pushq	%rbp
.LBB1_1:                                # outer
	vaddps	%ymm1, %ymm1, %ymm2
	vaddps	%ymm1, %ymm1, %ymm2
	vaddps	%ymm1, %ymm1, %ymm2
.LBB1_2:
	# a comment
	vbroadcastss	(%rdi), %ymm0
	vfmadd231ps	(%rsi), %ymm0, %ymm1
	vfmadd231ps	32(%rsi), %ymm0, %ymm2
	addq	$64, %rsi
	decl	%eax
	jne	.LBB1_2
.LBB1_3:
	vaddss	%xmm0, %xmm1, %xmm1
	vmulss	%xmm0, %xmm1, %xmm1
	vmulss	%xmm0, %xmm1, %xmm1
	decl	%ecx
	jne	.LBB1_3
	decl	%edx
	jne	.LBB1_1
	retq
)";

constexpr const char* kArm = R"(kernel:
.LBB0_1:
	ldr	q1, [x0], #16
	ldr	q2, [x1], #16
	fmla	v0.4s, v1.4s, v2.4s
	subs	x2, x2, #1
	b.ne	.LBB0_1
	ret
)";

}  // namespace

TEST_CASE("the hot loop is the innermost one with most arithmetic, vectors before numbers") {
  const HotLoop loop = hot_loop(kNested);
  CHECK(loop.is_loop);
  CHECK(loop.text.starts_with(".LBB1_2:\n"));
  CHECK(loop.text.find("jne\t.LBB1_2") != std::string::npos);
  CHECK(loop.text.find(".LBB1_3") == std::string::npos);
  CHECK(loop.instructions == 6);
  CHECK(loop.arithmetic == 2);
}

TEST_CASE("the hot loop of AArch64") {
  const HotLoop loop = hot_loop(kArm);
  CHECK(loop.instructions == 5);
  CHECK(loop.arithmetic == 1);
}

TEST_CASE("a kernel without a loop is shown as it is") {
  const HotLoop whole =
      hot_loop("small:\n\tretq\nkernel:\n\tvaddps\t%ymm1, %ymm1, %ymm2\n\tvmovups\t%ymm2, (%rdi)\n\tretq\n");
  CHECK_FALSE(whole.is_loop);
  CHECK(whole.text.starts_with("kernel:\n"));
  CHECK(whole.instructions == 3);
  CHECK(hot_loop("").text.empty());
}
