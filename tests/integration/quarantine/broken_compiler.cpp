#include "broken_compiler.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "search/space/space.h"

namespace tile_tune::test {
namespace {

Result<void> compile_c(const std::string& text, const std::filesystem::path& object) {
  const std::string source = object.string() + ".c";
  std::ofstream(source) << text;
  const char* arguments[] = {TEST_C_COMPILER, "-O1",          "-fPIC", "-w", "-c", "-o",
                             object.c_str(),  source.c_str(), nullptr};
  pid_t compiler = 0;
  int status = 1;
  if (posix_spawnp(&compiler, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environ) == 0)
    waitpid(compiler, &status, 0);
  std::filesystem::remove(source);
  if (status != 0) return failure("cc-failed", "the C compiler failed");
  return {};
}

}  // namespace

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
