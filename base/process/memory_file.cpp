#include "base/process/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace tile_tune::base {

MemoryFile::MemoryFile() : file_(memfd_create("tile-tune", MFD_CLOEXEC)) {}

std::string MemoryFile::text() const {
  std::string text;
  char chunk[4096];
  ssize_t n;
  while ((n = pread(descriptor(), chunk, sizeof chunk, static_cast<off_t>(text.size()))) > 0) text.append(chunk, n);
  return text;
}

bool MemoryFile::write(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool MemoryFile::rewind() const { return lseek(descriptor(), 0, SEEK_SET) == 0; }

}  // namespace tile_tune::base
