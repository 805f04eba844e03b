#include "search/workers/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tile_tune::search {

bool write_line(int fd, std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = write(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::optional<std::string> LineReader::take() {
  const size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

bool LineReader::fill() {
  char bytes[1 << 16];
  ssize_t count;
  do count = read(fd_, bytes, sizeof bytes);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::optional<std::string> LineReader::next() {
  for (;;) {
    if (auto line = take()) return line;
    if (!fill()) return std::nullopt;
  }
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() { return std::exchange(fd_, -1); }

void Fd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace tile_tune::search
