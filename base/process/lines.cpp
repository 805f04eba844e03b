#include "base/process/lines.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tile_tune::base {

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

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace tile_tune::base
