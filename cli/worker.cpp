// tile-tune worker: the processes the tool starts itself.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "cli/verbs.h"
#include "codegen/lower/halide_backend.h"
#include "engine/packages/packaging.h"
#include "search/workers/device_query.h"
#include "search/workers/worker.h"

namespace tile_tune::cli {

void add_worker(Verb& app, Command& command) {
  auto package = std::make_shared<bool>(false);
  Verb verb = app.add_verb("worker", "Compiles and runs candidates for another tile-tune process");
  verb.hide();  // not in --help
  verb.add_flag("--package", *package, "Writes one package");
  auto device = std::make_shared<std::vector<std::string>>();
  verb.add_option("--ask-device", *device, "What a driver's device of a number is like").type_name("DRIVER N");
  verb.on_parsed([&command, package, device] {
    command = [package, device](Session&) -> Result<Exit> {
      if (device->size() == 2) {
        const auto answer = search::answer_device_query(device->front(), std::atoi(device->back().c_str()));
        TILE_TUNE_CHECK(print(base::json_text(answer) + "\n"));
        return Exit::Success;
      }
      if (*package) {
        const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
        TILE_TUNE_CHECK(print(engine::answer_package_request(request, codegen::halide_backend())));
        return Exit::Success;
      }
      const int code = search::worker_main(STDIN_FILENO, STDOUT_FILENO, codegen::halide_backend());
      if (code != 0) return failure("bad-request", "a request of the tuner could not be read");
      return Exit::Success;
    };
  });
}

}  // namespace tile_tune::cli
