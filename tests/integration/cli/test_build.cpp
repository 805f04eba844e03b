// tile-tune build and tune --emit: a package another program links, the same each time.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

const std::vector<std::string> kPackage = {
    "include/mv.h", "include/mv.hpp",        "lib/cmake/mv/mvConfig.cmake", "lib/cmake/mv/mvConfigVersion.cmake",
    "lib/libmv.a",  "lib/libtile_tune_rt.a", "lib/pkgconfig/mv.pc",         "share/mv/manifest.json"};

constexpr const char* kMatvecCaller = R"(#include <mv.h>
#include <stdio.h>
int main(void) {
  float A[3][5], B[5], o[3];
  for (int j = 0; j < 5; ++j) B[j] = (float)(j - 2);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) A[i][j] = (float)(i * 5 + j);
  const int code = mv(&A[0][0], B, o);
  printf("%d %g %g %g\n", code, o[0], o[1], o[2]);
  return code;
}
)";

}  // namespace

TEST_CASE("build writes a package that a C program links and calls") {
  const Sandbox box;
  const std::vector<std::string> build = {"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "--name", "mv", "-o"};
  auto into = [&](const std::string& folder) {
    auto arguments = build;
    arguments.push_back(folder);
    return box.run(arguments);
  };
  const auto result = into("out");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("[untuned]") != std::string::npos);
  std::string expected;
  for (const auto& file : kPackage) expected += "out/" + file + "\n";
  CHECK(result.out == expected);
  CHECK(box.names("out") == std::vector<std::string>{"include", "lib", "share"});

  box.write("caller.c", kMatvecCaller);
  const auto compiled = box.run_program({"cc", "-Iout/include", "caller.c", "-Lout/lib", "-lmv", "-ltile_tune_rt",
                                         "-lpthread", "-ldl", "-lm", "-o", "caller"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
  // Row i: sum over j of (5i + j)(j - 2) = 10 for every i.
  CHECK(box.run_program({"./caller"}).out == "0 10 10 10\n");

  REQUIRE(into("again").exit_code == 0);
  for (const auto& file : kPackage) CHECK(box.read("out/" + file) == box.read("again/" + file));
}

TEST_CASE("tune --emit writes what build writes from the same record, and run uses it") {
  const Sandbox box;
  const std::vector<std::string> program = {"matvec.tc", "-s", "R=31", "-s", "C=37"};
  const auto with = [&](const std::string& verb, std::vector<std::string> more) {
    std::vector<std::string> arguments{verb};
    arguments.insert(arguments.end(), program.begin(), program.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return box.run(arguments);
  };
  const auto tuned = with("tune", {"--trials", "2", "--seed", "1", "--emit", "tuned"});
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  CHECK(tuned.out.find("tuned/lib/libmatvec.a") != std::string::npos);
  const auto built = with("build", {"-o", "built", "--json"});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK_THAT(built.err, Catch::Contains("tuned schedule (exact)"));  // neither untuned nor stale
  const auto answer = nlohmann::json::parse(built.out);
  CHECK(answer["files"].size() == 8);
  CHECK(answer["kernels"][0]["rung"] == "exact");
  for (const char* file : {"include/matvec.h", "lib/libmatvec.a", "share/matvec/manifest.json"})
    CHECK(box.read(std::string("tuned/") + file) == box.read(std::string("built/") + file));
  CHECK(box.read("built/share/matvec/manifest.json").find("\"tuned\"") != std::string::npos);
  CHECK(box.read("built/share/matvec/manifest.json").find("\"rung\": \"exact\"") != std::string::npos);
  CHECK(box.read("built/include/matvec.h").find("matvec, tuned (exact) schedule") != std::string::npos);
}

TEST_CASE("of several targets each warning names its own") {
  const Sandbox box;
  const auto built = box.run({"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "--name", "mv", "-o", "out", "--target",
                              "x86-64-linux-avx-avx2-fma,x86-64-linux-sse41"});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  for (const char* target : {"x86-64-linux-avx-avx2-fma", "x86-64-linux-sse41"})
    CHECK(built.err.find(std::string("is not tuned for ") + target + ":") != std::string::npos);
}

TEST_CASE("nobody is told to tune for a target whose kernels do not run here") {
  const Sandbox box;
  for (const char* size : {"C=5", "C=1..5"}) {
    const auto built =
        box.run({"build", "matvec.tc", "-s", "R=3", "-s", size, "-o", "out", "--target", "wasm-32-wasmrt"});
    INFO(built.err);
    CHECK(built.exit_code == 0);
    CHECK(built.err.find("they cannot be tuned here") != std::string::npos);
    CHECK(built.err.find("faster") == std::string::npos);
  }
}

TEST_CASE("several programs make one library, which needs a name") {
  const Sandbox box;
  const std::vector<std::string> sizes = {"-s", "R=3", "-s", "C=5", "-s", "M=3", "-s", "N=2", "-s", "K=4"};
  std::vector<std::string> arguments{"build", "matvec.tc", "matmul.tc", "-o", "out"};
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  const auto nameless = box.run(arguments);
  CHECK(nameless.exit_code == 2);
  CHECK(nameless.err.find("[missing-name]") != std::string::npos);
  arguments.insert(arguments.end(), {"--name", "both"});
  const auto named = box.run(arguments);
  INFO(named.err);
  REQUIRE(named.exit_code == 0);
  const auto header = box.read("out/include/both.h");
  CHECK(header.find("int matvec(") != std::string::npos);
  CHECK(header.find("int matmul(") != std::string::npos);
}
