// Sums of products of narrow numbers by dot-product instructions: exact, where they are allowed, and really used.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/target/host.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

// A processor that has the instructions, whatever this one has: kernels for it are compiled here, not run.
codegen::Target with_instructions() {
  const auto target = codegen::describe_target(
      "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41", 2);
  REQUIRE(target);
  return *target;
}

codegen::Schedule default_schedule(const ir::Program& program) {
  return search::Space(program, with_instructions()).default_schedule();
}

ir::Program product(const std::string& a, const std::string& b, int64_t m, int64_t n, int64_t k) {
  return test::bound_program("def f(" + a + "(M,K) A, " + b + "(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             {{"M", m}, {"N", n}, {"K", k}});
}

/// Whether the program's default kernel has an instruction of that name.
bool uses(const ir::Program& program, const std::string& instruction) {
  const auto listing = test::disassembly(program, default_schedule(program), with_instructions());
  return listing.find(instruction) != std::string::npos;
}

}  // namespace

TEST_CASE("sums of products of narrow numbers use dot-product instructions") {
  CHECK(uses(product("uint8", "int8", 24, 96, 64), "vpdpbusd"));
  CHECK(uses(product("int8", "int8", 24, 96, 64), "vpdpbusd"));
  CHECK(uses(product("int16", "int16", 24, 96, 64), "vpdpwssd"));
  CHECK(uses(product("bfloat16", "bfloat16", 24, 96, 64), "vdpbf16ps"));
  // The last one reaches beyond K.
  CHECK(uses(product("int8", "int8", 24, 96, 63), "vpdpbusd"));
  CHECK(uses(product("bfloat16", "bfloat16", 24, 96, 63), "vdpbf16ps"));
  CHECK_FALSE(default_schedule(product("int8", "int8", 24, 96, 3)).stages[0].nest().dot_product);
}

TEST_CASE("convolutions have dot products along the channels, wherever these lie", "[property]") {
  const auto [type, instruction] = GENERATE(
      table<std::string, const char*>({{"bfloat16", "vdpbf16ps"}, {"int8", "vpdpwssd"}, {"uint8", "vpdpbusd"}}));
  const auto read = GENERATE(as<std::string>(), "I(n,c,y+i-1,x+j-1)", "I(n,y+i-1,x+j-1,c)");
  const bool is_first = read.find("c,") != std::string::npos;
  const auto program = test::bound_program("def f(" + type + (is_first ? "(N,C,Y,X)" : "(N,Y,X,C)") + " I, " +
                                               (type == "uint8" ? "int8" : type) + "(F,C,3,3) W) -> (O) { " +
                                               (is_first ? "O(n,f,y,x)" : "O(n,y,x,f)") +
                                               " +=! (y+i-1 >= 0 && y+i-1 < Y && x+j-1 >= 0 && x+j-1 < X ? " + read +
                                               " : 0) * W(f,c,i,j) where y in 0:Y, x in 0:X }",
                                           {{"N", 1}, {"C", 42}, {"F", 35}, {"Y", 9}, {"X", 31}});
  CAPTURE(type, read);
  CHECK(uses(program, instruction));
  for (const auto& target : test::runnable({with_instructions().text(), "x86-64-linux-avx-avx2-f16c-fma-sse41"}))
    test::KernelCheck(program, target).expect_right(search::Space(program, target).default_schedule());
}

