#include "frontend/diagnostic/diagnostic.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "frontend/diagnostic/utf8.h"

namespace tile_tune {
namespace {

std::string_view first_characters(std::string_view text, int count) {
  size_t end = 0;
  for (; count > 0 && end < text.size(); --count) {
    const auto code = first_code_point(text.substr(end));
    end += code ? code->length : 1;
  }
  return text.substr(0, end);
}

// No one reads a name of a megabyte: of a longer word messages show the beginning.
constexpr size_t kLongestWord = 200, kShownOfWord = 60;

std::string shorten_words(std::string_view text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end - at > kLongestWord)
      result.append(text.substr(at, kShownOfWord)).append("...");
    else
      result.append(text.substr(at, std::max<size_t>(1, end - at)));
    at = std::max(end, at + 1);
  }
  return result;
}

}  // namespace

tl::unexpected<Diagnostic> fail(ErrorClass error_class, std::string code, std::string message, std::string note) {
  return tl::unexpected(Diagnostic{error_class, std::move(code), std::move(message), std::nullopt, std::move(note)});
}

tl::unexpected<Diagnostic> failure(std::string code, std::string message, std::string note) {
  return fail(ErrorClass::Failure, std::move(code), std::move(message), std::move(note));
}

std::string render(const Diagnostic& diagnostic, bool color) {
  const bool error = diagnostic.severity == Severity::Error;
  const char* bold = color ? "\033[1m" : "";
  const char* tint = color ? (error ? "\033[1;31m" : "\033[1;35m") : "";
  const char* plain = color ? "\033[0m" : "";
  std::string text;
  if (diagnostic.place) {
    text += fmt::format("{}{}:{}:{}:{} ", bold, diagnostic.place->file, diagnostic.place->line,
                        diagnostic.place->column, plain);
  }
  text += fmt::format("{}{}:{} {} [{}]\n", tint, error ? "error" : "warning", plain,
                      printable(shorten_words(diagnostic.message)), diagnostic.code);
  if (diagnostic.place && !diagnostic.place->source_line.empty()) {
    // Tabs are kept under the caret so that it lines up whatever the terminal's tab width is.
    const auto& line = diagnostic.place->source_line;
    std::string indent;
    for (const char c : printable(first_characters(line, diagnostic.place->column - 1 - diagnostic.place->skipped)))
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) indent += c == '\t' ? '\t' : ' ';  // one column a character
    const int tail = std::max(0, diagnostic.place->length - 1);
    text += fmt::format("  {}\n  {}{}^{}{}\n", printable(line), indent, tint, std::string(tail, '~'), plain);
  }
  if (!diagnostic.note.empty()) text += fmt::format("note: {}\n", printable(shorten_words(diagnostic.note)));
  return text;
}

nlohmann::json to_json(const Diagnostic& diagnostic) {
  nlohmann::json json{{"severity", diagnostic.severity == Severity::Error ? "error" : "warning"},
                      {"code", diagnostic.code},
                      {"message", shorten_words(diagnostic.message)}};
  if (diagnostic.severity == Severity::Error) json["exit_code"] = static_cast<int>(diagnostic.error_class);
  if (!diagnostic.note.empty()) json["note"] = shorten_words(diagnostic.note);
  if (diagnostic.place) {
    json["file"] = diagnostic.place->file;
    json["line"] = diagnostic.place->line;
    json["column"] = diagnostic.place->column;
  }
  return json;
}

}  // namespace tile_tune
