// How a search stands, in one line.
#pragma once

#include <optional>
#include <string>

#include "search/evolve/events.h"

namespace tile_tune::cli {

struct Status {
  double began = 0;               // by search::now_seconds()
  std::optional<double> seconds;  // of the budget
  std::string task;               // of several: "2 of 12: conv2d"; empty: there is one
  std::string doing;              // what is being done or waited for
  std::optional<search::Progress> progress;
  double flops = 0;  // of the program; 0: the rate is not worth telling
  bool verbose = false;
};

/// "12/60 s  48 trials  best 3.08 µs  170 GFLOP/s  2.31x  5 s ago  1 wrong  compiling 3 of 4". Of what does not fit
/// into `columns` the least important goes first; what remains is cut.
std::string status_text(const Status& status, double now, size_t columns);

}  // namespace tile_tune::cli
