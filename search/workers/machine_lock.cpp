#include "search/workers/machine_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/process/fd.h"

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "tile-tune.timing.lock";

// A tuner's turn is some seconds; whoever keeps the lock for longer must not stop everybody else's work.
constexpr double kLongestWait = 10;

// Nor may it take all the time there is.
constexpr double kShareOfTime = 1.0 / 3;

// Turns shorter than this are no news; longer ones are told of once a second.
constexpr double kSilentWait = 0.5, kTellAgain = 1;

constexpr size_t kMostOfCommand = 48;  // characters of a holder's command line

struct Opened {
  base::Fd file;
  const char* why_not = "";
};

// Never blocks: what somebody put at the path may be a FIFO, whose open() waits for a writer. The file may belong to
// another user: reading is enough for flock, and all it takes is that it exists.
Opened open_lock(const fs::path& path) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
  base::Fd file(open(path.c_str(), kFlags));
  if (file.get() < 0 && errno == ENOENT) file = base::Fd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644));
  if (file.get() < 0 && errno == EEXIST) file = base::Fd(open(path.c_str(), kFlags));  // somebody was faster
  if (file.get() < 0) return {base::Fd(), errno == ELOOP ? "it is a symbolic link" : std::strerror(errno)};
  struct stat status {};
  if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return {std::move(file)};
  return {base::Fd(), "it is no regular file"};
}

// A directory for this user alone; what is there already is taken only if it is just that.
bool make_private(const fs::path& directory) {
  mkdir(directory.c_str(), 0700);
  struct stat status {};
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0;
}

base::Fd open_some_lock(const LockFiles& files, const Onlooker& onlooker) {
  Opened shared = open_lock(files.shared);
  if (shared.file.get() >= 0) return std::move(shared.file);
  Opened own;
  if (make_private(files.own.parent_path())) own = open_lock(files.own);
  onlooker.warn(fmt::format(
      "the machine's timing lock {} cannot be used ({}): {}", files.shared.string(), shared.why_not,
      own.file.get() >= 0 ? fmt::format("{} keeps only this user's tile-tune processes apart", files.own.string())
                          : "figures may be disturbed by other tile-tune processes"));
  return std::move(own.file);
}

std::string command_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text)
    if (c == '\0') c = ' ';
  const size_t program = text.rfind('/', text.find(' '));
  if (program != std::string::npos) text.erase(0, program + 1);
  if (text.size() > kMostOfCommand) text = text.substr(0, kMostOfCommand - 3) + "...";
  return text;
}

// "process 4711 (tile-tune tune mm.tc)", as the system's table of locks has it.
std::string holders_of(const base::Fd& file) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return "another tile-tune";
  std::ifstream table("/proc/locks");
  std::vector<std::string> holders;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, access, process, place;
    words >> number >> kind >> manner >> access >> process >> place;
    // Behind "->" are those who wait; processes of other containers have no number here.
    if (kind != "FLOCK" || process.find_first_not_of("0123456789") != std::string::npos || process == "0") continue;
    if (place.substr(place.rfind(':') + 1) != std::to_string(status.st_ino)) continue;
    const std::string command = command_of(process);
    holders.push_back("process " + process + (command.empty() ? "" : " (" + command + ")"));
  }
  return holders.empty() ? "another tile-tune" : fmt::format("{}", fmt::join(holders, " and "));
}

}  // namespace

LockFiles lock_files() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return {fs::path("/tmp") / kFileName, temporary / fmt::format("tile-tune-{}", geteuid()) / kFileName};
}

std::optional<MachineLock> MachineLock::acquire(Mode mode, const Until& until, const Onlooker& onlooker,
                                                const LockFiles& files) {
  MachineLock lock;
  lock.file_ = open_some_lock(files, onlooker);
  if (lock.file_.get() < 0) {
    lock.held_ = true;  // nobody else can hold it either
    return lock;
  }
  const int operation = (mode == Mode::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  const double start = now_seconds();
  const double longest = std::min(kLongestWait, kShareOfTime * std::max(until.deadline.left(), 0.0));
  double tell_at = start + kSilentWait;
  while (flock(lock.file_.get(), operation) != 0) {
    if (until.over()) return std::nullopt;
    if (errno != EWOULDBLOCK && errno != EINTR) return lock;
    const double now = now_seconds();
    if (now >= start + longest) return lock;
    if (now >= tell_at) {
      onlooker.tell_waiting(fmt::format("waiting {:.0f} s for the timing lock, held by {}", std::ceil(now - start),
                                        holders_of(lock.file_)));
      tell_at = now + kTellAgain;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  lock.held_ = true;
  return lock;
}

}  // namespace tile_tune::search
