#include "search/judge/host_kernel.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "codegen/backend/kernel_abi.h"
#include "codegen/target/host.h"
#include "search/judge/kernel_runtime.h"

namespace tile_tune::search {
namespace {

std::mutex error_mutex;  // kernels report errors from any of their threads
std::string last_error;

void record_error(void*, const char* message) {
  const std::lock_guard lock(error_mutex);
  if (last_error.empty()) last_error = message;  // the first one: others follow from it
}

template <typename Function>
Result<Function> find(const Code& code, const std::string& name) {
  void* symbol = code.find(name);
  if (!symbol) return failure("symbol-missing", fmt::format("a built object lacks the function {}", name));
  return reinterpret_cast<Function>(symbol);
}

// The core this thread runs on first: a new process is put where least is going on, and what else runs on the machine
// may keep one core busy for good.
std::vector<int> cores_from_here() {
  std::vector<int> cores = codegen::available_cores();
  const auto here = std::find(cores.begin(), cores.end(), sched_getcpu());
  if (here != cores.end()) std::rotate(cores.begin(), here, cores.end());
  return cores;
}

struct Tasks {
  const std::function<void(int)>* task;
  int count;
  std::atomic<int> arrived = 0;
};

// Waiting for the others before starting keeps a thread from taking two tasks while another still wakes up; the wait
// ends for the case that the pool is smaller than the number of tasks.
constexpr auto kLongestWait = std::chrono::milliseconds(50);

int run_task(void*, int number, uint8_t* closure) {
  auto& tasks = *reinterpret_cast<Tasks*>(closure);
  ++tasks.arrived;
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (tasks.arrived < tasks.count && std::chrono::steady_clock::now() < deadline) {
  }
  (*tasks.task)(number);
  return 0;
}

}  // namespace

Result<Runtime> Runtime::load(const std::filesystem::path& library, int threads) {
  TILE_TUNE_TRY(code, Code::load_runtime(library));
  using ParallelLoop = decltype(&tile_tune_parallel_loop);
  TILE_TUNE_TRY(set_parallel_loop, find<ParallelLoop (*)(ParallelLoop)>(code, "halide_set_custom_do_par_for"));
  using Take = decltype(&tile_tune_take_memory);
  using GiveBack = decltype(&tile_tune_give_memory_back);
  TILE_TUNE_TRY(set_take, find<Take (*)(Take)>(code, "halide_set_custom_malloc"));
  TILE_TUNE_TRY(set_give_back, find<GiveBack (*)(GiveBack)>(code, "halide_set_custom_free"));
  TILE_TUNE_TRY(set_handler,
                find<halide_error_handler_t (*)(halide_error_handler_t)>(code, "halide_set_error_handler"));
  Runtime runtime;
  runtime.threads_ = threads;
  tile_tune_set_loop_threads(threads);
  set_parallel_loop(tile_tune_parallel_loop);
  set_take(tile_tune_take_memory);
  set_give_back(tile_tune_give_memory_back);
  set_handler(record_error);
  runtime.cores_ = cores_from_here();
  runtime.parallel_for()(threads, [](int) {});  // the pool starts its threads at the first parallel loop
  return runtime;
}

// The main thread on the first core, the pool's threads on the others in turn.
void Runtime::pin_threads() const {
  size_t next = 1;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto thread = static_cast<pid_t>(std::stol(entry.path().filename().string()));
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cores_[thread == getpid() ? 0 : next++ % cores_.size()], &set);
    sched_setaffinity(thread, sizeof set, &set);
  }
}

codegen::ParallelFor Runtime::parallel_for() const {
  return [](int count, const std::function<void(int)>& task) {
    Tasks tasks{&task, count};
    tile_tune_parallel_loop(nullptr, run_task, 0, count, reinterpret_cast<uint8_t*>(&tasks));
  };
}

std::string take_runtime_error() {
  const std::lock_guard lock(error_mutex);
  return std::exchange(last_error, {});
}

Result<Kernel> Kernel::load(const std::filesystem::path& library, const std::string& function, bool takes_context) {
  TILE_TUNE_TRY(code, Code::load(library));
  Kernel kernel;
  kernel.function_ = function;
  kernel.takes_context_ = takes_context;
  TILE_TUNE_TRY(entry, find<Entry>(code, function + kArrayEntry));
  kernel.entry_ = entry;
  if (void* const variable = code.find(kKernelError)) *static_cast<halide_error_handler_t*>(variable) = record_error;
  kernel.note_ = reinterpret_cast<const char* (*)()>(code.find(kKernelNote));
  kernel.finish_ = reinterpret_cast<int (*)()>(code.find(kKernelFinish));
  kernel.code_ = std::move(code);
  return kernel;
}

Kernel::Entry Kernel::packing(int tensor) const {
  const std::string name = codegen::packing_function(function_, tensor) + kArrayEntry;
  return reinterpret_cast<Entry>(code_.find(name));
}

}  // namespace tile_tune::search
