#include "codegen/emit/objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <sstream>
#include <nlohmann/json.hpp>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/process/children.h"
#include "base/sha256.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/dispatch_text.h"
#include "codegen/emit/library_text.h"
#include "codegen/emit/runtime/tile_tune_device.h"
#include "codegen/emit/runtime_files.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/wrapper_text.h"
#include "codegen/target/host.h"

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

// -pipe: no files in $TMPDIR. Sections per function let the linker drop what a program does not call.
const std::vector<std::string> kCOptions = {"-std=c11", "-O2", "-g0", "-fPIC", "-pipe", "-ffunction-sections"};
const char* const kHidden = "-fvisibility=hidden";

Result<void> compile_c(const Toolchain& tools, const std::filesystem::path& folder, const std::string& stem,
                       const std::vector<std::string>& options) {
  std::vector<std::string> command = {tools.cc};
  command.insert(command.end(), kCOptions.begin(), kCOptions.end());
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-c", stem + ".c", "-o", stem + ".o"});
  TILE_TUNE_CHECK(run_tool(command, folder));
  return {};
}

/// A source that includes the library's header and the runtime's.
Result<void> compile_generated(const ArchiveJob& job, const fs::path& folder, const std::string& stem,
                               const std::string& source) {
  TILE_TUNE_CHECK(base::write_text(folder / (stem + ".c"), source));
  return compile_c(job.tools, folder, stem,
                   {"-iquote", job.include.string(), "-iquote", (job.work / kRuntimeFolder).string()});
}

/// Where compile_generated() finds the runtime's header, and make_runtime() its sources.
Result<void> write_runtime_sources(const ArchiveJob& job) {
  TILE_TUNE_TRY(folder, make_folder(job, kRuntimeFolder));
  for (const auto& [name, text] : runtime_files()) TILE_TUNE_CHECK(base::write_text(folder / name, text));
  return {};
}

/// All that the archive's bytes depend on.
Result<std::string> runtime_key(const Toolchain& tools) {
  TILE_TUNE_TRY(compiler, run_tool({tools.cc, "--version"}, "/"));
  TILE_TUNE_TRY(archiver, run_tool({tools.ar, "--version"}, "/"));  // the assembler is of the same binutils
  std::string all =
      fmt::format("{}\n{}\n{}\n{} {}\n", tools.cc, compiler, archiver, fmt::join(kCOptions, " "), kHidden);
  for (const auto& [name, text] : runtime_files()) all += fmt::format("{} {}\n{}\n", name, text.size(), text);
  return "libtile_tune_rt-" + base::sha256_hex(all).substr(0, 32);
}

/// libtile_tune_rt.a, whose symbols are hidden: a shared library that the runtime becomes part of keeps them to itself.
Result<void> make_runtime(const ArchiveJob& job, const std::filesystem::path& archive) {
  const fs::path folder = job.work / kRuntimeFolder;
  std::vector<std::string> command = {job.tools.ar, "rcsD", archive.string()};
  for (const auto& [name, text] : runtime_files()) {
    const std::filesystem::path file = name;
    if (file.extension() != ".c") continue;
    TILE_TUNE_CHECK(compile_c(job.tools, folder, file.stem().string(), {kHidden}));
    command.push_back(file.stem().string() + ".o");
  }
  TILE_TUNE_CHECK(run_tool(command, folder));
  return {};
}

/// The same, from the user's cache where an earlier package left it there: compiling it takes as long as a kernel does.
Result<void> provide_runtime(const ArchiveJob& job, const std::filesystem::path& archive) {
  TILE_TUNE_TRY(key, runtime_key(job.tools));
  return base::FileCache(base::user_cache()).provide(key, archive, [&] { return make_runtime(job, archive); });
}

