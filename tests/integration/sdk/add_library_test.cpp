// tile_tune_add_library() of the installed SDK, in a project that has nothing else of ours.
#include <catch2/catch.hpp>

#include "tests/integration/cli/sandbox.h"

using namespace tile_tune::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kProject = R"(cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(tile_tune REQUIRED)
tile_tune_add_library(NAME scale PROGRAM scale.tc SIZES N=13 M=3 LAYOUT x=col DATABASE tuned.db)
tile_tune_add_library(NAME sums PROGRAM einsum:ij->i SIZES i=3 j=5 DTYPE f64)
tile_tune_add_library(NAME picked PROGRAM picked.tc CHECKED)
tile_tune_add_library(NAME taken PROGRAM picked.tc:picked)
add_executable(app main.c)
target_link_libraries(app PRIVATE scale sums picked)
add_executable(unchecked unchecked.c)
target_link_libraries(unchecked PRIVATE taken)
)";

constexpr const char* kProgram = R"(def scale(float(N,M) x) -> (y) {
  y(i,j) = 2 * x(i,j)
}
)";

constexpr const char* kGather = "def picked(float(3) T, int32(2) idx) -> (float(2) O) { O(i) = T(idx(i)) }\n";

constexpr const char* kUnchecked = R"(#include <taken.h>
int main(void) {
  const float table[3] = {1, 2, 4};
  const int32_t outside[2] = {2, 3};
  float o[2];
  return taken(table, outside, o);
}
)";

constexpr const char* kMain = R"(#include <picked.h>
#include <scale.h>
#include <stdio.h>
#include <sums.h>
int main(void) {
  float x[13 * 3], y[13 * 3];
  double in[15], out[3];
  for (int i = 0; i < 39; ++i) x[i] = (float)i;
  for (int i = 0; i < 15; ++i) in[i] = i;
  const float table[3] = {1, 2, 4};
  const int32_t inside[2] = {2, 0}, outside[2] = {2, 3};
  float o[2];
  int code = scale(x, y) + sums(in, out) + picked(table, inside, o);
  if (o[0] != 4 || o[1] != 1 || picked(table, outside, o) != PICKED_ERROR_INDEX) code = 99;
  /* x(1,2): column-major, the thirteenth of its second column and one more. */
  printf("%d %g %g\n", code, y[1 * 3 + 2], out[2]);
  return code;
}
)";

struct Project {
  explicit Project(const std::string& generator) {
    const std::string prefix = box.path("sdk").string();
    require(box.run_program({TEST_CMAKE, "--install", TEST_BUILD, "--prefix", prefix}));
    write("scale.tc", kProgram);
    write("main.c", kMain);
    write("picked.tc", kGather);
    write("unchecked.c", kUnchecked);
    write("CMakeLists.txt", kProject);
    require(box.run({"tune", "project/scale.tc", "-s", "N=13", "-s", "M=3", "--layout", "x=col", "--trials", "1",
                     "--db", "project/tuned.db"}));
    std::vector<std::string> configure = {TEST_CMAKE, "-S", "project", "-B",
                                          "build",    "-G", generator, "-DCMAKE_PREFIX_PATH=" + prefix};
    if (generator == "Ninja") configure.push_back(std::string("-DCMAKE_MAKE_PROGRAM=") + TEST_NINJA);
    require(box.run_program(configure));
  }

  static void require(const Finished& finished) {
    INFO(finished.out << finished.err);
    REQUIRE(finished.exit_code == 0);
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(box.path("project"));
    box.write("project/" + name, text);
  }
  Finished build() const { return box.run_program({TEST_CMAKE, "--build", "build"}); }
  std::string made() const { return "build/tile_tune/scale/"; }
  /// When something was last made: files are compared by age, and all of them are made within the same second.
  fs::file_time_type when(const std::string& file) const { return fs::last_write_time(box.path(file)); }
  /// As if somebody had saved it again.
  void touch(const std::string& file) const {
    fs::last_write_time(box.path("project/" + file), fs::file_time_type::clock::now());
  }
  std::string run() const {
    const auto ran = box.run_program({"build/app"});
    require(ran);
    return ran.out;
  }

  Sandbox box;
};

}  // namespace

TEST_CASE("a project's kernels are made when what they are made of changes, and at no other time") {
  const std::string generator = GENERATE("Ninja", "Unix Makefiles");
  const Project project(generator);
  const auto first = project.build();
  Project::require(first);
  INFO(first.out << first.err);
  CHECK((first.out + first.err).find("tuned schedule (exact)") != std::string::npos);
  CHECK(project.run() == "0 54 60\n");
  CHECK(project.box.run_program({"build/unchecked"}).exit_code == 0);

  const auto stamp = project.when(project.made() + "made"), app = project.when("build/app");
  const auto again = project.build();
  Project::require(again);
  CHECK(project.when(project.made() + "made") == stamp);
  CHECK(project.when("build/app") == app);
  CHECK(again.out.find("Building the kernels") == std::string::npos);

  // A database that was looked at, with nothing new for this program: asked again, once, and nothing else is made.
  project.touch("tuned.db");
  Project::require(project.build());
  const auto asked = project.when(project.made() + "made");
  CHECK(asked > stamp);
  CHECK(project.when("build/app") == app);
  Project::require(project.build());
  CHECK(project.when(project.made() + "made") == asked);

  std::string program = kProgram;
  program.replace(program.find("2 *"), 3, "5 *");
  project.write("scale.tc", program);
  Project::require(project.build());
  CHECK(project.run() == "0 135 60\n");

  // The command alone changes.
  std::string text = kProject;
  text.replace(text.find("x=col"), 5, "x=row");
  project.write("CMakeLists.txt", text);
  Project::require(project.build());
  CHECK(project.run() == "0 25 60\n");

  project.touch("../sdk/bin/tile-tune");
  const auto before = project.when(project.made() + "made");
  Project::require(project.build());
  CHECK(project.when(project.made() + "made") > before);

  // What somebody has deleted comes back.
  for (const char* file : {"package/lib/libscale.a", "package/lib/libtile_tune_rt.a", "package/include/scale.h"}) {
    INFO(generator << " " << file);
    fs::remove(project.box.path(project.made() + file));
    Project::require(project.build());
    CHECK(fs::exists(project.box.path(project.made() + file)));
  }
}

