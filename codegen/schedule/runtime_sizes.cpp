#include "codegen/schedule/runtime_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/decisions.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/fusion.h"
#include "codegen/schedule/masked_vector.h"
#include "frontend/ir/json.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::codegen {
namespace {

std::vector<int64_t> numbers_of(ir::Program program) {
  std::vector<int64_t> numbers;
  for_each_number(program, [&](ir::SizeExpr& number) { numbers.push_back(number.constant().value_or(0)); });
  return numbers;
}

/// The program but for its numbers.
std::string form_of(ir::Program program) {
  for_each_number(program, [](ir::SizeExpr& number) { number = 0; });
  for (auto& statement : program.statements) {
    statement.place.reset();
    for (auto& index : statement.indices) index.reason.clear();
  }
  return ir::to_json(program).dump();
}

/// Number of an extent in for_each_number()'s order.
size_t number_of_extent(const ir::Program& program, int tensor, size_t dimension) {
  size_t number = dimension;
  for (int t = 0; t < tensor; ++t) number += program.tensors[t].extents.size();
  return number;
}

/// What is known of the numbers of a program: at some sizes, and how they rise with each.
struct Numbers {
  std::vector<int64_t> at, values;           // the sizes, and the numbers there
  std::vector<std::vector<int64_t>> slopes;  // by size and number

