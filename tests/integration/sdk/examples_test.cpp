// Everything below examples/ that is not run elsewhere (edsl: sdk_test.cpp), as its README says.
#include <catch2/catch.hpp>

#include <filesystem>

#include "tests/integration/cli/sandbox.h"

using namespace tile_tune::test;

namespace {

const std::string kExamples = std::string(TILE_TUNE_SOURCE_DIR) + "/examples/";

void build_matmul(const Sandbox& box) {
  require(box.run({"build", "matmul.tc", "-s", "M=37", "-s", "N=43", "-s", "K=41", "-o", "out"}));
}

}  // namespace

TEST_CASE("examples/deploy: C, C++ and C++20 find a package by CMake and by pkg-config") {
  const Sandbox box;
  build_matmul(box);
  require(box.run_program({TEST_CMAKE, "-S", kExamples + "deploy", "-B", "build", "-G", "Unix Makefiles",
                           "-DCMAKE_PREFIX_PATH=" + box.path("out").string(), "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
                           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", "build"}));
  CHECK(require(box.run_program({"build/deploy_c"})).out.starts_with("C: 37 x 43 x 41, largest error "));
  CHECK(require(box.run_program({"build/deploy_cpp"})).out.starts_with("C++: 37 x 43 x 41, largest error "));
  const auto spans = require(box.run_program({"build/deploy_spans"})).out;
  CHECK(spans.starts_with("spans: 37 x 43 x 41, largest error 0\n"));
  CHECK(spans.find("an element too few: ") != std::string::npos);
  require(box.run_program({"sh", "-ec",
                           "export PKG_CONFIG_PATH=$PWD/out/lib/pkgconfig; cc " + kExamples +
                               "deploy/main.c $(pkg-config --cflags --libs matmul) -o deploy_c; ./deploy_c"}));
}

TEST_CASE("examples/cmake: kernels are part of a project's build") {
  const Sandbox box;
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", box.path("sdk").string()}));
  require(
      box.run_program({TEST_CMAKE, "-S", kExamples + "cmake", "-B", "build", "-G", "Unix Makefiles",
                       "-DCMAKE_PREFIX_PATH=" + box.path("sdk").string(), "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", "build"}));
  CHECK(require(box.run_program({"build/classify"})).out.starts_with("y: 32 x 10, largest error "));
}

TEST_CASE("examples/python: numpy arrays through ctypes") {
  const Sandbox box;
  build_matmul(box);
  const auto ran = require(box.run_program({TEST_PYTHON, "-B", kExamples + "python/main.py", "out"}));
  CHECK(ran.out.starts_with("C: 37 x 43, largest error "));
  CHECK(ran.out.find("\nrefused: ") != std::string::npos);
}

TEST_CASE("examples/workflow: check, tune, bench and build by calls") {
  const Sandbox box;
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", box.path("sdk").string()}));
  require(
      box.run_program({TEST_CMAKE, "-S", kExamples + "workflow", "-B", "build", "-G", "Unix Makefiles",
                       "-DCMAKE_PREFIX_PATH=" + box.path("sdk").string(), "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", "build"}));
  const auto ran = require(box.run_program({"build/workflow", box.path("").string(), "2"}));
  CHECK(ran.out.starts_with("layer(float(B,I) x, float(O,I) w) -> (float(B,O) y)\n"));
  CHECK(ran.out.find("tried: all; a tuned kernel: yes\n") != std::string::npos);
  CHECK(ran.out.find("\ntuned-packed: timed\n") != std::string::npos);
  CHECK(ran.out.find("\nlayer: exact, ") != std::string::npos);
  CHECK(ran.out.find("\nbatches: default\n") != std::string::npos);
  CHECK(std::filesystem::exists(box.path("package/include/layer.h")));
}

TEST_CASE("examples/devices: a GPU's memory from C, C++ and Python, without a toolkit") {
  const Sandbox box;
  require(box.run({"build", "matmul.tc", "-s", "M=37", "-s", "N=43", "-s", "K=41", "--target",
                   "x86-64-linux-cuda-cuda_capability_80", "-o", "out"}));
  require(box.run_program({TEST_CMAKE, "-S", kExamples + "devices", "-B", "build", "-G", "Unix Makefiles",
                           "-DCMAKE_PREFIX_PATH=" + box.path("out").string(), "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
                           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", "build"}));
  // By a driver that says what it was asked and computes nothing (tests/support/fake_cuda).
  const auto run = [&](const std::string& command) {
    return require(
               box.run_program({"sh", "-ec",
                                "rm -f calls; export LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER
                                " FAKE_CUDA_LOG=calls PYTHONPATH=" TILE_TUNE_SOURCE_DIR "/tests/support/fake_cupy; " +
                                    command}))
        .out;
  };
  const auto calls = [&](const std::string& what) {
    const std::string log = box.read("calls");
    int count = 0;
    for (size_t at = log.find(what); at != log.npos; at = log.find(what, at + 1)) ++count;
    return count;
  };
  const auto c = run("build/device_c");
  CHECK(c.starts_with("from the host: 37 x 43 x 41, largest error "));
  CHECK(c.find("\non the device: 37 x 43 x 41, largest error ") != std::string::npos);
  CHECK(calls("cuLaunchKernel") == 2);
  CHECK(calls("cuMemcpyHtoDAsync 6068\n") == 2);  // A, once a way
  CHECK(run("build/device_cpp") == "C++: 0 of 41\nfrom elsewhere: a tensor is not in the memory the entry takes\n");
  CHECK(calls("cuLaunchKernel") == 1);
  CHECK(run("'" TEST_PYTHON "' -B " + kExamples + "devices/main.py build/libdevice_py.so 37 43 41") ==
        "Python: 0 of 41\n");
  CHECK(calls("cuLaunchKernel") == 1);
  CHECK(calls("cuMemcpy") == 0);
}

TEST_CASE("examples/tensors: a tensor network and batched linear algebra") {
  const Sandbox box;
  require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", box.path("sdk").string()}));
  require(
      box.run_program({TEST_CMAKE, "-S", kExamples + "tensors", "-B", "build", "-G", "Unix Makefiles",
                       "-DCMAKE_PREFIX_PATH=" + box.path("sdk").string(), "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"}));
  require(box.run_program({TEST_CMAKE, "--build", "build"}));
  CHECK(require(box.run_program({"build/network"})).out ==
        "norm 8.383431e-02\n<X> at site 0: -0.325753\n<X> at site 3: +0.828101\n");
  CHECK(require(box.run_program({"build/least_squares"})).out ==
        "set 7: 7.013 -2.994 x; the two ways differ by less than 1e-10: yes\n"
        "condition of the normal equations: 18.6\n"
        "refused: cholesky: the leading minor of order 1 of matrix 3 of the batch is not positive definite\n");
}
