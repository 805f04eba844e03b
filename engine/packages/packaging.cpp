#include "engine/packages/packaging.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_text.h"
#include "base/process/children.h"
#include "base/process/lines.h"
#include "base/process/spawn.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/write_package.h"
#include "codegen/target/host.h"
#include "engine/packages/checked_kernel.h"
#include "frontend/ir/json.h"
#include "search/workers/machine_lock.h"
#include "search/workers/object_check.h"
#include "search/workers/session_directory.h"

namespace tile_tune::engine {

namespace fs = std::filesystem;

namespace {

nlohmann::json to_json(const std::vector<codegen::Kernel>& kernels, const codegen::PackageOptions& options) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& kernel : kernels) {
    nlohmann::json variants = nlohmann::json::array();
    for (const auto& one : kernel.variants)
      variants.push_back({{"target", codegen::to_json(one.target)},
                          {"schedule", codegen::to_json(one.schedule)},
                          {"provenance", one.provenance},
                          {"rung", one.rung},
                          {"record", one.record}});
    list.push_back({{"program", ir::to_json(kernel.program)},
                    {"schedule", codegen::to_json(kernel.schedule)},
                    {"function", kernel.function},
                    {"provenance", kernel.provenance},
                    {"rung", kernel.rung},
                    {"record", kernel.record},
                    {"variants", std::move(variants)}});
    if (kernel.written) list.back()["written"] = ir::to_json(*kernel.written);
    if (!kernel.entry) continue;
    list.back()["family"] = codegen::to_json(*kernel.entry);
    list.back()["family"]["program"] = ir::to_json(kernel.entry->program.symbolic);
    list.back()["family"]["fixed"] = kernel.entry->program.fixed;
  }
  return {{"kernels", list},
          {"name", options.name},
          {"directory", options.directory.string()},
          {"target", codegen::to_json(options.target)},
          {"found_device", codegen::to_json(options.target.found)},
          {"tool_version", options.tool_version},
          {"checked", options.checked},
          {"files", options.expected}};
}

Result<codegen::Variant> read_variant(const nlohmann::json& json) {
  TILE_TUNE_TRY(target, codegen::target_from_json(json.at("target")));
  TILE_TUNE_TRY(schedule, codegen::schedule_from_json(json.at("schedule")));
  return codegen::Variant{std::move(target), std::move(schedule), json.at("provenance").get<std::string>(),
                          json.at("record"), json.at("rung").get<std::string>()};
}

Result<codegen::SizedEntry> read_entry(const nlohmann::json& json) {
  TILE_TUNE_TRY(program, ir::program_from_json(json.at("program")));
  return codegen::entry_from_json(json, std::move(program), json.at("fixed").get<ir::Sizes>());
}

/// The program at the sizes at which a kernel of this schedule is judged: several for one that computes many.
Result<std::vector<ir::Program>> programs_to_judge(const std::vector<codegen::Kernel>& kernels,
                                                   const ir::Program& program, const codegen::Schedule& schedule) {
  std::vector<ir::Program> programs;
  if (schedule.runtime.sizes.empty()) programs.push_back(program);
  for (const auto& plain : kernels) {
    const auto& kernel = codegen::compiled_form(plain);
    for (size_t m = 0; programs.empty() && kernel.entry && m < kernel.entry->members.size(); ++m) {
      const auto& member = kernel.entry->members[m];
      if (member.schedule != schedule || ir::to_json(member.program) != ir::to_json(program)) continue;
      for (const auto& values : codegen::sizes_to_check(*kernel.entry, m)) {
        TILE_TUNE_TRY(other, kernel.entry->program.at(values));
        programs.push_back(std::move(other));
      }
    }
  }
  return programs;
}

/// What a kernel of this program has to compute, where that is written otherwise.
const ir::Program* meaning_of(const std::vector<codegen::Kernel>& kernels, const ir::Program& program) {
  for (const auto& kernel : kernels)
    if (kernel.written && ir::to_json(kernel.program) == ir::to_json(program)) return &*kernel.written;
  return nullptr;
}

/// Only what computes as it should goes into a library: what compiles a kernel judges it, too, where it runs here.
codegen::Backend judging_backend(codegen::Backend backend, const fs::path& runtime,
                                 const std::vector<codegen::Kernel>& kernels) {
  backend.compile = [compile = backend.compile, runtime, &kernels](
                        const ir::Program& program, const codegen::Schedule& schedule, const codegen::Target& target,
                        const std::string& function, const fs::path& object) -> Result<codegen::Compiled> {
    TILE_TUNE_TRY(compiled, compile(program, schedule, target, function, object));
    if (!codegen::check_runs_here(target)) return compiled;
    TILE_TUNE_TRY(programs, programs_to_judge(kernels, program, schedule));
    for (const auto& one : programs)
      TILE_TUNE_CHECK(search::check_object(one, target, {function, object, runtime}, meaning_of(kernels, one)));
    return compiled;
  };
  return backend;
}

/// Of a kernel that runs here; nullopt: none does.
std::optional<codegen::Target> target_of_this_machine(const Package& package) {
  for (const auto& kernel : package.kernels)
    for (const auto& one : codegen::alternatives_of(kernel, package.options.target))
      if (codegen::check_runs_here(one.target)) return one.target;
  return std::nullopt;
}

