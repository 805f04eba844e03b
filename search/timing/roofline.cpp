#include "search/timing/roofline.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "codegen/schedule/dot_product.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLargestShare = 1.05;  // of a roof; what is beyond it says that the probe was disturbed

constexpr double kShortestProbeNs = 1e6, kLongestProbeNs = 20e6;

template <typename Call>
double time_ns(Call&& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// How long a probe takes undisturbed: of several tries, for one that was interrupted would make all later ones too
// short.
template <typename Call>
double shortest_ns(Call&& call) {
  constexpr int kTries = 5;
  double shortest = time_ns(call);
  for (int attempt = 1; attempt < kTries; ++attempt) shortest = std::min(shortest, time_ns(call));
  return shortest;
}

// The arithmetic probe that fits the program: dot products if all its reductions can be such, else widest_float().
DType arithmetic_type(const ir::Program& program) {
  std::optional<DType> dot;
  bool only_dots = true;
  for (const auto& statement : program.statements) {
    if (statement.reduction_indices().empty()) continue;
    const auto one = codegen::dot_product_type(statement);
    only_dots = only_dots && one && (!dot || dot == one);
    dot = one;
  }
  return only_dots && dot && codegen::has_dot_probe(*dot) ? *dot : widest_float(program);
}

GuardedBuffer touched_buffer(const char* name, double bytes) {
  GuardedBuffer buffer(name, static_cast<int64_t>(bytes), Flush::Begin);
  std::memset(buffer.data(), 1, static_cast<size_t>(buffer.size()));  // untouched pages would all be the one zero page
  return buffer;
}

}  // namespace

DType widest_float(const ir::Program& program) {
  DType type = DType::Bool;
  for (const auto& statement : program.statements) {
    if (statement.accumulator == DType::F64) return DType::F64;
    if (is_float(statement.accumulator)) type = DType::F32;
  }
  return type;
}

Roofline::Roofline(const ir::Program& program, const Runtime& runtime, double call_ns)
    : flops_(ir::flops(program)),
      read_bytes_(ir::traffic(program).read),
      written_bytes_(ir::traffic(program).written),
      type_(arithmetic_type(program)),
      threads_(runtime.threads()),
      parallel_for_(runtime.parallel_for()),
      source_(touched_buffer("the stream probe's source", read_bytes_)),
      sink_(touched_buffer("the stream probe's sink", written_bytes_)) {
  const double wanted_ns = std::clamp(call_ns, kShortestProbeNs, kLongestProbeNs);
  constexpr int64_t kTrial = 20000;  // iterations: 0.1 to 0.5 ms on cores that finish one or two FMAs a cycle
  if (type_ != DType::Bool) {
    run_fma(kTrial);
    const double trial_ns = shortest_ns([&] { run_fma(kTrial); });
    iterations_ = std::max<int64_t>(1, std::llround(kTrial * wanted_ns / trial_ns));
  }
  if (read_bytes_ + written_bytes_ > 0) choose_streams(wanted_ns);
}

// The form that is the fastest now: no kernel shall look better than what memory gives.
void Roofline::choose_streams(double wanted_ns) {
  double least_ns = std::numeric_limits<double>::infinity();
  codegen::StreamForm best;
  for (const auto& form : codegen::kStreamForms) {
    form_ = form;
    run_streams(1);
    const double ns = shortest_ns([&] { run_streams(1); });
    if (ns >= least_ns) continue;
    least_ns = ns;
    best = form;
  }
  form_ = best;
  passes_ = std::max<int64_t>(1, std::llround(wanted_ns / least_ns));
}

double Roofline::run_fma(int64_t iterations) { return codegen::fma_probe(type_, threads_, iterations, parallel_for_); }

double Roofline::run_streams(int64_t passes) {
  double bytes = 0;
  for (int64_t pass = 0; pass < passes; ++pass)
    bytes += codegen::stream_probe(source_.data(), source_.size(), sink_.data(), sink_.size(), form_, threads_,
                                   parallel_for_);
  return bytes;
}

double Roofline::flop_limit_ns() {
  if (iterations_ == 0) return 0;
  run_fma(1);  // wakes the threads: the probe is to find the peak, not the latency of a wake-up
  double done = 0;
  const double ns = time_ns([&] { done = run_fma(iterations_); });
  return flops_ * ns / done;
}

double Roofline::stream_limit_ns() {
  if (passes_ == 0) return 0;
  run_fma(1);
  double moved = 0;
  const double ns = time_ns([&] { moved = run_streams(passes_); });
  return moved > 0 ? (read_bytes_ + written_bytes_) * ns / moved : 0;
}

bool beyond_roof(const Timing& timing, bool from_memory) {
  if (timing.flop_fractions.empty()) return false;
  if (median(timing.flop_fractions) > kLargestShare) return true;
  return from_memory && median(timing.bandwidth_fractions) > kLargestShare;
}

void keep_below_roof(Timing& timing, bool from_memory) {
  std::vector<double> flop, bandwidth;
  for (size_t round = 0; round < timing.flop_fractions.size(); ++round) {
    const double of_peak = timing.flop_fractions[round], of_bandwidth = timing.bandwidth_fractions[round];
    if (of_peak > kLargestShare || (from_memory && of_bandwidth > kLargestShare)) continue;
    flop.push_back(of_peak);
    bandwidth.push_back(of_bandwidth);
  }
  timing.flop_fractions = std::move(flop);
  timing.bandwidth_fractions = std::move(bandwidth);
}

}  // namespace tile_tune::search