  int64_t expected(size_t number, const std::vector<int64_t>& sizes) const {
    int64_t value = values[number];
    for (size_t k = 0; k < sizes.size(); ++k) value += slopes[k][number] * (sizes[k] - at[k]);
    return value;
  }
};

/// An extent of an input that is size k and nothing else.
std::optional<RuntimeSize> with_source(const ir::Program& program, const Numbers& numbers, size_t k) {
  for (const int tensor : program.inputs)
    for (size_t d = 0; d < program.tensors[tensor].extents.size(); ++d) {
      const size_t number = number_of_extent(program, tensor, d);
      bool is_size = numbers.values[number] == numbers.at[k];
      for (size_t other = 0; other < numbers.slopes.size(); ++other)
        is_size = is_size && numbers.slopes[other][number] == (other == k ? 1 : 0);
      if (is_size) return RuntimeSize{tensor, static_cast<int>(d), numbers.slopes[k]};
    }
  return std::nullopt;
}

bool varies(const ir::SizeExpr& number) { return !number.constant(); }

bool shrinks(const ir::SizeExpr& number) {
  return std::any_of(number.terms().begin(), number.terms().end(),
                     [](const auto& term) { return term.coefficient < 0; });
}

tl::unexpected<Diagnostic> invalid(const std::string& what) {
  return fail(ErrorClass::Program, "invalid-schedule",
              fmt::format("the schedule for sizes known at run time does not fit this program: {}", what));
}

bool constraints_vary(const ir::Statement& named) {
  return std::any_of(named.constraints.begin(), named.constraints.end(), [](const ir::Constraint& constraint) {
    return varies(constraint.bound) || varies(constraint.expr.constant);
  });
}

/// Elements whose being written depends on a search or on clamps that know numbers only.
bool tests_assignments(const ir::Statement& statement) {
  if (statement.constraints.empty()) return false;
  if (statement.reduction_indices().empty() || statement.op == ir::Aggregation::Assign) return true;
  return !statement.previous && (statement.unwritten || statement.op != ir::Aggregation::Sum);
}

Result<void> check_ranges(const ir::Program& program, const ir::Program& named, size_t number) {
  const auto& statement = program.statements[number];
  const auto& with_sizes = named.statements[number];
  const Loops loops = loops_of(program, statement);
  if (!loops.direct) return invalid("it writes through subscripts that are no plain indices");
  for (size_t p = 0; p < loops.output.size(); ++p) {
    const auto& index = with_sizes.indices[loops.output_index[p]];
    const auto& extent = named.tensors[statement.target].extents[p];
    const auto& shift = with_sizes.subscripts[p].constant;
    if (varies(shift) || varies(index.lo)) return invalid("what it writes begins at a place that depends on a size");
    if (!varies(extent) && !varies(index.hi)) continue;
    if (shrinks(extent)) return invalid("a dimension shrinks while a size grows");
    if (!(index.hi + shift == extent) || !(index.lo + shift == ir::SizeExpr(0)))
      return invalid("it does not write all of a dimension that depends on a size");
  }
  for (const int index : statement.reduction_indices())
    if (varies(with_sizes.indices[index].lo) || shrinks(with_sizes.indices[index].hi))
      return invalid("a range begins at a place that depends on a size, or shrinks while that grows");
  if (constraints_vary(with_sizes) && tests_assignments(statement))
    return invalid("which elements are written depends on a size");
  return {};
}

/// Reduction loops whose extent depends on a size.
std::vector<bool> varying_reductions(const ir::Program& named, size_t number, const Loops& loops) {
  std::vector<bool> varying;
  for (const int index : loops.reduction_index) varying.push_back(varies(named.statements[number].indices[index].hi));
  return varying;
}

bool needs_numbers(const NestSchedule& stage) {
  bool needs = stage.is_gpu();
  for_each_decision_of(
      stage, [&](const auto& decision) { needs |= decision.traits.needs_numbers && !decision.has_default(stage); });
  return needs;
}

bool has_varying_masked_vector(const ir::Program& named, size_t number, const Loops& loops, const NestSchedule& stage) {
  return loops.direct && has_masked_vector(loops, stage) &&
         varies(named.tensors[named.statements[number].target].extents[stage.cpu().vector_loop]);
}

Result<void> check_stage_sizes(const ir::Program& program, const ir::Program& named, size_t number,
                               const NestSchedule& stage, bool guarded) {
  const Loops loops = loops_of(program, program.statements[number]);
  if (needs_numbers(stage)) return invalid("a stage has a form that needs numbers");
  if (!guarded && has_varying_masked_vector(named, number, loops, stage))
    return invalid("a vector is longer than a loop over a size");
  const auto varying = varying_reductions(named, number, loops);
  for (size_t r = 0; r < varying.size(); ++r) {
    if (!varying[r]) continue;
    // In vector lanes whole vectors come first, then what is left.
    const bool in_lanes = stage.cpu().vector_loop == static_cast<int>(loops.output.size() + r);
    if ((!in_lanes && stage.reduction_unroll[r] != 1) || (in_lanes && guarded) ||
        stage.reduction_block[r] != std::max<int64_t>(loops.reduction[r], 1))
      return invalid("a reduction over a size is cut into pieces");
  }
  return {};
}

/// An epilogue's elements are those of its reduction at every size.
Result<void> check_epilogues(const ir::Program& program, const ir::Program& named, const Schedule& schedule) {
  const Fusion fusion(program, schedule);
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto* epilogue = schedule.stages[s].epilogue();
    if (!epilogue) continue;
    const int host = epilogue->of;
    const auto loops = fusion.epilogue_loops(static_cast<int>(s), host);
    if (!loops) return invalid("an epilogue is none");
    const auto& own = named.tensors[named.statements[s].target].extents;
    const auto& hosts = named.tensors[named.statements[host].target].extents;
    for (size_t q = 0; q < loops->size(); ++q)
      if (!(own[q] == hosts[(*loops)[q]])) return invalid("an epilogue has other sizes than its reduction");
  }
  return {};
}

}  // namespace

void for_each_number(ir::Program& program, const std::function<void(ir::SizeExpr&)>& visit) {
  for (auto& tensor : program.tensors)
    for (auto& extent : tensor.extents) visit(extent);
  for (auto& statement : program.statements) {
    for (auto& index : statement.indices) {
      visit(index.lo);
      visit(index.hi);
    }
    for (auto& constraint : statement.constraints) visit(constraint.bound);
    ir::rewrite(statement, {[&](ir::AffineExpr& expr) { visit(expr.constant); },
                            [&](ir::Expr& expr) {
                              if (auto* size = std::get_if<ir::SizeValue>(&expr.node)) visit(size->size);
                            }});
  }
}

