// The installed SDK: found, compiled against, moved, and run; with nothing of this source tree in reach.
#include <catch2/catch.hpp>

#include "tests/integration/cli/sandbox.h"

using namespace tile_tune::test;

namespace {

// No header of a dependency, and nothing of ours that was not installed.
constexpr const char* kNothingElse = R"(
#include <tile_tune/einsum.h>
#include <tile_tune/dlpack_exchange.h>
#include <tile_tune/einsum_call.h>
#include <tile_tune/engine.h>
#include <tile_tune/host_tensor.h>
#include <tile_tune/linear_algebra.h>
#include <tile_tune/placement.h>
#include <tile_tune/tc.h>
#include <tile_tune/tensor_einsum.h>
#include <tile_tune/tensor_file.h>
#include <tile_tune/tile_tune.h>
#if defined(FMT_VERSION) || defined(INCLUDE_NLOHMANN_JSON_HPP_) || defined(TL_EXPECTED_VERSION_MAJOR) || defined(ISL_CTX_H)
#error included: a header that users need not have
#endif
#include <cstdio>
int main() {
  std::puts(tile_tune::version());
  const auto product = tile_tune::einsum::from_labels({{0, 1}, {1, 2}}, {0, 2}, {}, tile_tune::DType::F64);
  return product.json() != tile_tune::einsum::parse("ij,jk->ik").json() ? 0 : 1;
}
)";

}  // namespace

TEST_CASE("a program of another project uses the installed SDK") {
  const Sandbox box;
  const std::string installed = box.path("installed").string(), moved = box.path("sdk").string();
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", installed}));
  // An SDK is found relative to itself.
  std::filesystem::rename(installed, moved);

  const std::string project = std::string(TILE_TUNE_SOURCE_DIR) + "/examples/edsl", build = box.path("build").string();
  require(box.run_program({TEST_CMAKE, "-S", project, "-B", build, "-G", "Ninja",
                           std::string("-DCMAKE_MAKE_PROGRAM=") + TEST_NINJA, "-DCMAKE_PREFIX_PATH=" + moved,
                           std::string("-DCMAKE_CXX_COMPILER=") + TEST_COMPILER,
                           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", build}));
  const auto ran = box.run_program({build + "/edsl_example", box.path("conv.json").string()});
  require(ran);
  // Inside, 3 x 2 products of 1 and 0.5, then the bias; 2 x 2 at the border.
  CHECK_THAT(ran.out, Catch::Contains("border: 1 2 3 0\ninside: 2 3 4 0\n"));

  const std::string tool = moved + "/bin/tile-tune";
  const auto checked = box.run_program({tool, "check", box.path("conv.json").string()});
  require(checked);
  CHECK_THAT(checked.out, Catch::Contains("conv("));
  const auto linked = box.run_program({"readelf", "-d", tool, moved + "/lib/libtile_tune_edsl.so"});
  CHECK(linked.out.find(TILE_TUNE_SOURCE_DIR) == std::string::npos);
}

TEST_CASE("a program of another project calls kernels that the installed tool compiles, from C++ and C") {
  const Sandbox box;
  const std::string sdk = box.path("sdk").string(), build = box.path("build").string();
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", sdk}));
  require(box.run_program({TEST_CMAKE, "-S", std::string(TILE_TUNE_SOURCE_DIR) + "/examples/handles", "-B", build, "-G",
                           "Ninja", std::string("-DCMAKE_MAKE_PROGRAM=") + TEST_NINJA, "-DCMAKE_PREFIX_PATH=" + sdk,
                           std::string("-DCMAKE_CXX_COMPILER=") + TEST_COMPILER,
                           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", build}));
  const auto ran = box.run_program({build + "/handles"});
  require(ran);
  CHECK_THAT(ran.out, Catch::Contains("norm "));
  for (const char* batch : {"2", "7", "1"})
    CHECK_THAT(ran.out, Catch::Contains(std::string("layer of ") + batch + ": 1.5 2.5 3.5\n"));
  const auto in_c = box.run_program({build + "/handles_c"});
  require(in_c);
  CHECK(in_c.out == "4 5 10 11\n");
}

TEST_CASE("the SDK's headers need the standard library only") {
  const Sandbox box;
  const std::string sdk = box.path("sdk").string();
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", sdk}));
  box.write("main.cpp", kNothingElse);
  require(box.run_program({TEST_COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I",
                           sdk + "/include", box.path("main.cpp").string(), "-o", box.path("main").string(), "-L",
                           sdk + "/lib", "-ltile_tune_edsl", "-Wl,-rpath," + sdk + "/lib"}));
  const auto ran = box.run_program({box.path("main").string()});
  require(ran);
  CHECK(ran.out.size() > 5);
}

TEST_CASE("pkg-config knows the SDK wherever it lies") {
  const Sandbox box;
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", box.path("the sdk").string()}));
  box.write("main.cpp", kNothingElse);
  require(box.run_program({"sh", "-ec",
                           "export PKG_CONFIG_PATH=\"$PWD/the sdk/lib/pkgconfig\"; eval " + std::string(TEST_COMPILER) +
                               " -std=c++20 main.cpp $(pkg-config --cflags --libs tile_tune) -o main; "
                               "LD_LIBRARY_PATH=\"$PWD/the sdk/lib\" ./main"}));
}
