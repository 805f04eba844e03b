#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <random>

#include "base/process/stoppable_stream.h"

namespace tile_tune::base {
namespace {

namespace fs = std::filesystem;

using Produce = std::function<Result<void>(std::ostream&)>;

tl::unexpected<Diagnostic> cannot_write(const std::string& name, const std::string& why) {
  return failure("cannot-write", fmt::format("cannot write {}: {}", name, why));
}

/// A new file beside `target` that nobody else writes.
Result<fs::path> reserve_beside(const fs::path& target, mode_t mode = 0666) {
  const fs::path part = fmt::format("{}.part-{:08x}", target.string(), std::random_device()());
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return cannot_write(part.string(), std::strerror(errno));
  ::close(file);
  return part;
}

Result<void> write_to(Fd file, const std::string& name, const Produce& produce, const std::atomic<bool>& stop) {
  if (file.get() < 0) return cannot_write(name, std::strerror(errno));
  StoppableBuffer buffer(std::move(file), stop);
  std::ostream stream(&buffer);
  errno = 0;
  TILE_TUNE_CHECK(produce(stream));
  if (stream.flush()) return {};
  return cannot_write(name, std::strerror(errno));
}

/// Beside `target`, which it then replaces; nothing is left of it where that fails.
Result<void> fill_and_rename(const fs::path& target, const Produce& produce, const std::atomic<bool>& stop,
                             mode_t mode = 0666) {
  TILE_TUNE_TRY(part, reserve_beside(target, mode));
  std::error_code error;
  auto written = write_to(open_to_write(part, stop), target.string(), produce, stop);
  if (written) fs::rename(part, target, error);
  if (written && error) written = cannot_write(target.string(), error.message());
  if (!written) fs::remove(part, error);
  return written;
}

}  // namespace

bool is_device(const std::string& output) {
  std::error_code error;
  const auto status = fs::status(output, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

Result<void> replace_file(const fs::path& file, const std::string& text, mode_t mode) {
  const std::atomic<bool> never = false;
  return fill_and_rename(
      file,
      [&](std::ostream& stream) -> Result<void> {
        stream << text;
        return {};
      },
      never, mode);
}

Result<void> write_whole(const std::string& output, const Produce& produce, const std::atomic<bool>& stop) {
  if (output.empty()) return write_to(Fd(dup(STDOUT_FILENO)), "to standard output", produce, stop);
  if (is_device(output)) return write_to(open_to_write(output, stop), output, produce, stop);
  std::error_code error;
  const fs::path target = fs::exists(output, error) ? fs::canonical(output, error) : fs::path(output);
  if (error) return cannot_write(output, error.message());
  return fill_and_rename(target, produce, stop);
}

}  // namespace tile_tune::base
