#include "base/process/stoppable_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace tile_tune::base {

namespace {

constexpr std::chrono::milliseconds kLook(20);  // how late a set flag may be noticed

}  // namespace

bool StoppableBuffer::is_ready_for(short events) const {
  pollfd file{file_.get(), events, 0};
  while (!stop_) {
    const int ready = poll(&file, 1, static_cast<int>(kLook.count()));
    if (ready > 0) return true;  // for an error, too, which is the next call's to tell
    if (ready < 0 && errno != EINTR) return false;
  }
  errno = EINTR;
  return false;
}

StoppableBuffer::int_type StoppableBuffer::underflow() {
  ssize_t count = -1;
  do {
    if (is_ready_for(POLLIN)) count = read(file_.get(), read_.data(), read_.size());
  } while (count < 0 && errno == EINTR && !stop_);
  // What an end of the file looks like would make half a line a whole one.
  if (count < 0) throw std::system_error(errno, std::generic_category());
  if (count == 0) return traits_type::eof();
  setg(read_.data(), read_.data(), read_.data() + count);
  return traits_type::to_int_type(*gptr());
}

StoppableBuffer::int_type StoppableBuffer::overflow(int_type character) {
  if (sync() != 0) return traits_type::eof();
  setp(written_.data(), written_.data() + written_.size());
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int StoppableBuffer::sync() {
  const char* from = pbase();
  while (from < pptr()) {
    const ssize_t count = is_ready_for(POLLOUT) ? write(file_.get(), from, static_cast<size_t>(pptr() - from)) : -1;
    if (count >= 0) from += count;
    if (count < 0 && (errno != EINTR || stop_)) return -1;
  }
  setp(nullptr, nullptr);
  return 0;
}

Fd open_to_write(const std::filesystem::path& path, const std::atomic<bool>& stop) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  for (;;) {
    Fd file(open(path.c_str(), kFlags | O_NONBLOCK, 0666));
    // Waiting to write is poll's business.
    if (file.get() >= 0) fcntl(file.get(), F_SETFL, 0);
    if (file.get() >= 0 || (errno != ENXIO && errno != EINTR) || stop) return file;
    std::this_thread::sleep_for(kLook);
  }
}

Fd open_to_read(const std::filesystem::path& path) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() >= 0) fcntl(file.get(), F_SETFL, 0);
  return file;
}

}  // namespace tile_tune::base
