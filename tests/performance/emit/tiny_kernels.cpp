// Problems of a few hundred operations: default schedules use no threads, a call costs less than a microsecond beyond
// its work, and plain loops compiled by g++ -O3 -march=native are no reason not to call the library.
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "codegen/emit/package.h"
#include "codegen/emit/subprocess.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"
#include "tests/run_tests.h"

using namespace tile_tune;
namespace fs = std::filesystem;

namespace {

constexpr double kMostNs = 1000;  // of a whole call

struct Tiny {
  const char* name;
  const char* text;
  ir::Sizes sizes;
};

// The same computations as plain loops: tiny_callers.cpp.
const std::vector<Tiny> kPrograms{
    {"product4",
     "def product4(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
     {{"M", 4}, {"N", 4}, {"K", 4}}},
    {"product8",
     "def product8(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
     {{"M", 8}, {"N", 8}, {"K", 8}}},
    {"product7",
     "def product7(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
     {{"M", 7}, {"N", 5}, {"K", 3}}},
    {"transposed8",
     "def transposed8(float(M,K) A, float(N,K) B) -> (C) { C(i,j) +=! A(i,k) * B(j,k) }",
     {{"M", 8}, {"N", 8}, {"K", 8}}},
    {"vector16", "def vector16(float(M,K) A, float(K) x) -> (y) { y(i) +=! A(i,k) * x(k) }", {{"M", 16}, {"K", 16}}},
    {"dot300", "def dot300(float(N) x, float(N) y) -> (s) { s +=! x(i) * y(i) }", {{"N", 300}}},
    {"rows16", "def rows16(float(M,N) A) -> (s) { s(i) +=! A(i,j) }", {{"M", 16}, {"N", 16}}},
    {"columns16", "def columns16(float(M,N) A) -> (s) { s(j) +=! A(i,j) }", {{"M", 16}, {"N", 16}}},
    {"mlp",
     "def mlp(float(B,N) I, float(N,O) W1, float(O) B1, float(O,P) W2) -> (R) {\n"
     "  H(b,o) +=! I(b,n) * W1(n,o)\n  G(b,o) = fmax(H(b,o) + B1(o), 0)\n  R(b,p) +=! G(b,o) * W2(o,p) }",
     {{"B", 2}, {"N", 8}, {"O", 8}, {"P", 4}}}};

template <typename T>
T value(Result<T> result) {
  if (!result) {
    fputs(render(result.error()).c_str(), stderr);
    exit(1);
  }
  return std::move(*result);
}

codegen::Kernel default_kernel(const Tiny& tiny, const codegen::Target& target) {
  const auto parsed = value(tc::parse(tiny.text, tiny.name));
  const auto program = ir::canonicalize(value(ir::bind(parsed.programs.front(), tiny.sizes)));
  return {program, search::Space(program, target).default_schedule(), tiny.name, "default", {}};
}

/// As a process of its own: names inside a library depend on a process's history.
void emit(const fs::path& directory) {
  const auto target = value(codegen::resolve_target("host", 2));
  std::vector<codegen::Kernel> kernels;
  for (const Tiny& tiny : kPrograms) kernels.push_back(default_kernel(tiny, target));
  value(codegen::write_package(kernels, {"tiny", directory, target, "0.1.0"}));
}

std::string run(const std::vector<std::string>& command, const fs::path& directory) {
  const auto output = codegen::run_tool(command, directory);
  INFO(command.back());
  if (!output) FAIL(render(output.error()));
  return *output;
}

}  // namespace

TEST_CASE("default schedules of tiny problems use no threads") {
  const auto target = value(codegen::resolve_target("host", 2));
  for (const Tiny& tiny : kPrograms) {
    CAPTURE(tiny.name);
    for (const auto& stage : default_kernel(tiny, target).schedule.stages) {
      if (!stage.find_nest()) continue;
      CHECK(stage.nest().cpu().parallel == 0);
      CHECK_FALSE(stage.nest().parallel_reduction);
    }
  }
}

TEST_CASE("a call of a tiny kernel takes less than a microsecond, and hardly longer than plain loops") {
  std::string name = (fs::temp_directory_path() / "tile-tune-tiny-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const fs::path directory = name;
  run({fs::read_symlink("/proc/self/exe").string(), "emit", (directory / "package").string()}, directory);
  const std::string source = TILE_TUNE_SOURCE_DIR "/tests/performance/emit/tiny_callers.cpp";
  const std::string package = (directory / "package").string();
  run({TEST_CXX_COMPILER, "-std=c++20", "-O3", "-march=native", "-I" + package + "/include", source, "-o", "callers",
       package + "/lib/libtiny.a", package + "/lib/libtile_tune_rt.a", "-lpthread", "-ldl"},
      directory);
  const auto times = nlohmann::json::parse(run({(directory / "callers").string()}, directory));
  WARN(times.dump(1));
  CHECK(times.size() == kPrograms.size());
  for (const auto& [kernel, ns] : times.items()) {
    CAPTURE(kernel);
    CHECK(ns["library"] < kMostNs);
    // A call costs some 20 to 45 ns before it computes anything (Zen 4: 4x4x4 46 ns, of which plain loops take 2; the
    // checks of arguments add 3 to 6).
    CHECK(ns["unchecked"] < 2 * ns["plain"].get<double>() + 60);
  }
  fs::remove_all(directory);
}

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "emit") return emit(argv[2]), 0;
  return tile_tune::test::run_tests(argc, argv);
}
