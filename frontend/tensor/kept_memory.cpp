#include "frontend/tensor/kept_memory.h"

#include <malloc.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace tile_tune::tensor {
namespace {

// A cache line, and a vector of AVX-512.
constexpr size_t kAlignment = 64;
constexpr size_t kLeast = size_t{64} << 10, kMostTogether = size_t{64} << 20;

/// Tensors that live longer than their thread's blocks are simply freed.
thread_local bool has_ended = false;

class KeptBlocks {
 public:
  ~KeptBlocks() {
    has_ended = true;
    for (const Block& block : blocks_) std::free(block.memory);
  }

  /// The smallest that holds so many bytes, of no more than twice as many.
  void* find(size_t bytes) {
    Block* best = nullptr;
    for (Block& block : blocks_)
      if (block.bytes >= bytes && block.bytes / 2 <= bytes && (!best || block.bytes < best->bytes)) best = &block;
    return best ? std::exchange(*best, {}).memory : nullptr;
  }

  /// In place of old ones, where there are too many.
  void keep(void* memory, size_t bytes) {
    size_t together = bytes;
    for (const Block& block : blocks_) together += block.bytes;
    Block* place = nullptr;
    for (size_t n = 0; n < blocks_.size(); ++n) {
      Block& oldest = blocks_[(next_ + n) % blocks_.size()];
      if (together > kMostTogether) {
        together -= oldest.bytes;
        std::free(std::exchange(oldest, {}).memory);
      }
      if (!oldest.memory && !place) place = &oldest;
    }
    if (!place) {
      place = &blocks_[next_];
      next_ = (next_ + 1) % blocks_.size();
    }
    std::free(std::exchange(*place, {memory, bytes}).memory);
  }

 private:
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  std::array<Block, 4> blocks_;
  size_t next_ = 0;
};

thread_local KeptBlocks kept_blocks;

}  // namespace

void* take_memory(size_t bytes) {
  if (bytes >= kLeast && !has_ended)
    if (void* memory = kept_blocks.find(bytes)) return memory;
  // The size has to be a multiple of the alignment.
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void give_back_memory(void* memory) {
  const size_t bytes = memory ? malloc_usable_size(memory) : 0;
  if (bytes < kLeast || bytes > kMostTogether || has_ended) return std::free(memory);
  kept_blocks.keep(memory, bytes);
}

}  // namespace tile_tune::tensor
