// Where a command's words go: results to standard output, diagnostics and notices to standard error.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::cli {

enum class Volume { Quiet, Normal, Verbose };

class Reporter {
 public:
  Reporter(Volume volume, bool json, bool color) : volume_(volume), json_(json), color_(color) {}

  /// As text, or with --json as one JSON object a line. Quiet drops warnings and notices, never errors.
  void diagnostic(const Diagnostic& diagnostic) const;
  void warn(std::string code, std::string message, std::string note = "") const;
  /// One line that is neither wrong nor a result, for example which schedule was taken.
  void notice(const std::string& line) const;
  void verbose(const std::string& line) const;

  bool json() const { return json_; }
  bool color() const { return color_; }
  Volume volume() const { return volume_; }

 private:
  Volume volume_;
  bool json_;
  bool color_;
};

/// Writes a result to standard output. A full disk or a closed pipe is an error like any other.
Result<void> print(const std::string& text);
Result<void> print_json(const nlohmann::json& json);

/// JSON text for files, processes and people: bytes that are not UTF-8 (comments in a program may hold them) are
/// replaced instead of throwing. One line if `indent` is negative.
std::string json_text(const nlohmann::json& json, int indent = -1);

}  // namespace tile_tune::cli
