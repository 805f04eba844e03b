#include "broken_compiler.h"

#include <cstdlib>

#include "search/space/space.h"
#include "tests/integration/workers/compile_c.h"

namespace tile_tune::test {
search::Compiler broken_compiler(const std::string& fault) {
  search::Compiler compiler = search::halide_compiler();
  const auto halide = compiler.compile_object;
  compiler.compile_object = [=](const ir::Program& program, const codegen::Schedule& schedule,
                                const codegen::Target& target, const std::string& function,
                                const std::filesystem::path& object) -> Result<codegen::Compiled> {
    if (fault.empty() || schedule == search::Space(program, target).default_schedule())
      return halide(program, schedule, target, function, object);
    if (fault == "abort") std::abort();
    const std::string body = fault == "crash" ? "*(volatile int*)8 = 1;" : "";
    TILE_TUNE_CHECK(compile_c("int " + function + "_argv(void** args) { " + body + " return 0; }\n", object));
    return codegen::Compiled{codegen::schedule_id(schedule), 0, 0};
  };
  return compiler;
}

}  // namespace tile_tune::test