TEST_CASE("dot products compute what the reference does", "[property]") {
  const auto text = GENERATE(
      // The shift by 128 and its correction must wrap like the sum: -128 * -128 over a long reduction, both operands.
      "def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
      "def f(int8(M,K) A, uint8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
      "def f(uint8(M,K) A, int8(N,K) B) -> (C) { C(m,n) += A(m,k) * B(n,k) }",
      "def f(int16(K,M) A, int16(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }",
      "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
      "def f(int8(M,N,K) A, int8(N,M,K) B) -> (C) { C(m,n) +=! A(m,n,k) * B(n,m,k) }",  // both walk along: in lanes
                                                                                        // alone
      "def f(int8(M,K,R) A, int8(R,K,N) B) -> (C) { C(m,n) +=! A(m,k,r) * B(r,k,n) }",
      "def f(bfloat16(M,R,K) A, bfloat16(N,3,3,K) B) -> (C) { C(m,r,n) +=! A(m+x,r+y,k) * B(n,x,y,k) }");
  // Of 39 and 5 the last dot product takes less; in sums of few terms infinities are not yet NaN. A kernel takes a
  // second to compile: both are tried of products of bytes.
  const int64_t length = GENERATE(39, 5);
  if (length != 39 && std::string(text).find("(int8(M,K) A") == std::string::npos) return;
  const int wanted = length == 5 ? 0 : 1;
  ir::Sizes sizes{{"M", 23}, {"N", 75}, {"K", length}};
  if (std::string(text).find(",R") != std::string::npos || std::string(text).find("(R") != std::string::npos)
    sizes["R"] = 5;
  const auto program = test::bound_program(text, sizes);
  CAPTURE(text);
  test::KernelCheck check(program);
  check.expect_right(default_schedule(program));
  const search::Space space(program, with_instructions());
  search::Rng rng(7);
  int with = 0;
  for (int i = 0; i < 40 && with < wanted; ++i) {
    const auto schedule = space.sample(rng).schedule;
    REQUIRE(codegen::check(program, schedule));
    if (!schedule.stages[0].nest().dot_product) continue;
    ++with;
    check.expect_right(schedule);
  }
  CHECK((with > 0) == (wanted > 0));
}

TEST_CASE("lanes of a reduction take dot products of pairs", "[property]") {
  const auto text = GENERATE("def f(int8(M,K) A, int8(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
                             "def f(int8(M,K) A, uint8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "def f(int16(M,R,K) A, int16(R,N,K) B) -> (C) { C(m,n) += A(m,r,k) * B(r,n,k) }",
                             "def f(bfloat16(M,K) A, bfloat16(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }");
  // Whole vectors; a last one that begins earlier; one iteration by itself.
  const int64_t length = GENERATE(64, 77, 33);
  const bool has_two = std::string(text).find(",R,") != std::string::npos;
  ir::Sizes sizes{{"M", 7}, {"N", 5}, {"K", length}};
  if (has_two) sizes["R"] = 3;
  const auto program = test::bound_program(text, sizes);
  auto schedule = default_schedule(program);
  auto& stage = schedule.stages[0].nest();
  const int k = has_two ? 1 : 0;
  stage.cpu().vector_loop = 2 + k;
  stage.cpu().lanes = 16;
  stage.dot_product = true;
  stage.tiles = {{4}, {2}};
  stage.order = {{0, 1}};
  stage.packings.clear();
  stage.reduction_order = has_two ? std::vector{0, 1} : std::vector{0};
  stage.reduction_block = has_two ? std::vector<int64_t>{3, length} : std::vector<int64_t>{length};
  stage.reduction_unroll = has_two ? std::vector{1, 1} : std::vector{length == 77 ? 2 : 1};
  CAPTURE(text, length);
  REQUIRE(codegen::check(program, schedule));
  test::KernelCheck(program).expect_right(schedule);
  const char* const instruction = std::string(text).find("bfloat") == std::string::npos ? "vpdpwssd" : "vdpbf16ps";
  if (length > 33)  // one product alone adds nothing up
    CHECK(test::disassembly(program, schedule, with_instructions()).find(instruction) != std::string::npos);
  SECTION("of which there must be enough") {
    stage.reduction_unroll[static_cast<size_t>(k)] = 3;
    CHECK_FALSE(codegen::check(program, schedule));
  }
}

namespace {

/// Any x86 has dot products of pairs of 16-bit integers.
std::vector<codegen::Target> without_instructions() {
  return test::runnable({"x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-linux"});
}

}  // namespace

