// What checking indices costs a library built with --checked.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/integration/cli/sandbox.h"

using namespace tile_tune::test;

namespace {

std::string programs(const std::string& suffix) {
  const auto def = [&](const std::string& name, const std::string& rest) {
    return "def " + name + suffix + rest + "\n";
  };
  const auto scalars = [&](const std::string& name, const std::string& type, const std::string& count,
                           const std::string& table = "4096") {
    return def(name, "(float(" + table + ") T, " + type + "(" + count + ") idx) -> (float(" + count +
                         ") O) { O(i) = T(idx(i)) }");
  };
  const auto rows = [&](const std::string& name, const std::string& width) {
    return def(name, "(float(200000," + width + ") T, int32(8192) idx) -> (float(8192," + width +
                         ") O) { O(b,e) = T(idx(b), e) }");
  };
  return rows("rows64", "64") + rows("rows512", "512") + scalars("scalars", "int32", "65536") +
         scalars("few_scalars", "int32", "1024") + scalars("many_scalars", "int32", "1000000", "1000000") +
         scalars("streamed", "int32", "4000000") + scalars("wide_scalars", "int64", "65536") +
         def("computed", "(float(4096) T, float(65536) m) -> (float(65536) O) { O(i) = T(int32(m(i))) }");
}

}  // namespace

TEST_CASE("checking indices costs 5 % of looking up rows and 30 % of looking up scalars") {
  const Sandbox box;
  box.write("plain.tc", programs(""));
  box.write("checked.tc", programs("_checked"));
  for (const std::string name : {"plain", "checked"}) {
    std::vector<std::string> build = {"build", name + ".tc", "--name", name, "-o", "out", "--threads", "1"};
    if (name == "checked") build.push_back("--checked");
    const auto result = box.run(build);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  std::filesystem::copy_file(TILE_TUNE_SOURCE_DIR "/tests/performance/emit/index_checks.c", box.path("caller.c"));
  const auto compiled = box.run_program({"cc", "-O2", "-Iout/include", "caller.c", "-Lout/lib", "-lplain", "-lchecked",
                                         "-ltile_tune_rt", "-lpthread", "-lm", "-o", "caller"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
  const auto ran = box.run_program({"./caller"});
  REQUIRE(ran.exit_code == 0);
  std::istringstream lines(ran.out);
  std::string name;
  double microseconds = 0, ratio = 0;
  int count = 0;
  while (lines >> name >> microseconds >> ratio) {
    ++count;
    WARN(name << ": " << microseconds << " us, with its indices checked " << ratio << " times that");
    CHECK(ratio < (name.starts_with("rows") ? 1.05 : 1.30));
  }
  CHECK(count == 8);
}
