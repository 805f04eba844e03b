// Kernels on devices: OpenCL on whatever device there is (PoCL), CUDA on a driver that says what it was asked.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "codegen/emit/runtime/device_ptx.h"
#include "codegen/emit/runtime/tile_tune_device.h"
#include "tests/support/fake_cuda/fake_cuda.h"

// cuda.h
extern "C" {
int cuMemAlloc_v2(uint64_t* memory, size_t bytes);
int cuStreamGetCtx(void* stream, void** context);
int cuCtxPushCurrent_v2(void* context);
int cuCtxPopCurrent_v2(void** context);
}

namespace {

using namespace tile_tune;

using Interface = const tile_tune_device_interface*;

const Interface cuda = tile_tune_device2_cuda_interface();
const Interface opencl = tile_tune_device2_opencl_interface();

/// A buffer of `count` floats as Halide has it.
struct Floats {
  tile_tune_dimension dimension;
  tile_tune_buffer buffer{};

  explicit Floats(int count, uint64_t memory = 0) : dimension{0, count, 1, 0} {
    buffer.type = {2, 32, 1};
    buffer.dimensions = 1;
    buffer.dim = &dimension;
    buffer.device = memory;
  }
  Floats(const Floats&) = delete;
};

/// The way to launch kernels of one driver.
struct Launcher {
  int (*initialize)(tile_tune_device_call*, void**, const char*, int);
  int (*run)(tile_tune_device_call*, void*, const char*, int, int, int, int, int, int, int, size_t*, void**, int8_t*);
};
const Launcher kCuda{tile_tune_device2_cuda_initialize, tile_tune_device2_cuda_run};
const Launcher kOpenCl{tile_tune_device2_opencl_initialize, tile_tune_device2_opencl_run};

/// An object's kernels, and calls of them.
class Kernels {
 public:
  Kernels(Launcher launcher, std::string text) : launcher_(launcher), text_(std::move(text)) {}

  /// Of one buffer and one number.
  int run(void* queue, const char* entry, Floats& floats, int number, int blocks, int threads, int shared = 0) {
    tile_tune_device_call call{{nullptr, 1}, queue};
    if (const int status = launcher_.initialize(&call, &state_, text_.c_str(), static_cast<int>(text_.size()) + 1))
      return status;
    size_t sizes[] = {sizeof(uint64_t), sizeof number, 0};
    void* arguments[] = {&floats.buffer, &number, nullptr};
    int8_t is_buffer[] = {1, 0, 0};
    return launcher_.run(&call, state_, entry, blocks, 1, 1, threads, 1, 1, shared, sizes, arguments, is_buffer);
  }

 private:
  Launcher launcher_;
  std::string text_;
  void* state_ = nullptr;
};

void* queue_of(Interface device, int number = 0) {
  void* queue = nullptr;
  REQUIRE(device->default_queue(number, &queue) == TILE_TUNE_OK);
  return queue;
}

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

bool contains(const std::string& text, const std::string& what) { return text.find(what) != text.npos; }

constexpr const char* kPtx = R"(// { a comment's brace
.version 7.1
.target sm_80
.address_size 64
	// .globl	first
.visible .entry first(
	.param .u64 first_param_0,
	.param .u32 first_param_1
)
{
	{ // callseq 0, 0
	}
	ret;
}
	// .globl	first_again
.visible .entry first_again(
	.param .u64 first_again_param_0
)
{
	ret;
}
	// -- End function
.visible .entry third_resident3___block_id_y(
	.param .u64 third_param_0
)
{
	ret;
}
)";

constexpr const char* kOpenClText = R"(
__kernel void _at_least_one_kernel(int x) { }
__kernel void add(__global float* data, const int amount, __local int* shared) { data[get_global_id(0)] += amount; }
__kernel void reverse(__global float* data, const int count, __local float* shared) {
  const int i = get_local_id(0);
  shared[i] = data[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[i] = shared[count - 1 - i];
}
)";

