// What a child process writes, kept in memory: unlike a pipe it never fills up and needs no second reader.
#pragma once

#include <string>

namespace tile_tune::codegen {

class Capture {
 public:
  Capture();
  ~Capture();
  Capture(Capture&& other) noexcept;
  Capture& operator=(Capture&&) = delete;

  /// Negative: there was none left, errno says why. Closed by exec.
  int descriptor() const { return descriptor_; }
  /// Everything that was written so far, by whichever process.
  std::string text() const;
  /// At the end; false if not all of it could be written.
  bool write(const std::string& text) const;

 private:
  int descriptor_;
};

}  // namespace tile_tune::codegen
