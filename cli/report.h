// Where a command's words go: results to standard output, diagnostics and notices to standard error.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::cli {

enum class Volume { Quiet, Normal, Verbose };

/// Takes warnings and notices instead of standard error; a notice is a sentence without a code.
struct Listener {
  std::function<void(const Diagnostic&)> warning;
  std::function<void(const std::string&)> notice;
};

class Reporter {
 public:
  /// `werror`: warnings about programs are errors.
  Reporter(Volume volume, bool json, bool color, bool werror = false)
      : volume_(volume), json_(json), color_(color), werror_(werror) {}
  /// Of a library's call.
  explicit Reporter(Listener listener)
      : volume_(Volume::Normal), json_(false), color_(false), werror_(false), listener_(std::move(listener)) {}

  /// As text, or with --json as one JSON object a line. Quiet drops warnings and notices, never errors.
  void diagnostic(const Diagnostic& diagnostic) const;
  void warn(std::string code, std::string message, std::string note = "") const;
  /// Where all warnings about a program, its sizes and its arrays go, before any work on it is begun. With --werror
  /// they are errors: all are told, the last by whoever gets the result.
  Result<void> program_warnings(const std::vector<Diagnostic>& warnings) const;
  /// One line that is neither wrong nor a result, for example which schedule was taken.
  void notice(const std::string& line) const;
  /// Whether nobody asked this of the same words before: what is true of a machine is said once a command, not once a
  /// program. May be called from several threads.
  bool is_news(const std::string& words) const;
  void verbose(const std::string& line) const;

  bool json() const { return json_; }
  /// Whether people want to see how things stand meanwhile.
  bool tells_progress() const { return !json_ && volume_ != Volume::Quiet && !listener_.notice; }
  bool color() const { return color_; }
  Volume volume() const { return volume_; }

 private:
  Volume volume_;
  bool json_;
  bool color_;
  bool werror_;
  Listener listener_ = {};
  struct Told {
    std::mutex mutex;
    std::set<std::string> words;
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

/// A warning about a program.
Diagnostic program_warning(std::string code, std::string message, std::string note = "");

/// Writes a result to standard output. A full disk or a closed pipe is an error like any other.
Result<void> print(const std::string& text);
Result<void> print_json(const nlohmann::json& json);

/// JSON text for files, processes and people: bytes that are not UTF-8 (comments in a program may hold them) are
/// replaced instead of throwing. One line if `indent` is negative.
std::string json_text(const nlohmann::json& json, int indent = -1);

}  // namespace tile_tune::cli
