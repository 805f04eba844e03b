#include "cli/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/status_line.h"
#include "frontend/diagnostic/utf8.h"

namespace tile_tune::cli {

void Reporter::diagnostic(const Diagnostic& diagnostic) const {
  if (diagnostic.severity == Severity::Warning && volume_ == Volume::Quiet) return;
  if (listener_.warning) return listener_.warning(diagnostic);
  write_to_standard_error(json_ ? json_text(to_json(diagnostic)) + "\n" : render(diagnostic, color_));
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
  if (volume_ == Volume::Quiet) return;
  if (listener_.notice) return listener_.notice(line);
  write_to_standard_error(json_ ? json_text({{"severity", "notice"}, {"message", line}}) + "\n"
                                : printable(line) + "\n");
}

bool Reporter::is_news(const std::string& words) const {
  const std::scoped_lock lock(told_->mutex);
  return told_->words.insert(words).second;
}

void Reporter::verbose(const std::string& line) const {
  if (volume_ == Volume::Verbose) notice(line);
}

Diagnostic program_warning(std::string code, std::string message, std::string note) {
  return {ErrorClass::Program, std::move(code), std::move(message), std::nullopt, std::move(note), Severity::Warning};
}

Result<void> print(const std::string& text) {
  if (write_to_standard_output(text)) return {};
  return failure("cannot-write", fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

Result<void> print_json(const nlohmann::json& json) { return print(json_text(json, 2) + "\n"); }

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tile_tune::cli
