// A folder that goes away with the test.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

namespace tile_tune::test {

struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tile-tune-emit-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace tile_tune::test