Result<std::vector<RuntimeSize>> find_runtime_sizes(const ProgramAt& program_at, const std::vector<std::string>& names,
                                                    const std::vector<std::vector<int64_t>>& tried) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorClass::Program, "no-size-range", fmt::format("one kernel cannot compute many sizes: {}", why));
  };
  const auto& at = tried.front();
  TILE_TUNE_TRY(program, program_at(at));
  const std::string form = form_of(program);
  Numbers numbers{at, numbers_of(program), {}};
  for (size_t k = 0; k < at.size(); ++k) {
    auto next = at;
    ++next[k];
    TILE_TUNE_TRY(other, program_at(next));
    const auto others = numbers_of(other);
    if (form_of(other) != form || others.size() != numbers.values.size())
      return refuse(fmt::format("the program has another form at {}={} than at {}", names[k], next[k], at[k]));
    numbers.slopes.emplace_back();
    for (size_t i = 0; i < others.size(); ++i) numbers.slopes.back().push_back(others[i] - numbers.values[i]);
  }
  for (const auto& sizes : tried) {
    TILE_TUNE_TRY(other, program_at(sizes));
    const auto others = numbers_of(other);
    std::vector<std::string> words;
    for (size_t k = 0; k < sizes.size(); ++k) words.push_back(fmt::format("{}={}", names[k], sizes[k]));
    const std::string here = fmt::format("{}", fmt::join(words, " "));
    if (form_of(other) != form || others.size() != numbers.values.size())
      return refuse(fmt::format("the program has another form at {}", here));
    for (size_t n = 0; n < others.size(); ++n)
      if (others[n] != numbers.expected(n, sizes))
        return refuse(fmt::format("an extent or a bound does not grow evenly with the size, up to {}", here));
  }
  std::vector<RuntimeSize> sizes;
  for (size_t k = 0; k < at.size(); ++k) {
    auto size = with_source(program, numbers, k);
    if (!size) return refuse(fmt::format("no input has {} elements along a dimension", names[k]));
    sizes.push_back(std::move(*size));
  }
  return sizes;
}

std::string runtime_name(size_t k) { return fmt::format("runtime{}", k); }

ir::Program with_names(const ir::Program& program, const RuntimeSizes& runtime) {
  ir::Program named = program;
  size_t number = 0;
  for_each_number(named, [&](ir::SizeExpr& value) {
    for (size_t k = 0; k < runtime.sizes.size(); ++k) {
      const auto& size = runtime.sizes[k];
      const int64_t slope = number < size.slopes.size() ? size.slopes[number] : 0;
      const int64_t at = ir::extent(program.tensors[size.tensor], static_cast<size_t>(size.dimension));
      if (slope != 0) value = value + ir::SizeExpr(slope) * (ir::SizeExpr::name(runtime_name(k)) - ir::SizeExpr(at));
    }
    ++number;
  });
  for (size_t k = 0; k < runtime.sizes.size(); ++k) named.sizes.push_back(runtime_name(k));
  return named;
}

Result<void> check_size_sources(const ir::Program& program, const RuntimeSizes& runtime) {
  const size_t count = numbers_of(program).size();
  for (size_t k = 0; k < runtime.sizes.size(); ++k) {
    const auto& size = runtime.sizes[k];
    const bool is_input = std::count(program.inputs.begin(), program.inputs.end(), size.tensor) == 1;
    if (!is_input || size.dimension < 0 ||
        size.dimension >= static_cast<int>(program.tensors[size.tensor].extents.size()) || size.slopes.size() != count)
      return invalid("a size is no extent of an input");
    const size_t source = number_of_extent(program, size.tensor, static_cast<size_t>(size.dimension));
    for (size_t other = 0; other < runtime.sizes.size(); ++other) {
      const auto& slopes = runtime.sizes[other].slopes;
      if (source >= slopes.size() || slopes[source] != (other == k ? 1 : 0))
        return invalid("a size does not follow from the extent it is read off");
    }
    // Far beyond any size that fits into memory, and small enough that products of two fit into 64 bits.
    for (const int64_t slope : size.slopes)
      if (slope > INT32_MAX || slope < -INT32_MAX) return invalid("a number rises too steeply with a size");
  }
  return {};
}

Result<void> check_runtime_sizes(const ir::Program& program, const Schedule& schedule) {
  if (schedule.runtime.sizes.empty()) return {};
  for (const auto& tensor : program.tensors)
    if (tensor.constant) return invalid("a packed constant has the form of one size");
  const ir::Program named = with_names(program, schedule.runtime);
  for (size_t s = 0; s < program.statements.size(); ++s) {
    TILE_TUNE_CHECK(check_ranges(program, named, s));
    const auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    TILE_TUNE_CHECK(check_stage_sizes(program, named, s, *nest, schedule.runtime.guarded));
    if (schedule.runtime.guarded && !nest->packings.empty()) return invalid("copies of what lies beyond a border");
  }
  return check_epilogues(program, named, schedule);
}

