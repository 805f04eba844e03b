#include "codegen/lower/runtime_cache.h"

#include <fmt/format.h>

#include <string>

#include "base/sha256.h"
#include "codegen/lower/compile.h"
#include "codegen/target/host.h"

namespace tile_tune::codegen {

Result<void> cached_runtime(const Target& target, const std::filesystem::path& object,
                            const std::filesystem::path& cache) {
  const auto key = base::sha256_hex(fmt::format("{} {} {}", halide_version(), llvm_version(), target.text()));
  const std::string name = fmt::format("runtime-{}", key.substr(0, 32));
  return base::FileCache(cache).provide(name, object, [&] { return compile_runtime(target, object); });
}

}  // namespace tile_tune::codegen
