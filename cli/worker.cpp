// tile-tune worker: the processes the tool starts itself.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "cli/verbs.h"
#include "codegen/lower/halide_backend.h"
#include "engine/kernels/compile_kernel.h"
#include "engine/packages/packaging.h"
#include "search/workers/device_query.h"
#include "search/workers/worker.h"

namespace tile_tune::cli {

void add_worker(Verb& app, Command& command) {
  auto package = std::make_shared<bool>(false);
  Verb verb = app.add_verb("worker", "Compiles and runs candidates for another tile-tune process");
  verb.hide();  // not in --help
  verb.add_flag("--package", *package, "Writes one package");
  auto kernel = std::make_shared<bool>(false);
  verb.add_flag("--kernel", *kernel, "Compiles one kernel for a handle");
  auto device = std::make_shared<std::vector<std::string>>();
  verb.add_option("--ask-device", *device, "What a driver's device of a number is like").type_name("DRIVER N");
  verb.on_parsed([&command, package, kernel, device] {
    command = [package, kernel, device](Session&) -> Result<Exit> {
      if (device->size() == 2) {
        const auto answer = search::answer_device_query(device->front(), std::atoi(device->back().c_str()));
        TILE_TUNE_CHECK(print(base::json_text(answer) + "\n"));
        return Exit::Success;
      }
      if (*package || *kernel) {
        const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
        const auto answer = *package ? engine::answer_package_request : engine::answer_kernel_request;
        TILE_TUNE_CHECK(print(answer(request, codegen::halide_backend())));
        return Exit::Success;
      }
      const int code = search::worker_main(STDIN_FILENO, STDOUT_FILENO, codegen::halide_backend());
      if (code != 0) return failure("bad-request", "a request of the tuner could not be read");
      return Exit::Success;
    };
  });
}

}  // namespace tile_tune::cli
