// Sums of products of narrow numbers by tiles of a matrix unit: exact where there is one, compiled everywhere.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/matrix_tiles.h"
#include "codegen/target/host.h"
#include "codegen/target/matrix_unit.h"
#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

codegen::Target with_unit() {
  const auto target = codegen::describe_target(
      "x86-64-linux-amx-avx-avx2-avx512-avx512_cannonlake-"
      "avx512_sapphirerapids-avx512_skylake-avxvnni-f16c-fma-sse41",
      2);
  REQUIRE(target);
  return *target;
}

ir::Program product(const std::string& a, const std::string& b, int64_t m, int64_t n, int64_t k) {
  return test::bound_program("def f(" + a + "(M,K) A, " + b + "(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             {{"M", m}, {"N", n}, {"K", k}});
}

codegen::Schedule default_schedule(const ir::Program& program) {
  return search::Space(program, with_unit()).default_schedule();
}

// The default, where that is of tiles, else the first one drawn that is.
codegen::Schedule schedule_of_tiles(const ir::Program& program) {
  const search::Space space(program, with_unit());
  auto schedule = space.default_schedule();
  search::Rng rng(11);
  for (int i = 0; i < 500 && !schedule.stages[0].nest().dot_tiles; ++i) schedule = space.sample(rng).schedule;
  REQUIRE(schedule.stages[0].nest().dot_tiles);
  return schedule;
}

bool has(const ir::Program& program, const codegen::Schedule& schedule, const std::string& instruction) {
  return test::disassembly(program, schedule, with_unit()).find(instruction) != std::string::npos;
}

// Where this machine has the unit, that the kernel is right; everywhere, that it is made of the unit's instructions.
void expect_right(const ir::Program& program, const codegen::Schedule& schedule) {
  REQUIRE(codegen::check_for(with_unit(), program, schedule));
  CHECK(has(program, schedule, "tdp"));
  for (const auto& target : test::runnable({with_unit().text()}))
    test::KernelCheck(program, target).expect_right(schedule);
}

// So many drawn schedules of tiles, which come in no more tries than that.
void expect_right_draws(const ir::Program& program, uint64_t seed, int tries, int wanted) {
  const search::Space space(program, with_unit());
  search::Rng rng(seed);
  int with = 0;
  for (int i = 0; i < tries && with < wanted; ++i) {
    const auto schedule = space.sample(rng).schedule;
    REQUIRE(codegen::check_for(with_unit(), program, schedule));
    if (!schedule.stages[0].nest().dot_tiles) continue;
    ++with;
    INFO(codegen::to_json(schedule).dump());
    expect_right(program, schedule);
  }
  CHECK(with == wanted);
}

}  // namespace

TEST_CASE("a CPU with a matrix unit uses it by default, for either sign of bytes and for bf16") {
  const auto [a, b, instruction] = GENERATE(table<const char*, const char*, const char*>({
      {"int8", "int8", "tdpbssd"},
      {"uint8", "int8", "tdpbusd"},
      {"int8", "uint8", "tdpbsud"},
      {"bfloat16", "bfloat16", "tdpbf16ps"},
  }));
  const auto program = product(a, b, 40, 96, 256);
  CHECK(has(program, default_schedule(program), instruction));
  CHECK_FALSE(default_schedule(product("int16", "int16", 40, 96, 256)).stages[0].nest().dot_tiles);
}

TEST_CASE("tiles compute what the reference does", "[property]") {
  const auto text =
      GENERATE("def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
               "def f(uint8(M,K) A, int8(N,K) B) -> (C) { C(m,n) += A(m,k) * B(n,k) }",
               "def f(int8(K,M) A, uint8(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }",
               "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }",
               "def f(bfloat16(3,M,K) A, bfloat16(3,N,K) B) -> (C) { C(b,m,n) +=! A(b,m,k) * B(b,n,k) }",
               "def f(bfloat16(M,R,K) A, bfloat16(N,3,3,K) B) -> (C) { C(m,r,n) +=! A(m+x,r+y,k) * B(n,x,y,k) }");
  // What is left over behind whole tiles; tiles of 14 groups, none left over; less than a tile; less than a group.
  const int64_t length = GENERATE(148, 112, 20, 135, 39);
  ir::Sizes sizes{{"M", 37}, {"N", 75}, {"K", length}};
  if (std::string(text).find("R,") != std::string::npos) sizes["R"] = 5;
  const auto program = test::bound_program(text, sizes);
  CAPTURE(text, length);
  expect_right(program, schedule_of_tiles(program));
}

