// Records and files the database tests share.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>

#include "db/database.h"

namespace tile_tune::db::testing {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  std::filesystem::path file(const std::string& name = "tuning.db") const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The value, or a failed test that prints the diagnostic.
Database open(const std::filesystem::path& path, Mode mode = Mode::ReadWrite);
template <typename T>
T value(Result<T> result);
void value(Result<void> result);

/// matmul 512 x 511 x 7 in row-major order, for `threads` threads of a CPU.
ProgramRow matmul();
TargetRow target(int threads = 2, const std::string& cpu_model = "Zen 5");
/// That of the files in data/, which versions 1 and 2 stored with figures that this version would not.
TargetRow former_target();
ToolRow tool(const std::string& version = "0.1.0");
SessionRow session(int64_t created_ms = 1'000);

/// An ok trial with awkward numbers in it; its schedule is the JSON {"tile": tile}.
TrialRow trial(int sequence, int tile = 8);
/// A finalist that the tuner accepted.
TrialRow winner(int sequence, int tile, double median_ns);

/// The bytes of a file.
std::string read(const std::filesystem::path& path);
void write(const std::filesystem::path& path, const std::string& bytes);

/// What a database takes of records as text.
Result<Absorbed> take_text(Database& db, const std::string& text);

/// Runs SQL on a file behind the library's back.
void sql(const std::filesystem::path& path, const std::string& text);
int64_t sql_number(const std::filesystem::path& path, const std::string& text);

/// Runs `body` in a forked child and returns its exit status as waitpid gives it; an exception is 125.
int in_child(const std::function<int()>& body);
pid_t start_child(const std::function<int()>& body);

void fail_with(const Diagnostic& diagnostic);

template <typename T>
T value(Result<T> result) {
  if (!result) fail_with(result.error());
  return *std::move(result);
}

}  // namespace tile_tune::db::testing
