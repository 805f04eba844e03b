#include "cli/output_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tile_tune::cli {

namespace fs = std::filesystem;

namespace {

Result<void> write_and_remove(const fs::path& folder) {
  std::string path = (folder / ".tile-tune-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0)
    return failure("cannot-write", fmt::format("cannot write to {}: {}", folder.string(), std::strerror(errno)));
  close(file);
  unlink(path.c_str());
  return {};
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
  const std::string why = error ? error.message() : "it is not a folder";
  return failure("cannot-write", fmt::format("cannot make the folder {}: {}", directory.string(), why));
}

Result<void> check_writable(const fs::path& directory, const std::vector<std::string>& folders) {
  Fresh fresh;
  std::vector<fs::path> all{directory};
  for (const auto& folder : folders) all.push_back(directory / folder);
  for (const auto& folder : all) {
    TILE_TUNE_CHECK(make_folder(folder, fresh));
    TILE_TUNE_CHECK(write_and_remove(folder));
  }
  return {};
}

Result<void> check_package_folder(const fs::path& directory, const std::string& name) {
  return check_writable(directory, {"include", "lib", "lib/cmake/" + name, "lib/pkgconfig", "share/" + name});
}

Result<void> check_result_files(const fs::path& directory, const std::vector<std::string>& files) {
  TILE_TUNE_CHECK(check_writable(directory));
  std::error_code error;
  for (const auto& file : files)
    if (fs::is_directory(directory / file, error))
      return failure("cannot-write", fmt::format("cannot write {}: it is a folder", (directory / file).string()));
  return {};
}

}  // namespace tile_tune::cli
