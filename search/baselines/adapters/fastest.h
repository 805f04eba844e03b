// What adapters choose with: several ways to one result.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "prelude.h"

namespace baseline {

inline void add_note(const std::string& text) { add_note(text.c_str()); }

/// Several ways to the same result: the first call tries all and keeps the fastest.
class Fastest {
 public:
  void add(std::string name, std::function<void()> way) { ways_.push_back({std::move(name), std::move(way)}); }
  bool empty() const { return ways_.empty(); }
  const std::string& name() const { return ways_[best_].name; }
  size_t number() const { return static_cast<size_t>(best_); }
  void operator()() {
    if (best_ < 0) choose();
    ways_[best_].run();
  }

 private:
  struct Way {
    std::string name;
    std::function<void()> run;
  };
  static double seconds(const std::function<void()>& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void choose() {
    constexpr int kTries = 7;
    double best = 1e30;
    for (size_t w = 0; w < ways_.size(); ++w) {
      seconds(ways_[w].run);  // threads start, pages are touched
      double shortest = 1e30;
      for (int attempt = 0; attempt < kTries && (attempt < 2 || shortest < 1.5 * best); ++attempt)
        shortest = std::min(shortest, seconds(ways_[w].run));
      if (shortest < best) best_ = static_cast<int>(w);
      best = std::min(best, shortest);
    }
  }
  std::vector<Way> ways_;
  int best_ = -1;
};

}  // namespace baseline
