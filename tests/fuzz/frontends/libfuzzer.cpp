// One libFuzzer target; TILE_TUNE_FUZZ_ENTRY names its entry.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/frontends/entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tile_tune::fuzz::TILE_TUNE_FUZZ_ENTRY({reinterpret_cast<const char*>(data), size});
  return 0;
}
