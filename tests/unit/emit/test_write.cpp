// What happens to the target directory, with a stand-in for Halide: small C files compiled by cc.
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/write_package.h"
#include "tests/integration/emit/programs.h"
#include "tests/unit/emit/scratch.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using tile_tune::test::Scratch;
namespace fs = std::filesystem;

namespace {

/// Kernels that return `result`, and call what kernels call of a runtime.
Backend stand_in(int result = 0, const std::string& called = "halide_free") {
  Backend backend;
  backend.compile = [=](const ir::Program&, const Schedule&, const Target&, const std::string& function,
                        const fs::path& object) -> Result<Compiled> {
    const fs::path source = object.parent_path() / "kernel.c";
    TILE_TUNE_CHECK(tile_tune::base::write_text(
        source, fmt::format("void {1}(void*, void*);\nint {0}(void* call) {{ {1}(call, 0); return {2}; }}\n", function,
                            called, result)));
    TILE_TUNE_CHECK(run_tool({"cc", "-c", "-fPIC", source.string(), "-o", object.string()}, "/"));
    return Compiled{"hash", 0, 0};
  };
  return backend;
}

PackageOptions options(const fs::path& directory, const std::string& name = "lib") {
  return {name, directory, Target(), "1.2.3"};
}

/// Path and bytes of everything below a directory.
std::map<std::string, std::string> snapshot(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    files[entry.path().string()] = entry.is_regular_file() ? *tile_tune::base::read_bytes(entry.path()) : "";
  return files;
}

const std::vector<Kernel> kKernel = {test::matmul_kernel("f")};

}  // namespace

TEST_CASE("a package is written, replaced, and leaves its neighbours alone") {
  const Scratch scratch;
  const fs::path out = scratch.path / "new" / "out";
  const auto written = write_package_with(stand_in(), kKernel, options(out / ""));
  REQUIRE(written);
  CHECK(*written == std::vector<fs::path>{"include/lib.h", "include/lib.hpp", "lib/cmake/lib/libConfig.cmake",
                                          "lib/cmake/lib/libConfigVersion.cmake", "lib/liblib.a",
                                          "lib/libtile_tune_rt.a", "lib/pkgconfig/lib.pc", "share/lib/manifest.json"});
  for (const fs::path& file : *written) CHECK(fs::is_regular_file(out / file));
  CHECK(std::distance(fs::directory_iterator(out), {}) == 3);  // no temporary directory is left

  const auto before = snapshot(out);
  REQUIRE(write_package_with(stand_in(), {test::matmul_kernel("g")}, options(out, "other")));
  auto after = snapshot(out);
  for (const auto& [path, bytes] : before) CHECK(after[path] == bytes);

  REQUIRE(write_package_with(stand_in(1), kKernel, options(out)));
  CHECK(snapshot(out)[(out / "lib/liblib.a").string()] != before.at((out / "lib/liblib.a").string()));
  CHECK(snapshot(out).size() == after.size());
}