TEST_CASE("a wrong program fails the build with the tool's words, and the one before stays") {
  const Project project("Ninja");
  Project::require(project.build());
  project.write("scale.tc", "def scale(float(N,M) x) -> (y) {\n  y(i,j) = 2 * z(i,j)\n}\n");
  const auto wrong = project.build();
  CHECK(wrong.exit_code != 0);
  const std::string said = wrong.out + wrong.err;
  INFO(said);
  CHECK(said.find("scale.tc:2:16: error: ") != std::string::npos);
  CHECK(said.find("[undefined-name]") != std::string::npos);
  CHECK(project.run() == "0 54 60\n");
  project.write("scale.tc", kProgram);
  Project::require(project.build());
}

TEST_CASE("a build tunes only where it is asked to, and only once") {
  const Project project("Ninja");
  std::string text = kProject;
  text.replace(text.find("DATABASE tuned.db"), 17, "TUNE 1");
  project.write("CMakeLists.txt", text);
  const auto first = project.build();
  Project::require(first);
  CHECK((first.out + first.err).find("Tuning scale for 1 s") != std::string::npos);
  CHECK((first.out + first.err).find("tuned schedule (exact)") != std::string::npos);
  CHECK(project.run() == "0 54 60\n");
  const auto tuned = project.when(project.made() + "tuned");
  project.touch("../sdk/bin/tile-tune");
  Project::require(project.build());
  CHECK(project.when(project.made() + "tuned") == tuned);
  project.touch("scale.tc");
  Project::require(project.build());
  CHECK(project.when(project.made() + "tuned") > tuned);
}

TEST_CASE("several programs of one library are tuned one after the other, and may be deterministic") {
  const Project project("Ninja");
  project.write("sum.tc", "def total(float(N) v) -> (o) { o +=! v(i) }\n");
  project.write("CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(tile_tune REQUIRED)
tile_tune_add_library(NAME both PROGRAM scale.tc sum.tc SIZES N=13 M=3 LAYOUT x=col TUNE 1 DETERMINISTIC)
add_executable(app main.c)
target_link_libraries(app PRIVATE both)
)");
  project.write("main.c", R"(#include <both.h>
#include <stdio.h>
int main(void) {
  float x[13 * 3], y[13 * 3], o;
  for (int i = 0; i < 39; ++i) x[i] = (float)i;
  const int code = scale(x, y) + total(x, &o);
  printf("%d %g %g\n", code, y[1 * 3 + 2], o);
  return code;
}
)");
  const auto built = project.build();
  Project::require(built);
  const std::string said = built.out + built.err;
  INFO(said);
  CHECK(said.find("scale (N=13 M=3): tuned schedule (exact)") != std::string::npos);
  CHECK(said.find("total (N=13): tuned schedule (exact)") != std::string::npos);
  CHECK(project.run() == "0 54 78\n");
  CHECK(project.box.read("build/tile_tune/both/package/include/both.h").find("strict_float") != std::string::npos);
}

TEST_CASE("what tile_tune_add_library() cannot take is said when the project is configured") {
  const Project project("Ninja");
  const auto configure = [&](const std::string& call) {
    project.write("CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.20)\nproject(consumer LANGUAGES C)\n"
                  "find_package(tile_tune REQUIRED)\ntile_tune_add_library(" +
                      call + ")\n");
    const auto result = project.box.run_program({TEST_CMAKE, "build"});
    CHECK(result.exit_code != 0);
    return result.err;
  };
  using Catch::Contains;
  CHECK_THAT(configure("PROGRAM scale.tc"), Contains("NAME is missing"));
  CHECK_THAT(configure("NAME a SIZES N=3"), Contains("PROGRAM is missing"));
  CHECK_THAT(configure("NAME a PROGRAM none.tc"), Contains("the program"));
  CHECK_THAT(configure("NAME a PROGRAM scale.tc DATABASE none.db"), Contains("the database"));
  CHECK_THAT(configure("a PROGRAM scale.tc"), Contains("unexpected: a"));
  CHECK_THAT(configure("NAME a PROGRAM scale.tc TUNE"), Contains("number of seconds"));
  CHECK_THAT(configure("NAME a PROGRAM scale.tc TARGET x86-64-osx"), Contains("find_package(a)"));
  CHECK_THAT(configure("NAME a PROGRAM scale.tc TARGET x86-64-linux wasm-32-wasmrt"), Contains("wasm-32-wasmrt"));
  const std::string cross = "NAME a PROGRAM scale.tc)\nset(CMAKE_CROSSCOMPILING ON)\ntile_tune_add_library(NAME b ";
  CHECK_THAT(configure(cross + "PROGRAM scale.tc"), Contains("cross-compiled"));
}
