#include "cli/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace tile_tune::cli {

namespace {

constexpr size_t kUsualColumns = 80;  // of a terminal that does not tell

std::mutex mutex;
bool drawn = false;  // guarded by it

void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void wipe_locked() {
  if (drawn) write("\r\033[K");
  drawn = false;
}

}  // namespace

bool has_status_line() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

size_t status_line_width() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : kUsualColumns) - 1;
}

void draw_status_line(const std::string& text) {
  const std::scoped_lock lock(mutex);
  write("\r" + text + "\033[K");
  drawn = true;
}

void wipe_status_line() {
  const std::scoped_lock lock(mutex);
  wipe_locked();
}

void write_to_standard_error(const std::string& text) {
  const std::scoped_lock lock(mutex);
  wipe_locked();
  write(text);
}

bool write_to_standard_output(const std::string& text) {
  const std::scoped_lock lock(mutex);
  wipe_locked();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

}  // namespace tile_tune::cli