TEST_CASE("what an older package of the name had and the new one lacks is gone, and nothing else") {
  const Scratch scratch;
  const fs::path out = scratch.path / "out";
  REQUIRE(write_package_with(stand_in(), kKernel, options(out, "other")));
  REQUIRE(write_package_with(stand_in(), {test::matmul_kernel("f"), test::matmul_kernel("g")}, options(out)));
  auto as_sources = options(out);
  as_sources.as_sources = true;
  REQUIRE(write_package_with(stand_in(), kKernel, as_sources));
  CHECK_FALSE(fs::exists(out / "lib/liblib.a"));
  CHECK_FALSE(fs::exists(out / "lib/pkgconfig/lib.pc"));
  for (const char* kept : {"lib/libtile_tune_rt.a", "lib/libother.a", "lib/lib/f.o", "src/lib/f.c", "include/lib.h"})
    CHECK(fs::exists(out / kept));

  // A manifest from elsewhere names other files as its own.
  const fs::path path = out / "share/lib/manifest.json";
  auto manifest = nlohmann::json::parse(*tile_tune::base::read_bytes(path));
  REQUIRE(tile_tune::base::write_text(scratch.path / "mine.c", ""));
  REQUIRE(tile_tune::base::write_text(out / "src/lib/notes.txt", ""));
  fs::create_directory(scratch.path / "linked");
  REQUIRE(tile_tune::base::write_text(scratch.path / "linked/theirs.o", ""));
  for (const char* file : {"../mine.c", "src/lib/../../../mine.c", "lib/libother.a", "src/lib/notes.txt", "lib/lib"})
    manifest["files"][file] = "";
  manifest["files"][(scratch.path / "mine.c").string()] = "";
  manifest["files"]["lib/lib/theirs.o"] = "";
  REQUIRE(tile_tune::base::write_text(path, manifest.dump()));
  fs::remove_all(out / "lib/lib");
  fs::create_directory_symlink(scratch.path / "linked", out / "lib/lib");
  REQUIRE(write_package_with(stand_in(), kKernel, options(out)));
  CHECK_FALSE(fs::exists(out / "src/lib/f.c"));
  for (const char* kept : {"mine.c", "linked/theirs.o", "out/lib/libother.a", "out/src/lib/notes.txt"})
    CHECK(fs::exists(scratch.path / kept));
  REQUIRE(tile_tune::base::write_text(path, "no JSON"));
  CHECK(write_package_with(stand_in(), kKernel, options(out)));
}

TEST_CASE("a C++ program takes a library of one letter beside the system's headers") {
  const Scratch scratch;
  REQUIRE(write_package_with(stand_in(), kKernel, options(scratch.path / "out", "f")));
  REQUIRE(tile_tune::base::write_text(scratch.path / "main.cpp",
                                      "#include <memory>\n#include <unistd.h>\n#include <f.hpp>\n"
                                      "int main() { return access(\"/\", F_OK) + F_STATUS_OK; }\n"));
  const auto compiled = run_tool({"c++", "-std=c++20", "-fsyntax-only", "-Iout/include", "main.cpp"}, scratch.path);
  if (!compiled) FAIL(render(compiled.error()));
}

