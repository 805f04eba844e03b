// What is asked of a CUDA driver when kernels are judged and timed: of one that computes nothing and says what it was
// asked (tests/support/fake_cuda), beside a library for the device's state (tests/support/fake_nvml).
#include <catch2/catch.hpp>

#include "base/temporary_directory.h"
#include "codegen/target/host.h"
#include "search/judge/device_executor.h"
#include "search/timing/race.h"
#include "search/timing/timing.h"
#include "tests/integration/workers/compile_c.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nvml/fake_nvml.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

constexpr double kCallSeconds = 30;
constexpr int kNobody = -1;
constexpr const char* kBusId = "0000:1B:00.0";

/// As Halide's object has it: an entry that launches one kernel of one buffer.
constexpr const char* kKernel = R"(
#include <stddef.h>
#include <stdint.h>
int halide_cuda_initialize_kernels(void*, void**, const char*, int);
int halide_cuda_run(void*, void*, const char*, int, int, int, int, int, int, int, size_t*, void**, int8_t*);
static const char text[] = ".target sm_80\n.visible .entry twice(\n.param .u64 a\n)\n{\nret;\n}\n";
static void* state;
int FUNCTION_argv(void** arguments) {
  void* const call = *(void**)arguments[0];
  size_t sizes[] = {8, 0};
  void* values[] = {arguments[1], 0};
  int8_t is_buffer[] = {1, 0};
  const int status = halide_cuda_initialize_kernels(call, &state, text, sizeof text);
  if (status != 0) return status;
  return halide_cuda_run(call, state, "twice", 4, 1, 1, 32, 1, 1, 0, sizes, values, is_buffer);
}
)";

int count(const std::string& what) {
  const std::string calls = fake_cuda_calls();
  int found = 0;
  for (size_t at = calls.find(what); at != calls.npos; at = calls.find(what, at + 1)) ++found;
  return found;
}

struct Device {
  base::TemporaryDirectory folder =
      base::TemporaryDirectory::create(std::filesystem::temp_directory_path(), "tile-tune-test-").value();
  DeviceExecutor executor;
  std::filesystem::path object = folder.path() / "kernel.o";

  Device() : executor(target()) {
    std::string text = kKernel;
    text.replace(text.find("FUNCTION_argv"), std::string("FUNCTION").size(), kKernelFunction);
    REQUIRE(test::compile_c(text, object));
    fake_cuda_reset();
    fake_cuda_set_kernel_ns(2000);
    fake_nvml_set_reasons(0);
  }
  static codegen::Target target() {
    auto target = codegen::describe_target("host-cuda", 1).value();
    target.found.number = 0;
    return target;
  }
};

}  // namespace

TEST_CASE("calls on a CUDA device find there what the first was given, and are timed by its clock") {
  const Device device;
  const auto problem = make_problem(test::doubling(13, 29), 7).value();
  const auto kernel = device.executor.load(device.object);
  REQUIRE(kernel);
  const auto memory = device.executor.allocate(problem, Flush::Begin);
  memory->prepare_outputs(std::byte{0});
  const auto call = device.executor.bind(problem.program, **kernel, *memory, Flush::Begin);
  REQUIRE(call->run(1).code == 0);
  CHECK(count("cuMemcpyHtoDAsync 1508\n") == 2);

  fake_cuda_reset();
  memory->restore();  // there is no output that begins with anything
  const Timed timed = call->run(5);
  CHECK(timed.code == 0);
  CHECK(timed.ns == Approx(5 * 2000));
  CHECK(timed.launch_ns > 0);
  CHECK(count("cuLaunchKernel twice") == 5);
  // The device is kept at work while the host launches.
  const std::string launched = fake_cuda_calls();
  CHECK(launched.find("cuLaunchKernel fma_f32 1x1x1 32x1x1") < launched.find("cuEventRecord"));
  CHECK(count("cuMemcpy") == 0);
  CHECK(count("cuMemAlloc") == 0);

  fake_cuda_reset();
  CHECK(memory->trespass() == "");
  CHECK(count("cuMemcpyDtoHAsync 1508\n") == 2);
  CHECK(memory->output(problem.program.outputs[0]).element_count() == 13 * 29);
  CHECK(count("cuMemcpyDtoHAsync 1508\n") == 2);  // what was seen need not be fetched again
  REQUIRE(call->run(1).code == 0);
  CHECK(count("cuMemcpyHtoDAsync") == 0);  // nor be brought back
  memory->prepare_outputs(std::byte{0xFF});
  REQUIRE(call->run(1).code == 0);
  CHECK(count("cuMemcpyHtoDAsync") == 2);
}

TEST_CASE("what a kernel writes beside its memory on a CUDA device is seen") {
  const Device device;
  const auto problem = make_problem(test::doubling(13, 29), 7).value();
  const auto kernel = device.executor.load(device.object);
  REQUIRE(kernel);
  constexpr long kBytes = 13 * 29 * 4;
  for (const long offset : {-1l, -256l, kBytes, kBytes + 255}) {
    INFO(offset);
    const auto memory = device.executor.allocate(problem, Flush::Begin);
    memory->prepare_outputs(std::byte{0});
    const auto call = device.executor.bind(problem.program, **kernel, *memory, Flush::Begin);
    REQUIRE(call->run(1).code == 0);
    CHECK(memory->trespass() == "");
    fake_cuda_write_at(offset);
    REQUIRE(call->run(1).code == 0);
    fake_cuda_write_at(0);
    CHECK(memory->trespass() == "it wrote outside a");
  }
}

