#include "codegen/emit/capture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tile_tune::codegen {

Capture::Capture() : descriptor_(memfd_create("capture", MFD_CLOEXEC)) {}

Capture::Capture(Capture&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Capture::~Capture() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string Capture::text() const {
  std::string text;
  char chunk[4096];
  ssize_t n;
  while ((n = pread(descriptor_, chunk, sizeof chunk, static_cast<off_t>(text.size()))) > 0) text.append(chunk, n);
  return text;
}

bool Capture::write(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace tile_tune::codegen
