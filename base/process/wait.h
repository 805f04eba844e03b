// How processes end.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <tl/expected.hpp>

namespace tile_tune::base {

struct Ending {
  int exit_code = 0;
  int signal = 0;            // that it was killed by; 0: it ended by itself
  bool was_stopped = false;  // somebody had stopped it (SIGSTOP), and it was killed for that
  bool ok() const { return exit_code == 0 && signal == 0; }
};

/// Of a status that waitpid() gave.
Ending ending_of(int status);

inline constexpr std::chrono::milliseconds kGrace{10'000};  // as the pool waits for a worker that was stopped

/// A child that is looked at now and then. Whoever stops it (SIGSTOP) and does not let it go on within `grace` has it
/// killed, and with `leads_group` its process group.
class Waiter {
 public:
  explicit Waiter(pid_t child, bool leads_group = false, std::chrono::milliseconds grace = kGrace)
      : child_(child), leads_group_(leads_group), grace_(grace) {}
  /// How it ended, nothing while it runs; or an errno: it is no child of ours any more. Does not wait.
  tl::expected<std::optional<Ending>, int> look();
  void kill() const;

 private:
  pid_t child_;
  bool leads_group_;
  std::chrono::milliseconds grace_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
  bool given_up_ = false;
};

inline constexpr std::chrono::milliseconds kBetweenLooks{5};

/// Whether whoever waits is told to stop: nobody is, a flag says so, or a function that is asked between looks.
class StopAsked {
 public:
  StopAsked(std::nullptr_t = nullptr) {}
  StopAsked(const std::atomic<bool>* flag) {
    if (flag) asked_ = [flag] { return flag->load(); };
  }
  StopAsked(std::function<bool()> asked) : asked_(std::move(asked)) {}
  bool may_be() const { return asked_ != nullptr; }
  bool operator()() const { return asked_ && asked_(); }

 private:
  std::function<bool()> asked_;
};

/// Waits for a child as a Waiter does; nullopt if it is none of ours any more. A child that may be stopped must lead a
/// process group, which is killed then.
std::optional<Ending> wait_for(pid_t child, const StopAsked& stop = {}, std::chrono::milliseconds grace = kGrace);

}  // namespace tile_tune::base
