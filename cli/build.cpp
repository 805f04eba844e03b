// tile-tune build: programs with their best stored schedules as one ahead-of-time package.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/binding_options.h"
#include "cli/interrupt.h"
#include "cli/option_checks.h"
#include "cli/verbs.h"
#include "codegen/emit/alternatives.h"
#include "codegen/target/host.h"
#include "engine/build/package_request.h"
#include "engine/packages/packaging.h"
#include "engine/session/plain_onlooker.h"

namespace tile_tune::cli {

namespace {

/// Kernels are verified while they are compiled, where they run here (engine/packages/packaging.h).
void warn_of_unverified(const engine::Package& package, const engine::Reporter& report) {
  std::set<std::string> targets;
  for (const auto& kernel : package.kernels)
    for (const auto& one : codegen::alternatives_of(kernel, package.options.target))
      if (!codegen::check_runs_here(one.target)) targets.insert(one.target.text());
  for (const auto& target : targets)
    report.warn("unverified", fmt::format("kernels for {} do not run here: nothing they compute was checked", target));
}

/// For --json: "variants" are the other instruction sets of several.
nlohmann::json describe(const codegen::Kernel& kernel, const codegen::Target& target) {
  nlohmann::json json{{"function", kernel.function},
                      {"target", target.text()},
                      {"rung", kernel.rung},
                      {"record", kernel.record},
                      {"variants", nlohmann::json::array()}};
  for (const auto& one : kernel.variants)
    json["variants"].push_back({{"target", one.target.text()}, {"rung", one.rung}, {"record", one.record}});
  return json;
}

Result<void> tell(const engine::Package& package, const std::vector<std::string>& files, const Session& session) {
  if (session.output.json) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const auto& kernel : package.kernels) kernels.push_back(describe(kernel, package.options.target));
    return print_json({{"name", package.options.name}, {"kernels", kernels}, {"files", files}});
  }
  for (const auto& file : files) TILE_TUNE_CHECK(print(file + "\n"));
  return {};
}

Result<Exit> build(const engine::PackageRequest& request, const Session& session) {
  const StopOnInterrupt interrupt;
  const auto package = engine::package_of(request, session, interrupt.requested());
  if (interrupt.requested()) return Exit::Interrupted;
  if (!package) return tl::unexpected(package.error());
  auto files = engine::package_in_child(package->kernels, package->options, session.executable,
                                        engine::plain_onlooker(session.report), &interrupt.requested());
  if (!files && interrupt.requested()) {
    session.report.notice(fmt::format("stopped by {}: nothing was written", interrupt_name()));
    return Exit::Interrupted;
  }
  if (!files && files.error().code == "not-reproduced")
    files.error().note = "nothing was written; the C compiler or binutils are others than those that made it";
  if (!files) return tl::unexpected(files.error());
  warn_of_unverified(*package, session.report);
  TILE_TUNE_CHECK(tell(*package, *files, session));
  return Exit::Success;
}

}  // namespace

void add_build(Verb& app, Command& command) {
  auto options = std::make_shared<engine::PackageRequest>();
  Verb verb = app.add_verb("build", "Emits a static library with a C header from the best stored schedules");
  verb.add_option("PROGRAM", options->programs,
                  "FILE.tc, FILE.tc:NAME, FILE.json or einsum:SUBSCRIPTS; several make one library")
      .type_name("");
  add_binding_options(verb, options->bindings);
  refuse_empty(verb.add_option("--name", options->name, "The library's name; of a single program the function's, too")
                   .type_name("NAME"));
  refuse_empty(
      verb.add_option("--schedule", options->schedule, "A schedule for a single program, as JSON").type_name("FILE"));
  verb.add_flag(
      "--recheck,--revalidate", options->recheck,
      "Verifies and times what was tuned elsewhere or by another version against the default before it is taken");
  verb.add_flag(
      "--checked", options->checked,
      "Entries also look whether indices that come from arrays (gathers) are inside their tensors, and return "
      "an error else");
  const std::vector<Option> others = verb.options();
  Option from =
      verb.add_option("--from", options->manifest, "Makes the package of this manifest.json again").type_name("FILE");
  refuse_empty(from);
  for (const Option& other : others) from.excludes(other);
  Option output = verb.add_option("-o,--output", options->directory, "Where the package is written");
  refuse_empty(output.required().type_name("DIR"));
  verb.on_parsed([&command, options] { command = [options](Session& session) { return build(*options, session); }; });
}

}  // namespace tile_tune::cli
