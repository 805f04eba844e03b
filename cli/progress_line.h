// How a search stands, on one line of standard error that is drawn again and again; only on a terminal.
#pragma once

#include <string>

#include "cli/report.h"
#include "search/evolve/events.h"

namespace tile_tune::cli {

/// "12 s of 60 s  48 trials  best 2.31x  1 wrong, 2 timeout"; `seconds` since the search began.
std::string progress_text(const search::Progress& progress, double seconds);

/// `text` cut to `columns` characters, without splitting one.
std::string cut_to_width(const std::string& text, size_t columns);

class ProgressLine {
 public:
  /// Silent with --quiet and --json, and where standard error is no terminal; there --verbose gets plain lines.
  explicit ProgressLine(const Reporter& report);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  /// Wipes the line, so that what is written next starts at its beginning.
  void clear();

 private:
  const Reporter& report_;
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace tile_tune::cli
