#include "codegen/lower/autoscheduled_pipeline.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

const char* plugin_file(AutoScheduler scheduler) {
  return scheduler == AutoScheduler::Adams2019 ? "libautoschedule_adams2019.so" : "libautoschedule_mullapudi2016.so";
}

fs::path directory_of_halide() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&Halide::load_plugin), &info);
  return info.dli_fname ? fs::path(info.dli_fname).parent_path() : fs::path();
}

}  // namespace

const char* name_of(AutoScheduler scheduler) {
  return scheduler == AutoScheduler::Adams2019 ? "Adams2019" : "Mullapudi2016";
}

std::optional<AutoScheduler> parse_auto_scheduler(std::string_view name) {
  for (const auto scheduler : kAutoSchedulers)
    if (name == name_of(scheduler)) return scheduler;
  return std::nullopt;
}

void schedule_automatically(Halide::Pipeline& pipeline, AutoScheduler scheduler, const Halide::Target& halide,
                            const Target& target) {
  const fs::path plugin = directory_of_halide() / plugin_file(scheduler);
  std::error_code ignored;
  if (!fs::exists(plugin, ignored))
    throw Halide::CompileError(fmt::format("{} is not installed beside Halide", plugin_file(scheduler)));
  Halide::load_plugin(plugin.string());
  Halide::AutoschedulerParams parameters(name_of(scheduler), {{"parallelism", std::to_string(target.threads)}});
  if (scheduler == AutoScheduler::Mullapudi2016)
    parameters.extra["last_level_cache_size"] = std::to_string(target.l3_bytes);
  pipeline.apply_autoscheduler(halide, parameters);
}

}  // namespace tile_tune::codegen
