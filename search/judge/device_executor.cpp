#include "search/judge/device_executor.h"

#include <HalideRuntime.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "codegen/backend/kernel_abi.h"
#include "search/judge/buffers.h"
#include "search/judge/code.h"
#include "search/judge/guard_watch.h"
#include "search/judge/host_kernel.h"
#include "tile_tune_device.h"

namespace tile_tune::search {
namespace {

using Interface = const tile_tune_device_interface*;

std::map<std::string, void*> device_functions() {
#define TILE_TUNE_SYMBOL(halide, ours) {#halide, reinterpret_cast<void*>(ours)},
  return {TILE_TUNE_DEVICE_FUNCTIONS(TILE_TUNE_SYMBOL)};
#undef TILE_TUNE_SYMBOL
}

bool is_cuda(Interface device) { return device == tile_tune_device2_cuda_interface(); }

class DeviceKernel final : public PreparedKernel {
 public:
  using Entry = int (*)(void**);
  DeviceKernel(Code code, Entry entry) : code_(std::move(code)), entry_(entry) {}
  int operator()(void** argv) const { return entry_(argv); }

 private:
  Code code_;  // where the entry is
  Entry entry_;
};

/// The buffers of this process, and what the device sees of them: OpenCL the memory itself, CUDA a copy. They are
/// handed over only when the other side has changed them: calls of a race find on the device what the first was given.
class DeviceMemory final : public Memory {
 public:
  DeviceMemory(Interface device, const Problem& problem, Flush flush, int number)
      : device_(device),
        number_(number),
        buffers_(problem, flush),
        data_(buffers_.data()),
        restored_(buffers_.restored()),
        newer_(data_.size(), is_cuda(device) ? Newer::Host : Newer::Device) {
    note(device_->default_queue(number, &queue_));
    for (const auto& one : data_) {
      uint64_t handle = 0;
      if (status_ != TILE_TUNE_OK) break;
      note(is_cuda(device_) ? allocate_between_zones(bytes(one), handle)
                            : tile_tune_device2_opencl_wrap(queue_, one.data(), bytes(one), &handle));
      if (status_ == TILE_TUNE_OK) handles_.push_back(handle);
    }
    if (!is_cuda(device_)) take_back();  // what is written from now on is seen by the next run
    const size_t arguments = arguments_of(problem);
    for (size_t i = 0; i < arguments && status_ == TILE_TUNE_OK; ++i) {
      auto& buffer = *static_cast<halide_buffer_t*>(buffers_.argv()[i]);
      buffer.device = handle_of(reinterpret_cast<std::byte*>(buffer.host));
      buffer.host = nullptr;  // kernels ask for alignment of it, and do not use it
      arguments_.push_back(&buffer);
    }
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() override {
    for (const uint64_t handle : handles_) device_->release(queue_, is_cuda(device_) ? handle - kZone : handle);
    if (flushed_ != 0) device_->release(queue_, flushed_);
  }

  /// To the device, before a run that then changes what it likes; a status.
  int hand_over() {
    hand_over_newer();
    std::fill(newer_.begin(), newer_.end(), Newer::Device);
    return finish();
  }
  int finish() {
    if (status_ == TILE_TUNE_OK) note(device_->finish(queue_));
    return status_;
  }
  void* queue() const { return queue_; }
  const std::vector<void*>& arguments() const { return arguments_; }
  const Buffers& buffers() const { return buffers_; }

  bool fill_pages() const override { return buffers_.fill_pages(); }
  void prepare_outputs(std::byte pattern) override {
    take_back();
    buffers_.prepare_outputs(pattern);
    std::fill(newer_.begin(), newer_.end(), Newer::Host);
  }
  void restore() override {
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (!restored_[i]) continue;
      if (!is_cuda(device_)) take_back(i);  // CUDA's copy is overwritten as a whole
      newer_[i] = Newer::Host;
    }
    buffers_.restore();
  }
  /// The device's last cache is filled with something else, also than what the host has to hand over.
  void evict() const override {
    hand_over_newer();
    if (flushed_ == 0) {
      tile_tune_device_facts facts;
      note(device_->describe(number_, &facts));
      flushed_bytes_ = std::max<uint64_t>(kLeastFlushed, 2 * static_cast<uint64_t>(facts.cache_bytes));
      if (status_ == TILE_TUNE_OK) note(device_->allocate(queue_, flushed_bytes_, &flushed_));
    }
    if (status_ == TILE_TUNE_OK) note(device_->fill(queue_, flushed_, 0, flushed_bytes_));
  }
  tensor::Array output(int tensor) const override {
    take_back();
    return buffers_.output(tensor);
  }
  tensor::Array stored_output(int tensor) const override {
    take_back();
    return buffers_.stored_output(tensor);
  }
  std::string trespass() const override {
    take_back();
    for (size_t i = 0; is_cuda(device_) && i < handles_.size(); ++i)
      if (!zones_untouched(i)) return fmt::format("it wrote outside {}", buffers_.names()[i]);
    return buffers_.trespass();
  }

