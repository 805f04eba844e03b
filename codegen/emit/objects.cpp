#include "codegen/emit/objects.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <sstream>

#include "codegen/emit/children.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/library_text.h"
#include "codegen/emit/runtime_files.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

// Below the work directory; tools are told names relative to the folder they run in, so that what they record is the
// same everywhere. A kernel's intermediate files have a folder of their own: no function's name can be one of theirs.
constexpr const char* kRuntimeFolder = "runtime";
constexpr const char* kMembersFolder = "members";

Result<fs::path> make_folder(const ArchiveJob& job, const std::string& name) {
  std::error_code error;
  const fs::path folder = job.work / name;
  fs::create_directory(folder, error);
  if (error) return failure("cannot-write", fmt::format("cannot write {}: {}", folder.string(), error.message()));
  return folder;
}

Result<void> compile_c(const std::filesystem::path& folder, const std::string& stem,
                       const std::vector<std::string>& options) {
  // -pipe: no files in $TMPDIR. Sections per function let the linker drop what a program does not call.
  std::vector<std::string> command = {"cc", "-std=c11", "-O2", "-g0", "-fPIC", "-pipe", "-ffunction-sections"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-c", stem + ".c", "-o", stem + ".o"});
  TILE_TUNE_CHECK(run_tool(command, folder));
  return {};
}

/// A source that includes the library's header and the runtime's.
Result<void> compile_generated(const ArchiveJob& job, const fs::path& folder, const std::string& stem,
                               const std::string& source) {
  TILE_TUNE_CHECK(write_text(folder / (stem + ".c"), source));
  return compile_c(folder, stem,
                   {"-iquote", job.include.string(), "-iquote", (job.work / kRuntimeFolder).string()});
}

/// libtile_tune_rt.a, whose symbols are hidden: a shared library that the runtime becomes part of keeps them to itself.
/// Leaves the runtime's header for compile_generated().
Result<void> make_runtime(const ArchiveJob& job, const std::filesystem::path& archive) {
  TILE_TUNE_TRY(folder, make_folder(job, kRuntimeFolder));
  for (const auto& [name, text] : runtime_files()) TILE_TUNE_CHECK(write_text(folder / name, text));
  std::vector<std::string> command = {"ar", "rcsD", archive.string()};
  for (const auto& [name, text] : runtime_files()) {
    const std::filesystem::path file = name;
    if (file.extension() != ".c") continue;
    TILE_TUNE_CHECK(compile_c(folder, file.stem().string(), {"-fvisibility=hidden"}));
    command.push_back(file.stem().string() + ".o");
  }
  TILE_TUNE_CHECK(run_tool(command, folder));
  return {};
}

/// The runtime's function in place of Halide's, which kernels call: all that report an error but that of memory are one,
/// since none of them can happen behind the entries' buffers. Nothing for a function that the runtime does not have.
std::optional<std::string> runtime_function(const std::string& halide) {
  static const std::map<std::string, std::string> functions = {{"halide_malloc", "tile_tune_rt1_malloc"},
                                                               {"halide_free", "tile_tune_rt1_free"},
                                                               {"halide_do_par_for", "tile_tune_rt1_do_par_for"},
                                                               {"halide_error_out_of_memory",
                                                                "tile_tune_rt1_out_of_memory"}};
  if (const auto found = functions.find(halide); found != functions.end()) return found->second;
  if (halide.starts_with("halide_error")) return "tile_tune_rt1_error";
  return std::nullopt;
}

/// Options of objcopy that make a kernel's object call our runtime.
Result<std::vector<std::string>> redirections(const std::filesystem::path& folder, const std::string& object) {
  TILE_TUNE_TRY(symbols, run_tool({"nm", "-g", "-j", "--undefined-only", object}, folder));
  std::istringstream lines(symbols);
  std::vector<std::string> options;
  for (std::string symbol; std::getline(lines, symbol);) {
    if (!symbol.starts_with("halide_")) continue;
    const auto function = runtime_function(symbol);
    if (!function)
      return failure("compiler-error", fmt::format("a kernel calls {}, which the runtime of packages lacks", symbol));
    options.push_back(fmt::format("--redefine-sym={}={}", symbol, *function));
  }
  return options;
}

/// Halide hands a kernel's first argument, the call, to the functions of its runtime.
Target with_user_context(Target target) {
  target.halide += "-user_context";
  return target;
}

/// members/FUNCTION.o: the kernel and its entries, the entries alone visible.
Result<Compiled> make_member(const ArchiveJob& job, size_t number, const std::vector<std::string>& cpu_features) {
  const Kernel& kernel = job.kernels[number];
  TILE_TUNE_TRY(folder, make_folder(job, std::to_string(number)));
  const std::string object = job.work / kMembersFolder / (kernel.function + ".o");
  TILE_TUNE_TRY(compiled, job.compiler.object(kernel.program, kernel.schedule, with_user_context(job.options.target),
                                              kernel_symbol(kernel.function), folder / "kernel.o"));
  TILE_TUNE_CHECK(
      compile_generated(job, folder, "entries", wrapper_text(job.options.name, job.signatures[number], cpu_features)));
  std::vector<std::string> link = {"ld", "-r", "--gc-sections", "-o", object, "entries.o", "kernel.o"};
  TILE_TUNE_TRY(redirected, redirections(folder, "kernel.o"));
  std::vector<std::string> hide = {"objcopy"};
  hide.insert(hide.end(), redirected.begin(), redirected.end());
  for (const std::string& entry : entry_points(job.signatures[number])) {
    link.insert(link.end(), {"-u", entry});  // roots: Halide's argv entry and metadata fall away
    hide.push_back("--keep-global-symbol=" + entry);
  }
  hide.push_back(object);
  TILE_TUNE_CHECK(run_tool(link, folder));
  TILE_TUNE_CHECK(run_tool(hide, folder));
  return compiled;
}

/// members/NAME_context.o: what the library's kernels share. No kernel can have this name (package.cpp,
/// check_distinct).
std::string common_member(const ArchiveJob& job) { return job.options.name + "_context"; }

nlohmann::json to_json(const Compiled& compiled) {
  return {{"code_hash", compiled.code_hash}, {"lower_ms", compiled.lower_ms}, {"compile_ms", compiled.compile_ms}};
}

Compiled compiled_from_json(const nlohmann::json& json) {
  return {json["code_hash"], json["lower_ms"], json["compile_ms"]};
}

}  // namespace

Result<std::vector<Compiled>> make_archives(const ArchiveJob& job, const fs::path& library, const fs::path& runtime) {
  TILE_TUNE_TRY(cpu_features, required_cpu_features(job.options.target));
  TILE_TUNE_TRY(members, make_folder(job, kMembersFolder));
  TILE_TUNE_CHECK(make_runtime(job, runtime));
  TILE_TUNE_CHECK(compile_generated(job, members, common_member(job), library_text(job.options.name)));
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
  archive.push_back(common_member(job) + ".o");
  TILE_TUNE_CHECK(run_tool(archive, members));
  return compiled;
}

}  // namespace tile_tune::codegen
