#include "codegen/emit/source_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/library_text.h"
#include "codegen/emit/runtime_files.h"
#include "codegen/emit/wrapper_text.h"
#include "codegen/backend/error_functions.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "src/tile_tune_rt";
// Objects of other platforms keep the names that Halide gives what they call: what archives rename is here defined
// under the old name, once for all packages of a program.
constexpr const char* kHalideNames = "halide_names.c";

std::string halide_names_text() {
  std::string text = R"(/* What kernels call, under the names that Halide gives it. */
#include "tile_tune_rt.h"

void* halide_malloc(void* call, size_t bytes);
void* halide_malloc(void* call, size_t bytes) { return tile_tune_rt4_malloc(call, bytes); }
void halide_free(void* call, void* memory);
void halide_free(void* call, void* memory) { tile_tune_rt4_free(call, memory); }
int halide_do_par_for(void* call, int (*task)(struct tile_tune_call*, int, uint8_t*), int min, int size, uint8_t* closure);
int halide_do_par_for(void* call, int (*task)(struct tile_tune_call*, int, uint8_t*), int min, int size, uint8_t* closure) {
  return tile_tune_rt4_do_par_for(call, task, min, size, closure);
}
int halide_error_out_of_memory(void* call);
int halide_error_out_of_memory(void* call) { return (void)call, tile_tune_rt4_out_of_memory(); }
void tile_tune_stream(void* to, int64_t offset, const void* from, int64_t first, int64_t bytes);
void tile_tune_stream(void* to, int64_t offset, const void* from, int64_t first, int64_t bytes) {
  tile_tune_rt4_stream(to, offset, from, first, bytes);
}
void tile_tune_end_stream(void);
void tile_tune_end_stream(void) { tile_tune_rt4_end_stream(); }
)";
  for (const char* name : kErrorFunctions)
    text += fmt::format(
        "int halide_error_{0}(void);\nint halide_error_{0}(void) {{ return TILE_TUNE_ERROR_INTERNAL; }}\n", name);
  return text;
}

std::string object_suffix(const PackageOptions& options) {
  return options.target.platform.system == System::Windows ? ".obj" : ".o";
}

std::vector<fs::path> object_files(const Kernel& kernel, const PackageOptions& options) {
  const fs::path folder = fs::path("lib") / options.name;
  const std::string suffix = object_suffix(options);
  if (kernel.variants.empty() && !kernel.entry) return {folder / (kernel.function + suffix)};
  std::vector<fs::path> files;
  for (size_t i = 0; i < functions_of(kernel, options.target).size(); ++i)
    files.push_back(folder / fmt::format("{}_{}{}", kernel.function, i, suffix));
  return files;
}

fs::path source(const PackageOptions& options, const std::string& stem) {
  return fs::path("src") / options.name / (stem + ".c");
}

std::string common_stem(const PackageOptions& options) { return options.name + "_context"; }

/// C sources, then objects, of the library itself.
std::vector<fs::path> library_files(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  std::vector<fs::path> files = {source(options, common_stem(options))};
  for (const Kernel& kernel : kernels) {
    files.push_back(source(options, kernel.function));
    if (!kernel.variants.empty()) files.push_back(source(options, kernel.function + "_dispatch"));
  }
  for (const Kernel& kernel : kernels)
    for (const auto& file : object_files(kernel, options)) files.push_back(file);
  return files;
}

Result<std::vector<Compiled>> make_objects(const ArchiveJob& job, const Kernel& kernel, const fs::path& root) {
  auto files = object_files(kernel, job.options);
  for (auto& file : files) file = root / file;
  TILE_TUNE_TRY(compiled, compile_functions(job, kernel, files));
  if (kernel.variants.empty()) return compiled;
  TILE_TUNE_TRY(described, described_alternatives(kernel, job.options.target));
  TILE_TUNE_CHECK(base::write_text(root / source(job.options, kernel.function + "_dispatch"),
                                   cpu_dispatch_text(kernel_symbol(kernel.function), described)));
  return compiled;
}

}  // namespace

std::vector<fs::path> source_files(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  auto files = library_files(kernels, options);
  for (const auto& [name, text] : runtime_files()) files.push_back(fs::path(kRuntime) / name);
  files.push_back(fs::path(kRuntime) / kHalideNames);
  return files;
}

Result<std::vector<std::vector<Compiled>>> make_sources(const ArchiveJob& job, const fs::path& root) {
  TILE_TUNE_TRY(cpu_features, required_cpu_features(job.options.target));
  for (const auto& [name, text] : runtime_files()) TILE_TUNE_CHECK(base::write_text(root / kRuntime / name, text));
  TILE_TUNE_CHECK(base::write_text(root / kRuntime / kHalideNames, halide_names_text()));
  TILE_TUNE_CHECK(base::write_text(root / source(job.options, common_stem(job.options)),
                                   library_text(job.options.name, Driver::None)));
  std::vector<std::vector<Compiled>> compiled;
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    TILE_TUNE_CHECK(base::write_text(root / source(job.options, job.kernels[i].function),
                                     entries_text(job.options.name, job.signatures[i], job.kernels[i], cpu_features)));
    TILE_TUNE_TRY(one, make_objects(job, job.kernels[i], root));
    compiled.push_back(std::move(one));
  }
  return compiled;
}

std::string sources_config_text(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  std::vector<std::string> files, runtime;
  for (const auto& file : library_files(kernels, options))
    files.push_back(fmt::format("    \"${{_{}_prefix}}/{}\"", options.name, file.generic_string()));
  for (const auto& [name, text] : runtime_files())
    if (name.ends_with(".c"))
      runtime.push_back(fmt::format("    \"${{_{}_prefix}}/{}/{}\"", options.name, kRuntime, name));
  runtime.push_back(fmt::format("    \"${{_{}_prefix}}/{}/{}\"", options.name, kRuntime, kHalideNames));
  return fmt::format(R"(# {0}::{0}: kernels made by tile-tune for {1}, with the runtime they share (tile_tune::rt).
# Both are compiled here, as C11, by GCC or Clang: the project needs the language C.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

get_filename_component(_{0}_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)

if(NOT TARGET tile_tune::rt)
  add_library(tile_tune_rt STATIC
{3})
  add_library(tile_tune::rt ALIAS tile_tune_rt)
  set_target_properties(tile_tune_rt PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(tile_tune_rt INTERFACE "$<BUILD_INTERFACE:${{_{0}_prefix}}/src/tile_tune_rt>")
  target_link_libraries(tile_tune_rt PUBLIC Threads::Threads)
endif()

if(NOT TARGET {0}::{0})
  add_library(tile_tune_{0} STATIC
{2})
  add_library({0}::{0} ALIAS tile_tune_{0})
  set_target_properties(tile_tune_{0} PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tile_tune_{0} PUBLIC "${{_{0}_prefix}}/include")
  target_link_libraries(tile_tune_{0} PUBLIC tile_tune_rt)
endif()

unset(_{0}_prefix)
)",
                     options.name, options.target.text(), fmt::join(files, "\n"), fmt::join(runtime, "\n"));
}

}  // namespace tile_tune::codegen