TEST_CASE("without the instructions narrow integers are summed in pairs of 16 bits", "[property]") {
  const auto text = GENERATE("def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "def f(uint8(M,K) A, int8(N,K) B) -> (C) { C(m,n) += A(m,k) * B(n,k) }",
                             "def f(int16(K,M) A, int16(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }");
  const int64_t length = GENERATE(40, 39, 2);
  const bool is_of_bytes = std::string(text).find("int8") != std::string::npos;
  const auto program = test::bound_program(text, {{"M", 23}, {"N", 75}, {"K", length}});
  CAPTURE(text, length);
  for (const auto& target : without_instructions()) {
    const auto schedule = search::Space(program, target).default_schedule();
    const auto& stage = schedule.stages[0].nest();
    CHECK(stage.dot_product);
    CHECK(stage.dot_pairs == (is_of_bytes && stage.cpu().vector_loop < 2));
    test::KernelCheck(program, target).expect_right(schedule);
    if (length == 40) CHECK(test::disassembly(program, schedule, target).find("pmaddwd") != std::string::npos);
  }
}

TEST_CASE("random schedules of pairs compute what the reference does", "[property]") {
  const auto program =
      test::bound_program("def f(int8(M,K,R) A, uint8(R,K,N) B) -> (C) { C(m,n) +=! A(m,k,r) * B(r,k,n) }",
                          {{"M", 11}, {"N", 37}, {"K", 6}, {"R", 7}});
  for (const auto& target : without_instructions()) {
    const search::Space space(program, target);
    search::Rng rng(3);
    int with = 0;
    for (int i = 0; i < 60 && with < 3; ++i) {
      const auto schedule = space.sample(rng).schedule;
      REQUIRE(codegen::check(program, schedule));
      if (!schedule.stages[0].nest().dot_pairs) continue;
      ++with;
      test::KernelCheck(program, target).expect_right(schedule);
    }
    CHECK(with == 3);
  }
}

TEST_CASE("constants are packed beforehand as the pairs of which they are read", "[property]") {
  auto program = product("int8", "int8", 9, 40, GENERATE(34, 35));
  program.tensors[program.inputs[GENERATE(0, 1)]].constant = true;
  for (const auto& target : without_instructions()) {
    const auto schedule = search::Space(program, target).default_schedule();
    CHECK(schedule.stages[0].nest().dot_pairs);
    test::KernelCheck(program, target).expect_right(schedule);
  }
}

TEST_CASE("constants of which the last dot product takes less than there is are packed beforehand", "[property]") {
  const auto type = GENERATE("int8", "uint8", "bfloat16", "int16");
  const auto row = std::string(type) == "uint8" ? "int8" : type;
  auto program = product(row, type, 9, 40, GENERATE(7, 34, 35));
  program.tensors[program.inputs[1]].constant = true;
  CAPTURE(type);
  const auto schedule = default_schedule(program);
  CHECK(schedule.stages[0].nest().dot_product);
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("dot products that a statement does not have are refused") {
  const auto program = product("int8", "int8", 24, 96, 64);
  auto schedule = default_schedule(program);
  REQUIRE(schedule.stages[0].nest().dot_product);
  REQUIRE(codegen::check(program, schedule));
  SECTION("another width") { schedule.stages[0].nest().reduction_unroll[0] = 2; }
  SECTION("nothing packed") { schedule.stages[0].nest().packings.clear(); }
  SECTION("pairs, and four at a time") { schedule.stages[0].nest().dot_pairs = true; }
  SECTION("pairs, and no dot products") {
    schedule.stages[0].nest().dot_product = false;
    schedule.stages[0].nest().dot_pairs = true;
  }
  SECTION("no vectors") {
    schedule.stages[0].nest().cpu().vector_loop = -1;
    schedule.stages[0].nest().cpu().lanes = 1;
  }
  CHECK_FALSE(codegen::check(program, schedule));
  CHECK_FALSE(codegen::check(product("int8", "int8", 24, 96, 62), schedule));
  CHECK_FALSE(codegen::check(product("float", "float", 24, 96, 64), schedule));
}

}  // namespace tile_tune
