// How work that takes long stands, for people: on a terminal one line that is drawn again several times a second,
// whatever the work waits for; elsewhere a line now and then.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/command.h"
#include "cli/status_text.h"
#include "search/workers/onlooker.h"

namespace tile_tune::cli {

class ProgressDisplay {
 public:
  /// From now on; silent with --quiet and --json. `began` by search::now_seconds().
  ProgressDisplay(const Session& session, double began, std::optional<double> seconds = std::nullopt);
  /// Leaves nothing on the terminal.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// Which of several is worked on; what was told of the last is forgotten. `flops`: 0, or of its program.
  void begin_task(const std::string& task, double flops = 0);
  void doing(const std::string& words);
  void show(const search::Progress& progress);
  /// What it is told is shown here, but warnings go to the reporter, each once a command. Must not outlive the display.
  search::Onlooker onlooker();

 private:
  void change(const std::function<void(Status&)>& how);
  void run();

  const engine::Reporter& report_;
  const bool drawn_;  // on a terminal
  std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;  // guarded by mutex_, as the others are
  bool waiting_ = false;
  bool urgent_ = false;  // a line is due at once, where lines are written
  bool ended_ = false;
  std::thread ticker_;  // last; none where nothing is shown
};

}  // namespace tile_tune::cli
