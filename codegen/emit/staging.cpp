#include "codegen/emit/staging.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "base/files.h"

namespace tile_tune::codegen {

namespace fs = std::filesystem;

namespace {

auto cannot_write(const fs::path& path, std::string_view reason) {
  return failure("cannot-write", fmt::format("cannot write {}: {}", path.string(), reason));
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (!fs::is_regular_file(a, error) || !fs::is_regular_file(b, error)) return false;
  const auto left = base::read_bytes(a), right = base::read_bytes(b);
  return left && right && *left == *right;
}

}  // namespace

std::string staging_prefix(pid_t process) { return fmt::format(".tile-tune-{}-", process); }

Staging::~Staging() {
  root_ = base::TemporaryDirectory();
  std::error_code ignored;
  // Only empty ones go: after a commit they hold the package.
  for (auto directory = made_.rbegin(); directory != made_.rend(); ++directory) fs::remove(*directory, ignored);
}

Result<void> Staging::make_directories(const fs::path& directory) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path p = directory; !p.empty() && !fs::exists(p, error); p = p.parent_path()) missing.push_back(p);
  for (auto p = missing.rbegin(); p != missing.rend(); ++p) {
    if (fs::create_directory(*p, error)) made_.push_back(*p);
    if (error) return cannot_write(*p, error.message());
  }
  if (!fs::is_directory(directory, error)) return cannot_write(directory, "it is not a directory");
  return {};
}

Result<Staging> Staging::create(const fs::path& directory) {
  std::error_code error;
  Staging staging;
  staging.target_ = fs::absolute(directory, error).lexically_normal();
  if (!staging.target_.has_filename()) staging.target_ = staging.target_.parent_path();  // "out/"
  if (error) return cannot_write(directory, error.message());
  TILE_TUNE_CHECK(staging.make_directories(staging.target_));
  auto root = base::TemporaryDirectory::create(staging.target_, staging_prefix(getpid()));
  if (!root) return cannot_write(directory, strerror(root.error()));
  staging.root_ = std::move(*root);
  for (const fs::path& part : {staging.files(), staging.work(), staging.root_.path() / "old"})
    if (!fs::create_directory(part, error)) return cannot_write(part, error.message());
  return staging;
}

Result<void> Staging::move_into_place(const fs::path& file) {
  const fs::path source = files() / file, target = target_ / file;
  if (same_bytes(source, target)) return {};
  TILE_TUNE_CHECK(make_directories(target.parent_path()));
  std::error_code error;
  Move move{.target = target, .backup = {}};
  if (fs::exists(fs::symlink_status(target, error))) {
    // A second name for the older file: at every instant the target is the older file or the new one.
    move.backup = root_.path() / "old" / std::to_string(moves_.size());
    fs::create_hard_link(target, move.backup, error);
    if (error) fs::copy_file(target, move.backup, error);  // a file system without hard links
    if (error) return cannot_write(target, error.message());
  }
  fs::rename(source, target, error);
  if (error) return cannot_write(target, error.message());
  moves_.push_back(std::move(move));
  return {};
}

void Staging::roll_back() {
  std::error_code ignored;
  for (auto move = moves_.rbegin(); move != moves_.rend(); ++move) {
    if (move->backup.empty())
      fs::remove(move->target, ignored);
    else
      fs::rename(move->backup, move->target, ignored);
  }
  moves_.clear();
}

Result<void> Staging::commit(const std::vector<fs::path>& relative) {
  for (const fs::path& file : relative) {
    if (auto moved = move_into_place(file); !moved) {
      roll_back();
      return moved;
    }
  }
  return {};
}

}  // namespace tile_tune::codegen
