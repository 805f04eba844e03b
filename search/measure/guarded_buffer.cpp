#include "search/measure/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tile_tune::search {
namespace {

constexpr std::byte kGap{0xC3};

}  // namespace

GuardedBuffer::GuardedBuffer(std::string name, int64_t bytes, Flush flush) : name_(std::move(name)), bytes_(bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  pages_ = std::max<int64_t>(1, (bytes + page - 1) / page) * page;
  void* mapping = mmap(nullptr, static_cast<size_t>(pages_ + 2 * kGuardBytes), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* begin = mapping_ + kGuardBytes;
  if (mprotect(begin, static_cast<size_t>(pages_), PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, static_cast<size_t>(pages_ + 2 * kGuardBytes));
    throw std::bad_alloc();
  }
  data_ = flush == Flush::Begin ? begin : begin + (pages_ - bytes_);
  std::memset(begin, static_cast<int>(kGap), static_cast<size_t>(data_ - begin));
  std::memset(data_ + bytes_, static_cast<int>(kGap), static_cast<size_t>(begin + pages_ - (data_ + bytes_)));
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : name_(std::move(other.name_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      data_(other.data_),
      bytes_(other.bytes_),
      pages_(other.pages_) {}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_) munmap(mapping_, static_cast<size_t>(pages_ + 2 * kGuardBytes));
}

bool GuardedBuffer::gap_untouched() const {
  const std::byte* begin = mapping_ + kGuardBytes;
  const auto is_gap = [](std::byte byte) { return byte == kGap; };
  return std::all_of(begin, static_cast<const std::byte*>(data_), is_gap) &&
         std::all_of(static_cast<const std::byte*>(data_ + bytes_), begin + pages_, is_gap);
}

bool GuardedBuffer::guards(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  const std::byte* begin = mapping_ + kGuardBytes;
  return (byte >= mapping_ && byte < begin) || (byte >= begin + pages_ && byte < begin + pages_ + kGuardBytes);
}

}  // namespace tile_tune::search
