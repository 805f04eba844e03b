#include "engine/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/units.h"
#include "codegen/target/host.h"
#include "engine/session/default_database.h"
#include "search/workers/device_query.h"

namespace tile_tune::engine {

int Session::threads() const {
  if (settings.threads > 0) return settings.threads;
  return std::clamp<int>(static_cast<int>(codegen::available_cores().size()), 1, kMaxThreads);
}

void Session::warn_of_threads() const {
  const size_t cpus = codegen::available_cores().size();
  if (settings.threads <= 0 || static_cast<size_t>(settings.threads) <= cpus) return;
  report.warn("many-threads",
              fmt::format("--threads {} is more than the {} that this process may use", settings.threads,
                          base::format_number(cpus, "CPU")),
              "threads take turns then, which makes kernels slower and figures a matter of chance");
}

Result<std::vector<codegen::Target>> Session::targets() const {
  TILE_TUNE_TRY(named, named_targets());
  std::vector<codegen::Target> targets;
  for (auto& [name, target] : named) {
    if (target.device == codegen::Device::Gpu && codegen::names_host(name))
      TILE_TUNE_CHECK(search::find_device(target, settings.device, {executable, "worker", "--ask-device"}));
    targets.push_back(std::move(target));
  }
  return targets;
}

Result<std::vector<std::pair<std::string, codegen::Target>>> Session::named_targets() const {
  std::vector<std::pair<std::string, codegen::Target>> targets;
  std::istringstream list(settings.target + ",");  // a list that ends in a comma has an empty name at its end
  for (std::string name; std::getline(list, name, ',');) {
    TILE_TUNE_TRY(target, codegen::describe_target(name, threads()));
    targets.emplace_back(name, settings.deterministic ? codegen::deterministic(std::move(target)) : std::move(target));
  }
  return targets;
}

Result<void> Session::check_settings() const {
  if (settings.target == codegen::kHost) return {};
  const auto named = named_targets();
  if (!named && named.error().error_class == ErrorClass::Program) return tl::unexpected(named.error());
  return {};
}

Result<codegen::Target> Session::target() const {
  TILE_TUNE_TRY(target, explained_target());
  TILE_TUNE_CHECK(codegen::check_runs_here(target));
  return target;
}

Result<codegen::Target> Session::explained_target() const {
  if (settings.target.find(',') != std::string::npos)
    return fail(ErrorClass::Program, "several-targets", "this command takes one target",
                "build and tune take several: --target T,T");
  TILE_TUNE_TRY(all, targets());
  return all.front();
}

Result<std::vector<std::filesystem::path>> Session::databases() const {
  if (!settings.databases.empty())
    return std::vector<std::filesystem::path>(settings.databases.begin(), settings.databases.end());
  TILE_TUNE_TRY(file, default_database());
  return std::vector{file};
}

Result<std::filesystem::path> Session::database() const {
  TILE_TUNE_TRY(all, databases());
  return all.front();
}

}  // namespace tile_tune::engine