/// Whether there is an OpenCL device; if not, that is said.
bool has_opencl() {
  tile_tune_device_facts facts;
  if (opencl->describe(0, &facts) == TILE_TUNE_OK) return true;
  std::cout << "skipped: " << tile_tune_device2_message() << '\n';
  return false;
}

}  // namespace

TEST_CASE("PTX is cut down to one function, with the size of its blocks") {
  const int threads[] = {32, 4, 1};
  const auto bounded = [&](const std::string& text, const char* entry, int resident) -> std::string {
    char* made = tile_tune_device2_bounded_ptx(text.c_str(), static_cast<int>(text.size()), entry, threads, resident);
    std::string result = made ? made : "none";
    std::free(made);
    return result;
  };
  const std::string first = bounded(kPtx, "first", 2);
  CHECK(
      contains(first, "first_param_1\n)\n.maxntid 32, 4, 1\n.minnctapersm 2\n{\n\t{ // callseq 0, 0\n\t}\n\tret;\n}"));
  CHECK(!contains(first, ".entry first_again"));
  CHECK(contains(first, ".target sm_80"));
  const std::string second = bounded(kPtx, "first_again", 0);
  CHECK(contains(second, "first_again_param_0\n)\n.maxntid 32, 4, 1\n{"));
  CHECK(!contains(second, ".entry first("));
  CHECK(!contains(second, ".minnctapersm"));
  CHECK(bounded(kPtx, "fir", 0) == "none");
  CHECK(bounded(first, "first", 0) == first);  // it says so already
  CHECK(bounded(".visible .entry open(", "open", 0) != "");
  CHECK(bounded("", "first", 0) == "none");
  CHECK(tile_tune_device2_ptx_capability(kPtx, static_cast<int>(std::strlen(kPtx))) == 80);
  CHECK(tile_tune_device2_ptx_capability("", 0) == 0);
}

TEST_CASE("a CUDA kernel is built once for a context and launched in the caller's stream") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  Kernels kernels(kCuda, kPtx);
  uint64_t memory = 0;
  REQUIRE(tile_tune_device2_borrow(cuda, queue, 400, &memory) == TILE_TUNE_OK);
  Floats floats(100, memory);
  fake_cuda_reset();
  REQUIRE(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_OK);
  const std::string calls = fake_cuda_calls();
  CHECK(contains(calls, "cuModuleGetFunction first\n"));
  CHECK(contains(calls, "cuLaunchKernel first 4x1x1 32x1x1 shared 0 stream own\n"));
  CHECK(contains(fake_cuda_module(), ".maxntid 32, 1, 1\n"));
  CHECK(!contains(calls, "cuFuncSetAttribute"));
  CHECK(count_of(calls, "cuCtxPushCurrent") == count_of(calls, "cuCtxPopCurrent"));
  // A register cap has no place among the options: two are for the driver's log.
  CHECK(contains(calls, "cuModuleLoadDataEx 2 options\n"));

  fake_cuda_reset();
  REQUIRE(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_OK);
  CHECK(std::string(fake_cuda_calls()) ==
        "cuCtxPushCurrent 0\ncuLaunchKernel first 4x1x1 32x1x1 shared 0 stream own\ncuCtxPopCurrent\n");

  SECTION("another device has another context") {
    fake_cuda_reset();
    REQUIRE(kernels.run(queue_of(cuda, 1), "first", floats, 7, 4, 32) == TILE_TUNE_OK);
    CHECK(contains(fake_cuda_calls(), "cuModuleLoadDataEx"));
  }
  SECTION("shared memory beyond what is usual is asked for, once") {
    fake_cuda_reset();
    REQUIRE(kernels.run(queue, "first_again", floats, 7, 1, 32, 48 << 10) == TILE_TUNE_OK);
    CHECK(!contains(fake_cuda_calls(), "cuFuncSetAttribute"));
    REQUIRE(kernels.run(queue, "first_again", floats, 7, 1, 32, 100000) == TILE_TUNE_OK);
    REQUIRE(kernels.run(queue, "first_again", floats, 7, 1, 32, 100000) == TILE_TUNE_OK);
    CHECK(count_of(fake_cuda_calls(), "cuFuncSetAttribute first_again 8 100000\n") == 1);
    CHECK(contains(fake_cuda_calls(), "shared 100000"));
  }
  SECTION("a kernel whose name asks for several blocks on a multiprocessor gets registers for them") {
    REQUIRE(kernels.run(queue, "third_resident3___block_id_y", floats, 7, 4, 32) == TILE_TUNE_OK);
    CHECK(contains(fake_cuda_module(), ".maxntid 32, 1, 1\n.minnctapersm 3\n{"));
  }
  SECTION("a grid of no blocks is not launched") {
    fake_cuda_reset();
    CHECK(kernels.run(queue, "first", floats, 7, 0, 32) == TILE_TUNE_OK);
    CHECK(std::string(fake_cuda_calls()).empty());
  }
  SECTION("what is kept goes when it is released") {
    fake_cuda_reset();
    REQUIRE(tile_tune_device2_release(cuda, queue) == TILE_TUNE_OK);
    const std::string released = fake_cuda_calls();
    CHECK(contains(released, "cuMemFree"));
    CHECK(contains(released, "cuModuleUnload"));
    CHECK(contains(released, "cuStreamDestroy"));
    CHECK(contains(released, "cuDevicePrimaryCtxRelease 0"));
    REQUIRE(kernels.run(queue_of(cuda), "first", floats, 7, 4, 32) == TILE_TUNE_OK);
    CHECK(contains(fake_cuda_calls(), "cuModuleLoadDataEx"));
    return;
  }
  tile_tune_device2_give_back(cuda, queue, memory);
}

