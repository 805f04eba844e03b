// The runtime is compiled once, and never taken from a file that is not as it was written.
#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "codegen/lower/runtime_cache.h"

using namespace tile_tune;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& file) { return base::read_bytes(file).value(); }

void write(const fs::path& file, const std::string& bytes) { REQUIRE(base::write_text(file, bytes)); }

fs::path only_file(const fs::path& folder) {
  const std::vector<fs::directory_entry> entries{fs::directory_iterator(folder), {}};
  REQUIRE(entries.size() == 1);
  return entries[0].path();
}

const codegen::Target kPlain;

}  // namespace

TEST_CASE("the runtime comes out of the cache as it went in, and what was changed there is compiled again") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "runtime-cache-");
  REQUIRE(created);
  const fs::path folder = created->path();
  const fs::path cache = folder / "new" / "cache";
  REQUIRE(codegen::cached_runtime(kPlain, folder / "compiled.o", cache));
  const auto object = bytes_of(folder / "compiled.o");
  REQUIRE(object.size() > 10'000);
  const auto place = only_file(cache);
  const auto stored = bytes_of(place);
  REQUIRE(stored.ends_with(object));

  const auto again = [&](const codegen::Target& target = kPlain) {
    REQUIRE(codegen::cached_runtime(target, folder / "again.o", cache));
    return bytes_of(folder / "again.o");
  };
  const auto written = fs::last_write_time(place);
  CHECK(again() == object);
  CHECK(fs::last_write_time(place) == written);

  auto flipped = stored;
  flipped[stored.size() / 2] ^= 1;
  for (const auto& damaged : {flipped, std::string()}) {
    write(place, damaged);
    CHECK(again().size() == object.size());
    CHECK(bytes_of(place).size() == stored.size());
    CHECK(bytes_of(place) != damaged);
  }

  // A link, and a file that others may write.
  fs::rename(place, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", place);
  again();
  CHECK_FALSE(fs::is_symlink(place));
  fs::permissions(place, fs::perms::all);
  again();
  CHECK((fs::status(place).permissions() & fs::perms::others_write) == fs::perms::none);

  codegen::Target other = kPlain;
  other.features.add(codegen::Feature::Sse41);
  again(other);
  CHECK(std::distance(fs::directory_iterator(cache), {}) == 2);
}

TEST_CASE("a cache that cannot be written is none") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "runtime-cache-");
  REQUIRE(created);
  const fs::path folder = created->path();
  write(folder / "file", "");
  for (const auto& cache : {fs::path(), folder / "file"}) {
    REQUIRE(codegen::cached_runtime(kPlain, folder / "runtime.o", cache));
    CHECK(fs::file_size(folder / "runtime.o") > 10'000);
    fs::remove(folder / "runtime.o");
  }
}