TEST_CASE("every register tile of tiles that is allowed is made, and right", "[property]") {
  const int64_t length = GENERATE(128, 76);
  const int64_t rows = GENERATE(2, 13, 16, 24, 32, 48, 80, 96);
  const int64_t columns = GENERATE(16, 32, 48, 96);
  if (!codegen::fits_tile_registers(rows, columns, length / 4)) return;
  const auto program = product("int8", "int8", 97, 101, length);
  auto schedule = schedule_of_tiles(program);
  auto& stage = schedule.stages[0].nest();
  stage.tiles = {{rows}, {columns}};
  stage.order = {{0, 1}};
  CAPTURE(rows, columns, length);
  expect_right(program, schedule);
}

TEST_CASE("random schedules of tiles compute what the reference does", "[property]") {
  const auto program =
      test::bound_program("def f(int8(M,K,R) A, uint8(R,K,N) B) -> (C) { C(m,n) +=! A(m,k,r) * B(r,k,n) }",
                          {{"M", 33}, {"N", 50}, {"K", 3}, {"R", 40}});
  expect_right_draws(program, 3, 1000, 5);
}

TEST_CASE("constants are packed beforehand as tiles take them", "[property]") {
  const auto type = GENERATE("int8", "bfloat16");
  auto program = product(type, type, 35, 70, 264);
  program.tensors[program.inputs[GENERATE(0, 1)]].constant = true;
  expect_right(program, schedule_of_tiles(program));
}

TEST_CASE("sums of tiles wait at home between blocks of the reduction", "[property]") {
  const auto program = product("bfloat16", "bfloat16", 40, 72, 192);
  auto schedule = schedule_of_tiles(program);
  schedule.stages[0].nest().reduction_block = {96};
  expect_right(program, schedule);
}

TEST_CASE("tiles take what is computed on the way, sums that end early, and windows, as they are", "[property]") {
  const auto [text, sizes] = GENERATE(table<const char*, ir::Sizes>({
      // Rows that are inlined: of another sign, of another type, turned.
      {"def f(uint8(M,K) X, int8(K,N) B) -> (C) { H(m,k) = int8(X(m,k))\n C(m,n) +=! H(m,k) * B(k,n) }",
       {{"M", 64}, {"N", 64}, {"K", 128}}},
      {"def f(float(M,K) X, bfloat16(K,N) B) -> (C) { H(m,k) = bfloat16(X(m,k))\n C(m,n) +=! H(m,k) * B(k,n) }",
       {{"M", 64}, {"N", 64}, {"K", 128}}},
      {"def f(int8(K,M) X, int8(K,N) B) -> (C) { H(m,k) = X(k,m)\n C(m,n) +=! H(m,k) * B(k,n) }",
       {{"M", 64}, {"N", 64}, {"K", 128}}},
      // Sums that fill no group of 4 bytes, and end before the tensors do.
      {"def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 0:39 }",
       {{"M", 64}, {"N", 64}, {"K", 100}}},
      {"def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 2:41 }",
       {{"M", 64}, {"N", 64}, {"K", 100}}},
      {"def f(int8(T) A, int8(39,N) B) -> (C) { C(m,n) +=! A(m+k) * B(k,n) }", {{"T", 102}, {"N", 64}}},
  }));
  CAPTURE(text);
  const auto program = test::bound_program(text, sizes);
  const auto schedule = default_schedule(program);
  REQUIRE(codegen::check_for(with_unit(), program, schedule));
  bool has_tiles = false;
  for (const auto& stage : schedule.stages) has_tiles |= stage.find_nest() && stage.nest().dot_tiles;
  CHECK(has_tiles == has(program, schedule, "tdp"));
  for (const auto& target : test::runnable({with_unit().text()}))
    test::KernelCheck(program, target).expect_right(schedule);
}

namespace {

const char* const kPadded2d =
    "def f(TYPE(N,Y,X,C) I, TYPE(F,C,3,3) W) -> (O) {"
    "  O(n,y,x,f) +=! (y+i-1 >= 0 && y+i-1 < Y && x+j-1 >= 0 && x+j-1 < X ? I(n,y+i-1,x+j-1,c) : 0) * W(f,c,i,j)"
    "  where y in 0:Y, x in 0:X }";

ir::Program typed(std::string text, const std::string& type, const ir::Sizes& sizes) {
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
  return test::bound_program(text, sizes);
}

}  // namespace

