#include "search/judge/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tile_tune::search {
namespace {

constexpr std::byte kBeside{0xC3};

#if defined(__x86_64__)
void write_back(const void* line) { _mm_clflush(line); }
void await_write_backs() { _mm_mfence(); }
#elif defined(__aarch64__)
void write_back(const void* line) { asm volatile("dc civac, %0" ::"r"(line) : "memory"); }
void await_write_backs() { asm volatile("dsb ish" ::: "memory"); }
#else
#error "no way is known to empty this processor's caches"
#endif

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
  std::memset(begin, static_cast<int>(kBeside), static_cast<size_t>(data_ - begin));
  std::memset(data_ + bytes_, static_cast<int>(kBeside), static_cast<size_t>(begin + pages_ - (data_ + bytes_)));
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

void GuardedBuffer::evict() const {
  constexpr int64_t kLine = 64;  // of the smallest cache lines there are: a longer one is only written back twice
  const std::byte* first = data_ - reinterpret_cast<uintptr_t>(data_) % kLine;
  for (const std::byte* line = first; line < data_ + bytes_; line += kLine) write_back(line);
  await_write_backs();
}

bool GuardedBuffer::gap_untouched() const {
  const std::byte* begin = mapping_ + kGuardBytes;
  const auto is_gap = [](std::byte byte) { return byte == kBeside; };
  return std::all_of(begin, static_cast<const std::byte*>(data_), is_gap) &&
         std::all_of(static_cast<const std::byte*>(data_ + bytes_), begin + pages_, is_gap);
}

bool GuardedBuffer::guards(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  const std::byte* begin = mapping_ + kGuardBytes;
  return (byte >= mapping_ && byte < begin) || (byte >= begin + pages_ && byte < begin + pages_ + kGuardBytes);
}

}  // namespace tile_tune::search
