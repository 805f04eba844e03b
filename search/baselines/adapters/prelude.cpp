// What every baseline has one of.
#include "prelude.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

void (*tile_tune_kernel_error)(void* context, const char* message) = nullptr;

namespace baseline {

void* scratch_bytes(int64_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t whole = std::max((static_cast<size_t>(bytes) + kPage - 1) / kPage * kPage, kPage);
  void* memory = std::aligned_alloc(kPage, whole);
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, whole);
  return memory;
}

static std::string& note() {
  static std::string text;
  return text;
}
void add_note(const char* text) {
  if (note().find(text) != std::string::npos) return;
  note() += (note().empty() ? "" : ", ") + std::string(text);
}

}  // namespace baseline

TILE_TUNE_EXPORT const char* tile_tune_kernel_note() { return baseline::note().c_str(); }
