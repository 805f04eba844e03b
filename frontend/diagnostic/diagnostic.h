// The one diagnostic type of the project, and results that carry it.
//
// Everything below the command line returns Result<T>; nothing there throws or prints. A Diagnostic
// says what is wrong in the user's words, where it is (when there is a place), and how to mend it
// (when that is known). Its ErrorClass is the process's exit code (docs/cli.md, "Exit codes").
// render() gives the text form: file:line:col: error: message [code], source line, caret, note.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace tile_tune {

/// What kind of failure this is; the value is the exit code of the command line.
enum class ErrorClass {
  Failure = 1,       // a file, the database or a compiler failed
  Program = 2,       // program text or command line is wrong
  Mismatch = 3,      // sizes, dtypes or arrays do not fit the program
  Verification = 4,  // a result differs from the reference
  Target = 5,        // a known target that this machine does not offer
};

enum class Severity { Error, Warning };

/// A place in a source text. line and column count from 1; length is in characters, at least 1.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;
  std::string source_line;  // the whole line without its newline, or a window of a long one, "..." at its cut ends
  int skipped = 0;          // source_line's first character stands in column 1 + skipped
};

struct Diagnostic {
  ErrorClass error_class = ErrorClass::Failure;
  std::string code;     // short and stable, for example "undefined-name"
  std::string message;  // one sentence, no full stop
  std::optional<Place> place = std::nullopt;
  std::string note = "";  // how to mend it; empty where unknown
  Severity severity = Severity::Error;
};

template <typename T>
using Result = tl::expected<T, Diagnostic>;

/// Shorthands for a failed Result: `return failure("cannot-open", "cannot open x.tc: ...")`.
tl::unexpected<Diagnostic> failure(std::string code, std::string message, std::string note = "");
tl::unexpected<Diagnostic> fail(ErrorClass error_class, std::string code, std::string message, std::string note = "");

/// The text form, with a trailing newline. `color` adds ANSI colours. Words of more than 200 characters are cut; bytes
/// that are not UTF-8 and control characters appear as \xNN.
std::string render(const Diagnostic& diagnostic, bool color = false);

/// {"severity", "code", "message", "note"?, "file"?, "line"?, "column"?, "exit_code"}
nlohmann::json to_json(const Diagnostic& diagnostic);

}  // namespace tile_tune

/// Propagates a failed Result out of a function that returns a Result; `name` is the value otherwise.
#define TILE_TUNE_CONCAT_INNER(a, b) a##b
#define TILE_TUNE_CONCAT(a, b) TILE_TUNE_CONCAT_INNER(a, b)
#define TILE_TUNE_TRY(name, expression)                                            \
  auto TILE_TUNE_CONCAT(result_, __LINE__) = (expression);                         \
  if (!TILE_TUNE_CONCAT(result_, __LINE__))                                        \
    return tl::unexpected(std::move(TILE_TUNE_CONCAT(result_, __LINE__).error())); \
  auto name = std::move(*TILE_TUNE_CONCAT(result_, __LINE__))
#define TILE_TUNE_CHECK(expression)                                                                  \
  if (auto TILE_TUNE_CONCAT(result_, __LINE__) = (expression); !TILE_TUNE_CONCAT(result_, __LINE__)) \
  return tl::unexpected(std::move(TILE_TUNE_CONCAT(result_, __LINE__).error()))
