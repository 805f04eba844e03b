#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "engine/programs/program_argument.h"

using namespace tile_tune;
using namespace tile_tune::engine;

TEST_CASE("a program of a file keeps its own text, not the file's") {
  const std::string one = "def one(float(N) A) -> (o) { o(i) = A(i) }",
                    two = "def two(float(N) A) -> (o) {\n  o += A(i)\n}";
  const auto path =
      std::filesystem::temp_directory_path() / ("tile-tune-program-argument." + std::to_string(getpid()) + ".tc");
  std::ofstream(path) << "# of two\n" << one << "\n" << two << " # the end\n";
  const auto loaded = load_programs({path.string()}, {}, Reporter({}));
  std::filesystem::remove(path);
  REQUIRE(loaded);
  REQUIRE(loaded->size() == 2);
  CHECK((*loaded)[0].source == one);
  CHECK((*loaded)[1].source == two);
}
