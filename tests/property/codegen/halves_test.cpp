// Statements on f16 and bf16 are computed in f32 and rounded once, by every schedule.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "codegen/target/host.h"
#include "frontend/tensor/convert.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/repeated.h"

namespace tile_tune {
namespace {

// a * a - c, where a * a lies 2^-14 (bf16) or 2^-20 (f16) above c, its nearest half.
struct Half {
  DType type;
  const char* name;
  double a, c, difference;
};
constexpr Half kHalves[] = {{DType::BF16, "bfloat16", 1 + 0x1p-7, 1 + 0x1p-6, 0x1p-14},
                            {DType::F16, "float16", 1 + 0x1p-10, 1 + 0x1p-9, 0x1p-20}};

tensor::Array filled(DType type, double value) {
  auto array = tensor::Array::zeros(type, {37});
  for (int64_t i = 0; i < 37; ++i) tensor::store_real(type, array.data.data(), i, value);
  return array;
}

// The first element of the last output, by the default and some random schedules, all of which must agree.
double computed(const std::string& text, const std::map<std::string, tensor::Array>& arrays) {
  CAPTURE(text);
  const ir::Program program = test::bound_program(text, {{"N", 37}});
  reference::Inputs inputs;
  for (const int input : program.inputs) inputs.emplace(input, arrays.at(program.tensors[input].name));
  const DType type = program.tensors[program.outputs.back()].type;
  test::KernelCheck check(program, inputs);
  const search::Space space(program, test::host(2));
  search::Rng rng(3);
  std::vector<codegen::Schedule> schedules{space.default_schedule()};
  for (int i = 0; i < 4; ++i) schedules.push_back(space.sample(rng).schedule);
  std::vector<double> results;
  for (const auto& schedule : schedules) {
    const auto outputs = check.outputs(schedule);
    for (int64_t i = 0; i < 37; ++i) results.push_back(tensor::load_real(type, outputs.back().data(), i));
  }
  for (const double result : results) CHECK(result == results.front());
  return results.front();
}

}  // namespace

TEST_CASE("a statement on halves is rounded once", "[property]") {
  for (const auto& [type, name, a, c, difference] : kHalves) {
    const std::string head = std::string("def f(") + name + "(N) A, " + name + "(N) C";
    const std::map<std::string, tensor::Array> inputs{{"A", filled(type, a)}, {"C", filled(type, c)}};
    CHECK(computed(head + ") -> (O) { O(i) = A(i) * A(i) - C(i) }", inputs) == difference);
    CHECK(computed(head + ") -> (float(N) O) { O(i) = A(i) * A(i) - C(i) }", inputs) == difference);
    CHECK(computed(head + ") -> (float(N) O) { O(i) = A(i) * A(i) }", inputs) == a * a);
    CHECK(computed(head + ") -> (O) { O(i) = fabs(-A(i) * A(i)) - C(i) }", inputs) == difference);
    CHECK(computed(head + ") -> (O) { O(i) = A(i) > 0.0 ? A(i) * A(i) - C(i) : C(i) }", inputs) == difference);
    // A cast rounds, and so does a statement of its own, also where a schedule computes it in place.
    CHECK(computed(head + ") -> (O) { O(i) = " + name + "(A(i) * A(i)) - C(i) }", inputs) == 0);
    CHECK(computed(head + ") -> (O) { T(i) = A(i) * A(i)  O(i) = T(i) - C(i) }", inputs) == 0);
    CHECK(computed(head + ") -> (O) { T(i) = A(i) * A(i)  U(i) = T(i) - C(i)  O(i) +=! U(j) where i in 0:37 }",
                   inputs) == 0);
    // Integers, and numbers, keep what f32 holds of them.
    CHECK(computed(head + ", int32(N) I) -> (O) { O(i) = A(i) * 0.0 + I(i) - 100001 + C(i) * 0.0 }",
                   {{"A", filled(type, a)},
                    {"C", filled(type, c)},
                    {"I", test::array_of(DType::I32, std::vector<int32_t>(37, 100003))}}) == 2);
    CHECK(computed(head + ") -> (O) { O(i) = (A(i) * 0.0 + C(i) * 0.0 + 1.0001 - 1.0) }", inputs) ==
          tensor::round_to(type, 1.0001f - 1.0f));
  }
}

TEST_CASE("a kernel that rounds every operation on halves is refused", "[property]") {
  for (const auto& half : kHalves) {
    const std::string name = half.name, head = "def f(" + name + "(N) A, " + name + "(N) C) -> (O) { O(i) = ";
    const ir::Sizes sizes{{"N", 2000}};
    const ir::Program once = test::bound_program(head + "A(i) * A(i) - C(i) }", sizes);
    const ir::Program each = test::bound_program(head + name + "(A(i) * A(i)) - C(i) }", sizes);
    test::KernelCheck check(once);
    CHECK(check(search::Space(once, test::host(2)).default_schedule()).verdict.outcome == search::Outcome::Ok);
    const auto refused = check(search::Space(each, test::host(2)).default_schedule(), each);
    CHECK(refused.error == "");
    CHECK(refused.verdict.outcome == search::Outcome::Wrong);
  }
}

TEST_CASE("nothing is printed where halves are compiled for CPUs that cannot convert them") {
  const ir::Program program =
      test::bound_program("def f(float16(N) A, bfloat16(N) B) -> (O) { O(i) = A(i) * B(i) }", {{"N", 37}});
  const auto target = codegen::resolve_target("x86-64-linux-sse41", 1).value();
  std::FILE* said = std::tmpfile();
  REQUIRE(said != nullptr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(said), STDERR_FILENO);
  const auto instructions = test::disassembly(program, search::Space(program, target).default_schedule(), target);
  dup2(before, STDERR_FILENO);
  close(before);
  std::fseek(said, 0, SEEK_END);
  CHECK(std::ftell(said) == 0);
  std::fclose(said);
  CHECK(instructions.find("ret") != std::string::npos);
}

}  // namespace tile_tune