 private:
  enum class Newer { Neither, Host, Device };  // OpenCL's memory is the host's (mapped) or the device's
  static constexpr uint64_t kLeastFlushed = 64 << 20;
  // Around each of CUDA's copies, which no pages guard; kernels want multiples of 16 bytes, cuMemAlloc's are of 256.
  static constexpr uint64_t kZone = 256;
  static constexpr unsigned char kUntouched = 0xA5;

  // Even an empty tensor has a byte that is mapped.
  static uint64_t bytes(std::span<std::byte> data) { return std::max<uint64_t>(1, data.size()); }
  static size_t arguments_of(const Problem& problem) { return codegen::kernel_arguments(problem.program).size(); }
  void note(int status) const {
    if (status_ == TILE_TUNE_OK) status_ = status;
  }
  void hand_over_newer() const {
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (newer_[i] != Newer::Host) continue;
      note(is_cuda(device_) ? device_->upload(queue_, handles_[i], data_[i].data(), data_[i].size())
                            : tile_tune_device2_opencl_unmap(queue_, handles_[i], data_[i].data()));
      newer_[i] = Newer::Device;
    }
  }
  int allocate_between_zones(uint64_t size, uint64_t& handle) {
    uint64_t memory = 0;
    if (const int status = device_->allocate(queue_, size + 2 * kZone, &memory); status != TILE_TUNE_OK) return status;
    handle = memory + kZone;
    return device_->fill(queue_, memory, kUntouched, size + 2 * kZone);
  }
  bool zones_untouched(size_t i) const {
    for (const uint64_t zone : {handles_[i] - kZone, handles_[i] + bytes(data_[i])}) {
      std::array<unsigned char, kZone> seen{};
      note(device_->download(queue_, zone, seen.data(), seen.size()));
      if (std::any_of(seen.begin(), seen.end(), [](unsigned char byte) { return byte != kUntouched; })) return false;
    }
    return true;
  }
  /// Back to the host: what a kernel wrote is to be seen.
  void take_back(size_t i) const {
    if (newer_[i] != Newer::Device) return;
    note(is_cuda(device_) ? device_->download(queue_, handles_[i], data_[i].data(), data_[i].size())
                          : tile_tune_device2_opencl_map(queue_, handles_[i], bytes(data_[i])));
    newer_[i] = is_cuda(device_) ? Newer::Neither : Newer::Host;
  }
  void take_back() const {
    for (size_t i = 0; i < handles_.size(); ++i) take_back(i);
  }
  uint64_t handle_of(const std::byte* host) const {
    for (size_t i = 0; i < data_.size(); ++i)
      if (host >= data_[i].data() && host < data_[i].data() + bytes(data_[i])) return handles_[i];
    return 0;
  }

  Interface device_;
  int number_;
  Buffers buffers_;
  std::vector<std::span<std::byte>> data_;
  std::vector<bool> restored_;
  std::vector<uint64_t> handles_;  // one each
  std::vector<void*> arguments_;
  void* queue_ = nullptr;
  // To look at the memory may take a copy.
  mutable std::vector<Newer> newer_;
  mutable uint64_t flushed_ = 0, flushed_bytes_ = 0;
  mutable int status_ = TILE_TUNE_OK;  // the first that is not
};

double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

class DeviceCall final : public Call {
 public:
  DeviceCall(const DeviceExecutor& executor, Interface device, const DeviceKernel& kernel, DeviceMemory& memory)
      : executor_(executor), device_(device), kernel_(kernel), memory_(memory), call_{{nullptr, 1}, memory.queue()} {
    arguments_.push_back(&context_);
    arguments_.insert(arguments_.end(), memory.arguments().begin(), memory.arguments().end());
  }

