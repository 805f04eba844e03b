#include "tests/property/programs/judge.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/describe.h"
#include "search/space/space.h"
#include "tests/property/programs/generator.h"

namespace tile_tune::test {
namespace {

std::string text(const ir::Program& program) {
  std::string result = ir::signature(program) + "\n";
  for (const auto& statement : program.statements) result += "  " + ir::to_text(program, statement) + "\n";
  return result;
}

void judge(const ir::Program& program, uint64_t seed, int schedules, const codegen::Target& target) {
  const search::Space space(program, target);
  KernelCheck check(program, target);
  search::Rng random(seed);
  for (int i = 0; i <= schedules; ++i) {
    const auto schedule = i == 0       ? space.default_schedule()
                          : i % 2 == 1 ? space.sample(random).schedule
                                       : space.mutate(space.default_schedule(), random).schedule;
    INFO(codegen::to_json(schedule).dump());
    CHECK(codegen::check(program, schedule).has_value());
    const auto result = check(schedule);
    CHECK(result.error == "");
    CHECK(result.verdict.reason == "");
  }
}

}  // namespace

void judge_random_programs(uint64_t first, int count, int schedules, Theme theme, const codegen::Target& target) {
  int accepted = 0;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(count); ++seed) {
    const auto random = random_program(seed, theme);
    if (!random) continue;
    ++accepted;
    // Kernels run in this process: what a crash leaves on the screen is the seed that it comes from.
    std::cerr << "random program " << seed << std::endl;
    INFO("seed " << seed << ": " << text(random->program));
    judge(random->program, seed, schedules, target);
  }
  CHECK(accepted >= count * 4 / 5);
}

}  // namespace tile_tune::test