/// The runtime's functions in place of Halide's and of names without a number, which kernels call.
#define TILE_TUNE_NAMES(halide, ours) {#halide, #ours},
const std::map<std::string, std::string> kRuntimeFunctions = {
    {"halide_malloc", "tile_tune_rt4_malloc"},         {"halide_free", "tile_tune_rt4_free"},
    {"halide_do_par_for", "tile_tune_rt4_do_par_for"}, {"halide_error_out_of_memory", "tile_tune_rt4_out_of_memory"},
    {"tile_tune_stream", "tile_tune_rt4_stream"},      {"tile_tune_end_stream", "tile_tune_rt4_end_stream"},
    TILE_TUNE_DEVICE_FUNCTIONS(TILE_TUNE_NAMES)};
#undef TILE_TUNE_NAMES

/// What a kernel's object calls of Halide's runtime.
Result<std::vector<std::string>> halide_functions(const ArchiveJob& job, const fs::path& folder,
                                                  const std::string& object) {
  TILE_TUNE_TRY(symbols, run_tool({job.tools.nm, "-g", "-j", "--undefined-only", object}, folder));
  std::istringstream lines(symbols);
  std::vector<std::string> functions;
  for (std::string symbol; std::getline(lines, symbol);)
    if (symbol.starts_with("halide_")) functions.push_back(symbol);
  return functions;
}

/// Those of Halide's functions that report an error, but that of memory, as one: they say what is wrong with a buffer,
/// and the entries make buffers from constants.
Result<std::string> error_functions(const std::set<std::string>& halide) {
  std::string text = "#include \"tile_tune_rt.h\"\n\nstatic int error(void) { return TILE_TUNE_ERROR_INTERNAL; }\n";
  for (const std::string& function : halide) {
    if (kRuntimeFunctions.contains(function)) continue;
    if (!function.starts_with("halide_error"))
      return failure("compiler-error", fmt::format("a kernel calls {}, which the runtime of packages lacks", function));
    text += fmt::format("int {}(void) __attribute__((alias(\"error\")));\n", function);
  }
  return text;
}

struct Member {
  std::vector<Compiled> compiled;    // what each function of a kernel compiled to, in dispatch_order()
  std::vector<std::string> objects;  // files of the kernel's folder
};

/// The kernel's function, or one for each instruction set and what chooses among them, or those of many sizes.
Result<Member> make_kernel(const ArchiveJob& job, const Kernel& kernel, const fs::path& folder) {
  Member member;
  std::vector<fs::path> objects;
  for (size_t i = 0; i < functions_of(kernel, job.options.target).size(); ++i) {
    member.objects.push_back(fmt::format("kernel{}.o", i));
    objects.push_back(folder / member.objects.back());
  }
  TILE_TUNE_TRY(compiled, compile_functions(job, kernel, objects));
  member.compiled = std::move(compiled);
  if (kernel.variants.empty()) return member;
  TILE_TUNE_TRY(described, described_alternatives(kernel, job.options.target));
  TILE_TUNE_CHECK(
      compile_generated(job, folder, "dispatch", cpu_dispatch_text(kernel_symbol(kernel.function), described)));
  member.objects.push_back("dispatch.o");
  return member;
}