  Timed run(int64_t calls) override {
    Timed timed;
    timed.code = memory_.hand_over();
    if (timed.code == 0) executor_.keep_busy(launching_ns(calls));
    if (timed.code == 0 && device_->mark) timed.code = device_->mark(memory_.queue(), &begin_);
    const auto start = std::chrono::steady_clock::now();
    for (int64_t call = 0; call < calls && timed.code == 0; ++call) timed.code = kernel_(arguments_.data());
    timed.launch_ns = nanoseconds_since(start);
    launch_ns_ = timed.launch_ns / static_cast<double>(calls);
    if (timed.code == 0 && device_->mark) timed.code = device_->mark(memory_.queue(), &end_);
    if (timed.code == 0) timed.code = memory_.finish();
    timed.ns = nanoseconds_since(start);
    if (!device_->mark) timed.launch_ns = 0;
    if (timed.code == 0 && device_->mark) timed.code = device_->time_between(memory_.queue(), begin_, end_, &timed.ns);
    return timed;
  }
  void evict() const override {}
  std::string trespass() const override { return ""; }

 private:
  /// What the host may need to launch so many, by what it needed the last time: chosen bounds, of a launch and of as
  /// many as wait in a stream.
  double launching_ns(int64_t calls) const {
    constexpr double kLeast = 20e3, kMost = 2e6;
    return std::clamp(launch_ns_ * static_cast<double>(calls), kLeast, kMost);
  }

  const DeviceExecutor& executor_;
  Interface device_;
  const DeviceKernel& kernel_;
  DeviceMemory& memory_;
  double launch_ns_ = 0;  // of a launch by the host's clock, the last time
  tile_tune_device_call call_;
  void* context_ = &call_;
  std::vector<void*> arguments_;
  void *begin_ = nullptr, *end_ = nullptr;  // events, which go with the process
};

}  // namespace

DeviceExecutor::DeviceExecutor(const codegen::Target& target, std::string function)
    : device_(target.features.has(codegen::Feature::Cuda) ? tile_tune_device2_cuda_interface()
                                                          : tile_tune_device2_opencl_interface()),
      number_(target.found.number),
      function_(std::move(function)) {}

Result<std::unique_ptr<PreparedKernel>> DeviceExecutor::load(const std::filesystem::path& object) const {
  void* queue = nullptr;
  if (device_->default_queue(number_, &queue) != TILE_TUNE_OK) return failure("no-device", tile_tune_device2_message());
  TILE_TUNE_TRY(code, Code::load(object, device_functions()));
  const auto entry = reinterpret_cast<DeviceKernel::Entry>(code.find(function_ + kArrayEntry));
  if (!entry) return failure("symbol-missing", fmt::format("a built kernel lacks the function {}", function_));
  return std::make_unique<DeviceKernel>(std::move(code), entry);
}

std::unique_ptr<Memory> DeviceExecutor::allocate(const Problem& problem, Flush flush) const {
  return std::make_unique<DeviceMemory>(device_, problem, flush, number_);
}

std::unique_ptr<Call> DeviceExecutor::bind(const ir::Program&, const PreparedKernel& kernel, Memory& memory,
                                           Flush) const {
  return std::make_unique<DeviceCall>(*this, device_, static_cast<const DeviceKernel&>(kernel),
                                      static_cast<DeviceMemory&>(memory));
}

void DeviceExecutor::watch_guards(const Memory* memory, int reply_fd) const {
  search::watch_guards(memory ? &static_cast<const DeviceMemory*>(memory)->buffers() : nullptr, reply_fd);
}

Reply DeviceExecutor::fault(int code) const {
  // Halide's own codes, of checks that the kernel makes of its arguments, are negative.
  const std::string said = code < 0 ? take_runtime_error() : tile_tune_device2_message();
  const bool no_memory = code == halide_error_code_out_of_memory || code == TILE_TUNE_ERROR_OUT_OF_MEMORY ||
                         code == TILE_TUNE_ERROR_DEVICE_MEMORY;
  const Outcome outcome = device_->is_lost() ? Outcome::Crash : no_memory ? Outcome::OutOfMemory : Outcome::RunError;
  return Reply::fault(outcome, fmt::format("it returned error code {}{}{}", code, said.empty() ? "" : ": ", said));
}