TEST_CASE("a failure leaves the older package and no trace of the newer") {
  const Scratch scratch;
  const fs::path out = scratch.path / "out";
  REQUIRE(write_package_with(stand_in(), kKernel, options(out)));

  SECTION("the kernel does not compile") {
    Backend broken = stand_in(1);
    broken.compile = [](auto&&...) -> Result<Compiled> { return failure("compiler-error", "it failed"); };
    const auto before = snapshot(scratch.path);
    CHECK(write_package_with(broken, kKernel, options(out)).error().message == "it failed");
    CHECK(snapshot(scratch.path) == before);
    CHECK_FALSE(write_package_with(broken, kKernel, options(scratch.path / "a" / "b")));
    CHECK(snapshot(scratch.path) == before);  // directories made for it are gone
  }
  SECTION("the kernel needs what the runtime lacks") {
    const auto before = snapshot(scratch.path);
    const auto result = write_package_with(stand_in(1, "halide_trace"), kKernel, options(out));
    REQUIRE_FALSE(result);
    CHECK(result.error().message == "a kernel calls halide_trace, which the runtime of packages lacks");
    CHECK(snapshot(scratch.path) == before);
  }
  SECTION("the compiler finds the disk full") {
    Backend full = stand_in(1);
    full.compile = [](auto&&...) -> Result<Compiled> {
      return failure("cannot-write", "cannot write /x/.tile-tune-1/kernel.o: No space left on device");
    };
    const auto before = snapshot(scratch.path);
    const auto result = write_package_with(full, kKernel, options(out));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "disk-full");
    CHECK(result.error().message == "no space is left for the package in " + out.string());
    CHECK(snapshot(scratch.path) == before);
  }
  SECTION("there is no C compiler") {
    const auto before = snapshot(scratch.path);
    const std::string path = getenv("PATH");
    setenv("PATH", scratch.path.c_str(), 1);
    const auto result = write_package_with(stand_in(1), kKernel, options(out));
    setenv("PATH", path.c_str(), 1);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "tool-missing");
    CHECK(result.error().error_class == ErrorClass::Failure);
    CHECK(result.error().message.find("'cc'") != std::string::npos);
    CHECK(snapshot(scratch.path) == before);
  }
  SECTION("the disk is full") {
    // A limit on the size of files stands in for it: writing fails in the same way, here and in the tools.
    const auto before = snapshot(scratch.path);
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t saved = limit.rlim_cur;
    for (const rlim_t bytes : {100, 1000, 3000}) {
      limit.rlim_cur = bytes;
      setrlimit(RLIMIT_FSIZE, &limit);
      const auto result = write_package_with(stand_in(1), kKernel, options(out));
      limit.rlim_cur = saved;
      setrlimit(RLIMIT_FSIZE, &limit);
      REQUIRE_FALSE(result);
      CHECK(result.error().error_class == ErrorClass::Failure);
      CHECK(snapshot(scratch.path) == before);
    }
  }
  SECTION("the last file cannot be moved into place") {
    // A directory where the manifest belongs: everything else is in place by then and has to go back.
    fs::remove(out / "share/lib/manifest.json");
    fs::create_directory(out / "share/lib/manifest.json");
    fs::create_directory(out / "share/lib/manifest.json/occupied");
    const auto before = snapshot(scratch.path);
    const auto result = write_package_with(stand_in(1), {test::matmul_kernel("g")}, options(out));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "cannot-write");
    CHECK(snapshot(scratch.path) == before);
  }
  SECTION("the directory is a file") {
    const auto before = snapshot(scratch.path);
    const auto result = write_package_with(stand_in(1), kKernel, options(out / "include/lib.h"));
    REQUIRE_FALSE(result);
    CHECK(result.error().message.find("lib.h") != std::string::npos);
    CHECK_FALSE(write_package_with(stand_in(1), kKernel, options(out / "include/lib.h/deeper")));
    CHECK(snapshot(scratch.path) == before);
  }
}

TEST_CASE("kernels that cannot share a library are refused before anything is written") {
  const Scratch scratch;
  const auto refuse = [&](const std::vector<Kernel>& kernels, const std::string& name) {
    const auto result = write_package_with(stand_in(), kernels, options(scratch.path / "out", name));
    REQUIRE_FALSE(result);
    CHECK(result.error().error_class == ErrorClass::Program);
    CHECK_FALSE(fs::exists(scratch.path / "out"));
    return result.error().code;
  };
  CHECK(refuse({}, "lib") == "empty-package");
  CHECK(refuse(kKernel, "../lib") == "bad-name");
  CHECK(refuse({test::matmul_kernel("f"), test::matmul_kernel("f")}, "lib") == "duplicate-function");
  CHECK(refuse({test::matmul_kernel("f"), test::matmul_kernel("f_dl")}, "lib") == "duplicate-function");
  CHECK(refuse({test::matmul_kernel("LIB_OK")}, "lib") == "duplicate-function");
  for (const char* name : {"lib_error_string", "lib_context", "lib_set_num_threads", "lib_parallel_for", "lib_cpp"})
    CHECK(refuse({test::matmul_kernel(name)}, "lib") == "duplicate-function");
  CHECK(refuse({test::matmul_kernel("f"), test::matmul_kernel("f_ctx")}, "lib") == "duplicate-function");
  Kernel packed = test::matmul_kernel("f");
  packed.program.tensors[1].constant = true;
  for (const char* name : {"f_pack_B", "f_pack_B_bytes", "f_packed_B"})
    CHECK(refuse({packed, test::matmul_kernel(name)}, "lib") == "duplicate-function");
}
