// As `tile-tune worker` this program serves candidates that misbehave on purpose, or real ones; else it runs the tests.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <string>

#include "codegen/lower/halide_backend.h"
#include "search/workers/worker.h"
#include "tests/integration/workers/forced_backend.h"

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "forced-worker") return tile_tune::search::worker_main(0, 1, tile_tune::test::forced_backend(argv[2]));
  if (verb == "worker") return tile_tune::search::worker_main(0, 1, tile_tune::codegen::halide_backend());
  return Catch::Session().run(argc, argv);
}