TEST_CASE("errors of CUDA are codes, and sentences with the kernel's name") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  Kernels kernels(kCuda, kPtx);
  Floats floats(100, 1);
  const auto message = [] { return std::string(tile_tune_device2_message()); };

  fake_cuda_fail("cuLaunchKernel", 1);
  CHECK(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_ERROR_LAUNCH);
  CHECK(contains(message(), "kernel first of 4 x 1 x 1 blocks of 32 x 1 x 1 threads"));
  CHECK(contains(message(), "CUDA_ERROR_OTHER"));

  fake_cuda_reset();
  fake_cuda_fail("cuModuleLoadDataEx", 218);
  CHECK(kernels.run(queue, "first_again", floats, 7, 4, 32) == TILE_TUNE_ERROR_DEVICE_BUILD);
  CHECK(contains(message(), "ptxas says no"));
  fake_cuda_fail("cuModuleLoadDataEx", 222);
  CHECK(kernels.run(queue, "first_again", floats, 7, 4, 32) == TILE_TUNE_ERROR_DEVICE_TOO_OLD);
  fake_cuda_fail("cuFuncSetAttribute", 1);
  CHECK(kernels.run(queue, "first_again", floats, 7, 4, 32, 300000) == TILE_TUNE_ERROR_LAUNCH);
  CHECK(contains(message(), "cannot have 300000 bytes of shared memory"));
  CHECK(kernels.run(queue, "nowhere", floats, 7, 4, 32) == TILE_TUNE_ERROR_DEVICE_BUILD);
  fake_cuda_fail("cuCtxPushCurrent", 46);  // somebody else has the device for himself
  CHECK(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_ERROR_NO_DEVICE);
  fake_cuda_fail("cuCtxPushCurrent", 803);  // of another release than the kernel's part
  CHECK(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_ERROR_NO_DRIVER);

  fake_cuda_reset();
  fake_cuda_fail("cuMemAlloc", 2);
  uint64_t memory = 0;
  CHECK(tile_tune_device2_borrow(cuda, queue, 12345, &memory) == TILE_TUNE_ERROR_DEVICE_MEMORY);
  fake_cuda_reset();

  fake_cuda_set_capability(75);
  CHECK(kernels.run(queue_of(cuda, 1), "first", floats, 7, 4, 32) == TILE_TUNE_ERROR_DEVICE_TOO_OLD);
  CHECK(contains(message(), "capability 7.5, kernels were made for 8.0"));
  fake_cuda_set_capability(80);

  void* none = nullptr;
  CHECK(cuda->default_queue(2, &none) == TILE_TUNE_ERROR_NO_DEVICE);
  CHECK(cuda->default_queue(-1, &none) == TILE_TUNE_ERROR_NO_DEVICE);
  // The null stream belongs to the current context, and there is none.
  CHECK(kernels.run(nullptr, "first", floats, 7, 4, 32) == TILE_TUNE_ERROR_NO_DEVICE);
}

