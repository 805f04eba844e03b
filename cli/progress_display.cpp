#include "cli/progress_display.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <limits>

#include "cli/status_line.h"
#include "search/timing/deadline.h"

namespace tile_tune::cli {

namespace {

constexpr std::chrono::milliseconds kDrawEvery(200);
constexpr std::chrono::seconds kSayEvery(10);  // where what is written stays

/// A thread that no signal of the process interrupts: those are for the one that works.
std::thread quiet_thread(const std::function<void()>& work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

ProgressDisplay::ProgressDisplay(const Session& session, double began, std::optional<double> seconds)
    : report_(session.report), drawn_(has_status_line()) {
  status_.began = began;
  status_.seconds = seconds;
  status_.verbose = session.output.verbose;
  if (session.output.tells_progress()) ticker_ = quiet_thread([this] { run(); });
}

ProgressDisplay::~ProgressDisplay() {
  if (!ticker_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  ticker_.join();
  wipe_status_line();
}

void ProgressDisplay::run() {
  std::unique_lock lock(mutex_);
  auto due = std::chrono::steady_clock::now() + (drawn_ ? std::chrono::milliseconds(0) : kSayEvery);
  while (!changed_.wait_until(lock, due, [this] { return ended_ || (urgent_ && !drawn_); }) || !ended_) {
    const double now = search::now_seconds();
    if (drawn_)
      draw_status_line(status_text(status_, now, status_line_width()));
    else
      write_to_standard_error(status_text(status_, now, std::numeric_limits<size_t>::max()) + "\n");
    urgent_ = false;
    due = std::chrono::steady_clock::now() + (drawn_ ? kDrawEvery : kSayEvery);
  }
}

void ProgressDisplay::change(const std::function<void(Status&)>& how) {
  {
    const std::scoped_lock lock(mutex_);
    how(status_);
  }
  changed_.notify_one();
}

void ProgressDisplay::begin_task(const std::string& task, double flops) {
  change([&](Status& status) {
    status.task = task;
    status.flops = flops;
    status.doing.clear();
    status.progress.reset();
  });
}

void ProgressDisplay::doing(const std::string& words) {
  change([&](Status& status) {
    status.doing = words;
    waiting_ = false;
  });
}

void ProgressDisplay::show(const search::Progress& progress) {
  change([&](Status& status) {
    status.progress = progress;
    if (progress.phase != search::Phase::Finals) return;
    status.doing = "finals";
    urgent_ = true;
  });
}

search::Onlooker ProgressDisplay::onlooker() {
  search::Onlooker onlooker;
  onlooker.doing = [this](const std::string& words) { doing(words); };
  onlooker.waiting = [this](const std::string& sentence) {
    change([&](Status& status) {
      status.doing = sentence;
      urgent_ = urgent_ || !waiting_;
      waiting_ = true;
    });
  };
  onlooker.warning = [this](const std::string& sentence) {
    if (report_.is_news(sentence)) report_.warn("machine", sentence);
  };
  return onlooker;
}

}  // namespace tile_tune::cli
