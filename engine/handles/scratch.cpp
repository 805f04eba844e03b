#include "engine/handles/scratch.h"

#include <array>
#include <cstddef>
#include <cstdlib>

namespace tile_tune::engine {
namespace {

// Kernels have few intermediates at a time: those of the test suites' programs four at most.
constexpr size_t kKept = 8;

struct Block {
  void* memory = nullptr;
  size_t bytes = 0;
  bool is_taken = false;
};

/// A thread's. Kernels give back what they took in the same thread.
struct Blocks {
  std::array<Block, kKept> blocks;
  ~Blocks() {
    for (const Block& block : blocks) std::free(block.memory);
  }
};

thread_local Blocks kept;

void* take(void*, size_t bytes) {
  Block* free_block = nullptr;
  for (Block& block : kept.blocks) {
    if (block.is_taken) continue;
    if (block.memory && block.bytes >= bytes && block.bytes / 2 <= bytes) {
      block.is_taken = true;
      return block.memory;
    }
    if (!free_block || block.bytes < free_block->bytes) free_block = &block;
  }
  void* const memory = std::malloc(bytes);
  if (!memory || !free_block) return memory;
  std::free(free_block->memory);
  *free_block = {memory, bytes, true};
  return memory;
}

void give_back(void*, void* memory, size_t) {
  for (Block& block : kept.blocks)
    if (block.memory == memory) {
      block.is_taken = false;
      return;
    }
  std::free(memory);
}

}  // namespace

ScratchContext::ScratchContext(int threads) {
  context_.threads = threads;
  context_.allocate = take;
  context_.release = give_back;
}

}  // namespace tile_tune::engine
