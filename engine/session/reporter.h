// Where the words go that work gives rise to beside its results: warnings and notices.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// Whoever shows them: the command line, or the caller of a library. What is not set is dropped.
struct Listener {
  std::function<void(const Diagnostic&)> diagnostic = {};
  std::function<void(const std::string&)> notice = {};   // a sentence without a code
  std::function<void(const std::string&)> verbose = {};  // the same, for those who want to hear more
};

class Reporter {
 public:
  /// `werror`: warnings about programs are errors.
  explicit Reporter(Listener listener, bool werror = false) : listener_(std::move(listener)), werror_(werror) {}

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

 private:
  Listener listener_;
  bool werror_;
  struct Told {
    std::mutex mutex;
    std::set<std::string> words;
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

/// A warning about a program.
Diagnostic program_warning(std::string code, std::string message, std::string note = "");

}  // namespace tile_tune::engine
