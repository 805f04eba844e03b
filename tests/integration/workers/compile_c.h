// Kernels in C for compilers that go wrong on purpose. TEST_C_COMPILER names the compiler.
#pragma once

#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

extern char** environ;

namespace tile_tune::test {

inline Result<void> compile_c(const std::string& text, const std::filesystem::path& object,
                              const std::vector<std::string>& options = {}) {
  const std::string source = object.string() + ".c";
  std::ofstream(source) << text;
  std::vector<std::string> command{TEST_C_COMPILER, "-O1", "-fPIC", "-w", "-c", "-o", object.string(), source};
  command.insert(command.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t compiler = 0;
  int status = 1;
  if (posix_spawnp(&compiler, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0)
    waitpid(compiler, &status, 0);
  std::filesystem::remove(source);
  if (status != 0) return failure("cc-failed", "the C compiler failed");
  return {};
}

}  // namespace tile_tune::test
