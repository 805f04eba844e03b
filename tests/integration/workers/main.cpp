// As `tile-tune worker` this program serves candidates that misbehave on purpose, or real ones; else it runs the tests.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <string>

#include "search/workers/worker.h"
#include "tests/integration/workers/forced_compiler.h"

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "forced-worker") return tile_tune::search::worker_main(0, 1, tile_tune::test::forced_compiler(argv[2]));
  if (verb == "worker") return tile_tune::search::worker_main(0, 1, tile_tune::search::halide_compiler());
  return Catch::Session().run(argc, argv);
}
