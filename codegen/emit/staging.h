// Files made beside their place and moved there at the end, all or none.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// What the names of a process's temporary directories begin with: who finds it killed removes these and no others'.
std::string staging_prefix(pid_t process);

/// A temporary directory inside the target directory (one file system, so that a move is a rename). The destructor
/// removes it, and the directories that were made for it and nothing else.
class Staging {
 public:
  static Result<Staging> create(const std::filesystem::path& directory);
  ~Staging();
  Staging(Staging&&) = default;
  Staging& operator=(Staging&&) = delete;

  /// New files lie here at their paths relative to the target directory. Absolute.
  std::filesystem::path files() const { return root_.path() / "new"; }
  /// For intermediate files. Absolute.
  std::filesystem::path work() const { return root_.path() / "work"; }

  /// Moves the files (relative paths under files()) to the target directory, over older ones. If one cannot be
  /// moved, those already moved go back and the older ones return. A file equal to the older one is left alone.
  Result<void> commit(const std::vector<std::filesystem::path>& relative);

 private:
  struct Move {
    std::filesystem::path target;
    std::filesystem::path backup;  // empty: there was no older file
  };
  Staging() = default;
  Result<void> make_directories(const std::filesystem::path& directory);
  Result<void> move_into_place(const std::filesystem::path& file);
  void roll_back();

  std::filesystem::path target_;
  base::TemporaryDirectory root_;
  std::vector<std::filesystem::path> made_;  // directories that did not exist, outermost first
  std::vector<Move> moves_;
};

}  // namespace tile_tune::codegen