Result<Schedule> for_all_sizes(const ir::Program& program, Schedule schedule, std::vector<RuntimeSize> sizes,
                               bool guarded) {
  if (schedule.collapsed) return invalid("a schedule of collapsed dimensions is for one size");
  schedule.runtime = {std::move(sizes), guarded};
  const ir::Program named = with_names(program, schedule.runtime);
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    if (!schedule.stages[s].find_nest()) continue;
    auto& stage = schedule.stages[s].nest();
    if (stage.is_gpu()) return invalid("kernels of a GPU are for one size");
    const Loops loops = loops_of(program, program.statements[s]);
    const auto varying = varying_reductions(named, s, loops);
    if (has_varying_masked_vector(named, s, loops, stage)) stage = without_masked_vector(loops, std::move(stage));
    if (stage.parallel_reduction) {
      const auto r = static_cast<size_t>(stage.parallel_reduction->loop);
      stage.parallel_reduction.reset();
      stage.reduction_block[r] = std::max<int64_t>(loops.reduction[r], 1);
      stage.reduction_unroll[r] = 1;
    }
    for (size_t r = 0; r < varying.size(); ++r) {
      if (!varying[r]) continue;
      const bool in_lanes = stage.cpu().vector_loop == static_cast<int>(loops.output.size() + r);
      stage.reduction_block[r] = std::max<int64_t>(loops.reduction[r], 1);
      if (!in_lanes || guarded) stage.reduction_unroll[r] = 1;
      if (!in_lanes || !guarded) continue;
      stage.cpu().vector_loop = -1;  // sizes may be smaller than a vector
      stage.cpu().lanes = 1;
    }
    if (stage.dot_product) stage = without_dot_product(std::move(stage), static_cast<int>(loops.output.size()));
    for_each_decision_of(stage, [&](const auto& decision) {
      if (decision.traits.needs_numbers) decision.in(stage) = {};
    });
    if (guarded) stage.packings.clear();
    for (auto& packing : stage.packings) packing.depth = std::max(packing.depth, 0);
  }
  TILE_TUNE_CHECK(check(program, schedule));
  return schedule;
}

std::vector<int64_t> extents_for_guarded_tiles(const ir::Program& program, const Schedule& schedule, int owner,
                                               std::vector<int64_t> extents) {
  const ir::Program named = with_names(program, schedule.runtime);
  const auto& stage = schedule.stages[owner].nest();
  const auto& target = named.tensors[program.statements[owner].target];
  for (size_t p = 0; p < extents.size() && p < target.extents.size() && p < stage.tiles.size(); ++p)
    if (varies(target.extents[p]) && !stage.tiles[p].empty()) extents[p] = std::max(extents[p], stage.tiles[p].front());
  return extents;
}

bool serves(const ir::Program& program, const Schedule& schedule, const std::vector<int64_t>& values) {
  if (schedule.runtime.sizes.empty()) return false;
  if (schedule.runtime.guarded) return true;
  const ir::Program named = with_names(program, schedule.runtime);
  ir::Sizes sizes;
  for (size_t k = 0; k < values.size(); ++k) sizes[runtime_name(k)] = values[k];
  const auto is_less = [&](const ir::SizeExpr& number, int64_t least) {
    const auto bound = number.bind(sizes);
    return !bound || bound->constant().value_or(0) < least;
  };
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    if (!schedule.stages[s].find_nest()) continue;
    const auto& stage = schedule.stages[s].nest();
    const Loops loops = loops_of(program, program.statements[s]);
    const auto& extents = named.tensors[program.statements[s].target].extents;
    for (size_t p = 0; p < loops.output.size(); ++p)
      if (varies(extents[p]) && is_less(extents[p], stage.tiles[p].front())) return false;
    const int lanes_loop = stage.cpu().vector_loop - static_cast<int>(loops.output.size());
    if (lanes_loop < 0) continue;
    const auto& index = named.statements[s].indices[loops.reduction_index[lanes_loop]];
    if (varies(index.hi) &&
        is_less(index.hi - index.lo, int64_t{stage.cpu().lanes} * stage.reduction_unroll[lanes_loop]))
      return false;
  }
  return true;
}

}  // namespace tile_tune::codegen
