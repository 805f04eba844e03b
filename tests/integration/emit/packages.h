// Emitting packages in a process of their own, building programs with them, looking at them.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"

namespace tile_tune::test {

namespace fs = std::filesystem;

inline const fs::path kSource = TILE_TUNE_SOURCE_DIR;

/// A directory of its own, removed at the end.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "tile tune emit XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Scratch() { fs::remove_all(path); }
  fs::path path;
};

inline std::string run(const std::vector<std::string>& command, const fs::path& directory) {
  const auto output = codegen::run_tool(command, directory);
  INFO(command.back());
  if (!output) FAIL(render(output.error()));
  return *output;
}

/// Emits in one place and moves the package to another, so that no path it was made under can matter.
inline fs::path emit(const std::string& package, const fs::path& directory) {
  run({EMIT_FIXTURE, package, (directory / "made here").string()}, directory);
  const fs::path place = directory / package;
  fs::rename(directory / "made here", place);
  return place;
}

/// What examples/deploy's C program and its C++ one say of the package "matmul".
struct Deployed {
  std::string c, cpp;
};

inline Deployed deploy(const fs::path& package, const fs::path& directory) {
  const fs::path build = directory / "build";
  const std::string cmake = (kSource / ".venv/bin/cmake").string();
  run({cmake, "-S", (kSource / "examples/deploy").string(), "-B", build.string(), "-G", "Unix Makefiles",
       "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_PREFIX_PATH=" + package.string()},
      directory);
  run({cmake, "--build", build.string()}, directory);
  return {run({(build / "deploy_c").string()}, build), run({(build / "deploy_cpp").string()}, build)};
}

/// The sources of programs that tests build, copied to where they are built.
inline void copy_sources(const std::vector<std::string>& names, const fs::path& directory) {
  for (const std::string& name : names) fs::copy_file(kSource / "tests/integration/emit" / name, directory / name);
}

/// Where pkg-config finds the packages.
inline void use_packages(const std::vector<fs::path>& packages) {
  std::string path;
  for (const fs::path& package : packages) path += (package / "lib/pkgconfig").string() + ":";
  setenv("PKG_CONFIG_PATH", path.c_str(), 1);
}

/// A shell line with pkg-config's flags for packages; eval undoes pkg-config's quoting of the blanks in our paths.
inline void compile(const std::string& line, const std::vector<fs::path>& packages, const fs::path& directory) {
  use_packages(packages);
  run({"sh", "-ec", "eval " + line}, directory);
}

/// External symbols that an archive defines ("--defined-only") or needs ("--undefined-only").
inline std::set<std::string> symbols(const std::string& which, const fs::path& archive) {
  std::istringstream lines(run({"nm", "-g", "-j", which, archive.string()}, archive.parent_path()));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line.back() != ':') names.insert(line);  // not the members' names
  return names;
}

/// What every library exports besides its kernels' entries.
inline std::set<std::string> library_symbols(const std::string& library) {
  std::set<std::string> names;
  for (const char* suffix :
       {"error_string", "default_context", "set_num_threads", "context_create", "context_destroy",
        "context_set_num_threads", "context_set_parallel_for", "context_set_allocator", "context_set_user_data"})
    names.insert(library + "_" + suffix);
  return names;
}

}  // namespace tile_tune::test
