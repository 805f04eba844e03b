// A folder of its own with the examples in it, and the tile-tune executable run there.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tile_tune::test {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out, err;
};

/// As it ended; the test fails here, with what was written, unless that was well.
Finished require(const Finished& finished);
/// The code of the last error it wrote: what stands in brackets.
std::string code_of(const Finished& finished);

using Words = std::vector<std::string>;
Words operator+(Words words, const Words& more);

class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  std::filesystem::path path(const std::string& name) const { return root_ / name; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  /// Names in a folder, sorted; hidden ones too. Empty if there is no such folder.
  std::vector<std::string> names(const std::string& folder = "") const;

  /// tile-tune with these arguments, HOME set to the sandbox; `file_limit` bytes at most in any file it writes.
  Finished run(const std::vector<std::string>& arguments, long file_limit = 0) const;
  /// The same without waiting; finish() waits.
  pid_t start(const std::vector<std::string>& arguments, const std::string& log) const;
  Finished finish(pid_t pid, const std::string& log) const;
  /// The first process that `pid` has started, once it has; the test's own time limit ends the waiting otherwise.
  static pid_t child_of(pid_t pid);
  /// The tile-tune that run() runs.
  static std::string tool();
  /// Another program, looked up on PATH.
  Finished run_program(const std::vector<std::string>& command) const;

 private:
  pid_t spawn(const std::vector<std::string>& command, const std::string& log, long file_limit) const;
  std::filesystem::path root_;
};

}  // namespace tile_tune::test
