// An object comes back from the cache until a header that it was made from is another.
#include "search/baselines/kept_objects.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/files.h"
#include "tests/unit/emit/scratch.h"

namespace tile_tune::search {
namespace {

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

TEST_CASE("an object is kept until one of its headers changes") {
  const test::Scratch scratch;
  const auto header = scratch.path / "library.h", object = scratch.path / "adapter.o",
             rule = scratch.path / "adapter.d";
  const auto taken = scratch.path / "taken.o";
  const std::string name = scratch.path.filename().string() + ".o";  // in a cache that tests share
  const std::string code("\0\n{\"code\"}\n", 11);
  write(header, "int version = 1;");
  write(object, code);
  write(rule, "adapter.o: adapter.cpp \\\n " + header.string() + "\n");
  CHECK_FALSE(take_object(name, taken));
  keep_object(name, object, rule);
  REQUIRE(take_object(name, taken));
  CHECK(base::read_bytes(taken) == code);
  CHECK_FALSE(take_object("other-" + name, taken));

  write(header, "int version = 12;");
  CHECK_FALSE(take_object(name, taken));
  keep_object(name, object, rule);
  CHECK(take_object(name, taken));
  std::filesystem::remove(header);
  CHECK_FALSE(take_object(name, taken));
}

TEST_CASE("an object whose headers cannot be found is not kept") {
  const test::Scratch scratch;
  const auto object = scratch.path / "adapter.o", rule = scratch.path / "adapter.d";
  const std::string name = scratch.path.filename().string() + ".o";
  write(object, "code");
  write(rule, "adapter.o: adapter.cpp /nowhere/library.h\n");
  keep_object(name, object, rule);
  CHECK_FALSE(take_object(name, scratch.path / "taken.o"));
}

}  // namespace
}  // namespace tile_tune::search
