// Memory between two inaccessible regions, so that a kernel that leaves its buffers is caught in the act.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tile_tune::search {

/// Which end of the data touches its guard without a gap; the other end is at most a page away from its own.
enum class Flush { Begin, End };

class GuardedBuffer {
 public:
  /// Address space on each side that faults when touched: an index that is a row or a plane off lands in it. Sparing,
  /// because it counts towards the memory limit.
  static constexpr int64_t kGuardBytes = 1 << 20;

  /// `name` is for messages. Throws std::bad_alloc where the system has no memory. At least one byte is mapped: even
  /// an empty tensor has an address.
  GuardedBuffer(std::string name, int64_t bytes, Flush flush);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer();

  std::byte* data() const { return data_; }
  int64_t size() const { return bytes_; }
  const std::string& name() const { return name_; }
  /// There is no gap: the data touches both guards.
  bool fills_pages() const { return bytes_ == pages_; }
  /// Writes the data back to memory and leaves none of it in a cache of any core.
  void evict() const;
  /// The gap that page size leaves between data and guard still holds what was put there.
  bool gap_untouched() const;
  /// Whether an address lies in one of the guards.
  bool guards(const void* address) const;

 private:
  std::string name_;
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0, pages_ = 0;  // of data; of the accessible part
};

}  // namespace tile_tune::search
