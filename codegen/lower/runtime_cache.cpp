#include "codegen/lower/runtime_cache.h"

#include <fmt/format.h>

#include <string>

#include "base/files.h"
#include "base/sha256.h"
#include "codegen/lower/compile.h"
#include "codegen/target/host.h"

namespace tile_tune::codegen {

Result<void> cached_runtime(const Target& target, const std::filesystem::path& object,
                            const std::filesystem::path& cache) {
  const base::FileCache files(cache);
  const auto key = base::sha256_hex(fmt::format("{} {} {}", halide_version(), llvm_version(), target.text()));
  const std::string name = fmt::format("runtime-{}", key.substr(0, 32));
  if (const auto bytes = files.find(name); bytes && base::write_text(object, *bytes)) return {};
  TILE_TUNE_CHECK(compile_runtime(target, object));
  if (const auto made = base::read_bytes(object)) files.keep(name, *made);
  return {};
}

}  // namespace tile_tune::codegen
