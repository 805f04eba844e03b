// Work that is shared out: elements among threads, terms of a sum among partial sums.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <limits>
#include <thread>

#include "tests/unit/reference/programs.h"

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

// o(i,j) = A(i,j) - max_j A(i,j) and q(j) = sum_i A(i,j): some 0.1 s of one core, so that every core gets a part.
struct Shared {
  static constexpr int64_t kRows = 1201, kColumns = 997;
  Builder b;
  int a = b.input(DType::F32, {kRows, kColumns});
  int most = b.tensor(Role::Temporary, DType::F32, {kRows});
  int o = b.output(DType::F32, {kRows, kColumns}), q = b.output(DType::F32, {kColumns});

  Shared() {
    b.add(most, {at(0)}, {{0, kRows}, {0, kColumns}}, Aggregation::Max, b.read(a, {at(0), at(1)}));
    b.add(o, {at(0), at(1)}, {{0, kRows}, {0, kColumns}}, Aggregation::Assign,
          call(Op::Sub, {b.read(a, {at(0), at(1)}), b.read(most, {at(0)})}));
    b.add(q, {at(0)}, {{0, kColumns}, {0, kRows}}, Aggregation::Sum, b.read(a, {at(1), at(0)}));
  }
};

// The most threads that this process has at any time that it is looked at, until `done`.
std::ptrdiff_t most_threads(const std::atomic<bool>& done) {
  std::ptrdiff_t most = 0;
  while (!done) {
    const std::filesystem::directory_iterator threads("/proc/self/task");
    most = std::max(most, std::distance(begin(threads), end(threads)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return most;
}

// Of the CPUs that this thread may use it has the first alone while this lives.
class OneCpu {
 public:
  OneCpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

TEST_CASE("the reference keeps to the CPUs that its caller may use") {
  const Shared shared;
  const Inputs inputs = random_inputs(shared.b.program(), 1);
  const auto everywhere = evaluate(shared.b.program(), inputs);
  std::atomic<bool> done = false;
  auto most = std::async(std::launch::async, [&] { return most_threads(done); });
  const OneCpu one;
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  const auto here = evaluate(shared.b.program(), inputs);
  done = true;
  const int allowed = CPU_COUNT(&set);  // of three that are pretended all remain
  CHECK(most.get() <= 1 + allowed);
  REQUIRE((everywhere && here));
  for (size_t output = 0; output < 2; ++output) {
    CHECK(here->at(output).values == everywhere->at(output).values);
    CHECK(here->at(output).elements == everywhere->at(output).elements);
  }
}

TEST_CASE("every element of every output of a large program is there once, in order") {
  const Shared shared;
  Inputs inputs = random_inputs(shared.b.program(), 1);
  auto* a = inputs.at(shared.a).as<float>();
  for (int64_t i = 0; i < Shared::kRows * Shared::kColumns; ++i) a[i] = std::round(a[i] * 100);
  const auto result = evaluate(shared.b.program(), inputs);
  REQUIRE(result);
  const Expected &differences = result->at(0), &sums = result->at(1);
  REQUIRE(differences.values.size() == Shared::kRows * Shared::kColumns);
  REQUIRE(differences.tolerances.size() == differences.values.size());
  REQUIRE(sums.values.size() == Shared::kColumns);
  std::vector<double> columns(Shared::kColumns);
  int64_t wrong = 0;
  for (int64_t i = 0; i < Shared::kRows; ++i) {
    double most = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < Shared::kColumns; ++j) most = std::max<double>(most, a[i * Shared::kColumns + j]);
    for (int64_t j = 0; j < Shared::kColumns; ++j) {
      const int64_t element = i * Shared::kColumns + j;
      columns[j] += a[element];
      wrong += differences.elements[element] != element || differences.values[element] != a[element] - most;
    }
  }
  CHECK(wrong == 0);
  CHECK(sums.values == columns);
  for (int64_t j = 0; j < Shared::kColumns; ++j) wrong += sums.elements[j] != j;
  CHECK(wrong == 0);
}

TEST_CASE("what leaves its tensor is noticed in every part of a large program") {
  constexpr int64_t kCount = 4'000'000;
  Builder b;
  const int table = b.input(DType::F32, {3}), idx = b.input(DType::I32, {kCount}), o = b.output(DType::F32, {kCount});
  b.add(o, {at(0)}, {{0, kCount}}, Aggregation::Assign, b.read(table, {b.read(idx, {at(0)})}));
  for (const int64_t bad : {int64_t{0}, kCount / 2, kCount - 1}) {
    Inputs inputs = random_inputs(b.program(), 1);
    inputs.at(idx).as<int32_t>()[bad] = 7;
    const auto result = evaluate(b.program(), inputs);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "gather-out-of-range");
    CHECK(result.error().message ==
          "index t1(i) of t0 is 7 at i = " + std::to_string(bad) + ", but dimension 0 of t0 has extent 3");
  }
}

TEST_CASE("sums of products of any length have every term once, also where terms cancel") {
  for (int64_t k = 0; k <= 13; ++k) {
    const auto program = matmul(1, 1, k);
    std::vector<float> terms, ones(static_cast<size_t>(k), 1.0f);
    for (int64_t i = 0; i < k; ++i) terms.push_back(static_cast<float>(1 << i));
    CHECK(evaluate_one(program, {{0, f32({1, k}, terms)}, {1, f32({k, 1}, ones)}}).values ==
          std::vector<double>{static_cast<double>((1 << k) - 1)});
    for (int64_t high = 0; high < k; ++high)
      for (int64_t low = 0; low < k; ++low) {
        if (low == high) continue;
        auto cancelling = terms;
        cancelling[static_cast<size_t>(high)] = 1e30f;
        cancelling[static_cast<size_t>(low)] = -1e30f;
        const double rest = (1 << k) - 1 - (1 << high) - (1 << low);
        CHECK(evaluate_one(program, {{0, f32({1, k}, cancelling)}, {1, f32({k, 1}, ones)}}).values ==
              std::vector<double>{rest});
      }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto sum = [](std::vector<float> terms) {
    const auto k = static_cast<int64_t>(terms.size());
    return evaluate_one(matmul(1, 1, k),
                        {{0, f32({1, k}, terms)}, {1, f32({k, 1}, std::vector<float>(terms.size(), 1))}})
        .values.front();
  };
  CHECK(sum({1, 2, kInfinity, 3, 4, 5}) == kInfinity);
  CHECK(std::isnan(sum({1, 2, kInfinity, 3, 4, -kInfinity})));
}