bool DeviceExecutor::launch_probe(DType type, int blocks, int threads, uint32_t iterations) const {
  void* queue = nullptr;
  if (!is_cuda(device_) || device_->default_queue(number_, &queue) != TILE_TUNE_OK) return false;
  if (copied_.bytes == 0) copy_ns(sizeof(double));  // memory for what it never writes
  tile_tune_buffer out{};
  out.device = copied_.to;
  tile_tune_device_call call{{nullptr, 1}, queue};
  auto found = probes_.find(type);
  const bool is_new = found == probes_.end();
  if (is_new) {
    const auto kernel = fma_probe_kernel(type);
    found = probes_.emplace(type, Probe{kernel.value_or(ProbeKernel{})}).first;
    if (kernel)
      tile_tune_device2_cuda_initialize(&call, &found->second.state, found->second.kernel.text.c_str(),
                                        static_cast<int>(found->second.kernel.text.size()) + 1);
  }
  Probe& probe = found->second;
  if (!probe.state) return false;
  size_t sizes[] = {sizeof out.device, sizeof iterations, 0};
  void* values[] = {&out, &iterations, nullptr};
  int8_t is_buffer[] = {1, 0, 0};
  const bool ran = tile_tune_device2_cuda_run(&call, probe.state, probe.kernel.entry.c_str(), blocks, 1, 1, threads, 1,
                                              1, 0, sizes, values, is_buffer) == TILE_TUNE_OK;
  if (is_new && !ran) probe.state = nullptr;  // it does not compile
  return ran;
}

double DeviceExecutor::flop_ns(double flops, DType type) const {
  constexpr int kThreads = 256, kBlocksEach = 8, kIterations = 1000;
  void* queue = nullptr;
  tile_tune_device_facts facts;
  if (device_->default_queue(number_, &queue) != TILE_TUNE_OK || device_->describe(number_, &facts) != TILE_TUNE_OK)
    return 0;
  const int blocks = kBlocksEach * facts.multiprocessors;
  double ns = 0;
  const bool ran = launch_probe(type, blocks, kThreads, 1) &&  // compiled, and the device at work
                   device_->mark(queue, &copied_.begin) == TILE_TUNE_OK &&
                   launch_probe(type, blocks, kThreads, kIterations) &&
                   device_->mark(queue, &copied_.end) == TILE_TUNE_OK &&
                   device_->time_between(queue, copied_.begin, copied_.end, &ns) == TILE_TUNE_OK;
  return ran ? flops * ns / (2.0 * kProbeFma * kIterations * kThreads * blocks) : 0;
}

void DeviceExecutor::keep_busy(double ns) const {
  constexpr int kWarp = 32;  // alone on its multiprocessor it takes a cycle an operation, or two
  if (!megahertz_) {
    tile_tune_device_facts facts;
    megahertz_ = is_cuda(device_) && device_->describe(number_, &facts) == TILE_TUNE_OK ? facts.megahertz : 0;
  }
  const double iterations = ns * 1e-3 * *megahertz_ / kProbeFma;
  if (iterations >= 1) launch_probe(DType::F32, 1, kWarp, static_cast<uint32_t>(iterations));
}

double DeviceExecutor::copy_ns(int64_t bytes) const {
  void* queue = nullptr;
  double ns = 0;
  if (!device_->mark || bytes <= 0 || device_->default_queue(number_, &queue) != TILE_TUNE_OK) return 0;
  const auto size = static_cast<uint64_t>(bytes);
  if (copied_.bytes < bytes) {
    for (uint64_t* memory : {&copied_.from, &copied_.to}) {
      if (*memory != 0) device_->release(queue, *memory);
      *memory = 0;
      if (device_->allocate(queue, size, memory) != TILE_TUNE_OK) return 0;
      if (device_->fill(queue, *memory, 1, size) != TILE_TUNE_OK) return 0;
    }
    copied_.bytes = bytes;
    if (device_->copy(queue, copied_.from, copied_.to, size) != TILE_TUNE_OK) return 0;
  }
  const bool copied = device_->mark(queue, &copied_.begin) == TILE_TUNE_OK &&
                      device_->copy(queue, copied_.from, copied_.to, size) == TILE_TUNE_OK &&
                      device_->mark(queue, &copied_.end) == TILE_TUNE_OK &&
                      device_->time_between(queue, copied_.begin, copied_.end, &ns) == TILE_TUNE_OK;
  return copied ? ns : 0;
}

const DeviceHealth& DeviceExecutor::health() const {
  if (!health_) {
    tile_tune_device_facts facts;
    const bool is_known = device_->describe(number_, &facts) == TILE_TUNE_OK;
    health_ = std::make_unique<DeviceHealth>(is_known ? facts.bus_id : "");
  }
  return *health_;
}

}  // namespace tile_tune::search