TEST_CASE("convolutions with and without padding have tiles by default, in either order of channels", "[property]") {
  const std::string type = GENERATE("int8", "bfloat16");
  const auto [text, sizes] = GENERATE(table<std::string, ir::Sizes>({
      {kPadded2d, {{"N", 2}, {"Y", 5}, {"X", 19}, {"C", 72}, {"F", 35}}},
      // Channels first, in steps of 2 with borders on one side alone.
      {"def f(TYPE(N,C,Y,X) I, TYPE(F,C,3,3) W) -> (O) {"
       "  O(n,f,y,x) +=! (2*y+i-1 >= 0 && 2*y+i-1 < Y && 2*x+j-1 >= 0 && 2*x+j-1 < X ? I(n,c,2*y+i-1,2*x+j-1) : 0)"
       "    * W(f,c,i,j) where y in 0:9, x in 0:20 }",
       {{"N", 1}, {"Y", 18}, {"X", 40}, {"C", 33}, {"F", 48}}},
      // Wider holes than windows, and a constraint narrower than the tensor.
      {"def f(TYPE(X,C) I, TYPE(3,C,F) W) -> (O) {"
       "  O(x,f) +=! (x+3*j-4 >= 2 && x+3*j-4 < 30 ? I(x+3*j-4,c) : 0) * W(j,c,f) where x in 0:33 }",
       {{"X", 31}, {"C", 64}, {"F", 32}}},
      // Taps, and positions, that lie in the padding as a whole.
      {"def f(TYPE(Y,X,C) I, TYPE(3,3,C,F) W) -> (O) {"
       "  O(y,x,f) +=! (y+18*i-18 >= 0 && y+18*i-18 < Y && x+18*j-18 >= 0 && x+18*j-18 < X ? I(y+18*i-18,x+18*j-18,c) "
       ": 0)"
       "    * W(i,j,c,f) where y in 0:Y, x in 0:X }",
       {{"Y", 4}, {"X", 17}, {"C", 64}, {"F", 32}}},
      {"def f(TYPE(X,C) I, TYPE(3,C,F) W) -> (O) {"
       "  O(x,f) +=! (x+j-1 >= 0 && x+j-1 < 5 ? I(x+j-1,c) : 0) * W(j,c,f) where x in 0:X }",
       {{"X", 33}, {"C", 64}, {"F", 32}}},
      // Along the sum: of rows and of columns, in groups.
      {"def f(TYPE(X,C) I, TYPE(C,F) W) -> (O) { O(f,x) +=! (c >= 5 && c < 50 ? I(x,c) : 0) * W(c,f) where c in 0:C }",
       {{"X", 48}, {"C", 64}, {"F", 32}}},
      {"def f(TYPE(X) I, TYPE(C,F) W) -> (O) { O(x,f) +=! (c >= 5 && c < 50 ? W(c,f) : 0) * I(x+c) where x in 0:48, c "
       "in 0:C }",
       {{"X", 111}, {"C", 64}, {"F", 32}}},
      // One tap: loops that run once are not the ones that dot products take.
      {"def f(TYPE(N,Y,X,C) I, TYPE(F,C,KH,KW) W) -> (O) { O(n,y,x,f) +=! I(n,y+i,x+j,c) * W(f,c,i,j) }",
       {{"N", 1}, {"Y", 3}, {"X", 21}, {"C", 68}, {"F", 40}, {"KH", 1}, {"KW", 1}}},
      {"def f(TYPE(N,C,Y,X) I, TYPE(F,C,KH,KW) W) -> (O) { O(n,f,y,x) +=! I(n,c,y+i,x+j) * W(f,c,i,j) }",
       {{"N", 1}, {"Y", 3}, {"X", 37}, {"C", 64}, {"F", 48}, {"KH", 1}, {"KW", 1}}},
  }));
  auto program = typed(text, type, sizes);
  // Constants, packed beforehand, have no zeros to fill groups of 4 bytes up, and none beyond borders.
  const bool has_borders = text.find("? W(") != std::string::npos;
  const bool is_constant = GENERATE(false, true) && sizes.at("C") % 4 == 0 && !has_borders;
  program.tensors[program.inputs[1]].constant = is_constant;
  CAPTURE(text, type, is_constant);
  expect_right(program, default_schedule(program));
}

TEST_CASE("random schedules of tiles with borders compute what the reference does", "[property]") {
  const auto program =
      typed(kPadded2d, GENERATE("int8", "bfloat16"), {{"N", 2}, {"Y", 4}, {"X", 21}, {"C", 40}, {"F", 33}});
  expect_right_draws(program, 5, 3000, 8);
}

