// As `tile-tune worker` this program serves candidates that misbehave on purpose, or real ones; else it runs the tests.
#include <string>

#include "codegen/lower/halide_backend.h"
#include "search/workers/worker.h"
#include "tests/integration/workers/forced_backend.h"
#include "tests/run_tests.h"

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "forced-worker") return tile_tune::search::worker_main(0, 1, tile_tune::test::forced_backend(argv[2]));
  if (verb == "worker") return tile_tune::search::worker_main(0, 1, tile_tune::codegen::halide_backend());
  return tile_tune::test::run_tests(argc, argv);
}
