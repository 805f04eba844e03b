// Packages for devices as other programs meet them: on OpenCL, on CUDA without a driver and with a pretended one.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "codegen/emit/write_package.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "tests/integration/devices/kernels.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(TILE_TUNE_SOURCE_DIR) / "tests/integration/devices";

struct Folder {
  base::TemporaryDirectory directory =
      base::TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-").value();
  fs::path path = directory.path();

  /// What the command prints; fails if it does.
  std::string run(const std::string& command) const {
    const fs::path said = path / "said";
    INFO(command);
    const int code = std::system(("cd '" + path.string() + "' && (" + command + ") > said 2>&1").c_str());
    std::string text = base::read_bytes(said).value_or("");  // nothing, if it says nothing
    INFO(text);
    CHECK(code == 0);
    return text;
  }
  /// A package `devices` of two kernels for the target.
  Result<std::vector<fs::path>> package(const std::string& target) const {
    std::vector<codegen::Kernel> kernels;
    for (const auto& program : {test::doubling(13, 29), test::accumulating(1000)})
      kernels.push_back({ir::canonicalize(program), Schedule{{StageSchedule()}}, program.name, "given", {}});
    TILE_TUNE_TRY(described, describe_target(target, 1));
    return write_package_with(test::handmade_backend(), kernels, {"devices", path, described, "0.1.0"});
  }
  /// The caller, linked with the package.
  void build(const std::string& caller, const std::string& libraries) const {
    run("cc -std=c11 -Wall -Wextra -Werror -O1 -D_DEFAULT_SOURCE '" + (kHere / caller).string() +
        "' $(PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags --libs devices) " + libraries + " -o caller");
  }
};

bool contains(const std::string& text, const std::string& what) { return text.find(what) != text.npos; }

}  // namespace

TEST_CASE("a package for OpenCL computes in the caller's queue, and copies for those who have none") {
  const Folder folder;
  const auto files = folder.package("x86-64-linux-opencl");
  REQUIRE(files);
  folder.build("opencl_caller.c", "-lOpenCL");
  CHECK(folder.run("POCL_CACHE_DIR=cache ./caller") == "");
}

TEST_CASE("a package for CUDA is made, linked and called without a toolkit") {
  const Folder folder;
  REQUIRE(folder.package("x86-64-linux-cuda-cuda_capability_80"));
  folder.build("cuda_caller.c", "");
  const std::string needed = folder.run("readelf -d caller");
  CHECK(!contains(needed, "cuda"));
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) {
    const std::string said = folder.run("./caller");
    CHECK(contains(said, "doubling: the driver of the device is not on this machine: libcuda.so.1: cannot open"));
  }
  const std::string said = folder.run("LD_LIBRARY_PATH='" FAKE_CUDA_FOLDER "' FAKE_CUDA_LOG=calls ./caller");
  CHECK(contains(said,
                 "doubling: success\ndoubling: success\n"
                 "without a context: there is no such device, or no context of one where the queue has none: "));
  CHECK(contains(said, "in the null stream: success\nin place: an output overlaps another argument: "));
  CHECK(contains(said, "elsewhere: a pointer is not aligned"));
  CHECK(contains(said, "of nothing: a pointer is null"));
  CHECK(contains(said, "tensors: success"));
  CHECK(contains(said, "CUDA: a tensor lies on device 1, the stream is another's"));
  const std::string calls = base::read_bytes(folder.path / "calls").value();
  // Two kernels, each built once: of the program's own stream and the null stream of the same context.
  const auto count = [&](const std::string& what) {
    int found = 0;
    for (size_t at = calls.find(what); at != calls.npos; at = calls.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count("cuModuleLoadDataEx") == 2);
  CHECK(count("cuLaunchKernel") == 8);
  CHECK(count("cuStreamCreate") == 1);
  CHECK(count("cuMemcpyDtoHAsync 1508\n") == 2);
  // Two arguments and an intermediate in the program's own stream, the intermediate again in the other.
  CHECK(count("cuMemAlloc") == 4);
}

TEST_CASE("what a package for a device cannot hold is refused with the reason") {
  const Folder folder;
  codegen::Kernel kernel{ir::canonicalize(test::doubling(3, 5)), Schedule{{StageSchedule()}}, "doubling", "given", {}};
  const auto refused = [&](const codegen::Kernel& one, bool as_sources = false) {
    PackageOptions options{"devices", folder.path, describe_target("x86-64-linux-opencl", 1).value(), "0.1.0"};
    options.as_sources = as_sources;
    const auto written = write_package_with(test::handmade_backend(), {one}, options);
    return written ? "" : written.error().code;
  };
  CHECK(refused(kernel, true) == "sources-for-device");
  kernel.program.tensors[0].constant = true;
  CHECK(refused(kernel) == "not-for-device");
  kernel.program.tensors[0].constant = false;
  kernel.program.tensors[0].storage = ir::Storage::strided({5, -1});
  CHECK(refused(kernel) == "not-for-device");
  CHECK(fs::is_empty(folder.path));
}
