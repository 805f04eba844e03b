#include "codegen/lower/runtime_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/sha256.h"
#include "codegen/lower/compile.h"
#include "codegen/target/host.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigest = 64;  // characters of a SHA-256, which come before the object

fs::path place_of(const Target& target, const fs::path& cache) {
  const auto key = base::sha256_hex(fmt::format("{} {} {}", halide_version(), llvm_version(), target.text()));
  return cache / fmt::format("runtime-{}", key.substr(0, 32));
}

bool is_ours(const fs::path& file) {
  struct stat status {};
  return lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> kept(const fs::path& place) {
  if (!is_ours(place)) return std::nullopt;
  const auto all = base::read_bytes(place);
  if (!all || all->size() <= kDigest) return std::nullopt;
  std::string object = all->substr(kDigest);
  if (base::sha256_hex(object) != all->substr(0, kDigest)) return std::nullopt;
  return object;
}

// Written beside and renamed: whoever comes at the same time finds all of it or nothing.
void keep(const fs::path& place, const std::string& object) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  const fs::path beside = fmt::format("{}.{}", place.string(), getpid());
  if (!base::write_text(beside, base::sha256_hex(object) + object)) {
    fs::remove(beside, error);
    return;
  }
  fs::permissions(beside, fs::perms::owner_read | fs::perms::owner_write, error);
  fs::rename(beside, place, error);
  if (error) fs::remove(beside, error);
}

}  // namespace

fs::path user_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  // The XDG base directory specification says that relative paths are to be ignored.
  if (const auto given = variable("XDG_CACHE_HOME"); given.is_absolute()) return given / "tile-tune";
  if (const auto home = variable("HOME"); home.is_absolute()) return home / ".cache" / "tile-tune";
  return {};
}

Result<void> cached_runtime(const Target& target, const fs::path& object, const fs::path& cache) {
  if (cache.empty()) return compile_runtime(target, object);
  const fs::path place = place_of(target, cache);
  if (const auto bytes = kept(place); bytes && base::write_text(object, *bytes)) return {};
  TILE_TUNE_CHECK(compile_runtime(target, object));
  if (const auto made = base::read_bytes(object)) keep(place, *made);
  return {};
}

}  // namespace tile_tune::codegen
