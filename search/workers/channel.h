// Lines over a file descriptor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tile_tune::search {

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

/// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace tile_tune::search
