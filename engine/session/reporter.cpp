#include "engine/session/reporter.h"

#include <optional>
#include <utility>

namespace tile_tune::engine {

void Reporter::diagnostic(const Diagnostic& diagnostic) const {
  if (listener_.diagnostic) listener_.diagnostic(diagnostic);
}

void Reporter::warn(std::string code, std::string message, std::string note) const {
  diagnostic(
      {ErrorClass::Failure, std::move(code), std::move(message), std::nullopt, std::move(note), Severity::Warning});
}

Result<void> Reporter::program_warnings(const std::vector<Diagnostic>& warnings) const {
  for (size_t i = 0; i < warnings.size(); ++i) {
    Diagnostic told = warnings[i];
    if (werror_) {
      told.severity = Severity::Error;
      told.error_class = ErrorClass::Program;
      if (told.note.empty()) told.note = "--werror makes this warning an error";
      if (i + 1 == warnings.size()) return tl::unexpected(std::move(told));
    }
    diagnostic(told);
  }
  return {};
}

void Reporter::notice(const std::string& line) const {
  if (listener_.notice) listener_.notice(line);
}

bool Reporter::is_news(const std::string& words) const {
  const std::scoped_lock lock(told_->mutex);
  return told_->words.insert(words).second;
}

void Reporter::verbose(const std::string& line) const {
  if (listener_.verbose) listener_.verbose(line);
}

Diagnostic program_warning(std::string code, std::string message, std::string note) {
  return {ErrorClass::Program, std::move(code), std::move(message), std::nullopt, std::move(note), Severity::Warning};
}

}  // namespace tile_tune::engine