Result<std::vector<fs::path>> answer(const std::string& text, const codegen::Backend& backend) {
  try {
    const auto json = nlohmann::json::parse(text);
    TILE_TUNE_TRY(package, package_from_json(json, json.at("directory").get<std::string>()));
    package.options.target.found = codegen::found_device_from_json(json.at("found_device"));
    for (auto& kernel : package.kernels)
      if (package.options.checked) TILE_TUNE_CHECK(add_index_checks(kernel, package.options.target));
    TILE_TUNE_TRY(scratch, search::SessionDirectory::create());
    const fs::path runtime = scratch.path() / "runtime.o";
    if (const auto target = target_of_this_machine(package)) TILE_TUNE_CHECK(backend.runtime(*target, runtime));
    return codegen::write_package_with(judging_backend(backend, runtime, package.kernels), package.kernels,
                                       package.options);
  } catch (const nlohmann::json::exception& error) {
    return failure("bad-request", fmt::format("malformed package request: {}", error.what()));
  }
}

/// Temporary folders of a package writer: it removes them itself unless it is killed.
void remove_staging_folders(const fs::path& directory, pid_t writer) {
  std::vector<fs::path> found;
  std::error_code error;
  const std::string prefix = codegen::staging_prefix(writer);
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  for (const auto& folder : found) fs::remove_all(folder, error);
}

/// Why a child ended without an answer. A full disk is such a case: the compiler ends the process there.
std::string why(const base::Finished& writer) {
  std::string complaint = base::last_line(writer.err);
  for (const std::string_view prefix : {"LLVM ERROR: ", "IO failure on output stream: "})
    if (complaint.starts_with(prefix)) complaint.erase(0, prefix.size());
  if (!complaint.empty()) return complaint;
  return writer.ending.signal ? strsignal(writer.ending.signal) : fmt::format("exit code {}", writer.ending.exit_code);
}

}  // namespace

Result<Package> package_from_json(const nlohmann::json& json, const fs::path& directory) {
  Package package;
  for (const auto& one : json.at("kernels")) {
    TILE_TUNE_TRY(program, ir::program_from_json(one.at("program")));
    TILE_TUNE_TRY(schedule, codegen::schedule_from_json(one.at("schedule")));
    package.kernels.push_back({std::move(program), std::move(schedule), one.at("function").get<std::string>(),
                               one.at("provenance").get<std::string>(), one.at("record"),
                               one.at("rung").get<std::string>()});
    for (const auto& other : one.at("variants")) {
      TILE_TUNE_TRY(variant, read_variant(other));
      package.kernels.back().variants.push_back(std::move(variant));
    }
    if (one.contains("written")) {
      TILE_TUNE_TRY(written, ir::program_from_json(one.at("written")));
      package.kernels.back().written = std::move(written);
    }
    if (!one.contains("family")) continue;
    TILE_TUNE_TRY(entry, read_entry(one.at("family")));
    package.kernels.back().schedule = entry.members.back().schedule;
    package.kernels.back().entry = std::move(entry);
  }
  TILE_TUNE_TRY(target, codegen::target_from_json(json.at("target")));
  package.options = {json.at("name").get<std::string>(),
                     directory,
                     std::move(target),
                     json.at("tool_version").get<std::string>(),
                     false,
                     json.at("checked").get<bool>(),
                     json.at("files").get<std::map<std::string, std::string>>()};
  return package;
}

Result<std::vector<std::string>> package_in_child(const std::vector<codegen::Kernel>& kernels,
                                                  const codegen::PackageOptions& options, const std::string& executable,
                                                  const search::Onlooker& onlooker, const std::atomic<bool>* stop) {
  // Compiling and verifying would disturb who times kernels.
  const auto lock = search::MachineLock::acquire(search::MachineLock::Mode::Shared, {stop}, onlooker);
  std::error_code error;
  const bool existed = fs::exists(options.directory, error);
  const auto writer = base::run({.words = {executable, "worker", "--package"}, .own_group = true},
                                base::json_text(to_json(kernels, options)), stop);
  if (!writer)
    return failure("cannot-start", fmt::format("cannot start a process of our own: {}", std::strerror(writer.error())));
  const auto json = nlohmann::json::parse(writer->out, nullptr, false);
  if (json.is_object() && json.contains("error")) return tl::unexpected(base::diagnostic_from_json(json["error"]));
  if (json.is_object() && json.contains("files")) {
    auto files = json["files"].get<std::vector<std::string>>();
    for (auto& file : files) file = (options.directory / file).string();
    return files;
  }
  remove_staging_folders(options.directory, writer->process);
  std::error_code ignored;
  if (!existed) fs::remove(options.directory, ignored);  // only if it is empty
  if (stop != nullptr && *stop) return failure("stopped", "stopped before the package was written");
  if (writer->ending.was_stopped)
    return failure("package-failed", fmt::format("writing the package to {} failed: somebody had stopped the process "
                                                 "that writes it",
                                                 options.directory.string()));
  return failure(why(*writer) == std::strerror(ENOSPC) ? "disk-full" : "package-failed",
                 fmt::format("writing the package to {} failed: {}", options.directory.string(), why(*writer)));
}

std::string answer_package_request(const std::string& request, const codegen::Backend& backend) {
  const auto files = answer(request, backend);
  if (!files) return base::json_text({{"error", tile_tune::to_json(files.error())}}) + "\n";
  std::vector<std::string> names;
  for (const auto& file : *files) names.push_back(file.string());
  return base::json_text({{"files", names}}) + "\n";
}

}  // namespace tile_tune::engine