TEST_CASE("what padding leaves out is not added where a weight is infinite or no number", "[property]") {
  const auto program = typed(kPadded2d, "bfloat16", {{"N", 1}, {"Y", 6}, {"X", 20}, {"C", 64}, {"F", 32}});
  const auto schedule = default_schedule(program);
  REQUIRE(schedule.stages[0].nest().dot_tiles);
  auto inputs = reference::random_inputs(program, 7);
  // The tap above the first row: other rows' sums are infinite or no number, those of the first row numbers.
  const double special = GENERATE(test::kNan, test::kInfinity);
  auto& weights = inputs.at(program.inputs[1]);
  for (int64_t f = 0; f < 32; ++f) tensor::store_real(DType::BF16, weights.data.data(), f * 64 * 9, special);
  for (const auto& target : test::runnable({with_unit().text()}))
    test::KernelCheck(program, inputs, target).expect_right(schedule);
}

TEST_CASE("terms with other conditions have no tiles") {
  const auto program = test::bound_program(
      "def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! (k <= m ? A(m,k) : 0) * B(k,n) where m in 0:M }",
      {{"M", 64}, {"N", 64}, {"K", 64}});
  CHECK_FALSE(default_schedule(program).stages[0].nest().dot_tiles);
  test::KernelCheck(program).expect_right(search::Space(program, test::host(2)).default_schedule());
}

TEST_CASE("tiles of one kernel have one shape", "[property]") {
  const std::string text =
      "def f(bfloat16(M,K) X, bfloat16(K,N) W1, bfloat16(N,P) W2) -> (H, O) {"
      "  H(m,n) +=! X(m,k) * W1(k,n)\n O(m,p) +=! H(m,n) * W2(n,p) }";
  const auto tiled = [](const codegen::Schedule& schedule) {
    return schedule.stages[0].nest().dot_tiles + schedule.stages[1].nest().dot_tiles;
  };
  const auto alike = test::bound_program(text, {{"M", 64}, {"K", 128}, {"N", 128}, {"P", 128}});
  auto schedule = default_schedule(alike);
  REQUIRE(tiled(schedule) == 2);
  expect_right(alike, schedule);
  schedule.stages[1].nest().tiles[0] = {8};
  CHECK_FALSE(codegen::check(alike, schedule));
  const auto others = test::bound_program(text, {{"M", 37}, {"K", 72}, {"N", 80}, {"P", 48}});
  REQUIRE(tiled(default_schedule(others)) == 1);
  expect_right(others, default_schedule(others));
}

TEST_CASE("a schedule loses its tiles, and its many rows, where there is no unit") {
  const auto program = product("bfloat16", "bfloat16", 64, 128, 256);
  const auto schedule = default_schedule(program);
  REQUIRE(schedule.stages[0].nest().dot_tiles);
  auto target = with_unit();
  target.features.remove(codegen::Feature::Amx);
  const auto others = search::Space(program, target).transfer(program, schedule);
  REQUIRE_FALSE(others.empty());
  for (const auto& other : others) {
    REQUIRE(codegen::check_for(target, program, other));
    const auto& stage = other.stages[0].nest();
    CHECK(stage.tiles[0].back() * stage.tiles[1].back() / stage.lanes() <= target.vector_registers);
  }
}

TEST_CASE("tiles that a statement or a CPU does not have are refused") {
  const auto program = product("int8", "int8", 24, 96, 256);
  auto schedule = schedule_of_tiles(program);
  auto& stage = schedule.stages[0].nest();
  REQUIRE(stage.dot_tiles);
  REQUIRE(codegen::check(program, schedule));
  SECTION("no dot products") { stage.dot_product = false; }
  SECTION("of pairs") { stage.dot_pairs = true; }
  SECTION("vectors of half the columns") { stage.cpu().lanes = 8; }
  SECTION("no rows") { stage.tiles[0] = {1}; }
  SECTION("more than the registers hold") { stage.tiles = {{24}, {64}}; }
  SECTION("half a group in a block") { stage.reduction_block = {2}; }
  SECTION("rows packed across the sum") { stage.packings.push_back({0, 0, {0, 1}}); }
  CHECK_FALSE(codegen::check(program, schedule));
}

TEST_CASE("a schedule with tiles is for CPUs that have them alone") {
  const auto program = product("int8", "int8", 24, 96, 256);
  const auto schedule = schedule_of_tiles(program);
  auto target = with_unit();
  CHECK(codegen::check_for(target, program, schedule));
  target.features.remove(codegen::Feature::Amx);
  CHECK_FALSE(codegen::check_for(target, program, schedule));
}

}  // namespace tile_tune
