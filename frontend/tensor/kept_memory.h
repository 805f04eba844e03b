// Memory for elements, of which each thread keeps what it gave back last.
//
// A large block that is freed goes back to the system, and whoever asks for one next gets pages that the system has to
// clear and map first: 128 of them for 512 KB, a fifth of the time of solve() on matrices of 256 x 256. So a thread
// keeps four blocks of 64 KB or more, of 64 MB together at most, until it ends.
#pragma once

#include <cstddef>
#include <memory>

namespace tile_tune::tensor {

/// At a multiple of 64 bytes, written by nobody; nullptr where there is none.
void* take_memory(size_t bytes);
/// From any thread.
void give_back_memory(void* memory);

struct GiveBackMemory {
  void operator()(void* memory) const { give_back_memory(memory); }
};
using KeptMemory = std::unique_ptr<void, GiveBackMemory>;

}  // namespace tile_tune::tensor
