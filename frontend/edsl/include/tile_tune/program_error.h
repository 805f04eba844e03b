// What the eDSL and the engine throw. Part of the SDK: the standard library is all it needs.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tile_tune {

/// what() is the whole diagnostic: "file:line:column: error: message [code]", then a note with the fix where one is
/// known. The place is where the caller misused the language; file() is empty and line() 0 where there is none.
class ProgramError : public std::runtime_error {
 public:
  ProgramError(const std::string& text, std::string code, std::string file, int line)
      : std::runtime_error(text), code_(std::move(code)), file_(std::move(file)), line_(line) {}

  /// Short and stable, for example "size-conflict".
  const std::string& code() const { return code_; }
  const std::string& file() const { return file_; }
  int line() const { return line_; }

 private:
  std::string code_, file_;
  int line_;
};

}  // namespace tile_tune
