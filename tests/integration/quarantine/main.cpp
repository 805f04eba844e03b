// As `PROGRAM tile-tune ...` this is the command line, as `PROGRAM worker` its worker, broken as BROKEN_BACKEND says
// (which is this program's interface, not the tool's); else it runs the tests.
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include "broken_backend.h"
#include "cli/command_line.h"
#include "engine/packages/packaging.h"
#include "search/workers/worker.h"
#include "tests/run_tests.h"

namespace {

int answer_package_request(const tile_tune::codegen::Backend& backend) {
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  std::cout << tile_tune::engine::answer_package_request(request, backend) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const char* fault = std::getenv("BROKEN_BACKEND");
  const auto backend = tile_tune::test::broken_backend(fault ? fault : "");
  if (verb == "worker" && argc > 2 && std::string(argv[2]) == "--package") return answer_package_request(backend);
  if (verb == "worker") return tile_tune::search::worker_main(0, 1, backend);
  if (verb == "tile-tune") return tile_tune::cli::run_command_line(argc - 1, argv + 1);
  return tile_tune::test::run_tests(argc, argv);
}
