#include "broken_backend.h"

#include <cstdlib>

#include "codegen/lower/halide_backend.h"
#include "search/space/space.h"
#include "tests/integration/workers/compile_c.h"

namespace tile_tune::test {
codegen::Backend broken_backend(const std::string& fault) {
  codegen::Backend backend = codegen::halide_backend();
  backend.compile = [=, halide = backend.compile](const ir::Program& program, const codegen::Schedule& schedule,
                                                  const codegen::Target& target, const std::string& function,
                                                  const std::filesystem::path& object) -> Result<codegen::Compiled> {
    if (fault.empty() || schedule == search::Space(program, target).default_schedule())
      return halide(program, schedule, target, function, object);
    if (fault == "abort") std::abort();
    const std::string body = fault == "crash" ? "*(volatile int*)8 = 1;" : "";
    TILE_TUNE_CHECK(compile_c("int " + function + "_argv(void** args) { " + body + " return 0; }\n", object));
    return codegen::Compiled{codegen::schedule_id(schedule), 0, 0};
  };
  return backend;
}

}  // namespace tile_tune::test
