#include "search/workers/c_compiler.h"

#include <fmt/format.h>

#include <cstring>

#include "base/process/lines.h"
#include "base/process/spawn.h"

namespace tile_tune::search {

Result<void> compile_shared(const std::filesystem::path& source, const std::filesystem::path& library) {
  // Messages are looked through for the system's words, which must not be translated.
  const auto cc = base::run(
      {.words = {"cc", "-std=c11", "-O1", "-fPIC", "-pipe", "-shared", "-o", library, source}, .in_english = true});
  if (!cc)
    return failure("compiler-missing", fmt::format("cannot run the compiler cc: {}", std::strerror(cc.error())),
                   "packages are made with cc, ld, nm, objcopy and ar: install gcc and binutils");
  if (cc->ending.ok()) return {};
  if (cc->ending.was_stopped) return failure("compiler-failed", "somebody had stopped the compiler cc");
  // Its last line says why it gave up: "ld: final link failed: No space left on device".
  return failure("compiler-failed", fmt::format("the compiler could not make {}: {}", library.filename().string(),
                                                base::last_line(cc->err)));
}

}  // namespace tile_tune::search
