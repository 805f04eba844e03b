// Measures every member of a small grid of real schedules of a 512^3 f32 matrix product, once and for all, so that
// searches can be compared on it without any hardware (decision 22). Format: tests/unit/evolve/landscape.h.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "codegen/lower/compile.h"
#include "codegen/schedule/check.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/judge/buffers.h"
#include "search/judge/host_kernel.h"
#include "search/space/choices.h"
#include "search/timing/statistics.h"

namespace {

using namespace tile_tune;

constexpr int64_t kSize = 512;
constexpr int kThreads = 2;

struct Gene {
  std::string name;
  std::vector<int> values;
};

const std::vector<Gene> kGenes{
    {"rows", {1, 2, 4, 6, 8, 12, 14}}, {"vectors", {1, 2, 3, 4}}, {"row tiles", {1, 4}}, {"order", {0, 1}},
    {"parallel", {0, 1, 2}},           {"unroll", {1, 4}},        {"pack", {0, 1, 2}}};

// Two levels: blocks of "row tiles" register tiles; B packed a panel (1) or a register tile's worth (2).
codegen::NestSchedule schedule_of(const std::vector<int>& genome) {
  const auto value = [&](size_t gene) { return kGenes[gene].values[genome[gene]]; };
  const int64_t rows = value(0), columns = 16 * value(1);
  codegen::NestSchedule stage;
  stage.tiles = {{rows * value(2), rows}, {columns, columns}};
  stage.order = {value(3) == 0 ? std::vector{0, 1} : std::vector{1, 0}, {0, 1}};
  stage.cpu().parallel = value(4);
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {kSize};
  stage.reduction_unroll = {value(5)};
  if (value(6) != 0) stage.packings = {{1, std::max(value(6), stage.cpu().parallel), {1, 0}}};
  return stage;
}

template <typename T>
T require(Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << render(result.error());
  std::exit(1);
}

// Median nanoseconds of a call, the kernels of a group timed in turn.
std::vector<double> time_group(const std::vector<search::Kernel>& kernels, search::Buffers& buffers) {
  constexpr int kRounds = 7;
  std::vector<std::vector<double>> samples(kernels.size());
  for (int round = 0; round <= kRounds; ++round) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      const auto start = std::chrono::steady_clock::now();
      kernels[k](buffers.argv());
      const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
      if (round > 0) samples[k].push_back(elapsed.count());
    }
  }
  std::vector<double> result;
  for (auto& times : samples) result.push_back(search::median(times));
  return result;
}

}  // namespace

int main() {
  const auto parsed =
      require(tc::parse("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "f"));
  const auto program =
      ir::canonicalize(require(ir::bind(parsed.programs[0], {{"M", kSize}, {"N", kSize}, {"K", kSize}})));
  const auto target = require(codegen::resolve_target("host", kThreads));
  const std::filesystem::path directory = std::filesystem::temp_directory_path() / "tile-tune-landscape";
  std::filesystem::create_directories(directory);
  if (!codegen::compile_runtime(target, directory / "runtime.o")) return 1;
  require(search::Runtime::load(directory / "runtime.o", kThreads));
  search::Problem problem{program, reference::random_inputs(program, 1), {}, false, ""};
  search::Buffers buffers(problem, search::Flush::Begin);

  nlohmann::json genes = nlohmann::json::array(), points = nlohmann::json::array();
  for (const auto& gene : kGenes) genes.push_back({{"name", gene.name}, {"values", gene.values}});
  std::vector<std::vector<int>> group;
  std::vector<search::Kernel> kernels;
  int built = 0;
  const auto flush = [&] {
    const auto times = time_group(kernels, buffers);
    for (size_t k = 0; k < group.size(); ++k) {
      nlohmann::json point = group[k];
      point.push_back(std::round(times[k]));
      points.push_back(std::move(point));
    }
    group.clear();
    kernels.clear();
    std::cerr << points.size() << "\r";
  };
  std::function<void(std::vector<int>)> visit = [&](std::vector<int> genome) {
    if (genome.size() < kGenes.size()) {
      for (size_t value = 0; value < kGenes[genome.size()].values.size(); ++value) {
        auto next = genome;
        next.push_back(static_cast<int>(value));
        visit(next);
      }
      return;
    }
    const codegen::Schedule schedule{{schedule_of(genome)}};
    if (!codegen::check(program, schedule)) return;
    const auto object = directory / fmt::format("{}.o", built++);
    if (!codegen::compile_object(program, schedule, target, search::kKernelFunction, object)) return;
    kernels.push_back(require(search::Kernel::load(object)));
    std::filesystem::remove(object);
    group.push_back(genome);
    if (group.size() == 16) flush();
  };
  visit({});
  if (!group.empty()) flush();
  std::filesystem::remove_all(directory);
  // The default: 4 rows of one vector, one tile a block, no packing, both loops parallel.
  std::cout << nlohmann::json{{"name", "matmul 512^3 f32, two Zen 4 cores"},
                              {"genes", genes},
                              {"default", {2, 0, 0, 0, 2, 0, 0}},
                              {"points", points}}
            << "\n";
}
