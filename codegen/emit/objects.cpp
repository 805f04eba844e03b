#include "codegen/emit/objects.h"

#include <fmt/format.h>

#include <sstream>

#include "codegen/emit/cpu_features.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {
namespace {

// Files of the work directory, relative to it: what tools record of file names is then the same everywhere.
constexpr const char* kRenames = "renames";

Result<void> compile_c(const ArchiveJob& job, const std::string& stem, const std::string& source) {
  TILE_TUNE_CHECK(write_text(job.work / (stem + ".c"), source));
  // -pipe: no files in $TMPDIR. Sections per function let the linker drop what a program does not call.
  TILE_TUNE_CHECK(run_tool({"cc", "-std=c11", "-O2", "-g0", "-fPIC", "-pipe", "-ffunction-sections", "-iquote",
                            job.include.string(), "-c", stem + ".c", "-o", stem + ".o"},
                           job.work));
  return {};
}

/// The runtime as one object whose symbols all start with tile_tune_: a program may link Halide's own runtime, of
/// whatever version and with its own error handler, beside it. They are hidden: a shared library that the runtime
/// becomes part of keeps them to itself. Leaves the list of renamed symbols in the work directory.
Result<void> make_runtime(const ArchiveJob& job, const std::filesystem::path& archive) {
  TILE_TUNE_CHECK(job.compiler.runtime(runtime_target(job.options.target), job.work / "halide.o"));
  TILE_TUNE_CHECK(compile_c(job, "hooks", runtime_hooks_text()));
  // Halide's definitions are weak, so that the hooks override them; both in one archive member, or the linker
  // might never look at the hooks.
  TILE_TUNE_CHECK(run_tool({"ld", "-r", "-o", "joined.o", "halide.o", "hooks.o"}, job.work));
  TILE_TUNE_TRY(symbols, run_tool({"nm", "-g", "-j", "--defined-only", "joined.o"}, job.work));
  std::istringstream lines(symbols);
  std::string renames, hidden;
  for (std::string symbol; std::getline(lines, symbol);) {
    renames += fmt::format("{0} tile_tune_{0}\n", symbol);
    hidden += fmt::format("__asm__(\".hidden {}\");\n", symbol);
  }
  TILE_TUNE_CHECK(write_text(job.work / kRenames, renames));
  // A definition joined with a hidden reference to it becomes hidden itself.
  TILE_TUNE_CHECK(compile_c(job, "hidden", hidden));
  TILE_TUNE_CHECK(run_tool({"ld", "-r", "-o", "tile_tune_rt.o", "joined.o", "hidden.o"}, job.work));
  TILE_TUNE_CHECK(run_tool({"objcopy", fmt::format("--redefine-syms={}", kRenames), "tile_tune_rt.o"}, job.work));
  TILE_TUNE_CHECK(run_tool({"ar", "rcsD", archive.string(), "tile_tune_rt.o"}, job.work));
  return {};
}

/// FUNCTION.o: the kernel and its entries, the entries alone visible.
Result<Compiled> make_member(const ArchiveJob& job, size_t number, const std::vector<std::string>& cpu_features) {
  const Kernel& kernel = job.kernels[number];
  const std::string &function = kernel.function, object = function + ".o";
  TILE_TUNE_TRY(compiled, job.compiler.object(kernel.program, kernel.schedule, job.options.target,
                                              kernel_symbol(function), job.work / "kernel.o"));
  TILE_TUNE_CHECK(compile_c(job, "entries", wrapper_text(job.options.name, job.signatures[number], cpu_features)));
  std::vector<std::string> link = {"ld", "-r", "--gc-sections", "-o", object, "entries.o", "kernel.o"};
  std::vector<std::string> hide = {"objcopy", fmt::format("--redefine-syms={}", kRenames)};
  for (const std::string& entry : entry_points(job.signatures[number])) {
    link.insert(link.end(), {"-u", entry});  // roots: Halide's argv entry and metadata fall away
    hide.push_back("--keep-global-symbol=" + entry);
  }
  hide.push_back(object);
  TILE_TUNE_CHECK(run_tool(link, job.work));
  TILE_TUNE_CHECK(run_tool(hide, job.work));
  return compiled;
}

}  // namespace

Result<std::vector<Compiled>> make_archives(const ArchiveJob& job, const std::filesystem::path& library,
                                            const std::filesystem::path& runtime) {
  TILE_TUNE_TRY(cpu_features, required_cpu_features(job.options.target));
  TILE_TUNE_CHECK(make_runtime(job, runtime));
  std::vector<Compiled> compiled;
  std::vector<std::string> archive = {"ar", "rcsD", library.string()};
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    TILE_TUNE_TRY(member, make_member(job, i, cpu_features));
    compiled.push_back(std::move(member));
    archive.push_back(job.kernels[i].function + ".o");
  }
  TILE_TUNE_CHECK(compile_c(job, "error_string", error_string_text(job.options.name)));
  archive.push_back("error_string.o");
  TILE_TUNE_CHECK(run_tool(archive, job.work));
  return compiled;
}

}  // namespace tile_tune::codegen
