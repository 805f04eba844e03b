// Lines over a file descriptor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tile_tune::base {

/// Writes everything; false if the other end is gone. Never raises SIGPIPE on a socket; elsewhere SIGPIPE is the
/// caller's business.
bool write_line(int fd, std::string_view line);

/// Collects bytes into lines.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}
  /// A line that is already complete, without its newline.
  std::optional<std::string> take();
  /// One read(2). False at the end of the stream or on an error.
  bool fill();
  /// Blocks for the next line; nullopt at the end of the stream.
  std::optional<std::string> next();

 private:
  int fd_;
  std::string buffer_;
};

/// What a text ends with, newlines apart: where most tools say why they gave up.
std::string last_line(std::string text);

}  // namespace tile_tune::base
