// A 4 x 4 x 4 product through a handle: nanoseconds of a call, in C order and with strides; microseconds of the first
// call for a new shape; milliseconds from the start of a process to its first result, with the kernel in the cache, and
// until a search in the background has ended. Medians, least and most, of 31 rounds, 1,000 shapes, or 7 searches.
#include <tile_tune/einsum_call.h>
#include <tile_tune/kernel.h>
#include <tile_tune/tc.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

using namespace tile_tune;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void print(const char* what, const char* unit, std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  std::printf("%-40s %8.1f %s (%.1f to %.1f)\n", what, figures[figures.size() / 2], unit, figures.front(),
              figures.back());
}

const edsl::Program& product() {
  static const auto program =
      tc::parse("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }").front();
  return program;
}

engine::Kernel compiled(const edsl::Program& program) {
  engine::CompileOptions options;
  options.executable = TILE_TUNE_BINARY;
  options.schedule = engine::Schedule::Default;
  options.threads = 1;
  const auto kernel = engine::compile(program, options);
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().message.c_str());
    std::exit(1);
  }
  return *kernel;
}

/// A thousand shapes that the handle has not seen, after two that it has; a multiplication is 10 us at most.
void print_new_shapes() {
  const auto kernel = compiled(product());
  std::vector<float> a(64 * 64, 1), b(a), c(a);
  std::vector<double> us;
  for (int64_t i = 0; i < 1002; ++i) {
    const int64_t M = 1 + i % 61, N = 1 + i % 59, K = 1 + i % 64;
    const std::vector inputs{engine::array(a.data(), {M, K}), engine::array(b.data(), {K, N})};
    const std::vector outputs{engine::array(c.data(), {M, N})};
    const double seconds = seconds_of([&] {
      if (!kernel(inputs, outputs) || c[0] != static_cast<float>(K)) std::abort();
    });
    if (i > 1) us.push_back(1e6 * seconds);
  }
  print("a new shape of a known program", "us", std::move(us));
}

void run_again(const char* what) {
  const pid_t child = fork();
  if (child == 0) execl("/proc/self/exe", "handle_calls", what, nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::abort();
}

/// Ends a search in the background that goes on for `seconds`, in the middle of whatever it does then.
double shutdown_ms(double seconds) {
  engine::CompileOptions options;
  options.executable = TILE_TUNE_BINARY;
  options.background_seconds = 60;
  options.on_message = [](const Message&) {};
  const std::string folder = std::filesystem::temp_directory_path() / ("handle-calls-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  options.database = folder + "/tuning.db";
  std::vector<float> a(256 * 256, 1), b(a), c(a);
  const auto kernel = engine::compile(product().bind({{"M", 256}, {"N", 256}, {"K", 256}}), options);
  const std::vector inputs{engine::array(a.data(), {256, 256}), engine::array(b.data(), {256, 256})};
  const std::vector outputs{engine::array(c.data(), {256, 256})};
  if (!kernel || !(*kernel)(inputs, outputs)) std::abort();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double ms = 1e3 * seconds_of([] { engine::shutdown(); });
  std::filesystem::remove_all(folder);
  return ms;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "shutdown") {
    // A search that was ended stays so: each round is a process of its own.
    std::vector<double> ms;
    for (double seconds = 1; seconds < 8; ++seconds) {
      int ends[2];
      if (pipe(ends) != 0) return 1;
      const pid_t child = fork();
      if (child == 0) {
        const double own = shutdown_ms(seconds);
        _exit(write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1);
      }
      double own = 0;
      if (read(ends[0], &own, sizeof own) != sizeof own) return 1;
      waitpid(child, nullptr, 0);
      ms.push_back(own);
    }
    print("a search in the background ended", "ms", std::move(ms));
    return 0;
  }
  std::vector<float> a(64, 1), b(16, 2), c(64);
  const std::vector inputs{engine::array(a.data(), {4, 4}), engine::array(b.data(), {4, 4})};
  const std::vector strided{engine::array(a.data(), {4, 4}, {16, 1}), engine::array(b.data(), {4, 4}, {1, 4})};
  const std::vector outputs{engine::array(c.data(), {4, 4})};
  const auto kernel = compiled(product().bind({{"M", 4}, {"N", 4}, {"K", 4}}));
  if (!kernel(inputs, outputs) || c[0] != 8) return 1;
  if (argc > 1) return 0;  // the new process
  if (!kernel(strided, outputs)) return 1;
  constexpr int kCalls = 200'000;
  for (const auto& [name, given] : {std::pair("a call, C order", &inputs), {"a call, other strides", &strided}}) {
    std::vector<double> ns;
    for (int round = 0; round < 31; ++round)
      ns.push_back(1e9 / kCalls * seconds_of([&, given = given] {
                     for (int call = 0; call < kCalls; ++call)
                       if (!kernel(*given, outputs)) std::abort();
                   }));
    print(name, "ns", std::move(ns));
  }
  engine::CompileOptions options;
  options.executable = TILE_TUNE_BINARY;
  options.schedule = engine::Schedule::Default;
  options.threads = 1;
  engine::set_einsum_options(options);
  std::vector<double> einsum_ns;
  for (int round = 0; round < 31; ++round)
    einsum_ns.push_back(1e9 / kCalls * seconds_of([&] {
                          for (int call = 0; call < kCalls; ++call)
                            if (!engine::einsum("ij,jk->ik", inputs, outputs.front())) std::abort();
                        }));
  print("an einsum that was called before", "ns", std::move(einsum_ns));
  print_new_shapes();
  std::vector<double> ms;
  for (int round = 0; round < 31; ++round) ms.push_back(1e3 * seconds_of([] { run_again("once"); }));
  print("a process with its first result", "ms", std::move(ms));
  run_again("shutdown");
}
