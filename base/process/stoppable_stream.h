// Streams over what may keep a reader or writer waiting for ever: pipes, terminals, files of other machines.
#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <filesystem>
#include <streambuf>
#include <utility>

#include "base/process/fd.h"

namespace tile_tune::base {

/// Reads or writes a descriptor. Once `stop` is set nothing is waited for any more: the stream is bad then, as after an
/// error of the system's.
class StoppableBuffer : public std::streambuf {
 public:
  StoppableBuffer(Fd file, const std::atomic<bool>& stop) : file_(std::move(file)), stop_(stop) {}
  StoppableBuffer(const StoppableBuffer&) = delete;
  StoppableBuffer& operator=(const StoppableBuffer&) = delete;

 protected:
  int_type underflow() override;
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  bool is_ready_for(short events) const;

  Fd file_;
  const std::atomic<bool>& stop_;
  std::array<char, 1 << 16> read_ = {};
  std::array<char, PIPE_BUF> written_ = {};  // so much a pipe that is ready takes without waiting
};

/// To write what is there from its beginning, or a new file. Of a FIFO a reader is waited for until `stop` is set.
/// Without a descriptor errno says why.
Fd open_to_write(const std::filesystem::path& path, const std::atomic<bool>& stop);
/// The same to read; a FIFO's writer is waited for by who reads.
Fd open_to_read(const std::filesystem::path& path);

}  // namespace tile_tune::base
