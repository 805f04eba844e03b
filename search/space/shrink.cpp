#include "search/space/shrink.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "codegen/schedule/runtime_sizes.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/validate.h"

namespace tile_tune::search {
namespace {

/// By number, the largest first.
using Smaller = std::map<int64_t, int64_t, std::greater<>>;

/// What follows for `number` from larger ones that are replaced already: n - 2 for the results of a window of 3, n / 2
/// for those of a pool.
std::optional<int64_t> follows(const Smaller& smaller, int64_t number) {
  constexpr int64_t kNear = 16, kMostParts = 4, kLeast = 2;
  for (const auto& [larger, replaced] : smaller) {
    const int64_t distance = larger - number;
    if (distance <= kNear && replaced - distance >= kLeast) return replaced - distance;
    for (int64_t parts = 2; parts <= kMostParts; ++parts) {
      if (replaced < kLeast * parts) continue;
      if (larger / parts == number) return replaced / parts;
      if ((larger + parts - 1) / parts == number) return (replaced + parts - 1) / parts;
    }
  }
  return std::nullopt;
}

Smaller smaller_numbers(const std::set<int64_t, std::greater<>>& numbers, const SmallSizes& small) {
  Smaller smaller;
  size_t next = 0;
  for (const int64_t number : numbers) {
    const auto related = follows(smaller, number);
    smaller[number] = related ? *related : std::min(number, small.primes[next++ % small.primes.size()]);
  }
  return smaller;
}

/// The ranges that the accesses and constraints allow, instead of those there are. False if nothing remains.
bool infer_ranges(ir::Program& program) {
  return std::all_of(program.statements.begin(), program.statements.end(), [&](ir::Statement& statement) {
    const auto empty = ir::infer_domain(program, statement);
    return empty && !*empty;
  });
}

}  // namespace

std::optional<ir::Program> shrunk(const ir::Program& bound, const SmallSizes& small) {
  ir::Program program = bound;
  std::set<int64_t, std::greater<>> numbers;
  codegen::for_each_number(program, [&](ir::SizeExpr& number) {
    const int64_t size = std::abs(number.constant().value());
    if (size > small.kept) numbers.insert(size);
  });
  const auto smaller = smaller_numbers(numbers, small);
  if (std::all_of(smaller.begin(), smaller.end(), [](const auto& one) { return one.first == one.second; }))
    return std::nullopt;
  codegen::for_each_number(program, [&](ir::SizeExpr& number) {
    const int64_t value = number.constant().value();
    if (const auto found = smaller.find(std::abs(value)); found != smaller.end())
      number = value < 0 ? -found->second : found->second;
  });
  auto checked = ir::bind(program, {});
  if (!checked && infer_ranges(program)) checked = ir::bind(program, {});
  if (!checked || !ir::validate(*checked)) return std::nullopt;
  return std::move(*checked);
}

}  // namespace tile_tune::search
