#include "codegen/emit/objects.h"

#include <fmt/format.h>

#include <sstream>

#include "codegen/emit/children.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

// Below the work directory, which tools are told relative names of: what they record is then the same everywhere.
// A kernel's intermediate files have a folder of their own, so that no function's name can be one of theirs.
constexpr const char* kRuntimeFolder = "runtime";
constexpr const char* kRenames = "runtime/renames";
constexpr const char* kHalideRuntime = "runtime/halide.o";
constexpr const char* kMembers = "members";

Result<fs::path> make_folder(const ArchiveJob& job, const std::string& name) {
  std::error_code error;
  const fs::path folder = job.work / name;
  fs::create_directory(folder, error);
  if (error) return failure("cannot-write", fmt::format("cannot write {}: {}", folder.string(), error.message()));
  return folder;
}

Result<void> compile_c(const ArchiveJob& job, const fs::path& folder, const std::string& stem,
                       const std::string& source) {
  TILE_TUNE_CHECK(write_text(folder / (stem + ".c"), source));
  // -pipe: no files in $TMPDIR. Sections per function let the linker drop what a program does not call.
  TILE_TUNE_CHECK(run_tool({"cc", "-std=c11", "-O2", "-g0", "-fPIC", "-pipe", "-ffunction-sections", "-iquote",
                            job.include.string(), "-c", stem + ".c", "-o", stem + ".o"},
                           folder));
  return {};
}

/// The runtime as one object whose symbols all start with tile_tune_: a program may link Halide's own runtime, of
/// whatever version and with its own error handler, beside it. They are hidden: a shared library that the runtime
/// becomes part of keeps them to itself. Leaves the list of renamed symbols and Halide's runtime as it was.
Result<void> make_runtime(const ArchiveJob& job, const fs::path& archive) {
  TILE_TUNE_TRY(folder, make_folder(job, kRuntimeFolder));
  TILE_TUNE_CHECK(job.compiler.runtime(runtime_target(job.options.target), job.work / kHalideRuntime));
  TILE_TUNE_CHECK(compile_c(job, folder, "hooks", runtime_hooks_text()));
  // Halide's definitions are weak, so that the hooks override them; both in one archive member, or the linker
  // might never look at the hooks.
  TILE_TUNE_CHECK(run_tool({"ld", "-r", "-o", "joined.o", "halide.o", "hooks.o"}, folder));
  TILE_TUNE_TRY(symbols, run_tool({"nm", "-g", "-j", "--defined-only", "joined.o"}, folder));
  std::istringstream lines(symbols);
  std::string renames, hidden;
  for (std::string symbol; std::getline(lines, symbol);) {
    renames += fmt::format("{0} tile_tune_{0}\n", symbol);
    hidden += fmt::format("__asm__(\".hidden {}\");\n", symbol);
  }
  TILE_TUNE_CHECK(write_text(job.work / kRenames, renames));
  // A definition joined with a hidden reference to it becomes hidden itself.
  TILE_TUNE_CHECK(compile_c(job, folder, "hidden", hidden));
  TILE_TUNE_CHECK(run_tool({"ld", "-r", "-o", "tile_tune_rt.o", "joined.o", "hidden.o"}, folder));
  TILE_TUNE_CHECK(run_tool(
      {"objcopy", fmt::format("--redefine-syms={}", (job.work / kRenames).string()), "tile_tune_rt.o"}, folder));
  TILE_TUNE_CHECK(run_tool({"ar", "rcsD", archive.string(), "tile_tune_rt.o"}, folder));
  return {};
}

/// members/FUNCTION.o: the kernel and its entries, the entries alone visible.
Result<Compiled> make_member(const ArchiveJob& job, size_t number, const std::vector<std::string>& cpu_features) {
  const Kernel& kernel = job.kernels[number];
  TILE_TUNE_TRY(folder, make_folder(job, std::to_string(number)));
  const std::string symbol = kernel_symbol(kernel.function), object = job.work / kMembers / (kernel.function + ".o");
  TILE_TUNE_TRY(compiled,
                job.compiler.object(kernel.program, kernel.schedule, job.options.target, symbol, folder / "kernel.o"));
  if (job.compiler.judge)
    TILE_TUNE_CHECK(
        job.compiler.judge(kernel, job.options.target, symbol, folder / "kernel.o", job.work / kHalideRuntime));
  TILE_TUNE_CHECK(
      compile_c(job, folder, "entries", wrapper_text(job.options.name, job.signatures[number], cpu_features)));
  std::vector<std::string> link = {"ld", "-r", "--gc-sections", "-o", object, "entries.o", "kernel.o"};
  std::vector<std::string> hide = {"objcopy", fmt::format("--redefine-syms={}", (job.work / kRenames).string())};
  for (const std::string& entry : entry_points(job.signatures[number])) {
    link.insert(link.end(), {"-u", entry});  // roots: Halide's argv entry and metadata fall away
    hide.push_back("--keep-global-symbol=" + entry);
  }
  hide.push_back(object);
  TILE_TUNE_CHECK(run_tool(link, folder));
  TILE_TUNE_CHECK(run_tool(hide, folder));
  return compiled;
}

nlohmann::json to_json(const Compiled& compiled) {
  return {{"code_hash", compiled.code_hash}, {"lower_ms", compiled.lower_ms}, {"compile_ms", compiled.compile_ms}};
}

Compiled compiled_from_json(const nlohmann::json& json) {
  return {json["code_hash"], json["lower_ms"], json["compile_ms"]};
}

}  // namespace

Result<std::vector<Compiled>> make_archives(const ArchiveJob& job, const fs::path& library, const fs::path& runtime) {
  TILE_TUNE_TRY(cpu_features, required_cpu_features(job.options.target));
  TILE_TUNE_CHECK(make_runtime(job, runtime));
  TILE_TUNE_TRY(members, make_folder(job, kMembers));
  const auto make = [&](size_t number) -> Result<nlohmann::json> {
    TILE_TUNE_TRY(compiled, make_member(job, number, cpu_features));
    return to_json(compiled);
  };
  TILE_TUNE_TRY(answers, in_children(job.kernels.size(), available_cores().size(), make));
  std::vector<Compiled> compiled;
  std::vector<std::string> archive = {"ar", "rcsD", library.string()};
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    compiled.push_back(compiled_from_json(answers[i]));
    archive.push_back(job.kernels[i].function + ".o");
  }
  // No function can have this name (package.cpp, check_distinct).
  const std::string error_string = job.options.name + "_error_string";
  TILE_TUNE_CHECK(compile_c(job, members, error_string, error_string_text(job.options.name)));
  archive.push_back(error_string + ".o");
  TILE_TUNE_CHECK(run_tool(archive, members));
  return compiled;
}

}  // namespace tile_tune::codegen
