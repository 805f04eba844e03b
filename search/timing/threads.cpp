#include "search/timing/threads.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace tile_tune::search {
namespace {

constexpr auto kLongestWait = std::chrono::milliseconds(100);
constexpr auto kPollEvery = std::chrono::microseconds(50);

std::set<pid_t> threads_now() {
  std::set<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ignored))
    threads.insert(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  return threads;
}

void allow(pid_t thread, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof set, &set);
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File open_file_of(pid_t thread, const char* name) {
  return {std::fopen(fmt::format("/proc/self/task/{}/{}", thread, name).c_str(), "re"), std::fclose};
}

// The letter behind the name in /proc/self/task/N/stat; the name may hold anything, but ends at the last ')'.
bool is_running(pid_t thread) {
  const auto file = open_file_of(thread, "stat");
  if (!file) return false;
  char text[512];
  const size_t got = std::fread(text, 1, sizeof text, file.get());
  const std::string line(text, got);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'R';
}

// Since the thread started; nothing once it has ended.
std::optional<double> run_delay_ns(std::FILE* schedstat) {
  if (!schedstat) return std::nullopt;
  // "time on a core, time waiting for one, time slices" (proc(5), Documentation/scheduler/sched-stats).
  char text[96] = {};
  if (pread(fileno(schedstat), text, sizeof text - 1, 0) <= 0) return std::nullopt;
  unsigned long long on_core = 0, waiting = 0;
  if (std::sscanf(text, "%llu %llu", &on_core, &waiting) != 2) return std::nullopt;
  return static_cast<double>(waiting);
}

}  // namespace

ThreadPlacement::ThreadPlacement(std::vector<int> cores) : cores_(std::move(cores)), known_(threads_now()) {}

void ThreadPlacement::open() const { allow(gettid(), cores_); }

void ThreadPlacement::close() {
  allow(gettid(), {cores_.front()});
  size_t next = 1;
  for (const pid_t thread : threads_now())
    if (known_.insert(thread).second) allow(thread, {cores_[next++ % cores_.size()]});
}

void CoreWatch::begin() {
  for (const pid_t thread : threads_now())
    if (!threads_.contains(thread)) threads_.emplace(thread, Thread{open_file_of(thread, "schedstat")});
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    const auto waited = run_delay_ns(entry->second.file.get());
    entry->second.before = waited.value_or(0);
    entry = waited ? std::next(entry) : threads_.erase(entry);
  }
}

double CoreWatch::longest_wait_ns() {
  double longest = 0;
  for (const auto& [thread, watched] : threads_)
    if (const auto waited = run_delay_ns(watched.file.get())) longest = std::max(longest, *waited - watched.before);
  return longest;
}

void wait_for_quiet() {
  const pid_t self = gettid();
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (std::chrono::steady_clock::now() < deadline) {
    bool quiet = true;
    for (const pid_t thread : threads_now()) quiet = quiet && (thread == self || !is_running(thread));
    if (quiet) return;
    std::this_thread::sleep_for(kPollEvery);
  }
}

}  // namespace tile_tune::search
