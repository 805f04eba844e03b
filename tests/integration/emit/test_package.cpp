// Packages as other programs meet them: emitted by a process of their own, moved elsewhere, found, linked, called.
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/integration/emit/packages.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using namespace tile_tune::test;

TEST_CASE("the examples find, build and run with an emitted library") {
  const Scratch scratch;
  const auto [c, cpp] = deploy(emit("matmul", scratch.path), scratch.path);
  CHECK(c.starts_with("C: 17 x 33 x 19, largest error "));
  CHECK(cpp.starts_with("C++: 17 x 33 x 19, largest error "));
  CHECK(cpp.find("without an output: a pointer is null\n") != cpp.npos);

  // Asked for a version, CMake gets the tool's or none.
  fs::create_directory(scratch.path / "versions");
  REQUIRE(tile_tune::base::write_text(scratch.path / "versions/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(versions LANGUAGES C)
find_package(matmul 99 QUIET)
if(matmul_FOUND)
  message(FATAL_ERROR "it is not of version 99")
endif()
find_package(matmul 0.1.0 EXACT REQUIRED)
find_package(matmul 0.1 REQUIRED)
)"));
  run({(kSource / ".venv/bin/cmake").string(), "-S", "versions", "-B", "versions/build",
       "-DCMAKE_PREFIX_PATH=" + (scratch.path / "matmul").string()},
      scratch.path);
}

// One case, since emitting the package takes longer than everything after it.
TEST_CASE("kernels of every kind compute, check their arguments, report and link") {
  const Scratch scratch;
  const fs::path many = emit("many", scratch.path);
  copy_sources({"caller.h", "dl_tensor.h", "callers.c", "spans.cpp"}, scratch.path);
  const std::string caller = "cc -std=c11 -Wall -Wextra -pedantic -Werror -O1 callers.c ";
  compile(caller + "$(pkg-config --cflags --libs many) -Wl,--wrap=malloc -o callers", {many}, scratch.path);
  CHECK(run({"./callers", "no-memory"}, scratch.path).empty());
  CHECK(run({"./callers", "one-cpu"}, scratch.path).empty());

  // The archive exports the entries alone, and the runtime names of its own.
  std::set<std::string> exported;
  {
    std::set<std::string> expected = library_symbols("many");
    for (const char* name :
         {"copy_bool",  "copy_i8",  "copy_u8",   "copy_i16", "copy_u16", "copy_i32", "copy_u32", "copy_i64",
          "copy_u64",   "copy_f16", "copy_bf16", "copy_f32", "copy_f64", "copy_c32", "copy_c64", "scale",
          "accumulate", "packed",   "no_rows",   "no_terms", "strided",  "blocks",   "any",      "odd_names"})
      for (const char* suffix : {"", "_unchecked", "_ctx", "_dl"}) expected.insert(std::string(name) + suffix);
    CHECK(symbols("--defined-only", many / "lib/libmany.a") == expected);
    exported = expected;
    for (const std::string& name : symbols("--undefined-only", many / "lib/libmany.a"))
      CHECK(name.find("halide") == name.npos);
    for (const std::string& name : symbols("--defined-only", many / "lib/libtile_tune_rt.a"))
      CHECK((name.starts_with("tile_tune_rt4_") || name.starts_with("tile_tune_device2_")));
    // Nor can it print, end the process or read the environment. What is for devices, which is linked where their
    // entries are called, loads their drivers, makes sentences of their errors, and keeps binaries where
    // TILE_TUNE_CUBINS says.
    const std::set<std::string> of_devices = {"dlopen", "dlsym", "snprintf", "vsnprintf",
                                              "getenv", "open",  "fdopen",   "fwrite"};
    for (const std::string& name : symbols("--undefined-only", many / "lib/libtile_tune_rt.a"))
      for (const char* part : {"print", "put", "write", "open", "abort", "exit", "assert", "env", "dlsym"})
        CHECK((name.find(part) == name.npos || of_devices.contains(name)));
  }
  // Spans and views.
  compile("c++ -std=c++20 -Wall -Wextra -pedantic -Werror -O1 spans.cpp $(pkg-config --cflags --libs many) -o spans",
          {many}, scratch.path);
  CHECK(run({"./spans"}, scratch.path).empty());
  // The archive can become part of a shared library.
  {
    compile(
        "cc -shared -o libwrapped.so -Wl,-z,text,-z,defs -Wl,--whole-archive many/lib/libmany.a "
        "-Wl,--no-whole-archive $(pkg-config --libs many)",
        {many}, scratch.path);
    compile(caller + "$(pkg-config --cflags many) -Wl,--wrap=malloc,-rpath,. ./libwrapped.so -o shared_callers", {many},
            scratch.path);
    CHECK(run({"./shared_callers"}, scratch.path).empty());
    // Which exports what the archive does, and nothing of the runtime in it.
    std::istringstream lines(run({"nm", "-D", "-g", "-j", "--defined-only", "libwrapped.so"}, scratch.path));
    std::set<std::string> dynamic;
    for (std::string line; std::getline(lines, line);) dynamic.insert(line);
    CHECK(dynamic == exported);
  }
  // The header is C++ of any age.
  REQUIRE(tile_tune::base::write_text(scratch.path / "old.cpp", "#include <many.h>\nint main() { return MANY_OK; }\n"));
  compile("c++ -std=c++98 -Wall -Wextra -pedantic -Werror -fsyntax-only old.cpp $(pkg-config --cflags many)", {many},
          scratch.path);
  // Two packages work in one C++ program, with DLPack's header before theirs.
  {
    const fs::path matmul = emit("matmul", scratch.path);
    REQUIRE(tile_tune::base::write_text(scratch.path / "both.cpp", R"(
#include <cstdint>
#define DLPACK_VERSION 80
typedef struct { void* data; int32_t device[2]; int32_t ndim; uint8_t dtype[4]; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
#include <many.h>
#include <matmul.h>
int main() {
  int64_t shape[] = {13};
  double x[13] = {1, 2, 3}, o[13] = {};
  DLTensor in = {x, {1, 0}, 1, {2, 64, 1, 0}, shape, nullptr, 0}, out = in;
  out.data = o;
  DLTensor *inputs[] = {&in}, *outputs[] = {&out};
  static float a[17 * 19] = {2}, b[19 * 33] = {3}, c[17 * 33];
  if (copy_f64_dl(inputs, outputs) || o[2] != 3) return 1;
  return matmul(a, b, c) || c[0] != 6 || c[1] != 0;
}
)"));
    compile("c++ -std=c++11 -Wall -Wextra -pedantic -Werror both.cpp $(pkg-config --cflags --libs many matmul) -o both",
            {many, matmul}, scratch.path);
    run({"./both"}, scratch.path);
    const auto runtime = tile_tune::base::read_bytes(many / "lib/libtile_tune_rt.a");
    CHECK((runtime && *runtime == *tile_tune::base::read_bytes(matmul / "lib/libtile_tune_rt.a")));
  }
}

TEST_CASE("kernels take constants as their packing functions make them") {
  const Scratch scratch;
  const fs::path package = emit("weights", scratch.path);
  copy_sources({"caller.h", "dl_tensor.h", "constants.c", "constant_spans.cpp"}, scratch.path);
  compile(
      "cc -std=c11 -Wall -Wextra -pedantic -Werror -O1 constants.c $(pkg-config --cflags --libs weights) -o constants",
      {package}, scratch.path);
  CHECK(run({"./constants"}, scratch.path).empty());
  compile(
      "c++ -std=c++20 -Wall -Wextra -pedantic -Werror -O1 constant_spans.cpp "
      "$(pkg-config --cflags --libs weights) -o spans",
      {package}, scratch.path);
  CHECK(run({"./spans"}, scratch.path).empty());
  std::set<std::string> expected = library_symbols("weights");
  for (const std::string name : {"whole", "in_part", "plain", "columns", "empty"})
    for (const char* suffix : {"", "_unchecked", "_ctx", "_dl", "_pack_B", "_pack_B_bytes"})
      expected.insert(name + suffix);
  for (const char* suffix : {"", "_unchecked", "_ctx", "_dl", "_pack_packed", "_pack_packed_bytes"})
    expected.insert(std::string("odd") + suffix);
  CHECK(symbols("--defined-only", package / "lib/libweights.a") == expected);
  const auto manifest = tile_tune::base::read_bytes(package / "share/weights/manifest.json");
  REQUIRE(manifest);
  const auto kernels = nlohmann::json::parse(*manifest)["kernels"];
  CHECK(kernels[0]["arguments"][1]["constant"]["extents"] == nlohmann::json({8, 3, 5}));
  CHECK(kernels[0]["arguments"][1]["constant"]["bytes"] == 64 + 512);
  CHECK(kernels[2]["arguments"][1]["constant"]["extents"].is_null());
  CHECK_FALSE(kernels[0]["arguments"][0].contains("constant"));
  const auto digest = [&](size_t kernel) { return kernels[kernel]["arguments"][1]["constant"]["digests"][0]; };
  std::set<std::string> digests;
  for (size_t i = 0; i < kernels.size(); ++i) digests.insert(digest(i).get<std::string>());
  CHECK(digests.size() == kernels.size());
  REQUIRE(tile_tune::base::write_text(
      scratch.path / "mixed.c",
      "#include <weights.h>\nint f(const float* a, const in_part_packed_B* b, float* c);\n"
      "int f(const float* a, const in_part_packed_B* b, float* c) { return KERNEL(a, b, c); }\n"));
  const std::string mixed = "cc -std=c11 -Werror -fsyntax-only mixed.c $(pkg-config --cflags weights) -DKERNEL=";
  compile(mixed + "in_part", {package}, scratch.path);
  CHECK_FALSE(run_tool({"sh", "-c", "eval \"" + mixed + "whole\""}, scratch.path));
  REQUIRE(tile_tune::base::write_text(scratch.path / "old.cpp",
                                      "#include <weights.h>\nint main() { return WEIGHTS_OK; }\n"));
  compile("c++ -std=c++98 -Wall -Wextra -pedantic -Werror -fsyntax-only old.cpp $(pkg-config --cflags weights)",
          {package}, scratch.path);
}

TEST_CASE("the same package comes out byte for byte in another directory") {
  const Scratch scratch;
  fs::create_directory(scratch.path / "elsewhere");
  const fs::path first = emit("matmul", scratch.path), second = emit("matmul", scratch.path / "elsewhere");
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(first)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    INFO(entry.path());
    const auto a = tile_tune::base::read_bytes(entry.path()),
               b = tile_tune::base::read_bytes(second / fs::relative(entry.path(), first));
    REQUIRE((a && b));
    CHECK(*a == *b);
    CHECK(a->find("made here") == a->npos);
    CHECK(a->find("somewhere") == a->npos);  // where the program's source lay
  }
  CHECK(files == 8);

  const auto manifest = nlohmann::json::parse(*tile_tune::base::read_bytes(first / "share/matmul/manifest.json"));
  CHECK(manifest["kind"] == "package");
  CHECK(manifest["kernels"][0]["function"] == "matmul");
  CHECK(manifest["kernels"][0]["record"]["median_ns"] == 1234);
  CHECK(manifest["kernels"][0]["arguments"][2]["shape"] == nlohmann::json({17, 33}));
  std::vector<std::string> licenses;
  for (const auto& one : manifest["contains"]) licenses.push_back(one["license"]);
  CHECK(licenses == std::vector<std::string>{"Apache-2.0", "MIT", "Apache-2.0 WITH LLVM-exception"});
  // What they are of: nothing but the C library is asked for.
  const std::string symbols = run({"nm", "-u", (first / "lib/libmatmul.a").string()}, first) +
                              run({"nm", "-u", (first / "lib/libtile_tune_rt.a").string()}, first);
  for (const char* other : {"halide_", "omp_", "_Z", "expf", "log"}) CHECK(symbols.find(other) == symbols.npos);
  const std::string sum = run({"sha256sum", (first / "lib/libmatmul.a").string()}, first);
  CHECK(manifest["files"]["lib/libmatmul.a"] == sum.substr(sum[0] == '\\', 64));
}

TEST_CASE("a CPU without the target's instructions gets a code, not a signal") {
  const Scratch scratch;
  const fs::path foreign = emit("foreign", scratch.path);
  REQUIRE(tile_tune::base::write_text(
      scratch.path / "main.c",
      "#include <foreign.h>\nint main(void) {\n  static float a[17 * 19], b[19 * 33], c[17 * 33];\n"
      "  return old_matmul(a, b, c) == FOREIGN_ERROR_UNSUPPORTED_CPU ? 0 : 1;\n}\n"));
  compile("cc main.c $(pkg-config --cflags --libs foreign) -o main", {foreign}, scratch.path);
  run({"./main"}, scratch.path);
}
