// What a process reads or writes, kept in memory: unlike a pipe it never fills up and needs no second reader.
#pragma once

#include <string>

#include "base/process/fd.h"

namespace tile_tune::base {

class MemoryFile {
 public:
  MemoryFile();

  /// Negative: there was none left, errno says why. Closed by exec.
  int descriptor() const { return file_.get(); }
  /// Everything that was written so far, by whichever process.
  std::string text() const;
  /// At the end; false if not all of it could be written.
  bool write(const std::string& text) const;
  /// Whoever reads it next begins at its beginning. False if that is not possible.
  bool rewind() const;

 private:
  Fd file_;
};

}  // namespace tile_tune::base
