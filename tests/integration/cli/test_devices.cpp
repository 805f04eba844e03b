// Kernels for GPUs from the command line: searched, verified and timed by OpenCL (on PoCL, where there is nothing
// else), packaged, linked and called; compiled for CUDA without a device.
#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

constexpr const char* kMatmulCaller = R"(#include <matmul.h>
#include <stdio.h>
int main(void) {
  static float A[17][19], B[19][33], C[17][33];
  for (int i = 0; i < 17; ++i)
    for (int k = 0; k < 19; ++k) A[i][k] = (float)(i - k);
  for (int k = 0; k < 19; ++k)
    for (int j = 0; j < 33; ++j) B[k][j] = (float)(k * j % 7);
  const int code = matmul(&A[0][0], &B[0][0], &C[0][0]);
  int wrong = 0;
  for (int i = 0; i < 17; ++i)
    for (int j = 0; j < 33; ++j) {
      float sum = 0;
      for (int k = 0; k < 19; ++k) sum += A[i][k] * B[k][j];
      wrong += sum != C[i][j];
    }
  printf("%s %d\n", matmul_error_string(code), wrong);
  return 0;
}
)";

const std::vector<std::string> kMatmul = {"matmul.tc", "-s", "M=17", "-s", "N=33", "-s", "K=19"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.begin() + 1, kMatmul.begin(), kMatmul.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Whether the driver has a device; if not, that is said.
bool has_device(const Sandbox& box, const std::string& driver) {
  const auto answer = nlohmann::json::parse(box.run({"worker", "--ask-device", driver, "0"}).out);
  if (!answer.contains("error")) return true;
  std::cout << "skipped: " << answer["error"] << '\n';
  return false;
}

void link_caller(const Sandbox& box) {
  box.write("caller.c", kMatmulCaller);
  const auto compiled = box.run_program({"cc", "-Iout/include", "caller.c", "-Lout/lib", "-lmatmul", "-ltile_tune_rt",
                                         "-lpthread", "-ldl", "-lm", "-o", "caller"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
}

}  // namespace

TEST_CASE("tune searches for an OpenCL device, and its library computes there") {
  const Sandbox box;
  if (!has_device(box, "opencl")) return;
  const std::vector<std::string> target = {"--target", "host-opencl"};
  auto command = with({"tune"}, {"--trials", "8", "--seed", "1", "--emit", "out", "--json"});
  command.insert(command.end(), target.begin(), target.end());
  const auto tuned = box.run(command);
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  const auto summary = nlohmann::json::parse(tuned.out);
  CHECK(summary["outcomes"].value("ok", 0) >= 1);
  CHECK(summary["outcomes"].value("wrong", 0) == 0);
  CHECK(summary["outcomes"].value("crash", 0) == 0);
  CHECK_FALSE(summary["target"]["cpu_model"].get<std::string>().empty());
  link_caller(box);
  CHECK(box.run_program({"./caller"}).out == "success 0\n");

  // The record is found again, in a key of the device's.
  const auto built = box.run(with({"build"}, {"-o", "built", "--json", "--target", "host-opencl"}));
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK(nlohmann::json::parse(built.out)["kernels"][0]["rung"] == "exact");
  const auto host = box.run(with({"build"}, {"-o", "host", "--json"}));
  REQUIRE(host.exit_code == 0);
  CHECK(nlohmann::json::parse(host.out)["kernels"][0]["rung"] == "default");
}

TEST_CASE("bench times schedules on a device, and no libraries") {
  const Sandbox box;
  if (!has_device(box, "opencl")) return;
  const std::vector<std::string> target = {"--target", "host-opencl"};
  auto command = with({"bench"}, {"--rounds", "2", "--time", "0.01", "--json"});
  command.insert(command.end(), target.begin(), target.end());
  const auto timed = require(box.run(command));
  const auto entries = nlohmann::json::parse(timed.out)["workloads"][0]["entries"];
  REQUIRE(entries.size() == 1);
  CHECK(entries[0]["name"] == "default");
  CHECK(entries[0]["outcome"] == "ok");
  CHECK(entries[0]["median_ns"] > 0);
  command.insert(command.end(), {"--against", "onednn"});
  const auto compared = box.run(command);
  CHECK(compared.exit_code == 5);
  CHECK(nlohmann::json::parse(compared.err)["code"] == "not-on-device");
}

TEST_CASE("a CUDA device is known by model, driver and clock, and judged by what it computes") {
  const Sandbox box;
  auto command =
      with({"bench"}, {"--rounds", "2", "--time", "0.01", "--json", "--target", "host-cuda", "--device", "1"});
  // By a driver that computes nothing (tests/support/fake_cuda).
  command.insert(command.begin(), {"env", "LD_LIBRARY_PATH=" FAKE_CUDA_FOLDERS, Sandbox::tool()});
  const auto bench = nlohmann::json::parse(require(box.run_program(command)).out);
  CHECK(bench["target"]["cpu_model"] == "Pretended 1, driver CUDA 13.0, 1980 MHz");
  CHECK(bench["target"]["l3_bytes"] == 40 << 20);
  CHECK(bench["workloads"][0]["entries"][0]["outcome"] == "wrong");
  command[command.size() - 1] = "2";
  const auto absent = box.run_program(command);
  CHECK(absent.exit_code == 5);
  CHECK_THAT(absent.err, Catch::Contains("there is no device 2 (there are 2)"));
}

TEST_CASE("a GPU that is not here is exit 5, with what is missing") {
  const Sandbox box;
  const auto opencl = box.run(with({"tune"}, {"--target", "host-opencl", "--device", "63", "--trials", "1"}));
  CHECK(opencl.exit_code == 5);
  CHECK_THAT(opencl.err, Catch::Contains("[no-device]"));
  const auto named = box.run(with({"tune"}, {"--target", "x86-64-linux-cuda-cuda_capability_80", "--trials", "1"}));
  CHECK(named.exit_code == 5);
  CHECK_THAT(named.err, Catch::Contains("host-opencl and host-cuda"));
  CHECK(box.run(with({"tune"}, {"--target", "x86-64-linux-vulkan", "--trials", "1"})).exit_code == 5);
  CHECK(box.run(with({"tune"}, {"--target", "host-opencl", "--device", "64", "--trials", "1"})).exit_code == 2);
  if (!box.run({"worker", "--ask-device", "cuda", "0"}).out.starts_with("{\"error\"")) return;
  const auto cuda = box.run(with({"tune"}, {"--target", "host-cuda", "--trials", "1"}));
  CHECK(cuda.exit_code == 5);
  CHECK_THAT(cuda.err, Catch::Contains("there is no CUDA device here: libcuda.so.1"));
}

TEST_CASE("a package for CUDA is built anywhere, and says what is missing where it runs") {
  const Sandbox box;
  const std::vector<std::string> target = {"--target", "x86-64-linux-cuda-cuda_capability_80"};
  auto command = with({"build"}, {"-o", "out"});
  command.insert(command.end(), target.begin(), target.end());
  const auto built = box.run(command);
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK_THAT(built.err, Catch::Contains("nothing they compute was checked"));
  CHECK(box.read("out/include/matmul.h")
            .find("int matmul_device(void* queue, const float* A, const float* B, float* C);") != std::string::npos);
  link_caller(box);
  if (!has_device(box, "cuda"))
    CHECK_THAT(box.run_program({"./caller"}).out, Catch::Contains("the driver of the device"));

  auto explain = with({"explain"}, {"--what", "ptx"});
  explain.insert(explain.end(), target.begin(), target.end());
  const auto ptx = box.run(explain);
  INFO(ptx.err);
  REQUIRE(ptx.exit_code == 0);
  CHECK_THAT(ptx.out, Catch::Contains(".target sm_80") && Catch::Contains(".visible .entry"));
  CHECK(box.run(with({"explain"}, {"--what", "ptx"})).exit_code == 2);
  explain[explain.size() - 3] = "asm";
  CHECK(box.run(explain).exit_code == 2);
}
