// The tests; started with "worker" as first argument the program is a worker.
#include <unistd.h>

#include <string_view>

#include "codegen/lower/halide_backend.h"
#include "search/workers/worker.h"
#include "tests/run_tests.h"

int main(int argc, char** argv) {
  using namespace tile_tune;
  if (argc > 1 && std::string_view(argv[1]) == "worker")
    return search::worker_main(STDIN_FILENO, STDOUT_FILENO, codegen::halide_backend());
  return tile_tune::test::run_tests(argc, argv);
}
