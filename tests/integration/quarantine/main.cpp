// As `PROGRAM tile-tune ...` this is the command line, as `PROGRAM worker` its worker, broken as BROKEN_COMPILER says
// (which is this program's interface, not the tool's); else it runs the tests.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "broken_compiler.h"
#include "cli/command_line.h"
#include "cli/packaging.h"
#include "search/workers/worker.h"

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const char* fault = std::getenv("BROKEN_COMPILER");
  const auto compiler = tile_tune::test::broken_compiler(fault ? fault : "");
  if (verb == "worker" && argc > 2 && std::string(argv[2]) == "--package")
    return tile_tune::cli::serve_package_request(compiler) ? 0 : 1;
  if (verb == "worker") return tile_tune::search::worker_main(0, 1, compiler);
  if (verb == "tile-tune") return tile_tune::cli::run_command_line(argc - 1, argv + 1);
  return Catch::Session().run(argc, argv);
}