TEST_CASE("a CUDA graph can capture every call, also the first") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  Kernels kernels(kCuda, kPtx);
  Floats intermediate(77777);
  tile_tune_device_call call{{nullptr, 1}, queue};
  const auto run = [&] {
    int status = tile_tune_device2_malloc(&call, &intermediate.buffer, cuda);
    if (status == TILE_TUNE_OK) status = kernels.run(queue, "first", intermediate, 7, 4, 32);
    tile_tune_device2_free(&call, &intermediate.buffer);
    return status;
  };
  const auto captured = [&] {
    fake_cuda_reset();
    fake_cuda_capture(1);
    const int status = run();
    fake_cuda_capture(0);
    return status;
  };
  CHECK(captured() == TILE_TUNE_OK);
  CHECK(contains(fake_cuda_calls(), "cuMemAlloc 311296\n"));
  CHECK(contains(fake_cuda_calls(), "cuModuleLoadDataEx"));
  // What others make on this thread is refused as before.
  fake_cuda_capture(1);
  uint64_t memory = 0;
  CHECK(cuMemAlloc_v2(&memory, 1) == 900);
  fake_cuda_capture(0);
  CHECK(captured() == TILE_TUNE_OK);
  const std::string calls = fake_cuda_calls();
  CHECK(count_of(calls, "cuLaunchKernel first 4x1x1 32x1x1 shared 0 stream own\n") == 1);
  CHECK(count_of(calls, "\n") == 1 + count_of(calls, "cuCtxPushCurrent") + count_of(calls, "cuCtxPopCurrent"));
}

