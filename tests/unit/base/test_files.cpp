#include "base/files.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "base/file_cache.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"

using namespace tile_tune::base;
namespace fs = std::filesystem;

TEST_CASE("a temporary directory is new, and goes with all that is in it") {
  fs::path first, second;
  {
    auto one = TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-");
    const auto other = TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-");
    REQUIRE((one && other));
    first = one->path();
    second = other->path();
    CHECK(first != second);
    CHECK(first.filename().string().starts_with("tile-tune-test-"));
    REQUIRE(write_text(first / "file", "text"));
    fs::create_directory(first / "folder");
    const TemporaryDirectory moved = std::move(*one);
    CHECK(one->path().empty());
    CHECK(fs::exists(moved.path() / "file"));
  }
  CHECK_FALSE(fs::exists(first));
  CHECK_FALSE(fs::exists(second));
}

TEST_CASE("assigning to a temporary directory removes the one it was") {
  auto one = TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-");
  REQUIRE(one);
  const fs::path path = one->path();
  *one = TemporaryDirectory();
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("where no directory can be made, the system says why") {
  const auto none = TemporaryDirectory::create("/nonexistent/place", "x-");
  REQUIRE_FALSE(none);
  CHECK(none.error() == ENOENT);
}

TEST_CASE("files come back byte by byte, and what cannot be written or read is told") {
  const auto directory = TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-");
  REQUIRE(directory);
  const std::string bytes("a\0b\r\n\xff", 6);
  REQUIRE(write_text(directory->path() / "file", bytes));
  const auto read = read_bytes(directory->path() / "file");
  REQUIRE(read);
  CHECK(*read == bytes);
  CHECK(read_bytes(directory->path() / "none").error().code == "cannot-read");
  CHECK(write_text(directory->path() / "none" / "file", "").error().code == "cannot-write");
  CHECK(write_text("/dev/full", "text").error().message == "cannot write /dev/full: No space left on device");
}

TEST_CASE("SHA-256 of a text with a known digest") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("what lies under another name than it was kept under is not there") {
  const auto folder = TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-");
  REQUIRE(folder);
  const FileCache cache(folder->path() / "kept");
  cache.keep("one", "the first");
  cache.keep("other", "the second");
  fs::copy_file(folder->path() / "kept" / "other", folder->path() / "kept" / "one",
                fs::copy_options::overwrite_existing);
  CHECK_FALSE(cache.find("one"));
  CHECK(cache.find("other") == "the second");
}
