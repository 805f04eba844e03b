#include "engine/caller/messages.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "frontend/edsl/errors.h"

namespace tile_tune::engine {

namespace {

/// A program that is run a thousand times would say the same as often.
bool is_new(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  return told.insert(text).second;
}

}  // namespace

void tell(const Message& message, const Options& options) {
  if (options.on_message) return options.on_message(message);
  if (message.severity != Message::Severity::Warning || !is_new(message.text)) return;
  const std::string line = message.text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Reporter reporter_of(const Options& options) {
  return Reporter({.diagnostic = [&options](const Diagnostic& warning) { tell(edsl::message_of(warning), options); },
                   .notice =
                       [&options](const std::string& line) {
                         tell({Message::Severity::Notice, "", line, "", 0}, options);
                       }});
}

}  // namespace tile_tune::engine
