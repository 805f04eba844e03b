// What constraints leave out of a statement is neither added, nor read, nor taken for a place in the target. The
// programs are the smallest of random ones whose kernels once went wrong.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/scan.h"
#include "frontend/ir/json.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using nlohmann::json;

json index(const char* name, int64_t lo, int64_t hi) {
  return {{"name", name}, {"lo", lo}, {"hi", hi}, {"reason", ""}};
}

json affine(int64_t constant, const std::vector<std::pair<int, int64_t>>& terms) {
  return {{"constant", constant}, {"terms", terms}};
}

json described(const char* name, const char* role, const std::vector<int64_t>& extents, const char* layout = "row") {
  return {{"name", name}, {"role", role}, {"extents", extents}, {"layout", layout}, {"type", "f32"}};
}

/// Of one statement; the last tensor is the output, the others are inputs.
ir::Program program_of(json statement, const json& tensors) {
  const size_t output = tensors.size() - 1;
  json inputs = json::array();
  for (size_t t = 0; t < output; ++t) inputs.push_back(t);
  statement.update({{"accumulator", "f32"}, {"op", "sum"}, {"target", output}});
  const auto program = ir::program_from_json({{"format", 1},
                                              {"kind", "program"},
                                              {"name", "p"},
                                              {"sizes", json::array()},
                                              {"inputs", inputs},
                                              {"outputs", {output}},
                                              {"statements", {statement}},
                                              {"tensors", tensors}});
  if (!program) FAIL(program.error().message);
  return *program;
}

void check_with(const ir::Program& program, const char* stage) {
  const auto schedule = codegen::schedule_from_json(
      json::parse(std::string(R"({"kind":"schedule","version":2,"stages":[)") + stage + "]}"));
  REQUIRE(schedule.has_value());
  test::KernelCheck(program).expect_right(*schedule);
}

}  // namespace

TEST_CASE("running totals leave out what a condition on the index does", "[property]") {
  // O(i) += k >= 3 ? I(k) : 0, for k <= i
  const json condition = {{"call", "ge"},
                          {"type", "bool"},
                          {"arguments", {{{"index", 1}, {"type", "i64"}}, {{"literal", 3}, {"type", "i64"}}}}};
  const json read = {{"read", 0}, {"type", "f32"}, {"subscripts", {affine(0, {{1, 1}})}}};
  const json value = {
      {"call", "select"}, {"type", "f32"}, {"arguments", {condition, read, {{"literal", 0.0}, {"type", "f32"}}}}};
  const auto program = program_of({{"indices", {index("i", 0, 71), index("k", 0, 71)}},
                                   {"constraints", {{{"bound", 71}, {"expr", affine(0, {{0, 1}, {1, -1}})}}}},
                                   {"subscripts", {affine(0, {{0, 1}})}},
                                   {"value", value}},
                                  {described("I", "input", {71}), described("O", "output", {71})});
  const auto schedule = search::Space(program, test::host(2)).default_schedule();
  REQUIRE(schedule.stages[0].nest().scan);
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("sums onto a caller's buffer read it inside only", "[property]") {
  // O(2*o + p) += a for p + 2*o < 17, of which o = 8 has no second phase
  const json value = {{"read", 1}, {"type", "f32"}, {"subscripts", json::array()}};
  const auto program = program_of(
      {{"indices", {index("o", 0, 9), index("p", 0, 2), index("k", 0, 3)}},
       {"constraints",
        {{{"bound", 7}, {"expr", affine(0, {{0, 1}, {2, -1}})}},
         {{"bound", 5}, {"expr", affine(0, {{1, 1}, {2, 2}})}}}},
       {"previous", 0},
       {"subscripts", {affine(0, {{0, 2}, {1, 1}})}},
       {"value", value}},
      {described("before", "input", {17}), described("a", "input", {}), described("O", "output", {17}, "col")});
  test::KernelCheck(program).expect_right(search::Space(program, test::host(2)).default_schedule());
}

TEST_CASE("copies hold no more than valid terms read", "[property]") {
  // Of rows 2k - 2, k = 1, ..., 4, those with k <= 2: 3 of the 7, less than a vector of the copy.
  const json value = {{"read", 0}, {"type", "f32"}, {"subscripts", {affine(-2, {{1, 2}}), affine(2, {{0, 1}})}}};
  const auto program = program_of({{"indices", {index("i", 0, 8), index("k", 1, 5)}},
                                   {"constraints", {{{"bound", 2}, {"expr", affine(-1, {{1, 1}})}}}},
                                   {"subscripts", {affine(0, {{0, 1}})}},
                                   {"value", value}},
                                  {described("I", "input", {7, 10}, "col"), described("O", "output", {8})});
  check_with(program, R"({"lanes":4,"order":[[0]],"packings":[{"depth":0,"operand":0,"order":[1,0]}],"parallel":0,
                          "reduction_block":[4],"reduction_order":[0],"reduction_unroll":[1],"tiles":[[8]],
                          "vector_loop":0})");
}

}  // namespace tile_tune
