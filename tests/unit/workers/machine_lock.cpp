#include "search/workers/machine_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "search/workers/session_directory.h"

using namespace tile_tune::search;
namespace fs = std::filesystem;
using Mode = MachineLock::Mode;

namespace {

struct Places {
  Places() : directory(SessionDirectory::create()) {
    REQUIRE(directory);
    files = {directory->path() / "shared.lock", directory->path() / "mine" / "own.lock"};
  }
  tile_tune::Result<SessionDirectory> directory;
  LockFiles files;
};

struct Told {
  std::vector<std::string> waits, warnings;
  Onlooker onlooker() {
    return {{},
            [this](const std::string& s) { waits.push_back(s); },
            [this](const std::string& s) { warnings.push_back(s); }};
  }
};

/// A process that holds the lock until it is told to end.
class Holder {
 public:
  explicit Holder(const fs::path& path) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    process_ = fork();
    if (process_ == 0) {
      const int file = open(path.c_str(), O_RDONLY | O_CREAT, 0644);
      const bool held = file >= 0 && flock(file, LOCK_EX) == 0;
      if (!held || write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Holder() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

}  // namespace

TEST_CASE("builders share the machine's lock, whoever times has it alone") {
  const Places places;
  const auto take = [&](Mode mode, double seconds) {
    return MachineLock::acquire(mode, {nullptr, Deadline::after(seconds)}, {}, places.files);
  };
  {
    const auto first = take(Mode::Shared, 0), second = take(Mode::Shared, 0);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->held());
    CHECK(second->held());
    CHECK_FALSE(take(Mode::Exclusive, 0));
    const auto third = take(Mode::Exclusive, 1);  // goes on without, while there is time
    REQUIRE(third);
    CHECK_FALSE(third->held());
  }
  const auto alone = take(Mode::Exclusive, 0);
  REQUIRE(alone);
  CHECK(alone->held());
  CHECK_FALSE(take(Mode::Shared, 0));
}

TEST_CASE("who waits for the machine's lock is told whom for and how long, and waits no longer than it may") {
  const Places places;
  const Holder holder(places.files.shared);
  Told told;
  const double start = now_seconds();
  const auto lock =
      MachineLock::acquire(Mode::Exclusive, {nullptr, Deadline::after(6.6)}, told.onlooker(), places.files);
  CHECK(now_seconds() - start >= 2.2);
  REQUIRE(lock);
  CHECK_FALSE(lock->held());
  REQUIRE(told.waits.size() >= 2);
  CHECK(told.waits.front().starts_with("waiting 1 s for the timing lock, held by "));
  CHECK(told.waits[1] != told.waits[0]);
  const std::string number = "process " + std::to_string(holder.process());
  CHECK(told.waits.front().find(number + " (test_workers") != std::string::npos);
  CHECK(told.warnings.empty());
  const std::atomic<bool> stop = true;
  CHECK_FALSE(MachineLock::acquire(Mode::Shared, {&stop}, told.onlooker(), places.files));
}

TEST_CASE("what is no regular file at the lock's place holds nobody up: a lock of one's own is taken, and told of") {
  const Places places;
  const std::string kind = GENERATE("fifo", "directory", "link", "dangling link", "no folder");
  LockFiles files = places.files;
  if (kind == "fifo") REQUIRE(mkfifo(files.shared.c_str(), 0666) == 0);
  if (kind == "directory") fs::create_directory(files.shared);
  if (kind == "link") {
    std::ofstream(places.directory->path() / "file").flush();
    fs::create_symlink(places.directory->path() / "file", files.shared);
  }
  if (kind == "dangling link") fs::create_symlink("nowhere", files.shared);
  if (kind == "no folder") files.shared = places.directory->path() / "none" / "shared.lock";
  INFO(kind);
  Told told;
  const double start = now_seconds();
  const auto lock = MachineLock::acquire(Mode::Exclusive, {}, told.onlooker(), files);
  CHECK(now_seconds() - start < 5);
  REQUIRE(lock);
  CHECK(lock->held());
  REQUIRE(told.warnings.size() == 1);
  CHECK(told.warnings[0].starts_with("the machine's timing lock " + files.shared.string() + " cannot be used ("));
  CHECK(told.warnings[0].find(files.own.string() + " keeps only this user's") != std::string::npos);
  struct stat status {};
  REQUIRE(stat(files.own.parent_path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  // And it is a lock.
  CHECK_FALSE(MachineLock::acquire(Mode::Shared, {nullptr, Deadline::after(0)}, {}, files));
}

TEST_CASE("a folder for one's own lock that others may write to is not used, and nobody waits") {
  const Places places;
  REQUIRE(mkfifo(places.files.shared.c_str(), 0666) == 0);
  REQUIRE(mkdir(places.files.own.parent_path().c_str(), 0700) == 0);
  REQUIRE(chmod(places.files.own.parent_path().c_str(), 0777) == 0);
  Told told;
  const auto lock = MachineLock::acquire(Mode::Exclusive, {}, told.onlooker(), places.files);
  REQUIRE(lock);
  CHECK(lock->held());
  REQUIRE(told.warnings.size() == 1);
  CHECK(told.warnings[0].find("figures may be disturbed") != std::string::npos);
  CHECK_FALSE(fs::exists(places.files.own));
}