TEST_CASE("a folder keeps what the driver compiled, beside its text") {
  const auto folder =
      base::TemporaryDirectory::create(std::filesystem::temp_directory_path(), "tile-tune-test-").value();
  const auto cubins = folder.path() / "cubins";
  setenv("TILE_TUNE_CUBINS", cubins.c_str(), 1);
  void* const queue = queue_of(cuda);
  Floats floats(100, 16);
  // An object of its own each time, as in another process.
  const auto run = [&](int threads = 32, const char* text = kPtx) {
    fake_cuda_reset();
    Kernels kernels(kCuda, text);
    return kernels.run(queue, "first", floats, 7, 4, threads);
  };
  const auto files = [&] {
    std::vector<std::filesystem::path> found;
    for (const auto& one : std::filesystem::directory_iterator(cubins)) found.push_back(one.path());
    return found;
  };
  REQUIRE(run() == TILE_TUNE_OK);
  CHECK(contains(fake_cuda_calls(), "cuLinkCreate\ncuLinkAddData 1\ncuLinkComplete\ncuModuleLoadDataEx 0 options\n"));
  CHECK(contains(fake_cuda_calls(), "cuLinkDestroy"));
  REQUIRE(files().size() == 1);
  CHECK((std::filesystem::status(cubins).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms::owner_all);
  CHECK(run() == TILE_TUNE_OK);
  CHECK(!contains(fake_cuda_calls(), "cuLink"));
  CHECK(contains(fake_cuda_module(), "compiled\n"));
  CHECK(contains(fake_cuda_module(), ".maxntid 32, 1, 1\n"));

  SECTION("another block, text, device or driver is another file") {
    CHECK(run(64) == TILE_TUNE_OK);
    CHECK(files().size() == 2);
    fake_cuda_set_capability(90);
    CHECK(run() == TILE_TUNE_OK);
    fake_cuda_set_capability(80);
    CHECK(contains(fake_cuda_calls(), "cuLinkComplete"));
    CHECK(files().size() == 3);
  }
  SECTION("whatever byte of a file is damaged, it is compiled again") {
    const auto file = files().front();
    const std::string whole = base::read_bytes(file).value();
    for (size_t at = 0; at < whole.size(); at += 7) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
      REQUIRE(base::write_text(file, damaged));
      INFO(at);
      CHECK(run() == TILE_TUNE_OK);
      CHECK(contains(fake_cuda_calls(), "cuLinkComplete"));
    }
    REQUIRE(base::write_text(file, whole.substr(0, whole.size() - 1)));
    CHECK(run() == TILE_TUNE_OK);
    CHECK(contains(fake_cuda_calls(), "cuLinkComplete"));
    CHECK(base::read_bytes(file).value() == whole);
    CHECK(files().size() == 1);
  }
  SECTION("what cannot be linked or kept is compiled as ever") {
    fake_cuda_fail("cuLinkComplete", 218);
    Kernels kernels(kCuda, kPtx);
    CHECK(kernels.run(queue, "first", floats, 7, 4, 96) == TILE_TUNE_OK);
    CHECK(contains(fake_cuda_calls(), "cuModuleLoadDataEx 2 options\n"));
    setenv("TILE_TUNE_CUBINS", "/proc/nowhere/cubins", 1);
    CHECK(run(128) == TILE_TUNE_OK);
  }
  unsetenv("TILE_TUNE_CUBINS");
}

