// What there is to say of a program or a call that is no error. Part of the SDK: the standard library is all it needs.
#pragma once

#include <string>

namespace tile_tune {

struct Message {
  enum class Severity {
    Notice,   // what was done, such as which schedule was taken
    Warning,  // legal, but hardly meant
  };
  Severity severity = Severity::Warning;
  std::string code;  // short and stable, for example "unused-input"; of some notices empty
  std::string text;  // the whole of it, as of ProgramError::what(): "file:line:column: warning: message [code]", a note
  std::string file;  // its place; empty where there is none
  int line = 0;
};

}  // namespace tile_tune
