#include "engine/packages/output_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "codegen/emit/package.h"

namespace tile_tune::engine {

namespace fs = std::filesystem;

namespace {

// Whether a file was written; false where the folder is gone by now.
Result<bool> write_and_remove(const fs::path& folder) {
  std::string path = (folder / ".tile-tune-XXXXXX").string();
  const int file = mkstemp(path.data());
  const int why = errno;
  std::error_code ignored;
  if (file < 0 && !fs::exists(folder, ignored)) return false;
  if (file < 0)
    return failure("cannot-write", fmt::format("cannot write to {}: {}", folder.string(), std::strerror(why)));
  close(file);
  unlink(path.c_str());
  return true;
}

auto no_folder(const fs::path& directory, const std::string& why) {
  return failure("cannot-write", fmt::format("cannot make the folder {}: {}", directory.string(), why));
}

// What is not there can be made if that below which it is to be can be written to. It is not made to see that: another
// process may be about to write there, too.
Result<void> check_one(const fs::path& directory) {
  for (fs::path at = directory;; at = at.parent_path()) {
    if (at.empty()) at = ".";
    std::error_code error;
    const auto type = fs::status(at, error).type();
    if (type == fs::file_type::not_found && fs::symlink_status(at, error).type() == fs::file_type::not_found) continue;
    if (type == fs::file_type::none) return no_folder(directory, error.message());
    if (type != fs::file_type::directory) return no_folder(directory, fmt::format("{} is not a folder", at.string()));
    TILE_TUNE_TRY(written, write_and_remove(at));
    if (written) return {};
  }
}

Result<void> check_no_folder(const fs::path& file) {
  std::error_code error;
  if (!fs::is_directory(file, error)) return {};
  return failure("cannot-write", fmt::format("cannot write {}: it is a folder", file.string()));
}

}  // namespace

Fresh::~Fresh() {
  std::error_code ignored;
  for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) fs::remove(*path, ignored);  // folders: if empty
}

void Fresh::expect(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) paths_.push_back(path);
}

Result<void> make_folder(const fs::path& directory, Fresh& fresh) {
  fs::path path;
  for (const auto& part : directory) fresh.expect(path /= part);
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && fs::is_directory(directory, error)) return {};
  return no_folder(directory, error ? error.message() : "it is not a folder");
}

Result<void> check_writable(const fs::path& directory, const std::vector<std::string>& folders) {
  TILE_TUNE_CHECK(check_one(directory));
  for (const auto& folder : folders) TILE_TUNE_CHECK(check_one(directory / folder));
  return {};
}

Result<void> check_package_folder(const fs::path& directory, const std::string& name) {
  std::vector<std::string> folders;
  const auto files = codegen::archive_package_files(name);
  for (const auto& file : files) folders.push_back(file.parent_path().string());
  TILE_TUNE_CHECK(check_writable(directory, folders));
  for (const auto& file : files) TILE_TUNE_CHECK(check_no_folder(directory / file));
  return {};
}

Result<void> check_result_files(const fs::path& directory, const std::vector<std::string>& files) {
  TILE_TUNE_CHECK(check_writable(directory));
  for (const auto& file : files) TILE_TUNE_CHECK(check_no_folder(directory / file));
  return {};
}

}  // namespace tile_tune::engine