TEST_CASE("a device's clock times what a queue does") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  Kernels kernels(kCuda, kPtx);
  Floats floats(100, 1);
  void *begin = nullptr, *end = nullptr;
  double ns = 0;
  fake_cuda_set_kernel_ns(2500);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(cuda->mark(queue, &begin) == TILE_TUNE_OK);
    for (int call = 0; call < 3; ++call) REQUIRE(kernels.run(queue, "first", floats, 7, 4, 32) == TILE_TUNE_OK);
    REQUIRE(cuda->mark(queue, &end) == TILE_TUNE_OK);
    REQUIRE(cuda->time_between(queue, begin, end, &ns) == TILE_TUNE_OK);
    CHECK(ns == Approx(7500));
  }
  CHECK(count_of(fake_cuda_calls(), "cuEventCreate") == 2);
  fake_cuda_fail("cuEventSynchronize", 700);
  CHECK(cuda->is_lost() == 0);
  CHECK(cuda->time_between(queue, begin, end, &ns) == TILE_TUNE_ERROR_LAUNCH);
  CHECK(contains(tile_tune_device2_message(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  CHECK(cuda->is_lost() == 1);
}

TEST_CASE("memory is filled and copied on the device") {
  const auto check_on = [](Interface device) {
    void* const queue = queue_of(device);
    uint64_t one = 0, other = 0;
    REQUIRE(tile_tune_device2_borrow(device, queue, 1000, &one) == TILE_TUNE_OK);
    REQUIRE(tile_tune_device2_borrow(device, queue, 1000, &other) == TILE_TUNE_OK);
    REQUIRE(device->fill(queue, one, 0xA5, 999) == TILE_TUNE_OK);
    REQUIRE(device->fill(queue, other, 0, 1000) == TILE_TUNE_OK);
    REQUIRE(device->copy(queue, one, other, 998) == TILE_TUNE_OK);
    std::vector<unsigned char> seen(1000);
    REQUIRE(device->download(queue, other, seen.data(), seen.size()) == TILE_TUNE_OK);
    CHECK(count_of(std::string(seen.begin(), seen.end()), "\xA5") == 998);
    CHECK(seen[997] == 0xA5);
    CHECK(seen[998] == 0);
    for (const uint64_t memory : {one, other}) tile_tune_device2_give_back(device, queue, memory);
  };
  check_on(cuda);
  if (has_opencl()) check_on(opencl);
}

TEST_CASE("a queue keeps memory by size, and hands it out again") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  Floats one(64), same(64), other(65);
  tile_tune_device_call call{{nullptr, 1}, queue};
  for (int round = 0; round < 3; ++round) {
    if (round == 1) fake_cuda_reset();
    REQUIRE(tile_tune_device2_malloc(&call, &one.buffer, cuda) == TILE_TUNE_OK);
    REQUIRE(tile_tune_device2_malloc(&call, &same.buffer, cuda) == TILE_TUNE_OK);
    CHECK(one.buffer.device != same.buffer.device);
    CHECK(one.buffer.device_interface == cuda);
    CHECK(tile_tune_device2_copy_to_device(&call, &one.buffer, cuda) == TILE_TUNE_OK);
    CHECK(tile_tune_device2_free(&call, &one.buffer) == TILE_TUNE_OK);
    CHECK(one.buffer.device == 0);
    REQUIRE(tile_tune_device2_malloc(&call, &other.buffer, cuda) == TILE_TUNE_OK);
    tile_tune_device2_free_as_destructor(&call, &same.buffer);
    tile_tune_device2_free_as_destructor(&call, &other.buffer);
    CHECK(tile_tune_device2_free(&call, &other.buffer) == TILE_TUNE_OK);
  }
  CHECK(!contains(fake_cuda_calls(), "cuMemAlloc"));
  CHECK(tile_tune_device2_copy_to_device(&call, &one.buffer, cuda) == TILE_TUNE_ERROR_INTERNAL);
}

TEST_CASE("arguments in host memory go to the device and come back") {
  fake_cuda_reset();
  void* const queue = queue_of(cuda);
  std::vector<float> in(10, 1), out(20, 2), both(30, 3);
  const tile_tune_device_argument arguments[] = {
      {in.data(), 40, 0, 0}, {out.data(), 80, 1, 0}, {both.data(), 120, 1, 1}, {nullptr, 0, 1, 0}};
  uint64_t memory[4];
  REQUIRE(tile_tune_device2_stage(cuda, queue, arguments, 4, memory) == TILE_TUNE_OK);
  CHECK(contains(fake_cuda_calls(), "cuMemcpyHtoDAsync 40\n"));
  CHECK(!contains(fake_cuda_calls(), "cuMemcpyHtoDAsync 80\n"));
  CHECK(contains(fake_cuda_calls(), "cuMemcpyHtoDAsync 120\n"));
  std::memset(reinterpret_cast<void*>(memory[1]), 0, 80);
  REQUIRE(tile_tune_device2_unstage(cuda, queue, arguments, 4, memory, TILE_TUNE_OK) == TILE_TUNE_OK);
  CHECK(out == std::vector<float>(20, 0));
  CHECK(both == std::vector<float>(30, 3));
  fake_cuda_reset();
  fake_cuda_fail("cuMemcpyHtoDAsync", 1);
  CHECK(tile_tune_device2_stage(cuda, queue, arguments, 4, memory) == TILE_TUNE_ERROR_LAUNCH);
  fake_cuda_reset();
  REQUIRE(tile_tune_device2_stage(cuda, queue, arguments, 4, memory) == TILE_TUNE_OK);
  CHECK(!contains(fake_cuda_calls(), "cuMemAlloc"));
  CHECK(tile_tune_device2_unstage(cuda, queue, arguments, 4, memory, TILE_TUNE_ERROR_INTERNAL) ==
        TILE_TUNE_ERROR_INTERNAL);
  CHECK(contains(fake_cuda_calls(), "cuStreamSynchronize\n"));
}

TEST_CASE("the null streams of two contexts are two queues") {
  uint64_t ids[2] = {};
  for (const int number : {0, 1}) {
    void *context = nullptr, *popped = nullptr;
    REQUIRE(cuStreamGetCtx(queue_of(cuda, number), &context) == 0);
    REQUIRE(cuCtxPushCurrent_v2(context) == 0);
    CHECK(cuda->identify(nullptr, &ids[number]) == TILE_TUNE_OK);
    REQUIRE(cuCtxPopCurrent_v2(&popped) == 0);
  }
  CHECK(ids[0] != ids[1]);
}

TEST_CASE("what a CUDA device is like") {
  tile_tune_device_facts facts;
  REQUIRE(cuda->describe(1, &facts) == TILE_TUNE_OK);
  CHECK(facts.name == std::string("Pretended 1"));
  CHECK(facts.driver == std::string("CUDA 13.0"));
  CHECK(facts.capability == 80);
  CHECK(facts.megahertz == 1980);
  CHECK(facts.bus_id == std::string("0000:1C:00.0"));
  CHECK(cuda->describe(2, &facts) == TILE_TUNE_ERROR_NO_DEVICE);
}

TEST_CASE("OpenCL kernels run in a queue of the program's") {
  if (!has_opencl()) return;
  void* const queue = queue_of(opencl);
  Kernels kernels(kOpenCl, kOpenClText);
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const tile_tune_device_argument arguments[] = {{values.data(), 4 * values.size(), 1, 1}};
  uint64_t memory = 0;
  REQUIRE(tile_tune_device2_stage(opencl, queue, arguments, 1, &memory) == TILE_TUNE_OK);
  Floats floats(64, memory);
  REQUIRE(kernels.run(queue, "add", floats, 5, 4, 16) == TILE_TUNE_OK);
  REQUIRE(kernels.run(queue, "reverse", floats, 64, 1, 64, 64 * sizeof(float)) == TILE_TUNE_OK);
  REQUIRE(kernels.run(queue, "add", floats, 1000, 2, 16) == TILE_TUNE_OK);
  CHECK(kernels.run(queue, "add", floats, 1000, 0, 16) == TILE_TUNE_OK);
  REQUIRE(tile_tune_device2_unstage(opencl, queue, arguments, 1, &memory, TILE_TUNE_OK) == TILE_TUNE_OK);
  for (size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == static_cast<float>(63 - i + 5 + (i < 32 ? 1000 : 0)));
}

TEST_CASE("errors of OpenCL are codes, and sentences with the kernel's name") {
  if (!has_opencl()) return;
  void* const queue = queue_of(opencl);
  const auto message = [] { return std::string(tile_tune_device2_message()); };
  Floats floats(64);
  Kernels kernels(kOpenCl, kOpenClText);
  CHECK(kernels.run(queue, "nowhere", floats, 5, 4, 16) == TILE_TUNE_ERROR_DEVICE_BUILD);
  CHECK(contains(message(), "nowhere"));
  CHECK(kernels.run(queue, "add", floats, 5, 1, 1 << 20) == TILE_TUNE_ERROR_LAUNCH);
  CHECK(contains(message(), "kernel add of 1 x 1 x 1 blocks of 1048576 x 1 x 1 threads"));
  Kernels broken(kOpenCl, "__kernel void add(no_such_type x) { }");
  CHECK(broken.run(queue, "add", floats, 5, 4, 16) == TILE_TUNE_ERROR_DEVICE_BUILD);
  CHECK(contains(message(), "no_such_type"));
  CHECK(kernels.run(nullptr, "add", floats, 5, 4, 16) == TILE_TUNE_ERROR_QUEUE);
  void* none = nullptr;
  CHECK(opencl->default_queue(63, &none) == TILE_TUNE_ERROR_NO_DEVICE);
}
