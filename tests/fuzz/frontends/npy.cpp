#include "frontend/tensor/npy.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {

void npy(std::string_view bytes) {
  static const int kFile = memfd_create("array.npy", 0);
  const auto size = static_cast<ssize_t>(bytes.size());
  require(ftruncate(kFile, 0) == 0 && pwrite(kFile, bytes.data(), bytes.size(), 0) == size, "files can be written");
  const auto path = fmt::format("/proc/self/fd/{}", kFile);
  for (const auto expected : {std::optional<DType>(), std::optional(DType::BF16)}) {
    const auto array = tensor::read_npy(path, expected);
    if (!array) {
      render(array.error());
      continue;
    }
    require(array->data.size() == static_cast<size_t>(array->element_count()) * dtype_size(array->type),
            "an array holds what its shape says");
    require(array->data.size() <= bytes.size(), "an array is no larger than its file");
  }
}

}  // namespace tile_tune::fuzz
