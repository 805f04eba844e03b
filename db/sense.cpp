#include "db/sense.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace tile_tune::db {
namespace {

// Bounds far beyond what anybody measures, and far below what breaks who reads or plots it. Thirty years:
constexpr double kMostNs = 1e18, kMostMs = 1e12, kMostSeconds = 1e9;
constexpr double kMostWork = 1e24;   // FLOP or bytes: what an exascale machine does in ten days
constexpr double kMostRatio = 1e9;   // to the default schedule's speed
constexpr double kMostOfPeak = 1e3;  // a roof measured too low leaves room above 1
constexpr int kMostThreads = 1'000'000;
constexpr int kMostTrials = 1'000'000'000;  // more than anybody tries; a number that is counted on from must leave room
constexpr size_t kMostSamples = 1'000'000, kMostParents = 1'000;

struct Field {
  const char* name;
  double value, most;
};

std::string out_of_range(const Field& field) {
  if (field.value >= 0 && field.value <= field.most) return "";
  return fmt::format("its field \"{}\" is {}, which is not between 0 and {}", field.name, field.value, field.most);
}

/// Numbers that may be unknown, which NaN says.
std::string out_of_range(std::initializer_list<Field> fields) {
  for (const Field& field : fields)
    if (auto complaint = std::isnan(field.value) ? std::string() : out_of_range(field); !complaint.empty())
      return complaint;
  return "";
}

/// Where both ends and the middle are known.
std::string outside_interval(const TrialRow& row) {
  const bool known = row.ratio_lo > 0 && row.ratio > 0 && row.ratio_hi > 0;
  if (!known || (row.ratio_lo <= row.ratio && row.ratio <= row.ratio_hi)) return "";
  return fmt::format("its field \"ratio\" is {}, which is not between \"ratio_lo\", {}, and \"ratio_hi\", {}",
                     row.ratio, row.ratio_lo, row.ratio_hi);
}

std::string too_many(const char* name, size_t count, size_t most) {
  return count <= most ? "" : fmt::format("its field \"{}\" has {} values, more than {}", name, count, most);
}

std::string first_of(std::initializer_list<std::string> complaints) {
  for (const std::string& one : complaints)
    if (!one.empty()) return one;
  return "";
}

}  // namespace

std::string nonsense_in(const ProgramRow& row) {
  return out_of_range({{"flops", row.flops, kMostWork}, {"bytes", row.bytes, kMostWork}});
}

std::string nonsense_in(const TargetRow& row) {
  const int threads = row.machine.threads;
  if (threads >= 1 && threads <= kMostThreads) return "";
  return fmt::format("its field \"threads\" is {}, which is not between 1 and {}", threads, kMostThreads);
}

std::string nonsense_in(const ToolRow& row) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return out_of_range({{"schedule_version", static_cast<double>(row.schedule_version), kMost},
                       {"protocol_version", static_cast<double>(row.protocol_version), kMost}});
}

std::string nonsense_in_result(const TrialRow& row) {
  return first_of({out_of_range({{"median_ns", row.median_ns, kMostNs},
                                 {"ratio", row.ratio, kMostRatio},
                                 {"ratio_lo", row.ratio_lo, kMostRatio},
                                 {"ratio_hi", row.ratio_hi, kMostRatio},
                                 {"peak_fraction", row.peak_fraction, kMostOfPeak},
                                 {"peak_fraction_lo", row.peak_fraction_lo, kMostOfPeak},
                                 {"peak_fraction_hi", row.peak_fraction_hi, kMostOfPeak}}),
                   outside_interval(row)});
}

std::string nonsense_in(const TrialRow& row) {
  constexpr double kAny = std::numeric_limits<double>::infinity();  // of a wrong result
  std::string samples = too_many("samples_ns", row.samples_ns.size(), kMostSamples);
  for (size_t i = 0; i < row.samples_ns.size() && samples.empty(); ++i)
    samples = out_of_range(Field{"samples_ns", row.samples_ns[i], kMostNs});
  return first_of({out_of_range({{"sequence", static_cast<double>(row.sequence), kMostTrials},
                                 {"generation", static_cast<double>(row.generation), kMostTrials},
                                 {"verify_error", row.verify_error, kAny},
                                 {"compile_ms", row.compile_ms, kMostMs},
                                 {"elapsed_s", row.elapsed_s, kMostSeconds}}),
                   nonsense_in_result(row), samples, too_many("parents", row.parents.size(), kMostParents)});
}

}  // namespace tile_tune::db
