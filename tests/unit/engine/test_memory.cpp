// What commands need of memory and what there is, without taking any.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "engine/programs/memory.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
namespace fs = std::filesystem;

namespace {

ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  REQUIRE(parsed);
  const auto program = ir::bind(parsed->programs.front(), sizes);
  REQUIRE(program);
  return *program;
}

/// A root with files of /proc and /sys.
class Root {
 public:
  Root() : path_(fs::temp_directory_path() / ("tile-tune-memory-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    write("proc/meminfo", "MemTotal:       24684084 kB\nMemFree:  100 kB\nMemAvailable:   20000000 kB\n");
  }
  ~Root() { fs::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  double available() const { return engine::available_bytes(path_); }

 private:
  fs::path path_;
};

constexpr double kFree = 20000000 * 1024.0;

}  // namespace

TEST_CASE("available memory is what is free, not what the machine has") {
  const Root root;
  CHECK(root.available() == kFree);
}

TEST_CASE("available memory is bounded by every control group around the process, whose cached files give way") {
  const Root root;
  root.write("proc/self/cgroup", "0::/jobs/one\n");
  CHECK(root.available() == kFree);
  root.write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  CHECK(root.available() == kFree);
  root.write("sys/fs/cgroup/jobs/memory.max", "8000000000\n");
  root.write("sys/fs/cgroup/jobs/memory.current", "5000000000\n");
  CHECK(root.available() == 3e9);
  root.write("sys/fs/cgroup/jobs/memory.stat", "anon 3000000000\ninactive_file 1500000000\nactive_file 500000000\n");
  CHECK(root.available() == 5e9);
  root.write("sys/fs/cgroup/jobs/one/memory.max", "1000000000\n");
  root.write("sys/fs/cgroup/jobs/one/memory.current", "2000000000\n");
  CHECK(root.available() == 0);
}

TEST_CASE("available memory is bounded by groups of the first version, and by that of a container at the mount") {
  const Root root;
  root.write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/not/here\n1:cpu:/\n0::/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(root.available() == kFree);
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000000\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000000\n");
  root.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500000000\n");
  CHECK(root.available() == 3e9);
}

TEST_CASE("commands need their copies of the arrays, the reference its doubles and bounds") {
  const auto sum = bound("def f(float(N,M) A) -> (O) { O(i) +=! A(i,j) }", {{"N", 1 << 16}, {"M", 1 << 16}});
  const double input = 4.0 * (1LL << 32), output = 4.0 * (1 << 16);
  CHECK(engine::bytes_needed(sum, engine::Use::Measure) == 4 * input + 3 * output);
  CHECK(engine::bytes_needed(sum, engine::Use::Build) == 3 * input + 2 * output);
  CHECK(engine::bytes_needed(sum, engine::Use::Run) == 2 * input + 2 * output);
  CHECK(engine::bytes_needed(sum, engine::Use::Reference) == 48.0 * (1 << 16));
  const auto chain = bound("def f(half(N) x) -> (O) { T(i) = x(i)*x(i) O(i) += T(i) }", {{"N", 1000}});
  // x, what O starts from, T and the result.
  CHECK(engine::bytes_needed(chain, engine::Use::Run) == 2 * 2000.0 + 2 * 2000.0 + 2 * 2000.0 + 2000.0);
}

TEST_CASE("what just fits is allowed, one byte more is refused with what it takes") {
  const auto sum = bound("def f(float(N,M) A) -> (O) { O(i) +=! A(i,j) }", {{"N", 1 << 16}, {"M", 1 << 16}});
  const double needed = engine::bytes_needed(sum, engine::Use::Measure);
  CHECK(engine::check_memory(sum, engine::Use::Measure, needed));
  const auto refused = engine::check_memory(sum, engine::Use::Measure, needed - 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "out-of-memory");
  CHECK(refused.error().error_class == ErrorClass::Failure);
  CHECK(engine::check_memory(sum, engine::Use::Run, needed - 1));
  const auto shown = engine::check_memory(sum, engine::Use::Measure, 23e9);
  REQUIRE_FALSE(shown);
  CHECK(shown.error().message ==
        "A takes 17.2 GB, all tensors together 17.2 GB; measuring takes 68.7 GB with all copies, and 23.0 GB of memory "
        "are free here");
}