/// members/FUNCTION.o: the kernel and its entries, the entries alone visible.
Result<std::vector<Compiled>> make_member(const ArchiveJob& job, size_t number,
                                          const std::vector<std::string>& cpu_features) {
  const Kernel& kernel = job.kernels[number];
  TILE_TUNE_TRY(folder, make_folder(job, std::to_string(number)));
  const std::string object = job.work / kMembersFolder / (kernel.function + ".o");
  TILE_TUNE_TRY(member, make_kernel(job, kernel, folder));
  TILE_TUNE_CHECK(compile_generated(job, folder, "entries",
                                    entries_text(job.options.name, job.signatures[number], kernel, cpu_features)));
  std::set<std::string> halide;
  for (const std::string& one : member.objects) {
    TILE_TUNE_TRY(functions, halide_functions(job, folder, one));
    halide.insert(functions.begin(), functions.end());
  }
  TILE_TUNE_TRY(errors, error_functions(halide));
  TILE_TUNE_CHECK(compile_generated(job, folder, "errors", errors));
  std::vector<std::string> link = {job.tools.ld, "-r", "--gc-sections", "-o", object, "entries.o", "errors.o"};
  link.insert(link.end(), member.objects.begin(), member.objects.end());
  std::vector<std::string> hide = {job.tools.objcopy};
  for (const auto& [from, to] : kRuntimeFunctions) hide.push_back(fmt::format("--redefine-sym={}={}", from, to));
  for (const std::string& entry : entry_points(job.signatures[number])) {
    link.insert(link.end(), {"-u", entry});  // roots: Halide's argv entry and metadata fall away
    hide.push_back("--keep-global-symbol=" + entry);
  }
  hide.push_back(object);
  TILE_TUNE_CHECK(run_tool(link, folder));
  TILE_TUNE_CHECK(run_tool(hide, folder));
  return std::move(member.compiled);
}

/// members/NAME_context.o: what the library's kernels share. No kernel can have this name (package.cpp,
/// check_distinct).
std::string common_member(const ArchiveJob& job) { return job.options.name + "_context"; }

nlohmann::json to_json(const std::vector<Compiled>& functions) {
  nlohmann::json list = nlohmann::json::array();
  for (const Compiled& one : functions)
    list.push_back({{"code_hash", one.code_hash}, {"lower_ms", one.lower_ms}, {"compile_ms", one.compile_ms}});
  return list;
}

std::vector<Compiled> compiled_from_json(const nlohmann::json& list) {
  std::vector<Compiled> functions;
  for (const auto& one : list) functions.push_back({one["code_hash"], one["lower_ms"], one["compile_ms"]});
  return functions;
}

}  // namespace

Result<std::vector<Compiled>> compile_functions(const ArchiveJob& job, const Kernel& kernel,
                                                const std::vector<fs::path>& objects) {
  const auto all = functions_of(kernel, job.options.target);
  std::vector<Compiled> compiled;
  for (size_t i = 0; i < all.size(); ++i) {
    Target target = all[i].target;
    target.features.add(
        Feature::UserContext);  // the first argument, the call, is handed to the functions of the runtime
    TILE_TUNE_TRY(one, job.backend.compile(all[i].program, all[i].schedule, target, all[i].symbol, objects[i]));
    compiled.push_back(std::move(one));
  }
  return compiled;
}

Result<std::vector<std::vector<Compiled>>> make_archives(const ArchiveJob& job, const fs::path& library,
                                                         const fs::path& runtime) {
  TILE_TUNE_TRY(cpu_features, required_cpu_features(job.options.target));
  TILE_TUNE_TRY(members, make_folder(job, kMembersFolder));
  TILE_TUNE_CHECK(write_runtime_sources(job));
  // First what all kernels share: of a library with one it is done on another core while the kernel is compiled.
  const auto make = [&](size_t number) -> Result<nlohmann::json> {
    if (number > 0) {
      TILE_TUNE_TRY(functions, make_member(job, number - 1, cpu_features));
      return to_json(functions);
    }
    TILE_TUNE_CHECK(provide_runtime(job, runtime));
    TILE_TUNE_CHECK(compile_generated(job, members, common_member(job),
                                      library_text(job.options.name, driver_of(job.options.target))));
    return nlohmann::json();
  };
  TILE_TUNE_TRY(answers, base::in_children(job.kernels.size() + 1, available_cores().size(), make));
  std::vector<std::vector<Compiled>> compiled;
  std::vector<std::string> archive = {job.tools.ar, "rcsD", library.string()};
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    compiled.push_back(compiled_from_json(answers[i + 1]));
    archive.push_back(job.kernels[i].function + ".o");
  }
  archive.push_back(common_member(job) + ".o");
  TILE_TUNE_CHECK(run_tool(archive, members));
  return compiled;
}

}  // namespace tile_tune::codegen