TEST_CASE("an output that begins with its initial value gets it on the device before each sample") {
  const Device device;
  const auto problem = make_problem(test::accumulating(1000), 7).value();
  const auto kernel = device.executor.load(device.object);
  REQUIRE(kernel);
  const auto memory = device.executor.allocate(problem, Flush::Begin);
  memory->prepare_outputs(std::byte{0});
  const auto call = device.executor.bind(problem.program, **kernel, *memory, Flush::Begin);
  REQUIRE(call->run(1).code == 0);
  fake_cuda_reset();
  for (int sample = 0; sample < 3; ++sample) {
    memory->restore();
    REQUIRE(call->run(2).code == 0);
  }
  CHECK(count("cuMemcpyHtoDAsync 4000\n") == 3);
  CHECK(count("cuMemcpyDtoHAsync") == 0);

  fake_cuda_reset();
  memory->restore();
  memory->evict();
  REQUIRE(call->run(1).code == 0);
  CHECK(count("cuMemcpyHtoDAsync 4000\n") == 1);
  const std::string evicted = fake_cuda_calls();
  CHECK(evicted.find("cuMemcpyHtoDAsync") < evicted.find("cuMemsetD8Async 0 "));  // not through the cache behind it
}

TEST_CASE("what a device multiplies and adds is timed by its clock") {
  const Device device;
  const double probed = 2.0 * 128 * 1000 * 256 * 128;  // of 16 multiprocessors
  CHECK(device.executor.flop_ns(probed, DType::F32) == Approx(2000));
  CHECK(device.executor.flop_ns(probed / 10, DType::F64) == Approx(200));
  CHECK(device.executor.flop_ns(probed / 4, DType::F32) == Approx(500));
  CHECK(count("cuLaunchKernel fma_f32 128x1x1 256x1x1") == 4);  // once each to warm up
  CHECK(count("cuLaunchKernel fma_f64 128x1x1 256x1x1") == 2);
  CHECK(count("cuModuleLoadDataEx") == 2);
  CHECK(device.executor.flop_ns(1, DType::I32) == 0);
  fake_cuda_fail("cuModuleLoadDataEx", 218);
  const DeviceExecutor other(Device::target());
  CHECK(other.flop_ns(1, DType::F32) == 0);
  CHECK(other.flop_ns(1, DType::F32) == 0);
}

TEST_CASE("copies within a device are timed by its clock") {
  const Device device;
  CHECK(device.executor.copy_ns(1000) == Approx(2000));
  CHECK(device.executor.copy_ns(999) == Approx(2000));
  CHECK(count("cuMemAlloc 1000\n") == 2);
  CHECK(count("cuMemcpyDtoDAsync 999\n") == 1);
  CHECK(device.executor.copy_ns(0) == 0);
  CHECK(device.executor.copy_ns(5000) == Approx(2000));
  CHECK(count("cuMemFree") == 2);
  fake_cuda_fail("cuMemAlloc", 2);
  CHECK(device.executor.copy_ns(6000) == 0);
}

TEST_CASE("what lies in a device's last cache is driven out by something larger") {
  const Device device;
  const auto problem = make_problem(test::doubling(3, 5), 7).value();
  const auto memory = device.executor.allocate(problem, Flush::Begin);
  fake_cuda_reset();
  memory->evict();
  memory->evict();
  CHECK(count("cuMemAlloc 83886080\n") == 1);
  CHECK(count("cuMemsetD8Async 0 83886080\n") == 2);
}

TEST_CASE("a device that heat holds back makes rounds of no account, and is described") {
  const Device device;
  const auto problem = make_problem(test::doubling(3, 5), 7).value();
  const auto kernel = device.executor.load(device.object);
  REQUIRE(kernel);
  fake_cuda_set_kernel_ns(1e12);  // no time that the host loses counts beside it
  Bench bench(device.executor, problem, kCallSeconds, kNobody);
  CHECK_FALSE(bench.sample(**kernel, 1).switched);
  CHECK(device.executor.condition() == "1980 MHz, memory 3201 MHz, 54 C");
  fake_nvml_set_reasons(0x20);
  CHECK(bench.sample(**kernel, 1).switched);
  CHECK(device.executor.condition() == "1980 MHz, memory 3201 MHz, 54 C, held back by heat");
  fake_nvml_set_reasons(0x4);
  CHECK_FALSE(bench.sample(**kernel, 1).switched);
  CHECK(DeviceHealth(kBusId).text() == "1980 MHz, memory 3201 MHz, 54 C, at its limit of power");
  fake_nvml_set_reasons(0x88);
  CHECK(DeviceHealth(kBusId).is_held_back());
  CHECK(DeviceHealth(kBusId).text().find("held back by the hardware, held back by the power supply") !=
        std::string::npos);
  CHECK(DeviceHealth("0000:99:00.0").text() == "");
  CHECK_FALSE(DeviceHealth("").is_held_back());
  fake_nvml_set_reasons(-1);
  CHECK(DeviceHealth(kBusId).text() == "");
}

// The last: what it does to the device stays.
TEST_CASE("a kernel that touches what is not there ends a race on the device for everybody") {
  const Device device;
  const auto problem = make_problem(test::doubling(3, 5), 7).value();
  fake_cuda_fail("cuEventSynchronize", 700);
  const auto reply =
      race(device.executor, problem, {device.object, device.object}, {}, Deadline::after(100), kCallSeconds, kNobody);
  CHECK(reply.outcome == Outcome::Crash);
  CHECK(reply.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(reply.timings.empty());
}
