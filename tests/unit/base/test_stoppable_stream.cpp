#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <istream>
#include <ostream>
#include <string>
#include <thread>

#include "base/process/stoppable_stream.h"
#include "base/temporary_directory.h"

using namespace tile_tune::base;

namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  Fd out, in;
};

/// Sets a flag a little later.
class Stop {
 public:
  Stop()
      : thread_([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          flag = true;
        }) {}
  ~Stop() { thread_.join(); }
  std::atomic<bool> flag{false};

 private:
  std::thread thread_;
};

const std::atomic<bool> kNever{false};

}  // namespace

TEST_CASE("what is written to a pipe is read from it, however much") {
  Pipe pipe;
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i) + "\n";
  std::thread writer([&text, end = std::move(pipe.in)]() mutable {
    StoppableBuffer buffer(std::move(end), kNever);
    std::ostream stream(&buffer);
    stream << text;
    stream.flush();
  });
  StoppableBuffer buffer(std::move(pipe.out), kNever);
  std::istream stream(&buffer);
  const std::string read{std::istreambuf_iterator<char>(stream), {}};
  writer.join();
  CHECK(read == text);
  CHECK_FALSE(stream.bad());
}

TEST_CASE("who waits for a writer can be stopped, and takes no half line for a whole one") {
  const Pipe pipe;
  REQUIRE(write(pipe.in.get(), "one\nhalf", 8) == 8);
  Stop stop;
  StoppableBuffer buffer(Fd(dup(pipe.out.get())), stop.flag);
  std::istream stream(&buffer);
  std::string line;
  REQUIRE(std::getline(stream, line));
  CHECK(line == "one");
  CHECK_FALSE(std::getline(stream, line));
  CHECK(stream.bad());
}

TEST_CASE("who waits for a reader can be stopped") {
  const Pipe pipe;
  Stop stop;
  StoppableBuffer buffer(Fd(dup(pipe.in.get())), stop.flag);
  std::ostream stream(&buffer);
  stream << std::string(1 << 20, 'x');
  CHECK_FALSE(stream.flush());
}

TEST_CASE("a reader that is gone, and a full disk, are errors") {
  Pipe pipe;
  pipe.out.reset();
  signal(SIGPIPE, SIG_IGN);
  for (const int file : {pipe.in.release(), open("/dev/full", O_WRONLY)}) {
    StoppableBuffer buffer{Fd(file), kNever};
    std::ostream stream(&buffer);
    stream << "text";
    errno = 0;
    CHECK_FALSE(stream.flush());
    CHECK((errno == EPIPE || errno == ENOSPC));
  }
}

TEST_CASE("a FIFO that nobody reads is not waited for longer than one is told to") {
  const auto folder = TemporaryDirectory::create(std::filesystem::temp_directory_path(), "stoppable-");
  REQUIRE(folder);
  const auto fifo = folder->path() / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  Stop stop;
  CHECK(open_to_write(fifo, stop.flag).get() < 0);
  CHECK(errno == ENXIO);
  CHECK(open_to_write(folder->path() / "none" / "file", kNever).get() < 0);
  CHECK(errno == ENOENT);
  CHECK(open_to_read(folder->path() / "none").get() < 0);
  // To read it opens at once, and who reads waits.
  Stop other;
  StoppableBuffer buffer(open_to_read(fifo), other.flag);
  std::istream stream(&buffer);
  CHECK(stream.get() == std::istream::traits_type::eof());
  CHECK(stream.bad());
}
